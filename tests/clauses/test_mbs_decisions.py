"""Take back or let it ride, and the two community cards: what both MBS books say."""

from __future__ import annotations

import pytest

from controller.demo.scripted_dealer import CHIPS, SHOE, SUPERVISOR, Choice, ScriptedDealer
from controller.rules.cards import cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine import prompts
from controller.rules.engine.state import Phase
from tests.clauses.tables import base, only, refused, row, table

both = pytest.mark.parametrize("game", ["MBS3", "MEGA"])

PAIR_OF_TENS = "TcTd2h"
NOTHING = "3c5d8h"


def dealt(game: str, hands: dict[int, str]) -> ScriptedDealer:
    """All cards out, community Js Qh, every seat with 10.00 a spot, nobody asked yet."""
    dealer = table(game, hands, "JsQh")
    dealer.prepare()
    dealer.bets({seat: base(1000) for seat in hands})
    dealer.deal()
    return dealer


def rest(dealer: ScriptedDealer) -> None:
    """From the first decision to the end of the round."""
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    dealer.settle()


@pytest.mark.clause("MBS3-1.1.5", "MEGA-1.1.4")
@both
def test_letting_it_ride_is_a_choice_about_1_and_2_and_never_about_the_dollar(game: str) -> None:
    dealer = dealt(game, {2: PAIR_OF_TENS})
    no_choice = fx.Refused("there is no decision about $", f"{game}-3.16")
    for choice in ("ride", "withdraw"):
        assert refused(dealer.try_(f.Decided(2, "$", choice))) == no_choice
    dealer.do(f.Decided(2, "1", "ride"))
    dealer.turn(1)
    assert refused(dealer.try_(f.Decided(2, "$", "ride"))) == no_choice
    dealer.do(f.Decided(2, "2", "ride"))
    assert dealer.state.seats[2].decisions == {"1": "ride", "2": "ride"}
    dealer.turn(2)
    dealer.settle()
    assert row(dealer, 2)["net"] == 3000


@pytest.mark.clause("MBS3-3.8", "MEGA-3.8")
@both
def test_players_are_asked_about_1_clockwise_from_the_dealers_left(game: str) -> None:
    dealer = table(game, {2: PAIR_OF_TENS, 4: NOTHING, 7: "6c9d4h"}, "JsQh")
    dealer.prepare()
    dealer.bets({2: base(1000), 4: base(1000), 7: base(1000)})
    asked = []
    last: tuple[fx.Effect, ...] = ()
    while not dealer.is_in(Phase.DECISION_1):
        last = dealer.do(f.CardDrawn(dealer.draw()), SHOE)
    assert fx.SetLamp(2, "your turn") in last
    asked.append(only(last, fx.Prompt))
    out_of_turn = refused(dealer.try_(f.Decided(4, "1", "ride")))
    assert out_of_turn == fx.Refused("seat 2 is asked first", f"{game}-3.8")
    for seat, following in ((2, 4), (4, 7)):
        effects = dealer.do(f.Decided(seat, "1", "ride"))
        assert fx.SetLamp(following, "your turn") in effects
        asked.append(only(effects, fx.Prompt))
    assert asked == [fx.Prompt("decide", seat, "1") for seat in (2, 4, 7)]
    assert prompts.text(asked[0]) == "Seat 2: take back 1, or let it ride?"
    assert only(dealer.do(f.Decided(7, "1", "ride")), fx.Prompt) == fx.Prompt("turn", detail="1")


@pytest.mark.clause("MBS3-3.8", "MEGA-3.8")
@both
def test_a_decision_out_of_turn_needs_the_supervisor(game: str) -> None:
    dealer = dealt(game, {2: PAIR_OF_TENS, 4: NOTHING})
    assert refused(dealer.try_(f.Decided(4, "1", "ride"))).clause == f"{game}-3.8"
    dealer.do(f.Decided(4, "1", "withdraw"), SUPERVISOR)
    dealer.take(4, "1")
    rest(dealer)
    assert row(dealer, 4)["wagers"]["1"]["status"] == "withdrawn"


@pytest.mark.clause("MBS3-3.12", "MEGA-3.12")
@both
def test_the_second_walk_asks_every_seat_whatever_it_did_with_1(game: str) -> None:
    dealer = dealt(game, {2: PAIR_OF_TENS, 5: NOTHING})
    dealer.do(f.Decided(2, "1", "withdraw"))
    dealer.take(2, "1")
    dealer.do(f.Decided(5, "1", "ride"))
    early = refused(dealer.try_(f.Decided(2, "2", "ride")))
    assert early.reason == "the decision now is about 1"
    assert only(dealer.do(f.CommunityTurned(1)), fx.Prompt) == fx.Prompt("decide", 2, "2")
    out_of_turn = refused(dealer.try_(f.Decided(5, "2", "ride")))
    assert out_of_turn.reason == "seat 2 is asked first"
    dealer.do(f.Decided(2, "2", "ride"))
    assert only(dealer.do(f.Decided(5, "2", "ride")), fx.Prompt) == fx.Prompt("turn", detail="2")


@pytest.mark.parametrize(("hand", "net"), [(PAIR_OF_TENS, 3000), (NOTHING, -3000)])
@pytest.mark.parametrize(
    "spot",
    [
        pytest.param("1", marks=pytest.mark.clause("MBS3-3.9", "MEGA-3.9")),
        pytest.param("2", marks=pytest.mark.clause("MBS3-3.13", "MEGA-3.13")),
    ],
)
@both
def test_a_wager_left_to_ride_stays_in_play_even_if_it_is_lifted(
    game: str, spot: str, hand: str, net: int
) -> None:
    dealer = dealt(game, {2: hand})
    if spot == "2":
        dealer.decide()
        dealer.turn(1)
    dealer.do(f.Decided(2, spot, "ride"))
    effects = dealer.do(f.WagerRead(2, spot, 0), CHIPS)
    alarm = fx.RaiseAlarm("wager lifted", 2, f"{spot}: $0.00 of $10.00", f"{game}-5.7")
    assert only(effects, fx.RaiseAlarm) == alarm
    number = 1 if spot == "1" else 2
    stays = refused(dealer.try_(f.CommunityTurned(number)))  # type: ignore[arg-type]
    assert stays.reason == "seat 2: chips and console disagree"
    dealer.do(f.SeatRuled(2, "stays live"), SUPERVISOR)
    rest_of = (1, 2) if spot == "1" else (2,)
    for turn in rest_of:
        dealer.decide()
        dealer.turn(turn)  # type: ignore[arg-type]
    dealer.settle()
    assert row(dealer, 2)["net"] == net
    assert row(dealer, 2)["wagers"][spot]["placed"] == 1000


@pytest.mark.clause("MBS3-3.9", "MEGA-3.9")
@both
def test_a_decision_may_be_corrected_only_until_the_next_seat_is_confirmed(game: str) -> None:
    """AMB-C03: a mis-key is put right by the dealer at once, later by the supervisor."""
    dealer = dealt(game, {2: NOTHING, 5: "4c6d9h"})
    dealer.do(f.Decided(2, "1", "ride"))
    dealer.do(f.DecisionCorrected(2, "1", "withdraw"))
    dealer.do(f.DecisionCorrected(2, "1", "ride"))
    dealer.do(f.Decided(5, "1", "ride"))
    late = refused(dealer.try_(f.DecisionCorrected(2, "1", "withdraw")))
    assert "supervisor's key" in late.reason
    dealer.do(f.DecisionCorrected(2, "1", "withdraw"), SUPERVISOR)
    dealer.take(2, "1")
    rest(dealer)
    assert [row(dealer, n)["net"] for n in (2, 5)] == [-2000, -3000]


@pytest.mark.parametrize(
    ("spot", "clause"),
    [
        pytest.param("1", "3.8", marks=pytest.mark.clause("MBS3-3.10", "MEGA-3.10")),
        pytest.param("2", "3.12", marks=pytest.mark.clause("MBS3-3.14", "MEGA-3.14")),
    ],
)
@both
def test_a_wager_taken_back_goes_back_whole_before_the_card_is_turned(
    game: str, spot: str, clause: str
) -> None:
    dealer = dealt(game, {2: NOTHING})
    number = 1
    if spot == "2":
        dealer.decide()
        dealer.turn(1)
        number = 2
    effects = dealer.do(f.Decided(2, spot, "withdraw"))
    back = fx.ReturnWager(2, spot, 1000, f"{game}-{clause}")
    assert only(effects, fx.ReturnWager) == back
    assert only(effects, fx.Prompt) == fx.Prompt("take back", 2, spot)
    waits = refused(dealer.try_(f.CommunityTurned(number)))  # type: ignore[arg-type]
    assert waits.reason == "seat 2: chips and console disagree"
    part = dealer.do(f.WagerRead(2, spot, 400), CHIPS)
    assert only(part, fx.Prompt) == fx.Prompt("take back", 2, spot)  # a part is not enough
    assert refused(dealer.try_(f.CommunityTurned(number)))  # type: ignore[arg-type]
    dealer.do(f.WagerRead(2, spot, 0), CHIPS)
    dealer.turn(number)  # type: ignore[arg-type]
    again = dealer.do(f.WagerRead(2, spot, 1000), CHIPS)
    assert only(again, fx.RaiseAlarm).code == "late wager"
    dealer.do(f.WagerRead(2, spot, 0), CHIPS)
    if spot == "1":
        dealer.decide()
        dealer.turn(2)
    dealer.settle()
    wager = row(dealer, 2)["wagers"][spot]
    assert (wager["status"], wager["to_player"]) == ("withdrawn", 1000)
    assert row(dealer, 2)["net"] == -2000


@pytest.mark.clause("MBS3-3.10", "MEGA-3.10")
@both
def test_chips_returned_just_before_the_button_count_once_it_is_pressed(game: str) -> None:
    """AMB-C09: the dealer may move the chips first and press second."""
    dealer = dealt(game, {2: PAIR_OF_TENS})
    early = dealer.do(f.WagerRead(2, "1", 0), CHIPS)
    assert only(early, fx.RaiseAlarm).code == "wager lifted"
    effects = dealer.do(f.Decided(2, "1", "withdraw"))
    assert only(effects, fx.Prompt) == fx.Prompt("turn", detail="1")
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    dealer.settle()
    assert row(dealer, 2)["net"] == 2000


@pytest.mark.clause("MBS3-3.15", "MEGA-3.15")
@both
def test_the_second_community_card_waits_for_every_decision_about_2(game: str) -> None:
    dealer = dealt(game, {2: PAIR_OF_TENS, 5: NOTHING})
    dealer.decide()
    first = refused(dealer.try_(f.CommunityTurned(2)))
    assert first.reason == "community card 1 is next"
    dealer.turn(1)
    dealer.do(f.Decided(2, "2", "ride"))
    refusal = refused(dealer.try_(f.CommunityTurned(2)))
    assert refusal == fx.Refused("seat 5 has not decided", f"{game}-3.15")
    dealer.do(f.Decided(5, "2", "ride"))
    shown = only(dealer.do(f.CommunityTurned(2)), fx.ShowCommunity)
    assert shown == fx.ShowCommunity(2, cards("Qh")[0])
    assert dealer.state.phase is Phase.SETTLEMENT


@pytest.mark.clause("MBS3-3.16", "MEGA-3.16")
@pytest.mark.parametrize(("hand", "net"), [(PAIR_OF_TENS, 1000), (NOTHING, -1000)])
@both
def test_the_dollar_wager_is_played_even_if_it_is_lifted(game: str, hand: str, net: int) -> None:
    """With 1 and 2 taken back the $ wager alone wins or loses; nobody is asked about it."""
    choices: list[tuple[int, str]] = []

    def withdraw(seat: int, spot: str) -> Choice:
        choices.append((seat, spot))
        return "withdraw"

    dealer = dealt(game, {2: hand})
    shown: list[fx.Effect] = []
    dealer.told = lambda _fact, effects: shown.extend(effects)
    dealer.ride = withdraw
    lifted = dealer.do(f.WagerRead(2, "$", 0), CHIPS)
    alarm = fx.RaiseAlarm("wager lifted", 2, "$: $0.00 of $10.00", f"{game}-3.16")
    assert only(lifted, fx.RaiseAlarm) == alarm
    rest(dealer)
    assert choices == [(2, "1"), (2, "2")]
    assert row(dealer, 2)["net"] == net
    owed = [e for e in shown if isinstance(e, fx.ShowOwed)]
    assert owed == ([fx.ShowOwed(2, "$", 1000)] if net < 0 else [])
