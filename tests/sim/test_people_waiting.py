"""A dealer who cannot go on waits and calls somebody; nobody starts the table again for him."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from drivers.orders import LockCards
from hw_sim.clock import SECOND
from hw_sim.people.director import Director
from hw_sim.people.technician import calling
from hw_sim.scenario import find, load, parse_step
from tests.sim.faults_bench import Bench
from tests.sim.table import VirtualTable

LONG_US = 150 * SECOND
"""Beyond a dealer's patience."""


def unplugged(*, patient: bool) -> tuple[VirtualTable, list[str]]:
    """The shoe's cable is out for longer than a dealer waits."""
    table, said = VirtualTable(load(find("mbs3-plain"))), list[str]()
    dealer, clock = table.director.dealer, table.bench.clock
    if patient:
        dealer.call = calling(dealer, said.append, rules=False)
    faults = table.bench.faults
    clock.after(12 * SECOND, lambda: faults.do("unplug shoe"))
    clock.after(12 * SECOND + LONG_US, lambda: faults.do("replug shoe"))
    table.play()
    return table, said


def test_he_waits_for_a_device_that_is_away_and_goes_on() -> None:
    table, said = unplugged(patient=True)
    assert [result["round_status"] for result in table.results.values()] == ["settled"]
    assert table.bench.now_us > LONG_US
    assert said
    assert all(text.startswith("the dealer waits and calls the technician: ") for text in said)


def test_in_a_scenario_nobody_is_called_and_it_fails() -> None:
    with pytest.raises(AssertionError, match=r"waited 120 s|no idea|expected"):
        unplugged(patient=False)


def test_he_waits_for_the_end_of_test_mode() -> None:
    table, said = VirtualTable(load(find("mbs3-plain"))), list[str]()
    dealer, clock = table.director.dealer, table.bench.clock
    dealer.call = calling(dealer, said.append, rules=True)

    def begin() -> None:
        released, why = table.writer.begin_test({"uid": 1, "user": "tina", "role": "technician"})
        assert why is None
        table._release(released)

    def end() -> None:
        table._release(table.writer.end_test("done", table.bench.now_us))

    clock.after(500_000, begin)
    clock.after(500_000 + LONG_US, end)
    table.play()
    assert [result["round_status"] for result in table.results.values()] == ["settled"]
    assert table.starts == 1
    assert len(said) == 1


@pytest.mark.parametrize("rules", [True, False])
def test_a_stopped_round_is_ruled_on_by_the_supervisor_or_by_whoever_watches(rules: bool) -> None:
    plain = load(find("mbs3-misread"))
    before = [step.text for step in plain.steps]
    stop = next(n for n, text in enumerate(before) if text.startswith("supervisor menu"))
    texts = [*before[:stop], "dealer plays on"]
    steps = tuple(step for n, text in enumerate(texts) if (step := parse_step(n, text)))
    table, said = VirtualTable(replace(plain, steps=steps)), list[str]()
    dealer, clock = table.director.dealer, table.bench.clock
    dealer.call = calling(dealer, said.append, rules=rules)
    if not rules:
        hands: Iterator[int] = iter(())

        def viewer() -> None:
            """What ``underfelt sim do supervisor menu 51 1`` does."""
            nonlocal hands
            hands = dealer.supervisor_menu("51", "1")
            move()

        def move() -> None:
            if (pause := next(hands, None)) is not None:
                clock.after(pause, move)

        clock.after(LONG_US, viewer)
    table.play()
    assert len(table.results) == 1
    assert ("the supervisor rules: menu 51 1" in said) == rules
    assert (table.bench.now_us > LONG_US) == (not rules)


def test_a_deck_is_drawn_to_its_end_though_two_cards_leave_at_once() -> None:
    """Fifty-one pulls bring fifty-two cards, and nothing is missing."""
    bench = Bench().set_up(cards=False)
    bench.order(LockCards(False))
    told = ("dealer loads a new deck", "fault doublefeed", "draw 52")
    steps = tuple(step for text in told if (step := parse_step(0, text)) is not None)
    director = Director(replace(load(find("mega-plain")), steps=steps), bench.faults)
    director.start()
    bench.run_for(120 * SECOND)
    assert (director.ending.done, director.ending.notes) == (True, [])
    assert bench.sim.shoe is not None
    assert bench.sim.shoe.remaining == []


@pytest.mark.parametrize(
    ("unlocked_after", "notes"),
    [(SECOND, []), (60 * SECOND, ["no card came: the table keeps it locked"])],
)
def test_who_pulls_a_card_holds_on_until_the_gate_opens(
    unlocked_after: int, notes: list[str]
) -> None:
    """The prompt asks for a card a little before the shoe is unlocked."""
    bench = Bench().set_up(cards=False)
    bench.order(LockCards(True))
    told = ("dealer loads a new deck", "wait 3000", "draw")
    steps = tuple(step for text in told if (step := parse_step(0, text)) is not None)
    director = Director(replace(load(find("mega-plain")), steps=steps), bench.faults)
    director.start()
    while director.ending.steps < 3:
        bench.run_for(SECOND // 10)
    bench.sim.clock.after(unlocked_after, lambda: bench.order(LockCards(False)))
    bench.run_for(10 * SECOND)
    assert (director.ending.done, director.ending.notes) == (True, notes)
