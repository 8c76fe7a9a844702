"""Rows 5 to 7: a bad wire costs time and never invents, loses or doubles a card, chip or text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pytest

from drivers.readings import CardRead, Shown
from hw_sim.clock import MS, SECOND
from tests.sim.faults_bench import (
    READY,
    Bench,
    Spot,
    Watch,
    settled_wrongly,
    standing,
    truth_of,
)

DRAWS: Final = 30
NOISES: Final = {
    "flip": "flip {} 0.001",
    "lose": "lose {} 0.005",
    "insert": "insert {} 0.005",
    "glue": "glue {}",
    "split": "split {} 4000",
    "long split": "split {} 20000",
    "repeat": "repeat {} 2",
}
OFF: Final = ("flip {} 0", "lose {} 0", "insert {} 0", "glue {} off", "split {} 0")
SPOILS: Final = ("flip", "lose", "insert")
"""Noise that destroys frames; the others only move them in time or double them."""


@dataclass
class Run:
    noise: str
    bench: Bench
    truth: dict[Spot, frozenset[str]]
    drawn: list[int]
    watch: Watch


@pytest.fixture(scope="module", params=NOISES)
def run(request: pytest.FixtureRequest) -> Run:
    """Thirty cards and chips that lie still on four noisy lines; then the noise ends."""
    noise = str(request.param)
    bench = Bench(seed=5).set_up()
    for seat in (2, 3, 6):
        bench.lay(seat, "1", 500 * seat)
    bench.run_for(3 * SECOND)
    truth, watch = truth_of(bench), Watch(bench)
    drawn: list[int] = []
    end_us = bench.now_us + (60 if noise == "flip" else 25) * SECOND
    for line in bench.rig.lines:
        bench.fault(NOISES[noise].format(line))
    for _ in range(DRAWS):
        drawn.append(bench.draw(60 * SECOND))
        if noise == "repeat":
            for line in bench.rig.lines:
                bench.fault(NOISES[noise].format(line))
    bench.run_for(max(0, end_us - bench.now_us))
    for line in bench.rig.lines:
        bench.fault(*(sentence.format(line) for sentence in OFF))
    bench.run_for(12 * SECOND)
    return Run(noise, bench, truth, drawn, watch)


def test_every_card_drawn_is_reported_once_and_in_order(run: Run) -> None:
    assert len(run.drawn) == DRAWS
    assert run.bench.cards() == run.drawn
    assert run.bench.events("gap", "misread", "double feed", "returned", "new epoch") == []


def test_no_spot_ever_settles_with_anything_but_what_lies_there(run: Run) -> None:
    assert settled_wrongly(run.watch, run.truth) == []


def test_faults_are_counted_by_code_where_frames_are_destroyed(run: Run) -> None:
    if run.noise in SPOILS:
        assert run.watch.codes("chips-1")
        assert run.watch.codes("shoe")


def test_no_sign_text_but_the_ordered_one_is_confirmed(run: Run) -> None:
    shown = {r.content for r in run.bench.readings if isinstance(r, Shown) and r.device == "sign"}
    assert shown == {"$1,234,567.89"}


def test_chips_on_the_bus_and_pins_never_notice(run: Run) -> None:
    lines = list(run.bench.rig.lines)
    assert run.watch.disturbed(lines) == {}
    assert run.watch.idle(lines) == []


def test_when_the_noise_ends_everything_is_ready_and_stands_as_it_lies(run: Run) -> None:
    assert run.bench.not_ready() == {}
    stands = {spot: tags for spot, tags in standing(run.bench).items() if tags}
    assert stands == {spot: tags for spot, tags in run.truth.items() if tags}
    assert None not in standing(run.bench).values()


def test_a_short_pause_glued_frames_and_copies_change_no_state(run: Run) -> None:
    if run.noise in ("glue", "split", "repeat"):
        changed = {line: run.watch.states(line) for line in ("chips-1", "chips-2", "shoe")}
        assert changed == {"chips-1": [], "chips-2": [], "shoe": []}


# --- the last frame again ------------------------------------------------------------------------


@pytest.mark.parametrize("after_ms", [17, 19, 25, 60, 200])
def test_a_card_frame_repeated_many_times_is_one_card(after_ms: int) -> None:
    bench = Bench().set_up()
    assert bench.sim.shoe is not None
    drawn = []
    for _ in range(3):
        drawn.append(bench.sim.shoe.draw())
        bench.run_for(after_ms * MS)
        bench.fault("repeat shoe 5")
        bench.run_for(SECOND)
    assert bench.cards() == drawn
    assert bench.state("shoe") is READY


def test_a_card_repeated_after_the_shoe_restarted_is_one_card() -> None:
    bench = Bench().set_up()
    bench.acknowledges = False  # the disk is slow: the card still waits when the power goes
    assert bench.sim.shoe is not None
    card = bench.sim.shoe.draw()
    bench.run_for(50 * MS)
    bench.fault("reboot shoe")
    bench.acknowledges = True
    bench.run_for(4 * SECOND)
    bench.fault("repeat shoe 3")
    bench.run_for(SECOND)
    assert set(bench.cards()) == {card}
    keys = {r.key for r in bench.readings if isinstance(r, CardRead)}
    assert len(keys) == 1, "copies carry the name of the original"


def test_a_packet_frame_repeated_is_one_packet() -> None:
    bench = Bench("mega-shuffler").set_up()
    taken = bench.packet()
    bench.fault("repeat shuffler 5")
    bench.run_for(SECOND)
    assert bench.cards() == taken
