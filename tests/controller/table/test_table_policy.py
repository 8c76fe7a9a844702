"""The house's patience: settle time and grace at the closing call, chips of a wager taken back."""

from __future__ import annotations

from typing import Any

import pytest

from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.table.options import Options
from drivers.orders import SweepAntennas
from drivers.readings import CardEvent, SpotMoving, SpotSettled, SwitchRead
from tests.clauses.tables import base, table
from tests.controller.table.console_player import (
    STEP_US,
    ConsolePlayer,
    FakeChip,
    Table,
    console_player,
)

MS = 1_000


def betting(game: str = "MBS3", **options: Any) -> ConsolePlayer:
    """Bets are open and two seats have theirs down, long ago."""
    croupier = table(game, {2: "TcTd7h", 5: "2c3d9h"}, "4s5s")
    hand = console_player(croupier, {2: base(1000), 5: base(500)})
    hand.table = Table(croupier.state, options={"options": Options(**options)})
    while not hand.table.lines[0].startswith("BETS OPEN"):
        hand.do(hand.words[0])
    hand.bet()
    hand.table.now_us += 10_000 * MS
    return hand


def exchange(table_: Table, before_ms: int) -> None:
    """Seat 5's $ wager is another chip of the same value, first read so long before the next key
    is pressed."""
    antenna, tags = table_.antenna(5, "$"), frozenset((table_.tag(FakeChip(500)),))
    table_.lies[antenna] = tags
    table_.feed(SpotSettled(antenna, tags, table_.now_us, table_.now_us))
    table_.now_us += before_ms * MS - STEP_US


# --- settle time -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settle_ms", "before_ms", "uncertain"),
    [(300, 301, False), (300, 299, True), (300, 499, False), (500, 499, True), (100, 101, False)],
)
def test_a_spot_that_changed_within_the_settle_time_before_the_call_is_uncertain(
    settle_ms: int, before_ms: int, uncertain: bool
) -> None:
    table_ = betting(settle_us=settle_ms * MS).table
    exchange(table_, before_ms)
    table_.press("CLOSE")
    assert table_.lines[2] == ("CHIPS MOVED AT CLOSE" if uncertain else "NEXT: SEAT 2")
    assert (table_.phase() is Phase.LOCKED) is not uncertain


def test_what_is_uncertain_is_confirmed_by_calling_again() -> None:
    table_ = betting().table
    exchange(table_, 100)
    table_.press("CLOSE")
    assert table_.lines[1:] == ("SEAT 5", "CHIPS MOVED AT CLOSE", "CHIPS CLOSE MENU 24")
    assert f.BetsClosed() not in table_.facts
    table_.press("CLOSE")
    assert table_.phase() is Phase.LOCKED
    assert table_.core.state.seats[5].locked["$"] == 500


def test_a_spot_that_settles_otherwise_after_the_call_is_uncertain() -> None:
    table_ = betting().table
    table_.sweeps = False
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    table_.now_us += 700 * MS
    table_.put(5, "$", 2500)
    table_.answer(order)
    assert table_.lines[1:3] == ("SEAT 5", "CHIPS MOVED AT CLOSE")
    assert table_.core.state.spots[5, "$"] == 2500, "what lies there is known all the same"


def test_a_spot_told_late_that_had_settled_in_time_counts() -> None:
    table_ = betting("PP6").table
    table_.sweeps = False
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    antenna = table_.antenna(5, "$")
    tags = frozenset((table_.tag(FakeChip(500)),))
    table_.lies[antenna] = tags
    before_us = table_.now_us - 301 * MS
    table_.now_us += 700 * MS
    table_.feed(SpotSettled(antenna, tags, table_.now_us, before_us))
    table_.answer(order)
    assert table_.phase() is Phase.LOCKED


# --- grace -------------------------------------------------------------------------------------


def test_without_grace_the_sweep_begins_with_the_call() -> None:
    table_ = betting().table
    table_.sweeps = False
    assert [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]


def test_within_the_grace_a_wager_is_not_late() -> None:
    table_ = betting("NSW", late_grace_us=1_500 * MS, settle_us=300 * MS).table
    table_.sweeps = False
    assert not [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    pressed_ms = table_.now_us // MS
    assert table_.lines[2:] == ("READING THE CHIPS", "WAIT")
    assert table_.core.wake_us == table_.now_us + 1_500 * MS
    table_.now_us += 1_000 * MS
    for spot in ("1", "2", "$"):
        table_.put(6, spot, 1000)
    orders = table_.wait(500 * MS)
    (order,) = [o for o in orders if isinstance(o, SweepAntennas)]
    table_.answer(order)
    assert table_.phase() is Phase.LOCKED
    assert sorted(table_.core.state.seats) == [2, 5, 6]
    assert table_.said_by[-1][2] == pressed_ms, "the call counts from its press"


def test_after_the_grace_a_wager_is_late() -> None:
    table_ = betting("NSW", late_grace_us=1_500 * MS, settle_us=300 * MS).table
    table_.press("CLOSE")
    table_.wait(1_500 * MS)
    assert table_.phase() is Phase.LOCKED
    table_.put(5, "$", 2500)
    assert table_.lines[0] == "SEAT 5: LATE BET"


def test_chips_that_change_at_the_end_of_the_grace_are_uncertain() -> None:
    table_ = betting("NSW", late_grace_us=1_500 * MS, settle_us=300 * MS).table
    table_.press("CLOSE")
    table_.now_us += 1_300 * MS
    table_.put(5, "$", 2500)
    table_.wait(200 * MS)
    assert table_.lines[1:3] == ("SEAT 5", "CHIPS MOVED AT CLOSE")


def test_in_the_grace_the_acceptors_stay_open_and_a_card_waits() -> None:
    hand = betting("MEGA", late_grace_us=1_500 * MS)
    table_ = hand.table
    table_.sweeps = False
    table_.press("CLOSE")
    assert table_.enabled == {2, 5}
    table_.credit(2, 1)
    assert table_.core.state.credits == {2: 1}
    assert table_.feed(CardEvent("shoe", "misread", 1)) == []
    assert not isinstance(table_.told(), f.UnknownCardSeen)
    orders = table_.wait(1_500 * MS)
    assert table_.enabled == frozenset()
    table_.credit(5, 1)
    assert table_.lines[0] == "SEAT 5: NO CREDIT"
    (order,) = [o for o in orders if isinstance(o, SweepAntennas)]
    table_.answer(order)
    assert isinstance(table_.told(), f.UnknownCardSeen)


# --- progressive sensors at the call -----------------------------------------------------------


def test_a_progressive_wager_during_the_sweep_is_late() -> None:
    table_ = betting("MBS3").table
    table_.sweeps = False
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    table_.feed(SwitchRead("sensors", "progressive seat 5", True, table_.now_us + 1))
    assert not any(isinstance(w, f.CreditsRead) for w in table_.facts)
    table_.answer(order)
    assert table_.phase() is Phase.LOCKED
    assert "progressive" not in table_.core.state.seats[5].locked
    assert table_.lines[0] == "SEAT 5: NO CREDIT"


def test_it_counts_if_the_call_comes_to_nothing() -> None:
    table_ = betting("MBS3").table
    table_.sweeps = False
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    table_.feed(SpotMoving(table_.antenna(2, "1"), table_.now_us))
    table_.feed(SwitchRead("sensors", "progressive seat 5", True, table_.now_us + 1))
    table_.answer(order)
    assert table_.told() == f.CreditsRead(5, 1)


# --- chips of a wager taken back ---------------------------------------------------------------


def deciding(**options: Any) -> ConsolePlayer:
    hand = betting(**options)
    while not hand.table.lines[0].startswith("DECISION"):
        hand.do(hand.words[0])
    return hand


def alarms(table_: Table) -> list[fx.RaiseAlarm]:
    return [e for e in table_.core.outbox if isinstance(e, fx.RaiseAlarm)]


def test_chips_that_stay_after_a_take_back_are_overdue_and_need_the_key() -> None:
    table_ = deciding(take_back_us=4_000 * MS).table
    table_.press("BACK")
    decided_us = table_.now_us
    assert table_.core.wake_us == decided_us + 4_000 * MS
    table_.press("RIDE")
    assert table_.lines[1:] == ("SEAT 2  1      10.00", "GIVE BACK WAGER 1", "CHIPS KEY MENU 27")
    table_.wait(decided_us + 4_000 * MS - 1 - table_.now_us)
    assert alarms(table_) == []
    table_.wait(1)
    assert alarms(table_) == [fx.RaiseAlarm("take back overdue", 2, "1: 1000", "MBS3-3.8")]
    assert table_.lines[2:] == ("GIVE BACK 1: LATE", "CHIPS KEY MENU 27")
    assert table_.lamps[1] == "fault"
    table_.press("COMM1")
    assert table_.lines[2] == "PUT CHIPS RIGHT"
    table_.put(2, "1", 0)
    assert (table_.lines[3], table_.lamps[1]) == ("COMM1", "live")
    assert table_.core.wake_us is None


def test_the_dealer_cannot_take_an_overdue_decision_back_but_a_supervisor_can() -> None:
    table_ = deciding(take_back_us=4_000 * MS).table
    table_.press("RIDE", "BACK")
    assert table_.lines[3] == "CHIPS UNDO"
    table_.wait(4_000 * MS)
    assert table_.lines[3] == "CHIPS KEY MENU 27"
    table_.press("UNDO")
    assert table_.lines[2] == "TURN THE KEY"
    table_.as_supervisor("27", 5, 1, 1)
    assert table_.told() == f.DecisionCorrected(5, "1", "ride")
    assert table_.lines[3] == "COMM1"


def test_chips_that_are_gone_in_time_are_never_overdue() -> None:
    table_ = deciding(take_back_us=4_000 * MS).table
    table_.press("BACK")
    table_.put(2, "1", 0)
    assert table_.core.wake_us is None
    table_.wait(60_000 * MS)
    assert alarms(table_) == []


def test_part_of_the_chips_is_not_enough() -> None:
    table_ = deciding(take_back_us=4_000 * MS).table
    table_.press("BACK")
    table_.put(2, "1", 500)
    table_.wait(4_000 * MS)
    assert [a.detail for a in alarms(table_)] == ["1: 500"]


def test_no_limit_is_no_limit() -> None:
    table_ = deciding(take_back_us=0).table
    table_.press("BACK")
    assert table_.core.wake_us is None
    table_.wait(600_000 * MS)
    assert alarms(table_) == []


def test_after_a_restart_the_time_begins_anew() -> None:
    table_ = deciding(take_back_us=4_000 * MS).table
    table_.press("BACK")
    again = Table(
        table_.core.state,
        options={"options": Options(take_back_us=4_000 * MS), "now_us": 7_000 * MS},
        now_us=7_000 * MS,
    )
    assert again.core.wake_us == 11_000 * MS
    again.wait(4_000 * MS)
    assert [a.code for a in alarms(again)] == ["take back overdue"]
