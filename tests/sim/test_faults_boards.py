"""Rows 9 and 14: boards that do not answer, answer with old bytes, forget, are gone or are dead."""

from __future__ import annotations

from typing import Final

import pytest

from drivers.orders import Order, ShowMagicCard, ShowMeter, ShowPrompt
from drivers.readings import Shown, SwitchRead
from hw_sim.clock import MS, SECOND
from tests.sim.faults_bench import CHIPS, DEGRADED, READY, UNKNOWN, Bench, Watch

EXPANDERS: Final = CHIPS[:6]
DISPLAYS: Final = CHIPS[6:]
RETRIES: Final = 3
NEW: Final[dict[str, Order]] = {
    "prompt": ShowPrompt(("NO MORE BETS", "", "", "DEAL")),
    "meter-1": ShowMeter("9,876,543.21"),
    "meter-2": ShowMeter("9,876,543.21"),
    "meter-3": ShowMeter("9,876,543.21"),
    "magic": ShowMagicCard("Td"),
}
GONE: Final = {"prompt": "E-DSP-011", "meter-1": "E-DSP-001", "magic": "E-DSP-001"}
each_board = pytest.mark.parametrize("board", CHIPS)
each_display = pytest.mark.parametrize("board", DISPLAYS)


def related(board: str) -> list[str]:
    """The acceptors need the credit lines, which are read through ``sensors``."""
    return ["sensors", "acceptors"] if board == "sensors" else [board]


def set_up() -> Bench:
    return Bench().set_up(cards=False, sensing=False)


def is_unharmed(watch: Watch, board: str) -> None:
    assert watch.disturbed(related(board)) == {}
    assert watch.idle(related(board)) == []


@each_board
@pytest.mark.parametrize("count", [1, 3])
def test_a_few_missing_acknowledges_are_retried_and_counted(board: str, count: int) -> None:
    bench = set_up()
    watch = Watch(bench)
    bench.fault(f"nak {board} {count}")
    bench.run_for(3 * SECOND)
    more = watch.more(board)
    assert more["E-EXP-001"] + more["bus_errors"] == count
    if board in EXPANDERS:
        assert more["retries"] == count
        assert watch.states(board) == []
    assert bench.state(board) is READY
    assert not [r for r in watch.readings if isinstance(r, SwitchRead)]
    is_unharmed(watch, board)


@each_board
@pytest.mark.parametrize("verb", ["nak", "absent"])
def test_a_board_that_is_gone_is_unknown_within_a_second_and_comes_back_by_itself(
    board: str, verb: str
) -> None:
    bench = set_up()
    watch = Watch(bench)
    bench.fault(f"{verb} {board}")
    bench.run_for(2 * SECOND)
    said = watch.states(board)
    assert said[-1].state is UNKNOWN
    assert said[-1].at_us - watch.from_us <= SECOND
    assert watch.codes(board) == {GONE.get(board.replace("meter-2", "meter-1").replace(
        "meter-3", "meter-1"), "E-EXP-001")}  # fmt: skip
    assert watch.more(board)["retries"] <= RETRIES, "then at a slow pace"
    assert watch.more("bus")["batches"] < 400, "its retries do not crowd the bus"
    is_unharmed(watch, board)
    bench.fault(f"{verb} {board} off")
    bench.run_for(2 * SECOND)
    assert bench.not_ready() == {}


@pytest.mark.parametrize("board", EXPANDERS)
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_an_old_block_is_refused_whole_and_no_level_is_taken_from_it(
    board: str, count: int
) -> None:
    bench = set_up()
    watch = Watch(bench)
    bench.fault(f"stale {board} {count}")
    bench.run_for(2 * SECOND)
    assert watch.more(board)["E-EXP-002"] == count
    states = [(r.state, r.reason and r.reason.code) for r in watch.states(board)]
    assert states == ([] if count <= RETRIES else [(DEGRADED, "E-EXP-002"), (READY, None)])
    assert not [r for r in watch.readings if isinstance(r, SwitchRead)]
    assert bench.keys() == []
    is_unharmed(watch, board)


@each_display
def test_an_old_read_back_never_confirms_a_new_content(board: str) -> None:
    bench = set_up()
    watch = Watch(bench)
    bench.fault(f"stale {board} 1")
    bench.order(NEW[board])
    bench.run_for(2 * SECOND)
    assert watch.more(board)["mismatches"] == 1
    shown = [r for r in watch.readings if isinstance(r, Shown) and r.device == board]
    assert len(shown) == 1
    assert bench.state(board) is READY
    is_unharmed(watch, board)


@pytest.mark.parametrize("board", EXPANDERS)
def test_an_expander_that_lost_its_registers_is_unknown_and_configured_anew(board: str) -> None:
    bench = set_up()
    lamps = bench.sim.lamps()
    watch = Watch(bench)
    bench.fault(f"brownout {board}")
    bench.run_for(2 * SECOND)
    said = [(r.state, r.reason and r.reason.code) for r in watch.states(board)]
    assert said[0] == (UNKNOWN, "E-EXP-003")
    assert said[-1][0] is READY
    assert (watch.left_ready_after_us(board) or 0) <= 600 * MS
    assert watch.more(board)["E-EXP-003"] == 1
    assert bench.sim.lamps() == lamps
    assert bench.keys() == []
    is_unharmed(watch, board)


@each_display
def test_a_display_that_lost_its_memory_is_repaired_within_a_second(board: str) -> None:
    bench = set_up()
    seen = (bench.sim.prompt(), bench.sim.meter(), bench.sim.magic())
    watch = Watch(bench)
    bench.fault(f"brownout {board}")
    assert (bench.sim.prompt(), bench.sim.meter(), bench.sim.magic()) != seen
    bench.run_for(1_300 * MS)
    assert (bench.sim.prompt(), bench.sim.meter(), bench.sim.magic()) == seen
    assert watch.more(board)["repairs"] == 1
    assert watch.more(board)["mismatches"] >= 1
    shown = [r for r in watch.readings if isinstance(r, Shown) and r.device == board]
    assert len(shown) == 1, "told again: that is how a repair shows"
    is_unharmed(watch, board)


@each_display
def test_a_dead_display_is_flagged_when_its_content_changes_and_shown_is_not_said(
    board: str,
) -> None:
    bench = set_up()
    bench.fault(f"dead {board}")
    watch = Watch(bench)
    bench.order(NEW[board])
    bench.run_for(SECOND)
    code = "E-DSP-012" if board == "prompt" else "E-DSP-002"
    assert [(r.state, r.reason and r.reason.code) for r in watch.states(board)] == [
        (DEGRADED, code)
    ]
    assert watch.more(board)[code] == 1
    assert not [r for r in watch.readings if isinstance(r, Shown) and r.device == board]
    is_unharmed(watch, board)
    bench.fault(f"dead {board} off")
    bench.run_for(6 * SECOND)
    assert bench.not_ready() == {}
    shown = [r for r in watch.readings if isinstance(r, Shown) and r.device == board]
    assert len(shown) == 1


# --- keys ----------------------------------------------------------------------------------------

TROUBLES: Final = ("nak {} 1", "nak {} 3", "stale {} 1", "stale {} 3", "stale {} 5", "brownout {}")


@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_press_counts_exactly_once_whenever_the_board_is_in_trouble(trouble: str) -> None:
    """The trouble moves through the press: before, at the edge down, while held, at the edge up.

    A key held over a brown-out is unknown meanwhile: its press may not count twice, and counts
    once if it was confirmed before.
    """
    bench = set_up()
    for number, key in enumerate(("1", "7", "8", "UNDO", "ENTER", "5", "3", "9")):
        bench.sim.keyboard.press(key, 400 * MS)
        delay_us = number * 60 * MS
        bench.run_for(delay_us)
        bench.fault(trouble.format("keys-1"))
        bench.run_for(1_500 * MS - delay_us)
        counted = bench.keys().count(key)
        if trouble.startswith("brownout") and number < 2:
            assert counted <= 1, "down before it was known again: not a press"
        else:
            assert counted == 1, (key, delay_us)
    assert bench.state("keys-1") is READY


def test_a_key_held_over_an_absence_is_no_second_press() -> None:
    bench = set_up()
    bench.sim.keyboard.down("4")
    bench.run_for(SECOND)
    bench.fault("absent keys-1")
    bench.run_for(3 * SECOND)
    bench.fault("absent keys-1 off")
    bench.run_for(2 * SECOND)
    bench.sim.keyboard.up("4")
    bench.run_for(SECOND)
    assert bench.keys() == ["4"]
    bench.sim.keyboard.press("4")
    bench.run_for(SECOND)
    assert bench.keys() == ["4", "4"]


def test_a_progressive_wager_is_told_once_through_naks_and_old_blocks() -> None:
    bench = set_up()
    assert bench.sim.acceptors is not None
    for step, trouble in enumerate(TROUBLES[:5]):
        on = step % 2 == 0
        watch = Watch(bench)
        bench.sim.acceptors.wager(3, on)
        bench.fault(trouble.format("sensors"))
        bench.run_for(SECOND)
        told = [(r.name, r.on) for r in watch.readings if isinstance(r, SwitchRead)]
        assert told == [("progressive seat 3", on)], trouble
