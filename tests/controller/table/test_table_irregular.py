"""Irregular rounds by the finger: what a supervisor or the book decides, with literal amounts."""

from __future__ import annotations

import pytest

from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from drivers.base import DeviceState, Fault, StateReported
from drivers.orders import AcknowledgeReading, ShowLamps
from drivers.readings import CardRead, MetersRead, SealedCard, SupplyRead, SwitchRead
from tests.clauses.tables import base, table
from tests.controller.table.console_player import ConsolePlayer, Table, console_player, nets

WAGERS = {2: base(1000), 5: base(500)}


def until(hand: ConsolePlayer, word: str) -> Table:
    while not any(word in line for line in hand.table.lines):
        hand.do(hand.words[0])
    return hand.table


def mbs3() -> ConsolePlayer:
    return console_player(table("MBS3", {2: "TcTd7h", 5: "2c3d9h"}, "4s5s"), WAGERS)


def test_a_misread_card_is_dealt_as_what_the_supervisor_says_it_is() -> None:
    hand = mbs3()
    table_ = until(hand, "BETS CLOSED")
    hand.deck.pop()
    table_.feed(CardRead("shoe", 1, SealedCard(0xFF), 0))
    assert table_.lines == ("STOP             R 1", "ANSWER 5 4 1", "CARD IN DOUBT", "KEY MENU 51")
    assert table_.last(ShowLamps).beacon
    hand.rules = {"51": lambda _: (5, "101")}  # the ten of clubs, as it was
    hand.play()
    assert nets(table_) == {2: 3000, 5: -1500}


def test_two_exposed_cards_void_an_mbs_round_and_end_returns_the_stakes() -> None:
    hand = mbs3()
    table_ = until(hand, "BETS CLOSED")
    hand.do("DEAL")
    table_.menu("11", 2)
    assert table_.lines[2:] == ("RETURN ALL WAGERS", "END")
    assert table_.lamps == ("off", "void", "off", "off", "void", "off", "off")
    hand.play()
    assert table_.told() == f.VoidCleared()
    assert nets(table_) == {2: 0, 5: 0}


def test_an_absent_player_is_held_and_the_supervisor_lets_the_wagers_ride() -> None:
    hand = mbs3()
    hand.rules = {"52": lambda seat: (seat, 2)}
    table_ = until(hand, "DECISION 1")
    table_.menu("19", 2, 1)
    assert table_.lines[3] == "RIDE BACK HANDLED"
    hand.do("RIDE")
    assert table_.lines[1:] == ("SEAT 2", "SUPERVISOR DECIDES", "KEY MENU 52")
    assert table_.lamps[1] == "fault"
    hand.play()
    assert nets(table_) == {2: 3000, 5: -1500}


def test_nsw_unequal_wagers_are_corrected_or_folded() -> None:
    for wagers, keys, result in (
        ({"1": 500, "2": 500, "$": 1000}, "FOLD", {2: 0, 5: -1500}),
        ({"1": 1000, "2": 1000, "$": 1000}, "MENU 22", {2: 3000, 5: -1500}),
    ):
        hand = console_player(
            table("NSW", {2: "TcTd7h", 5: "2c3d9h"}, "4s5s"),
            {2: {"1": 500, "2": 500, "$": 1000}, 5: base(500)},
        )
        table_ = until(hand, "BETS CLOSED")
        assert table_.lines[1:] == ("SEAT 2", "WAGERS NOT EQUAL", "CHIPS FOLD DEAL")
        for spot, cents in wagers.items():
            table_.put(2, spot, cents)
        hand.rules = {"22": lambda seat: (seat, 1000)}
        assert keys in hand.words
        hand.do(keys)
        assert table_.lines[3] == "DEAL"
        hand.play()
        assert nets(table_) == result


def test_a_lifted_wager_that_loses_is_owed_and_closed_by_the_supervisor() -> None:
    hand = mbs3()
    table_ = until(hand, "BETS CLOSED")
    hand.do("DEAL")
    table_.put(5, "$", 0)
    assert table_.lines[0] == "SEAT 5: CHIPS GONE"
    table_.press("CLEAR")
    until(hand, "SHOW")
    hand.do("SHOW")
    assert table_.lines[1:] == ("SEAT 5 COLLECT 15.00", "WAGER GONE: OWES", "KEY PAID")
    table_.press("PAID")
    assert table_.lines[2] == "SEAT OWES: TURN KEY"
    hand.play()
    assert nets(table_) == {2: 3000, 5: -1500}


def test_a_dispute_keeps_the_round_open_until_it_is_decided() -> None:
    hand = mbs3()
    until(hand, "SHOW")
    hand.table.menu("61", 2)
    until(hand, "DISPUTE")
    assert hand.table.lines[3] == "KEY MENU 62"
    hand.play()
    assert f.DisputeDecided(2, "console") in hand.table.facts


def test_a_card_before_the_call_locks_and_asks_for_the_call() -> None:
    hand = mbs3()
    table_ = until(hand, "BETS OPEN")
    hand.bet()
    table_.card(hand.deck.pop())
    assert table_.phase() is Phase.DEALING
    assert table_.lines[2:] == ("CARD OUT BEFORE CALL", "CLOSE DEAL")
    hand.play()
    assert nets(table_) == {2: 3000, 5: -1500}


def test_a_mis_pay_is_confirmed_by_a_second_person_and_told_until_it_is_cleared() -> None:
    hand = mbs3()
    hand.play()
    table_ = hand.table
    table_.menu("63", 1, 2, 5000)
    assert table_.lines == (
        "STOP             R 1", "SEAT 2  ANSWER 4 1", "PAY 10 MORE?", "KEY MENU 51",
    )  # fmt: skip
    table_.as_supervisor("51", 4)
    assert table_.lines[0] == "SEAT 2 PAY +10"
    hand.menu("36")
    table_.press("OPEN")
    assert table_.lines[0] == "SEAT 2 PAY +10"
    assert table_.lines[2] == "PLACE YOUR BETS"
    table_.press("CLEAR")
    assert table_.lines[0] == "BETS OPEN        R 2"


def test_a_supervisor_who_reports_a_mis_pay_needs_the_dealer_to_agree() -> None:
    hand = mbs3()
    hand.play()
    table_ = hand.table
    table_.as_supervisor("63", 1, 2, 9000)
    assert table_.lines[2:] == ("NEEDS SECOND PERSON", "MENU 59 KEY MENU 51")
    table_.turn_key(True)
    table_.menu("59")
    assert table_.lines[2] == "ANOTHER PERSON"
    table_.turn_key(False)
    table_.menu("59")
    assert table_.lines[0] == "SEAT 2 TAKE -30"


@pytest.mark.parametrize(("cents", "told"), [(500, "S2 $ PAY +5"), (2500, "S2 $ TAKE -15")])
def test_chips_that_are_not_the_pay_are_told_with_amount_and_direction(
    cents: int, told: str
) -> None:
    hand = mbs3()
    until(hand, "SEAT 2")
    until(hand, "SHOW")
    for key in ("SHOW", "PAID", "SHOW"):
        hand.do(key)
    hand.table.put(2, "$", 1000 + cents)  # 10 is due beside the wager of 10
    assert hand.table.lines[0] == told
    hand.table.put(2, "$", 2000)
    assert hand.table.lines[0] == "SETTLEMENT       R 1"


def test_envy_after_a_seat_is_paid_is_told_as_a_notice() -> None:
    wagers = {2: base(1000), 5: base(500, progressive=100)}
    hand = console_player(table("MBS3", {2: "9sTsJs", 5: "2c3d9h"}, "7s8s"), wagers)
    until(hand, "SEAT 2")
    until(hand, "SHOW")
    hand.do("SHOW")  # seat 5
    hand.do("PAID")
    hand.do("SHOW")  # seat 2: a straight flush triggers envy for seat 5, which is paid already
    assert hand.table.lines[0] == "SEAT 5 ENVY 300"
    # 200 to 1 on three wagers of 10.
    assert hand.table.lines[1] == "SEAT 2  PAY 6,000.00"
    hand.play()
    assert nets(hand.table) == {2: 600_000, 5: -1500 - 100 + 30_000}


def test_envy_for_two_hands_is_told_as_one_sum() -> None:
    wagers = {2: base(1000), 3: base(1000), 5: base(500, progressive=100)}
    dealt = {2: "9sTsJs", 3: "4s5s6s", 5: "2c3d9h"}
    hand = console_player(table("MBS3", dealt, "7s8s"), wagers)
    until(hand, "SEAT 2")
    until(hand, "SHOW")
    for key in ("SHOW", "PAID", "SHOW", "PAID", "SHOW"):  # seats 5 and 3 are paid, 2 is opened
        hand.do(key)
    assert hand.table.lines[0] == "SEAT 5 ENVY 600"
    hand.play()
    assert nets(hand.table)[5] == -1500 - 100 + 2 * 30_000


def test_a_late_wager_is_told_and_never_counts() -> None:
    hand = mbs3()
    table_ = until(hand, "BETS CLOSED")
    table_.put(4, "1", 1000)
    assert table_.lines[0] == "SEAT 4: LATE BET"
    table_.put(4, "1", 0)
    assert table_.lines[2] == "NEXT: SEAT 2"
    hand.play()
    assert nets(table_) == {2: 3000, 5: -1500}


# --- devices and power -------------------------------------------------------------------------


def test_under_voltage_refuses_the_opening_while_it_lasts() -> None:
    table_ = Table(table("PP6").state)
    table_.menu("36", 1)
    table_.feed(SupplyRead("pi", 0x50005, 0))
    assert table_.lines[2:] == ("SUPPLY VOLTAGE LOW", "WAIT")
    table_.press("OPEN")
    assert f.BetsOpened() not in table_.facts
    table_.feed(SupplyRead("pi", 0x50000, 0))
    table_.press("OPEN")
    assert table_.told() == f.BetsOpened()


def test_nothing_is_accepted_while_the_power_fails_and_chips_are_read_again_after() -> None:
    hand = mbs3()
    table_ = until(hand, "BETS OPEN")
    table_.feed(SwitchRead("pins", "power_fail", True, 0))
    count = len(table_.entries)
    assert table_.lamps == ("off",) * 7
    assert table_.meter == ""
    assert table_.lines[2:] == ("POWER IS FAILING", "WAIT")
    table_.put(2, "1", 1000)
    table_.press("CLOSE")
    assert table_.card(hand.deck[-1], key=9) == []
    assert len(table_.entries) == count
    orders = table_.feed(SwitchRead("pins", "power_fail", False, 0))
    assert f.WagerRead(2, "1", 1000) in table_.facts
    assert orders[0] == AcknowledgeReading("shoe", 9)
    assert f.BetsClosed() not in table_.facts


def test_a_dead_display_is_only_flagged() -> None:
    hand = mbs3()
    fault = Fault("E-LCD-001", "no answer")
    hand.table.feed(StateReported("prompt", DeviceState.UNKNOWN, fault, 0))
    assert hand.table.core.health.flagged == {"prompt": fault}
    hand.play()
    assert nets(hand.table) == {2: 3000, 5: -1500}


def test_the_cabinet_door_is_told_and_alarmed() -> None:
    table_ = Table(table("PP6").state)
    table_.feed(SwitchRead("pins", "door", True, 0))
    assert table_.lines[0] == "CABINET DOOR OPEN"
    assert table_.core.outbox == [fx.RaiseAlarm("door", None, "", "house rule")]
    table_.feed(SwitchRead("pins", "door", False, 0))
    assert table_.lines[0] != "CABINET DOOR OPEN"


# --- orders are wholes -------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["BETS OPEN", "BETS CLOSED", "DECISION 1", "SETTLEMENT"])
def test_a_core_started_again_orders_the_same_wholes(phase: str) -> None:
    hand = mbs3()
    table_ = until(hand, phase)
    now = table_.core.orders_now()
    assert table_.core.orders_now() == now
    again = Table(table_.core.state)
    assert again.log == now


def test_an_order_is_given_once() -> None:
    hand = mbs3()
    table_ = until(hand, "DECISION 1")
    assert table_.wait() == []
    assert table_.feed(MetersRead("shoe", (), table_.now_us)) == []
