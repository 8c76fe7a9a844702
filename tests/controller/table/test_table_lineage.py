"""Chips of one seat at another: told to the dealer, confirmed by a person, never more than that."""

from __future__ import annotations

from typing import Any

import pytest

from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.facts import Declared, Role
from controller.rules.engine.state import Phase
from controller.table.lineage import Lineage
from drivers.readings import Uid
from tests.clauses.tables import base, table
from tests.controller.table.console_player import (
    ConsolePlayer,
    FakeChip,
    Table,
    console_player,
    nets,
)

HANDS = {2: "TcTd7h", 5: "2c3d9h"}
SPOTS = ("1", "2", "$")


def played(game: str = "NSW", **settings: Any) -> tuple[ConsolePlayer, dict[int, frozenset[Uid]]]:
    """A round in which seat 2 won on a pair of tens and seat 5 lost; bets are open again. The
    chips that each had on its spots, and those paid onto seat 2's."""
    hand = console_player(table(game, HANDS, "4s5s", **settings), {2: base(1000), 5: base(500)})
    deck = list(hand.deck)
    table_ = hand.table
    until(hand, "SETTLEMENT")
    had = {n: tags(table_, n) for n in (2, 5)}
    while hand.seat != 2 or hand.words[0] != "PAID":
        hand.do(hand.words[0])
    paid = table_.tag(FakeChip(1000))
    table_.lay(2, "$", tags_on(table_, 2, "$") | {paid})
    had[2] |= {paid}
    hand.play()
    assert nets(table_) == {2: 3000, 5: -1500}
    hand.deck, hand.placed = deck, True
    until(hand, "BETS OPEN")
    table_.core.outbox.clear()
    return hand, had


def until(hand: ConsolePlayer, state: str) -> None:
    while not hand.table.lines[0].startswith(state):
        hand.do(hand.words[0])


def tags_on(table_: Table, seat: int, spot: str) -> frozenset[Uid]:
    return table_.lies.get(table_.antenna(seat, spot), frozenset())


def tags(table_: Table, seat: int) -> frozenset[Uid]:
    return frozenset().union(*(tags_on(table_, seat, spot) for spot in SPOTS))


def bet(table_: Table, seat: int, chips: frozenset[Uid] | None = None) -> None:
    """Ten on each spot: of these chips, or of chips nobody has seen."""
    of = [t for t in sorted(chips or ()) if table_.register[t].cents == 1000]
    for spot in SPOTS:
        chip = of.pop() if of else table_.tag(FakeChip(1000))
        table_.lay(seat, spot, frozenset((chip,)))


def alarms(table_: Table) -> list[tuple[str, int | None, str, str]]:
    found = [e for e in table_.core.outbox if isinstance(e, fx.RaiseAlarm)]
    return [(a.code, a.seat, a.detail, a.clause) for a in found]


@pytest.mark.clause("NSW-5.5")
def test_chips_of_one_seat_at_another_that_bets_too_warn_and_nothing_else() -> None:
    hand, had = played()
    table_ = hand.table
    bet(table_, 2)
    bet(table_, 6, had[2])
    assert table_.lines[0] == "SEAT 6: CHIPS OF 2"
    assert table_.lines[2:] == ("NO MORE BETS?", "CLOSE"), "no block: line 4 goes on"
    assert alarms(table_)[0] == ("chip lineage", 6, "1 of seat 2", "NSW-5.5")
    assert table_.core.state.spots[6, "$"] == 1000
    table_.press("CLOSE")
    assert table_.phase() is Phase.LOCKED
    assert dict(table_.core.state.seats[6].locked) == base(1000)


@pytest.mark.clause("NSW-5.5")
def test_the_dealer_confirms_and_who_did_is_on_the_record() -> None:
    hand, had = played()
    table_ = hand.table
    bet(table_, 2)
    bet(table_, 6, had[2])
    table_.menu("66", 26)
    noted = f.BreachNoted((2, 6), "one player at both seats: chip lineage")
    assert table_.said_by[-1][:2] == (noted, Declared("D1", Role.DEALER))
    assert table_.lines[2] == "NO MORE BETS?", "the notice has gone"
    table_.menu("66", 25)
    assert table_.told() == f.BreachNoted((2, 5), "console"), "another breach is only noted"


def test_the_warning_can_be_cleared_and_comes_once_a_round() -> None:
    hand, had = played()
    table_ = hand.table
    bet(table_, 2)
    bet(table_, 6, had[2])
    table_.press("CLEAR")
    assert table_.lines[2] == "NO MORE BETS?"
    table_.lay(6, "1", frozenset())
    table_.lay(6, "1", frozenset(sorted(had[2])[:1]))
    assert table_.lines[2] == "NO MORE BETS?"
    assert len(alarms(table_)) == 1


def test_it_does_not_matter_who_bets_first() -> None:
    hand, had = played()
    table_ = hand.table
    bet(table_, 6, had[2])
    assert alarms(table_) == [], "seat 2 does not play: its player may have moved"
    bet(table_, 2)
    assert table_.lines[0] == "SEAT 6: CHIPS OF 2"


def test_chips_paid_onto_the_spot_count_as_well() -> None:
    hand, had = played()
    table_ = hand.table
    (paid,) = had[2] - {t for t in had[2] if t < max(had[2])}
    bet(table_, 2)
    bet(table_, 6, frozenset((paid,)))
    assert alarms(table_) == [("chip lineage", 6, "1 of seat 2", "NSW-5.5")]


def test_chips_that_were_lost_are_the_houses_and_give_no_hint() -> None:
    hand, had = played()
    table_ = hand.table
    bet(table_, 5)
    lost = sorted(had[5])
    for spot, tag in zip(SPOTS, lost, strict=True):
        table_.lay(6, spot, frozenset((tag,)))
    assert alarms(table_) == []


def test_a_seats_own_chips_are_no_hint() -> None:
    hand, had = played()
    bet(hand.table, 2, had[2])
    bet(hand.table, 5)
    assert alarms(hand.table) == []


def test_after_a_round_without_them_chips_are_nobodys() -> None:
    hand, had = played()
    table_ = hand.table
    hand.wagers, hand.placed = {5: base(500)}, False
    hand.play()
    until(hand, "BETS OPEN")
    table_.core.outbox.clear()
    bet(table_, 2)
    bet(table_, 6, had[2])
    assert alarms(table_) == []


def test_chips_that_were_down_before_the_opening_are_told_at_it() -> None:
    hand = console_player(table("NSW", HANDS, "4s5s"), {2: base(1000), 5: base(500)})
    table_ = hand.table
    until(hand, "SETTLEMENT")
    had = tags(table_, 2)
    hand.play()
    bet(table_, 2)
    bet(table_, 6, had)
    assert alarms(table_) == []
    hand.placed = True
    while table_.phase() is not Phase.BETTING:
        hand.do(hand.words[0])
    assert table_.lines[0] == "SEAT 6: CHIPS OF 2"


def test_the_last_rounds_warning_goes_with_the_next_opening() -> None:
    hand, had = played()
    table_ = hand.table
    bet(table_, 2)
    bet(table_, 6, had[2])
    assert table_.lines[0] == "SEAT 6: CHIPS OF 2"
    hand.deck = list(table("NSW", {2: "2c4d7h", 6: "3c5d9h"}, "JsKs").deck)
    hand.play()
    until(hand, "BETS OPEN")
    assert table_.lines[2] == "PLACE YOUR BETS"


# --- elsewhere ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [({}, []), ({"multi_seat": "not_allowed"}, [("chip lineage", 6, "1 of seat 2", "house rule")])],
)
def test_other_books_are_silent_unless_the_house_says_otherwise(
    settings: dict[str, str], said: list[object]
) -> None:
    hand, had = played("MBS3", **settings)
    bet(hand.table, 2)
    bet(hand.table, 6, had[2])
    assert alarms(hand.table)[:1] == said


def test_the_money_is_the_same_with_and_without_a_hint() -> None:
    facts = []
    for multi_seat in ("allowed", "not_allowed"):
        hand, had = played("MBS3", multi_seat=multi_seat)
        bet(hand.table, 2)
        bet(hand.table, 6, had[2])
        hand.table.press("CLOSE")
        facts.append((hand.table.facts, dict(hand.table.core.state.seats)))
    assert facts[0] == facts[1]


# --- the pure part -----------------------------------------------------------------------------

A, B, C = Uid("A"), Uid("B"), Uid("C")


def ended(**statuses: str) -> dict[str, Any]:
    wagers = {spot: {"status": status} for spot, status in statuses.items()}
    return {"seats": [{"seat": 2, "wagers": wagers}]}


@pytest.mark.parametrize(
    ("status", "kept"), [("win", True), ("withdrawn", True), ("void", True), ("lose", False)]
)
def test_what_was_not_lost_is_the_seats_own(status: str, kept: bool) -> None:
    lineage = Lineage()
    lineage.locked({(2, "x"): frozenset((A,))})
    lineage.saw((2, "x"), (B,))
    lineage.ended(ended(x=status))
    assert lineage.owners == (dict.fromkeys((A, B), 2) if kept else {})


def test_a_hint_names_both_seats_and_how_many_chips() -> None:
    lineage = Lineage({A: 2, B: 2, C: 3})
    lying = {(6, "1"): frozenset((A,)), (6, "2"): frozenset((B, C)), (2, "1"): frozenset[Uid]()}
    assert lineage.hints(lying, (2, 6)) == [(2, 6, 2)]
    assert lineage.hints(lying, (2, 6)) == []
    assert lineage.confirms((6, 2)) == (2, 6)
    assert lineage.confirms((3, 6)) is None
    assert lineage.opened() == [(2, 6)]
    assert lineage.hints(lying, (2, 3, 6)) == [(2, 6, 2), (3, 6, 1)]
