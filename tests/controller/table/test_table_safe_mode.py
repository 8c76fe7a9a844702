"""Safe mode: sensors are read, and nothing is contributed to the progressive."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.table.options import Options
from drivers.orders import ShowSign
from drivers.readings import SwitchRead
from tests.clauses.tables import base, refused, table
from tests.controller.table.console_player import ConsolePlayer, Table, console_player, nets

CONFIGURATION = f.Measured("configuration")
SAFE = {"options": Options(safe_mode=True)}
HANDS = {2: "TcTd7h", 5: "2c3d9h"}


def safe(game: str) -> ConsolePlayer:
    croupier = table(game, HANDS, "4s5s")
    hand = console_player(croupier, {2: base(1000), 5: base(500)})
    hand.table = Table(croupier.state, options=SAFE)
    hand.table.core.set_mode(0)
    hand.table.wait(0)
    return hand


def opened(hand: ConsolePlayer) -> Table:
    while hand.table.phase() is not Phase.BETTING:
        hand.do(hand.words[0])
    return hand.table


def contributions(table_: Table) -> list[object]:
    return [e for e in table_.core.outbox if isinstance(e, fx.PostContributions)]


def sensor(table_: Table, seat: int, on: bool) -> None:
    table_.feed(SwitchRead("sensors", f"progressive seat {seat}", on, table_.now_us))


@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_it_is_a_fact_and_prompt_meter_and_sign_say_so(game: str) -> None:
    hand = safe(game)
    assert hand.table.facts == [f.ProgressiveClosed("safe mode")]
    assert hand.table.said_by[0][1] == CONFIGURATION
    assert (hand.table.meter, hand.table.last(ShowSign)) == ("CLOSED", ShowSign("CLOSED"))
    table_ = hand.table
    while hand.words[0] != "OPEN":
        hand.do(hand.words[0])
    assert table_.lines[2] == "OPEN, NO PROGRESSIVE"
    hand.do("OPEN")
    assert table_.lines[2] == "BETS, NO PROGRESSIVE"
    assert table_.enabled == frozenset()
    assert table_.meter == "CLOSED"


def test_a_wager_on_a_sensor_is_refused_told_and_contributes_nothing() -> None:
    hand = safe("MBS3")
    table_ = opened(hand)
    hand.bet()
    sensor(table_, 2, True)
    assert table_.lines[0] == "SEAT 2: PROG CLOSED"
    alarm = fx.RaiseAlarm("progressive closed", 2, "safe mode", "MBS3-3.5")
    assert alarm in table_.core.outbox
    sensor(table_, 2, False)
    assert table_.lines[2] == "NO MORE BETS?", "the notice goes with the wager"
    sensor(table_, 2, True)
    hand.play()
    assert contributions(table_) == []
    assert nets(table_) == {2: 3000, 5: -1500}


def test_a_wager_that_lay_on_its_sensor_before_the_opening_is_told_at_it() -> None:
    hand = safe("MBS3")
    sensor(hand.table, 5, True)
    table_ = opened(hand)
    assert table_.lines[0] == "SEAT 5: PROG CLOSED"
    assert table_.core.state.credits.get(5, 0) == 0


def test_a_credit_is_given_back() -> None:
    hand = safe("MEGA")
    table_ = opened(hand)
    hand.bet()
    assert table_.enabled == frozenset()
    table_.credit(2, 1)
    assert table_.lines[0] == "SEAT 2: PROG CLOSED"
    assert table_.enabled == frozenset()
    hand.play()
    assert contributions(table_) == []


def test_chips_on_a_progressive_spot_go_back_and_are_not_locked() -> None:
    hand = safe("MBS3")
    table_ = opened(hand)
    hand.bet()
    table_.put(2, "progressive", 100)
    assert table_.lines[0] == "SEAT 2 BACK 1"
    table_.press("CLEAR", "CLOSE")
    assert table_.phase() is Phase.LOCKED
    assert "progressive" not in table_.core.state.seats[2].locked
    assert contributions(table_) == []


def test_a_supervisor_cannot_declare_one() -> None:
    hand = safe("MBS3")
    table_ = opened(hand)
    hand.bet()
    table_.as_supervisor("53", 2, 4, 100)
    assert table_.lines[2] == "NO CREDIT NOW"
    assert f.WagerDeclared(2, "progressive", 100) not in table_.facts


def test_switched_off_it_is_a_fact_too_and_the_next_round_contributes() -> None:
    hand = safe("MBS3")
    table_ = hand.table
    table_.core.configure(table_.core.prompter.texts, Options())
    table_.core.set_mode(0)
    assert table_.told() == f.ProgressiveOpened()
    hand.wagers = {2: base(1000, progressive=100), 5: base(500)}
    hand.play()
    assert contributions(table_) == [fx.PostContributions(1, ((2, 100),))]


def test_nothing_is_told_twice_or_where_there_is_no_progressive() -> None:
    hand = safe("MBS3")
    hand.table.core.set_mode(5)
    assert len(hand.table.facts) == 1
    assert safe("NSW").table.facts == []


# --- the engine --------------------------------------------------------------------------------


def test_in_the_betting_what_was_placed_goes_back_and_after_the_lock_it_stands() -> None:
    croupier = table("MBS3", HANDS, "4s5s")
    croupier.prepare()
    croupier.do(f.BetsOpened())
    for seat in (2, 5):
        for spot in ("1", "2", "$"):
            croupier.place(seat, spot, 1000)
    croupier.place(5, "progressive", 100)
    betting = croupier.state
    effects = croupier.do(f.ProgressiveClosed("safe mode"), CONFIGURATION)
    assert fx.ReturnWager(5, "progressive", 100, "MBS3-3.5") in effects
    assert fx.ArmAcceptor(5, False) in effects
    assert croupier.state.credits == {}
    no = refused(croupier.try_(f.CreditsRead(5, 1), f.Measured("acceptors")))
    assert no == fx.Refused("safe mode: the progressive is closed", "MBS3-3.5")
    croupier.state = betting
    croupier.do(f.BetsClosed())
    assert croupier.do(f.ProgressiveClosed("safe mode"), CONFIGURATION) == ()
    assert croupier.state.seats[5].locked["progressive"] == 100


def test_the_next_round_is_closed_as_well() -> None:
    state = replace(table("MBS3").state, progressive_closed="safe mode")
    croupier = table("MBS3")
    croupier.state = state
    croupier.prepare()
    effects = croupier.do(f.BetsOpened())
    assert croupier.state.progressive_closed == "safe mode"
    assert fx.ArmAcceptor(2, False) in effects
    assert fx.ArmAcceptor(2, True) not in effects


def test_a_lost_link_locks_no_chips_on_a_progressive_spot_either() -> None:
    croupier = table("MBS3", HANDS, "4s5s")
    croupier.prepare()
    croupier.do(f.BetsOpened())
    for spot in ("1", "2", "$", "progressive"):
        croupier.do(f.WagerRead(2, spot, 1000 if spot != "progressive" else 100), CHIPS)
    croupier.do(f.LinkLost(), f.Measured("link"))
    effects = croupier.do(f.BetsClosed())
    assert fx.ReturnWager(2, "progressive", 100, "MBS3-3.5") in effects
    assert not [e for e in effects if isinstance(e, fx.PostContributions)]


CHIPS = f.Measured("chips")
