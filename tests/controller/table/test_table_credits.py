"""Progressive wagers: sensors, credits by handshake, the meter, the magic card."""

from __future__ import annotations

from typing import Any

import pytest

from controller.rules.cards import card
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.entries import CreditDropped, CreditGivenBack
from drivers.base import DeviceState, Fault, StateReported
from drivers.orders import AcknowledgeCredit, EnableAcceptors, ReleaseCredit, ShowMeter
from drivers.readings import CreditReturned, CreditTaken, SwitchRead
from tests.clauses.tables import base, table
from tests.controller.table.console_player import ConsolePlayer, Table, console_player
from tests.paper import log_of


def betting(game: str, **options: Any) -> ConsolePlayer:
    hand = console_player(
        table(game, {1: "TcTd7h", 4: "2c3d9h"}, "4s5s"), {1: base(1000), 4: base(500)}
    )
    if options:
        hand.table = Table(hand.table.state, options=options)
    while not hand.table.lines[0].startswith("BETS OPEN"):
        hand.do(hand.words[0])
    return hand


def sensor(table_: Table, seat: int, on: bool) -> None:
    table_.feed(SwitchRead("sensors", f"progressive seat {seat}", on, table_.now_us))


def credits_read(table_: Table) -> list[f.What]:
    return [w for w in table_.facts if isinstance(w, f.CreditsRead)]


def test_a_sensor_tells_its_level_while_bets_are_open() -> None:
    table_ = betting("MBS3").table
    sensor(table_, 1, True)
    sensor(table_, 1, True)
    sensor(table_, 1, False)
    assert credits_read(table_) == [f.CreditsRead(1, 1), f.CreditsRead(1, 0)]


def test_a_wager_left_on_its_sensor_counts_at_the_next_opening() -> None:
    hand = console_player(table("MBS3", {1: "TcTd7h"}, "4s5s"), {1: base(1000)})
    sensor(hand.table, 3, True)
    assert credits_read(hand.table) == []
    while not hand.table.lines[0].startswith("BETS OPEN"):
        hand.do(hand.words[0])
    assert credits_read(hand.table) == [f.CreditsRead(3, 1)]


def test_a_late_progressive_wager_is_told_and_taking_it_away_is_not() -> None:
    hand = betting("MBS3")
    hand.bet()
    while not hand.table.lines[0].startswith("DECISION"):
        hand.do(hand.words[0])
    sensor(hand.table, 4, True)
    assert hand.table.lines[0] == "SEAT 4: NO CREDIT"
    hand.table.press("CLEAR")
    sensor(hand.table, 4, False)
    assert hand.table.lines[2] == "1: BACK OR RIDE?"
    assert credits_read(hand.table) == []


def test_an_acceptor_is_enabled_only_after_valid_base_wagers() -> None:
    table_ = betting("MEGA").table
    assert table_.enabled == frozenset()
    for spot in ("1", "2"):
        table_.put(4, spot, 500)
        assert table_.enabled == frozenset()
    table_.put(4, "$", 500)
    assert table_.enabled == {4}
    table_.put(4, "$", 0)
    assert table_.enabled == frozenset()


def test_a_credit_is_acknowledged_after_its_fact_and_released_after_its_drop() -> None:
    hand = betting("MEGA")
    hand.bet()
    hand.table.credit(4, 1)
    done = [o for o in hand.table.log if isinstance(o, AcknowledgeCredit | ReleaseCredit)]
    assert done == [AcknowledgeCredit(4, 1), ReleaseCredit(4, 1)]
    assert [e for e, _ in hand.table.entries[-2:]] == [
        f.Fact(f.CreditsRead(4, 1), f.Measured("sensors"), hand.table.now_us // 1000),
        CreditDropped(4, 1, hand.table.now_us // 1000),
    ]
    hand.table.credit(4, 2)
    assert credits_read(hand.table) == [f.CreditsRead(4, 1), f.CreditsRead(4, 2)]


def test_a_full_acceptor_is_disabled_and_one_credit_too_many_is_not_taken() -> None:
    hand = betting("MEGA")
    hand.bet()
    for number in range(1, 6):
        hand.table.credit(1, number)
    assert hand.table.enabled == {4}
    before = len(hand.table.log)
    hand.table.credit(1, 6)
    assert AcknowledgeCredit(1, 6) not in hand.table.log[before:]
    assert hand.table.lines[0] == "SEAT 1: NO CREDIT"


def test_a_credit_after_the_call_goes_back_and_the_acceptor_is_dark_at_once() -> None:
    hand = betting("MEGA")
    hand.bet()
    hand.table.sweeps = False
    hand.table.press("CLOSE")
    assert hand.table.enabled == frozenset()
    hand.table.credit(4, 1)
    assert credits_read(hand.table) == []
    assert AcknowledgeCredit(4, 1) not in hand.table.log


def test_a_credit_that_was_journalled_before_a_crash_is_not_counted_again() -> None:
    hand = betting("MEGA")
    hand.bet()
    state = hand.table.core.state
    again = Table(state, table_log=log_of(state, frozenset((4,))))
    again.credit(4, 1)
    assert credits_read(again) == []
    assert AcknowledgeCredit(4, 1) in again.log
    again.credit(4, 2)
    assert credits_read(again) == [f.CreditsRead(4, 1)]


def test_a_credit_given_back_by_the_acceptor_counts_no_more() -> None:
    hand = betting("MEGA")
    hand.bet()
    hand.table.kept_log.memory.untaken.add(4)
    hand.table.feed(CreditReturned("acceptors", 4, 1, 0))
    assert credits_read(hand.table) == [f.CreditsRead(4, 0)]
    assert hand.table.kept_log.memory.untaken == set()


def test_a_credit_given_back_after_the_lock_stays_counted_and_the_next_one_counts_anew() -> None:
    hand = betting("MEGA")
    hand.bet()
    hand.table.credit(4, 1)
    hand.table.kept_log.memory.untaken.add(4)  # counted, and its acceptor has not let go
    hand.do("CLOSE")
    before = credits_read(hand.table)
    hand.table.feed(CreditReturned("acceptors", 4, 1, 0))
    assert credits_read(hand.table) == before, "the wager is locked"
    assert isinstance(hand.table.entries[-1][0], CreditGivenBack)
    assert hand.table.kept_log.memory.untaken == set(), "or the next credit would not be counted"


def acceptors(state: DeviceState, code: str = "") -> StateReported:
    return StateReported("acceptors", state, Fault(code, "") if code else None, 0)


def restarted() -> Table:
    """Seat 4's credit was journalled before the restart; what became of its chip is open."""
    hand = betting("MEGA")
    hand.bet()
    hand.table.credit(4, 1)
    state = hand.table.core.state
    return Table(state, table_log=log_of(state, frozenset((4,))))


def test_after_a_restart_a_credit_that_is_nowhere_is_with_the_player() -> None:
    table_ = restarted()
    table_.feed(acceptors(DeviceState.READY))
    assert credits_read(table_) == [f.CreditsRead(4, 0)]


def test_after_a_restart_a_chip_in_the_box_closes_its_credit() -> None:
    table_ = restarted()
    orders = table_.feed(CreditTaken("sensors", 4, 0, 0))
    table_.feed(acceptors(DeviceState.READY))
    assert orders[0] == ReleaseCredit(4, 0)
    assert credits_read(table_) == []


def test_a_credit_in_doubt_waits_for_the_supervisor() -> None:
    table_ = restarted()
    table_.feed(acceptors(DeviceState.READY, "E-ACC-003"))
    assert table_.lines[0] == "SEAT 4: CREDIT LOST"
    assert credits_read(table_) == []
    table_.menu("52")
    assert table_.lines[2] == "TURN THE KEY"
    table_.as_supervisor("52", 4, 4)
    assert table_.told() == f.BreachNoted((4,), "credit in doubt: it stands")
    assert ReleaseCredit(4, 0) in table_.log
    assert table_.lines[2] == "NO MORE BETS?"


# --- meter and magic card ----------------------------------------------------------------------


def test_the_meter_shows_amount_stale_closed_and_pending() -> None:
    hand = console_player(table("MBS3", {1: "TcJcQc", 4: "2c3d9h"}, "KcAc"), {
        1: base(1000, progressive=100), 4: base(500),
    })  # fmt: skip
    table_ = hand.table
    table_.fact(f.MeterReported(12_345_678))
    assert table_.meter == "   $123,456.78"
    table_.fact(f.LinkLost())
    assert table_.meter == "STALE     0M"
    assert table_.core.wake_us == 60_000_000
    table_.wait(61_000_000)
    assert table_.meter == "STALE     1M"
    hand.menu("36")
    table_.press("OPEN")
    assert table_.meter == "CLOSED"
    table_.fact(f.LinkRestored())
    assert table_.meter == "   $123,456.78"
    while not table_.lines[2].startswith("JACKPOT"):
        hand.do(hand.words[0])
    assert table_.meter == "PENDING"
    assert table_.lines[3] == "WAIT"
    claims = [e for e in table_.core.outbox if isinstance(e, fx.ClaimJackpot)]
    assert claims == [fx.ClaimJackpot(1, ((1, "royal flush", 100),))]
    table_.fact(f.JackpotLocked(12_345_678))
    assert table_.lines[1] == "SEAT 1 PAY 153457.78"


def test_a_game_without_progressive_has_a_dark_meter_and_no_acceptors() -> None:
    table_ = Table(table("PP6").state)
    assert not [o for o in table_.log if isinstance(o, EnableAcceptors | ShowMeter)]


def test_a_selector_that_is_silent_does_not_stop_the_dealer_for_ever() -> None:
    hand = betting("MEGA")
    hand.bet()
    hand.do("CLOSE")
    table_ = hand.table
    assert table_.lines[2:] == ("DRAWING MAGIC CARD", "WAIT")
    assert [e for e in table_.core.outbox if isinstance(e, fx.RequestSelection)]
    assert table_.core.wake_us == table_.now_us + 3_000_000
    table_.wait(3_000_000)
    assert (table_.lines[3], table_.locked()) == ("DEAL", False)


@pytest.mark.parametrize(("name", "shown"), [("7h", "7h"), ("Td", "Td")])
def test_the_magic_card_is_shown_when_it_is_revealed(name: str, shown: str) -> None:
    hand = betting("MEGA")
    hand.bet()
    hand.do("CLOSE")
    assert hand.table.magic() is None
    hand.table.fact(f.SelectionCommitted("digest"), "selector")
    hand.table.fact(f.SelectionRevealed(card(name), 4), "selector")
    assert hand.table.magic() == shown
    assert hand.table.lamps[3] == "lucky"
