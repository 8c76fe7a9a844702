"""Wrong deals, wrong counts and exposed cards: where the MBS books agree and where they part."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import SUPERVISOR, ScriptedDealer
from controller.rules.cards import cards
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.settle import settle
from tests.clauses.tables import base, confirmed, draws, only, refused, row, table

both = pytest.mark.parametrize("game", ["MBS3", "MEGA"])


def dealt(game: str) -> ScriptedDealer:
    """Seats 2 and 3: a pair of tens at 2, nothing at 3, community Js Qh; nobody touched a card."""
    dealer = draws(game, "Tc 3c Td 5d 2h 8h Js Qh")
    dealer.prepare()
    dealer.bets({2: base(1000), 3: base(500)})
    dealer.deal()
    return dealer


def to_settlement(game: str) -> ScriptedDealer:
    dealer = dealt(game)
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    return dealer


def void_clauses(dealer: ScriptedDealer) -> Any:
    """The round is void: its clauses, once the stakes are back."""
    assert dealer.is_in(Phase.VOIDING)
    dealer.do(f.VoidCleared())
    result = dealer.state.history[-1].result
    assert result["round_status"] == "void"
    assert [seat["net"] for seat in result["seats"]] == [0, 0]
    return result["clauses"]


def record_with(game: str, *events: dict[str, Any], hand: int = 3, shared: int = 2) -> Any:
    seats = [
        {"seat": 2, "wagers": base(1000), "cards": ["Tc", "Td", "2h", "9s"][:hand]},
        {"seat": 3, "wagers": base(500), "cards": ["3c", "5d", "8h"]},
    ]
    body = {"seats": seats, "community": ["Js", "Qh", "4s"][:shared], "events": list(events)}
    return settle(decode_record({"game": game, "round": body}))


@pytest.mark.clause("MBS3-5.3", "MEGA-5.3")
@both
def test_a_wrong_deal_before_anybody_touched_a_card_voids_the_round(game: str) -> None:
    dealer = dealt(game)
    dealer.do(f.DealtWrong())
    assert void_clauses(dealer) == [f"{game}-5.3"]


@pytest.mark.clause("MBS3-5.3", "MEGA-5.3")
@both
def test_complete_hands_may_be_moved_to_put_a_wrong_deal_right(game: str) -> None:
    """The tens lie at seat 3: the hands are swapped, and each seat is paid for what it holds."""
    dealer = dealt(game)
    needs_key = refused(dealer.try_(f.HandsRemapped(2, 3)))
    assert "supervisor" in needs_key.reason
    dealer.do(f.HandsRemapped(2, 3), SUPERVISOR)
    dealer.let_it_ride()
    assert dealer.state.seats[2].opened == cards("3c 5d 8h")
    assert dealer.state.seats[3].opened == cards("Tc Td 2h")
    assert [row(dealer, n)["net"] for n in (2, 3)] == [-3000, 1500]
    record = dealer.state.history[-1].record
    assert {"type": "dealt_incorrectly", "players_handled": False, "reconstructed": True} in (
        record["round"]["events"]
    )


@pytest.mark.clause("MBS3-5.3", "MEGA-5.3")
@pytest.mark.parametrize("ruling", ["play on", "void"])
@both
def test_once_cards_were_handled_no_hand_is_moved_and_the_supervisor_decides(
    game: str, ruling: Any
) -> None:
    dealer = dealt(game)
    dealer.do(f.CardsHandled(3))
    moved = refused(dealer.try_(f.HandsRemapped(2, 3), SUPERVISOR))
    assert moved == fx.Refused("hands cannot be moved once cards have been handled", f"{game}-5.3")
    asked = only(dealer.do(f.DealtWrong()), fx.AskSupervisor)
    assert asked.answers == ("play on", "void")
    dealer.do(f.SupervisorRuled(ruling), SUPERVISOR)
    if ruling == "void":
        dealer.do(f.VoidCleared())
        assert [row(dealer, n)["net"] for n in (2, 3)] == [0, 0]
    else:
        dealer.let_it_ride()
        assert [row(dealer, n)["net"] for n in (2, 3)] == [3000, -1500]


@pytest.mark.clause("MBS3-5.3", "MEGA-5.3")
@both
def test_a_hand_dealt_to_an_area_without_a_wager_is_a_wrong_deal(game: str) -> None:
    """Fourteen cards went out as if seat 5 were in the round; nobody has touched them."""
    dealer = draws(game, "Tc 3c 6c Td 5d 6d 2h 8h 6s Js Qh")
    dealer.prepare()
    dealer.bets({2: base(1000), 3: base(500)})
    dealer.deal()
    for _ in range(3):
        dealer.do(f.CardDrawn(dealer.draw()), f.Measured("shoe"))
    assert dealer.is_in(Phase.FROZEN)
    dealer.do(f.StrayHandFound(5))
    assert void_clauses(dealer) == [f"{game}-5.3"]
    late = record_with(game, {"type": "hand_dealt_no_wager", "seat": 5, "players_handled": True})
    assert late["round_status"] == "supervisor"
    moved = record_with(game, {"type": "hand_dealt_no_wager", "seat": 5, "reconstructed": True})
    assert [seat["net"] for seat in moved["seats"]] == [3000, -1500]


@pytest.mark.clause("MBS3-5.4", "MEGA-5.4")
@both
def test_a_wrong_number_of_community_cards_voids_the_round(game: str) -> None:
    dealer = to_settlement(game)
    asked = only(dealer.do(f.CountFound(None, 3)), fx.AskSupervisor)
    assert asked.question == "Community cards: 3 reported, the shoe counted 2"
    confirmed(dealer)
    assert void_clauses(dealer) == [f"{game}-5.4"]
    count = {"type": "community_count", "count": 3}
    assert record_with(game, count, shared=3)["round_status"] == "void"
    for cured in ("reconstructed", "after_next_game_began"):
        assert record_with(game, {**count, cured: True})["round_status"] == "settled"


@pytest.mark.clause("MBS3-5.4", "MEGA-5.4")
@both
def test_a_count_noticed_after_the_next_opening_call_changes_nothing(game: str) -> None:
    dealer = to_settlement(game)
    dealer.settle()
    dealer.prepare()
    dealer.do(f.BetsOpened())
    before = dealer.state
    assert refused(dealer.try_(f.CountFound(None, 3)))
    assert dealer.state is before
    assert [row(dealer, n)["net"] for n in (2, 3)] == [3000, -1500]


@pytest.mark.clause("MBS3-5.4", "MEGA-5.4")
@both
def test_a_count_noticed_before_the_next_opening_call_takes_the_pays_back(game: str) -> None:
    """The closed round stays as it is; seat 2 gives 30.00 back, seat 3 gets 15.00 (AMB-V07)."""
    dealer = to_settlement(game)
    dealer.settle()
    closed = dealer.state.history[-1].result
    dealer.do(f.CountFound(None, 3))
    effects = confirmed(dealer)
    assert [e for e in effects if isinstance(e, fx.PayDifference)] == [
        fx.PayDifference(1, 2, -3000),
        fx.PayDifference(1, 3, 1500),
    ]
    assert only(effects, fx.Prompt) == fx.Prompt("void", detail=f"{game}-5.4")
    assert dealer.state.history[-1].result == closed


@pytest.mark.clause("MBS3-5.4")
def test_a_player_with_four_cards_voids_the_whole_round_in_mbs3() -> None:
    """Noticed when seat 3 has been paid and seat 2 is to be opened."""
    dealer = to_settlement("MBS3")
    dealer.do(f.HandOpened(3))
    dealer.do(f.SeatSettled(3))
    dealer.do(f.CountFound(2, 4))
    effects = confirmed(dealer)
    assert only(effects, fx.PayDifference) == fx.PayDifference(1, 3, 1500)
    assert void_clauses(dealer) == ["MBS3-5.4"]
    count = {"type": "player_card_count", "seat": 2, "count": 4}
    for flags in ({}, {"players_handled": True}):
        assert record_with("MBS3", {**count, **flags}, hand=4)["clauses"] == ["MBS3-5.4"]
    assert record_with("MBS3", {**count, "reconstructed": True})["round_status"] == "settled"


@pytest.mark.clause("MEGA-5.4")
def test_a_player_with_two_cards_is_the_supervisors_in_mega_and_the_others_settle() -> None:
    dealer = to_settlement("MEGA")
    asked = only(dealer.do(f.CountFound(2, 2)), fx.AskSupervisor)
    assert (asked.seat, asked.answers) == (2, ("hand void", "ride", "play on"))
    dealer.do(f.HandOpened(3))
    dealer.do(f.SeatSettled(3))
    dealer.take(3, "1")
    dealer.take(3, "2")
    dealer.take(3, "$")
    assert "has not ruled" in refused(dealer.try_(f.HandOpened(2))).reason
    dealer.do(f.SeatRuled(2, "hand void"), SUPERVISOR)
    dealer.do(f.RoundEnded())
    assert [row(dealer, n)["net"] for n in (2, 3)] == [0, -1500]
    assert any("hand void" in str(e) for e in dealer.state.history[-1].record["round"]["events"])


@pytest.mark.clause("MEGA-5.4")
def test_a_wrong_player_count_in_mega_before_handling_is_a_wrong_deal() -> None:
    """Clause 5.4 speaks of the community cards only; before handling 5.3 applies (AMB-V02)."""
    dealer = dealt("MEGA")
    dealer.do(f.CountFound(2, 4))
    assert void_clauses(dealer) == ["MEGA-5.3"]
    count = {"type": "player_card_count", "seat": 2, "count": 2, "players_handled": True}
    held = record_with("MEGA", count, hand=2)
    assert (held["round_status"], held["clauses"]) == ("settled", ["MEGA-5.4"])
    assert [seat["net"] for seat in held["seats"]] == [None, -1500]


@pytest.mark.clause("MBS3-5.5", "MEGA-5.5")
@both
def test_one_card_exposed_in_the_deal_plays_on_and_two_void_the_round(game: str) -> None:
    dealer = draws(game, "Tc 3c Td 5d 2h 8h Js Qh")
    dealer.prepare()
    dealer.bets({2: base(1000), 3: base(500)})
    dealer.deal_one()
    dealer.do(f.CardExposed())
    assert dealer.is_in(Phase.DEALING)
    dealer.deal_one()
    dealer.do(f.CardExposed())
    assert void_clauses(dealer) == [f"{game}-5.5"]
    once = {"type": "exposed_cards", "count": 1}
    assert record_with(game, once)["round_status"] == "settled"
    assert record_with(game, once, once)["clauses"] == [f"{game}-5.5"]


@pytest.mark.clause("MBS3-5.5", "MEGA-5.5")
@pytest.mark.parametrize("handled", [False, True])
@both
def test_cards_exposed_after_the_deal_void_nothing_by_themselves(game: str, handled: bool) -> None:
    """AMB-V04, V05: the deal ends with its last card; what is shown later the supervisor rules."""
    dealer = table(game, {2: "TcTd2h", 3: "3c5d8h"}, "JsQh")
    dealer.prepare()
    dealer.bets({2: base(1000), 3: base(500)})
    dealer.deal()
    if handled:
        dealer.do(f.CardsHandled())
    effects = dealer.do(f.CardExposed(2))
    assert dealer.is_in(Phase.FROZEN)
    assert only(effects, fx.AskSupervisor).answers == ("play on", "void")
    dealer.do(f.SupervisorRuled("play on"), SUPERVISOR)
    dealer.let_it_ride()
    assert [row(dealer, n)["net"] for n in (2, 3)] == [3000, -1500]
