"""NSW rule 8: what each player may take back, who is asked when, and when a card is turned."""

from __future__ import annotations

from typing import Literal

import pytest

from controller.demo.scripted_dealer import CHIPS, SUPERVISOR, ScriptedDealer
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.prompts import TEXTS
from controller.rules.engine.state import Phase
from controller.rules.errors import RecordError
from tests.clauses.tables import base, only, refused, row, table

Choice = Literal["ride", "withdraw"]


def dealt() -> ScriptedDealer:
    """Seat 2 holds a pair of tens, seat 5 nothing; all cards are out, 10.00 on each spot."""
    dealer = table("NSW", {2: "TcTd2h", 5: "3c5d8h"}, "JsQh")
    dealer.prepare()
    dealer.bets({2: base(1000), 5: base(1000)})
    dealer.deal()
    return dealer


def asked(effects: tuple[fx.Effect, ...]) -> list[int | None]:
    """The seats the dealer is told to ask, and whose lamps say so."""
    prompts = [e.seat for e in effects if isinstance(e, fx.Prompt) and e.code == "decide"]
    lamps = [e.seat for e in effects if isinstance(e, fx.SetLamp) and e.lamp == "your turn"]
    assert lamps == prompts
    return prompts


# --- handled -----------------------------------------------------------------------------------


@pytest.mark.clause("NSW-8.1")
def test_handling_is_told_or_follows_from_the_first_decision_and_the_first_card() -> None:
    dealer = dealt()
    assert [dealer.state.seats[n].handled for n in (2, 5)] == [False, False]
    dealer.do(f.Decided(2, "1", "ride"))
    assert [dealer.state.seats[n].handled for n in (2, 5)] == [True, False]
    dealer.do(f.CardsHandled(5))
    before = dealer.state
    dealer.decide()
    dealer.turn(1)
    assert before.seats[5].handled is True
    assert (before.handled_all, dealer.state.handled_all) == (False, True)
    # From now on a wrong deal is no misdeal by itself.
    question = only(dealer.do(f.DealtWrong()), fx.AskSupervisor)
    assert "found after handling" in question.question


# --- the walk ----------------------------------------------------------------------------------


@pytest.mark.clause("NSW-8.3")
def test_players_are_asked_one_at_a_time_from_the_dealers_left() -> None:
    dealer = table("NSW", {2: "TcTd2h", 5: "3c5d8h", 7: "4c6d9h"}, "JsQh")
    dealer.prepare()
    dealer.bets({2: base(1000), 5: base(1000), 7: base(1000)})
    for _ in range(10):
        dealer.deal_one()
    assert asked(dealer.do(f.CardDrawn(dealer.draw()), f.Measured("shoe"))) == [2]
    refusal = refused(dealer.try_(f.Decided(5, "1", "ride")))
    assert refusal == fx.Refused("seat 2 is asked first", "NSW-8.3")
    assert asked(dealer.do(f.Decided(2, "1", "ride"))) == [5]
    assert asked(dealer.do(f.Decided(7, "1", "ride"), SUPERVISOR)) == [5]  # with the key
    assert asked(dealer.do(f.Decided(5, "1", "ride"))) == []
    assert asked(dealer.do(f.CommunityTurned(1))) == [2]


@pytest.mark.clause("NSW-8.3.1")
def test_a_wager_taken_back_must_leave_its_spot() -> None:
    dealer = dealt()
    dealer.do(f.Decided(2, "1", "ride"))
    effects = dealer.do(f.Decided(5, "1", "withdraw"))
    assert only(effects, fx.ReturnWager) == fx.ReturnWager(5, "1", 1000, "NSW-8.3")
    assert only(effects, fx.Prompt) == fx.Prompt("take back", 5, "1")
    refusal = refused(dealer.try_(f.CommunityTurned(1)))
    assert refusal.reason == "seat 5: chips and console disagree"
    assert dealer.do(f.WagerRead(5, "1", 400), CHIPS) == (fx.Prompt("take back", 5, "1"),)
    assert dealer.do(f.WagerRead(5, "1", 0), CHIPS) == (fx.Prompt("turn", detail="1"),)
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    dealer.settle()
    assert row(dealer, 5)["wagers"]["1"]["status"] == "withdrawn"
    assert row(dealer, 5)["net"] == -2000


@pytest.mark.clause("NSW-8.3.2")
def test_a_wager_that_rides_cannot_be_taken_off_any_more() -> None:
    dealer = dealt()
    dealer.do(f.Decided(2, "1", "ride"))
    dealer.do(f.Decided(5, "1", "ride"))
    effects = dealer.do(f.WagerRead(5, "1", 0), CHIPS)
    assert effects == (
        fx.RaiseAlarm("wager lifted", 5, "1: $0.00 of $10.00", "NSW-5.4"),
        fx.Prompt("chips", 5, "1"),
    )
    assert refused(dealer.try_(f.CommunityTurned(1))).clause == "NSW-8.4"
    dealer.do(f.WagerRead(5, "1", 1000), CHIPS)
    dealer.turn(1)


@pytest.mark.clause("NSW-8.4")
def test_the_first_community_card_waits_for_every_decision_about_spot_1() -> None:
    dealer = dealt()
    dealer.do(f.Decided(2, "1", "ride"))
    refusal = refused(dealer.try_(f.CommunityTurned(1)))
    assert refusal == fx.Refused("seat 5 has not decided", "NSW-8.4")
    dealer.do(f.Decided(5, "1", "ride"))
    assert asked(dealer.do(f.CommunityTurned(1))) == [2]
    assert refused(dealer.try_(f.Decided(2, "1", "ride"))).reason == ("the decision now is about 2")
    dealer.do(f.Decided(2, "2", "ride"))


@pytest.mark.clause("NSW-8.6")
def test_the_second_community_card_waits_for_every_decision_about_spot_2() -> None:
    dealer = dealt()
    dealer.decide()
    dealer.turn(1)
    dealer.do(f.Decided(2, "2", "ride"))
    refusal = refused(dealer.try_(f.CommunityTurned(2)))
    assert refusal == fx.Refused("seat 5 has not decided", "NSW-8.6")
    dealer.do(f.Decided(5, "2", "ride"))
    dealer.turn(2)
    assert dealer.state.phase is Phase.SETTLEMENT


@pytest.mark.clause("NSW-8.5")
@pytest.mark.parametrize(
    ("first", "second", "net"),
    [
        ("ride", "ride", 3000),
        ("ride", "withdraw", 2000),
        ("withdraw", "ride", 2000),
        ("withdraw", "withdraw", 1000),
    ],
)
def test_the_second_choice_is_free_of_the_first(first: Choice, second: Choice, net: int) -> None:
    dealer = dealt()
    choices: dict[str, Choice] = {"1": first, "2": second}
    dealer.ride = lambda seat, spot: choices[spot] if seat == 2 else "ride"
    dealer.let_it_ride()
    wagers = row(dealer, 2)["wagers"]
    status = {"ride": "win", "withdraw": "withdrawn"}
    assert [wagers[spot]["status"] for spot in ("1", "2", "$")] == [
        status[first],
        status[second],
        "win",
    ]
    assert row(dealer, 2)["net"] == net


# --- what rides --------------------------------------------------------------------------------


@pytest.mark.clause("NSW-1.1-lir")
def test_only_spots_1_and_2_can_ride_or_be_taken_back() -> None:
    dealer = dealt()
    refusal = refused(dealer.try_(f.Decided(2, "$", "withdraw")))
    assert refusal == fx.Refused("there is no decision about $", "NSW-8.9")
    record = {
        "game": "NSW",
        "round": {
            "seats": [
                {
                    "seat": 2,
                    "wagers": base(1000),
                    "cards": ["3c", "5d", "8h"],
                    "decisions": {"$": "withdraw"},
                }
            ],
            "community": ["Js", "Qh"],
        },
    }
    with pytest.raises(RecordError, match="unknown decision; expected one of 1, 2"):
        decode_record(record)


@pytest.mark.clause("NSW-8.9")
def test_the_dollar_wager_cannot_be_taken_off() -> None:
    dealer = dealt()
    effects = dealer.do(f.WagerRead(5, "$", 0), CHIPS)
    assert effects[0] == fx.RaiseAlarm("wager lifted", 5, "$: $0.00 of $10.00", "NSW-8.9")
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    dealer.settle()
    assert row(dealer, 5)["net"] == -3000


@pytest.mark.clause("NSW-8.10")
def test_a_riding_wager_stays_until_its_seat_is_settled() -> None:
    dealer = dealt()
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    dealer.do(f.HandOpened(5))
    early = dealer.do(f.WagerRead(5, "2", 0), CHIPS)
    assert only(early, fx.RaiseAlarm) == fx.RaiseAlarm(
        "wager lifted", 5, "2: $0.00 of $10.00", "NSW-5.4"
    )
    dealer.do(f.WagerRead(5, "2", 1000), CHIPS)
    dealer.do(f.SeatSettled(5))
    assert dealer.do(f.WagerRead(5, "2", 0), CHIPS) == ()


@pytest.mark.clause("NSW-8.11")
def test_cards_tucked_under_the_dollar_wager_let_everything_left_ride() -> None:
    dealer = dealt()
    dealer.do(f.Decided(2, "1", "withdraw"))
    dealer.take(2, "1")
    # Told by the dealer, never checked against the hand: seat 5 holds nothing.
    effects = dealer.do(f.RideAllSignalled(5))
    assert asked(effects) == []
    assert dealer.state.seats[5].decisions == {"1": "ride", "2": "ride"}
    assert asked(dealer.do(f.CommunityTurned(1))) == [2]
    dealer.do(f.RideAllSignalled(2))
    assert dealer.state.seats[2].decisions == {"1": "withdraw", "2": "ride"}
    dealer.turn(2)
    dealer.settle()
    assert [row(dealer, n)["net"] for n in (2, 5)] == [2000, -3000]


# --- absent players ----------------------------------------------------------------------------


@pytest.mark.clause("NSW-12.13")
def test_an_absent_player_who_saw_no_card_gets_the_wager_back() -> None:
    dealer = dealt()
    dealer.do(f.CardsHandled())  # that others handled theirs says nothing about this seat
    effects = dealer.do(f.PlayerAbsent(2, viewed=False))
    back = [(e.spot, e.cents, e.clause) for e in effects if isinstance(e, fx.ReturnWager)]
    assert back == [(spot, 1000, "NSW-12.13") for spot in ("1", "2", "$")]
    assert asked(effects) == [5]
    dealer.let_it_ride()
    assert (row(dealer, 2)["hand"], row(dealer, 2)["net"]) == (None, 0)
    assert row(dealer, 5)["net"] == -3000


@pytest.mark.clause("NSW-12.14")
def test_what_is_left_of_an_absent_players_wagers_rides_once_the_cards_were_seen() -> None:
    dealer = dealt()
    dealer.do(f.Decided(2, "1", "withdraw"))
    dealer.take(2, "1")
    dealer.do(f.Decided(5, "1", "ride"))
    dealer.turn(1)
    effects = dealer.do(f.PlayerAbsent(2, viewed=True))
    assert asked(effects)[-1] == 5
    assert dealer.state.seats[2].decisions == {"1": "withdraw", "2": "ride"}
    dealer.decide()
    dealer.turn(2)
    dealer.settle()
    statuses = {spot: w["status"] for spot, w in row(dealer, 2)["wagers"].items()}
    assert statuses == {"1": "withdrawn", "2": "win", "$": "win"}
    assert dealer.state.history[-1].result["clauses"] == ["NSW-12.14"]


# --- supervisor's directives -------------------------------------------------------------------


@pytest.mark.clause("NSW-12.12", "NSW-12.12.1")
def test_a_supervisor_makes_suspected_players_decide_first() -> None:
    dealer = dealt()
    order = f.OrderDirected((5,), "looks at other cards")
    assert refused(dealer.try_(order)).clause == "NSW-12.12"
    assert asked(dealer.do(order, SUPERVISOR)) == [5]
    assert dealer.state.notes[-1] == "S1: order [5]: looks at other cards"
    assert refused(dealer.try_(f.Decided(2, "1", "ride"))).reason == "seat 5 is asked first"
    assert asked(dealer.do(f.Decided(5, "1", "ride"))) == [2]
    dealer.do(f.Decided(2, "1", "ride"))
    dealer.turn(1)
    late = refused(dealer.try_(order, SUPERVISOR))  # before the first community card only
    assert late.reason == "order directed: not while second decision"


@pytest.mark.clause("NSW-12.12.2")
def test_players_kept_apart_are_noted_with_their_seats() -> None:
    dealer = dealt()
    dealer.do(f.BreachNoted((2, 5), "may not play at one table"), SUPERVISOR)
    assert dealer.state.notes[-1] == "S1: seats [2, 5]: may not play at one table"


# --- no advice ---------------------------------------------------------------------------------

ADVICE = ("should", "better", "advise", "recommend", "hint", "odds", "chance", "strategy", "best")


def told_before_opening(hand: str) -> list[tuple[fx.Effect, ...]]:
    """All that the table says until the first hand is opened, with this hand at seat 2."""
    dealer = table("NSW", {2: hand, 5: "3c5d8h"}, "JsQh")
    said: list[tuple[fx.Effect, ...]] = []
    dealer.told = lambda _fact, effects: said.append(effects)
    dealer.prepare()
    dealer.bets({2: base(1000), 5: base(1000)})
    dealer.deal()
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    return said


@pytest.mark.clause("NSW-14.6")
def test_nothing_the_table_says_advises_a_player() -> None:
    assert told_before_opening("AsKsQs") == told_before_opening("4c6d7h")
    for text in TEXTS.values():
        assert not [word for word in ADVICE if word in text.lower().split()], text
        assert ("ride" in text) == ("take back" in text), text  # both choices, or neither
