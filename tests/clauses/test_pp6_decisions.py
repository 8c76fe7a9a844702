"""PP6: two choices by signal, chips that only the dealer moves, and warnings."""

from __future__ import annotations

from typing import Literal

import pytest

from controller.demo.scripted_dealer import CHIPS, SUPERVISOR, ScriptedDealer
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from tests.clauses.tables import base, only, refused, row, table

Choice = Literal["ride", "withdraw"]


def dealt(wagers: dict[int, dict[str, int]]) -> ScriptedDealer:
    """A round up to the first choice; seat 3, if in it, holds a pair of tens."""
    hands = {n: "TcTd2h" if n == 3 else "" for n in wagers}
    dealer = table("PP6", hands, "Kc7sJd")
    dealer.prepare()
    dealer.bets(wagers)
    dealer.deal()
    return dealer


def asked(effects: tuple[fx.Effect, ...]) -> fx.Prompt:
    prompt: fx.Prompt = only(effects, fx.Prompt)
    return prompt


def to_second_choice(dealer: ScriptedDealer) -> ScriptedDealer:
    dealer.decide()
    dealer.turn(1)
    return dealer


def alarms(effects: tuple[fx.Effect, ...]) -> list[fx.RaiseAlarm]:
    return [e for e in effects if isinstance(e, fx.RaiseAlarm)]


@pytest.mark.clause("PP6-R4a")
def test_only_circles_that_hold_a_wager_are_asked_about() -> None:
    """Seat 2 plays $ alone: it is passed over twice. Seat 4 has circle 1, seat 6 circle 2."""
    dealer = table("PP6")
    dealer.prepare()
    dealer.bets({2: {"$": 500}, 4: {"$": 500, "1": 500}, 6: {"$": 500, "2": 500}})
    told: list[fx.Effect] = []
    dealer.told = lambda _, effects: told.extend(effects)
    dealer.deal()
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    questions = [e for e in told if isinstance(e, fx.Prompt) and e.code == "decide"]
    assert questions == [fx.Prompt("decide", 4, "1"), fx.Prompt("decide", 6, "2")]
    skipped = dealt({2: {"$": 500}, 4: {"$": 500, "1": 500}})
    refusal = refused(skipped.try_(f.Decided(2, "1", "ride"), SUPERVISOR))
    assert refusal == fx.Refused("seat 2 owes no decision about 1", "PP6-M2a")


@pytest.mark.clause("PP6-R4b")
def test_chips_taken_by_hand_before_a_signal_raise_the_alarm() -> None:
    dealer = dealt({3: base(500)})
    effects = dealer.do(f.WagerRead(3, "1", 0), CHIPS)
    assert alarms(effects) == [fx.RaiseAlarm("wager lifted", 3, "1: $0.00 of $5.00", "PP6-M2b")]
    # Confirmed as taken back, the wager is out; nothing is asked twice.
    assert asked(dealer.do(f.Decided(3, "1", "withdraw"))) == fx.Prompt("turn", detail="1")

    signalled = dealt({3: base(500)})
    signalled.do(f.Decided(3, "1", "withdraw"))
    assert alarms(signalled.do(f.WagerRead(3, "1", 0), CHIPS)) == []


@pytest.mark.clause("PP6-M2a")
def test_circle_1_pushed_back_must_be_empty_before_the_card_is_turned() -> None:
    dealer = dealt({2: {"$": 500}, 3: base(500), 5: base(500)})
    assert refused(dealer.try_(f.Decided(5, "1", "ride"))).reason == "seat 3 is asked first"
    effects = dealer.do(f.Decided(3, "1", "withdraw"))
    assert only(effects, fx.ReturnWager) == fx.ReturnWager(3, "1", 500, "PP6-M2a")
    assert asked(effects) == fx.Prompt("decide", 5, "1")
    assert fx.SetLamp(5, "your turn") in effects
    assert asked(dealer.do(f.Decided(5, "1", "ride"))) == fx.Prompt("take back", 3, "1")
    refusal = refused(dealer.try_(f.CommunityTurned(1)))
    assert refusal == fx.Refused("seat 3: chips and console disagree", "PP6-M3a")
    # A part of the wager is not a take-back.
    left = dealer.do(f.WagerRead(3, "1", 200), CHIPS)
    assert asked(left) == fx.Prompt("take back", 3, "1")
    assert refused(dealer.try_(f.CommunityTurned(1)))
    assert asked(dealer.do(f.WagerRead(3, "1", 0), CHIPS)) == fx.Prompt("turn", detail="1")
    dealer.turn(1)


@pytest.mark.clause("PP6-M3b")
def test_circle_2_is_asked_about_in_a_second_walk() -> None:
    dealer = dealt({2: {"$": 500}, 3: base(500), 5: base(500)})
    dealer.decide()
    assert asked(dealer.do(f.CommunityTurned(1))) == fx.Prompt("decide", 3, "2")
    refusal = refused(dealer.try_(f.Decided(3, "1", "withdraw")))
    assert refusal == fx.Refused("the decision now is about 2", "PP6-M3b")
    effects = dealer.do(f.Decided(3, "2", "withdraw"))
    assert only(effects, fx.ReturnWager) == fx.ReturnWager(3, "2", 500, "PP6-M3b")
    assert asked(effects) == fx.Prompt("decide", 5, "2")
    assert fx.SetLamp(5, "your turn") in effects
    dealer.do(f.Decided(5, "2", "ride"))
    refusal = refused(dealer.try_(f.CommunityTurned(2)))
    assert refusal == fx.Refused("seat 3: chips and console disagree", "PP6-M4")
    dealer.do(f.WagerRead(3, "2", 0), CHIPS)
    dealer.turn(2)


@pytest.mark.clause("PP6-M2b")
def test_a_wager_let_ride_stays_to_the_end_even_if_its_chips_go() -> None:
    dealer = dealt({2: base(500), 3: base(500)})
    dealer.decide()
    effects = dealer.do(f.WagerRead(3, "1", 0), CHIPS)
    assert alarms(effects) == [fx.RaiseAlarm("wager lifted", 3, "1: $0.00 of $5.00", "PP6-M2b")]
    assert refused(dealer.try_(f.CommunityTurned(1))).reason.startswith("seat 3: chips")
    dealer.do(f.SeatRuled(3, "stays live"), SUPERVISOR)
    to_second_choice(dealer)
    dealer.decide()
    dealer.turn(2)
    dealer.settle()
    assert row(dealer, 3)["wagers"]["1"]["win"] == 500
    assert dealer.state.history[-1].result["clauses"] == ["PP6-M2b"]


@pytest.mark.clause("PP6-M2c")
def test_a_wager_taken_back_stays_out_even_if_it_is_placed_again() -> None:
    dealer = dealt({3: base(500)})
    dealer.do(f.Decided(3, "1", "withdraw"))
    dealer.do(f.WagerRead(3, "1", 0), CHIPS)
    again = dealer.do(f.WagerRead(3, "1", 500), CHIPS)
    assert alarms(again) == [fx.RaiseAlarm("late wager", 3, "1: $5.00", "PP6-M1a")]
    assert fx.Prompt("late", 3, "1") in again
    to_second_choice(dealer)
    dealer.decide()
    dealer.turn(2)
    dealer.settle()
    assert row(dealer, 3)["wagers"]["1"]["status"] == "withdrawn"
    assert row(dealer, 3)["net"] == 1000


@pytest.mark.clause("PP6-M3c")
@pytest.mark.parametrize(
    ("one", "two", "net"),
    [
        ("ride", "ride", 1500),
        ("ride", "withdraw", 1000),
        ("withdraw", "ride", 1000),
        ("withdraw", "withdraw", 500),
    ],
)
def test_the_choice_about_circle_1_does_not_bind_circle_2(
    one: Choice, two: Choice, net: int
) -> None:
    dealer = table("PP6", {3: "TcTd2h"}, "Kc7sJd")
    dealer.ride = lambda _, spot: one if spot == "1" else two
    dealer.round({3: base(500)})
    status = {"ride": "win", "withdraw": "withdrawn"}
    wagers = row(dealer, 3)["wagers"]
    assert (wagers["1"]["status"], wagers["2"]["status"]) == (status[one], status[two])
    assert row(dealer, 3)["net"] == net


@pytest.mark.clause("PP6-M3d")
def test_the_dollar_circle_is_never_asked_about_and_always_counts() -> None:
    dealer = dealt({3: base(500)})
    refusal = refused(dealer.try_(f.Decided(3, "$", "withdraw")))
    assert refusal == fx.Refused("there is no decision about $", "PP6-M3d")
    to_second_choice(dealer)
    dealer.decide()
    effects = dealer.do(f.WagerRead(3, "$", 0), CHIPS)
    assert alarms(effects) == [fx.RaiseAlarm("wager lifted", 3, "$: $0.00 of $5.00", "PP6-M3d")]
    dealer.turn(2)
    dealer.settle()
    assert row(dealer, 3)["wagers"]["$"]["win"] == 500


@pytest.mark.clause("PP6-R5c")
def test_the_dealer_warns_first_and_a_repetition_calls_the_floor() -> None:
    dealer = dealt({3: base(500), 5: base(500)})
    assert dealer.do(f.PlayerWarned(3, "cards shown")) == ()
    assert dealer.do(f.PlayerWarned(5, "cards under the table")) == ()
    assert asked(dealer.do(f.PlayerWarned(3, "cards shown"))) == fx.Prompt(
        "floor", 3, "cards shown"
    )
    assert dealer.state.warnings == {3: 2, 5: 1}
    assert dealer.state.notes[-1] == "D1: warned seat 3: cards shown"
