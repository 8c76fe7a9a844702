"""Foreign cards and decks that are short or over: what both MBS books say."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.cards import HiddenCard, card, cards
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.settle import settle
from tests.clauses.tables import base, confirmed, draws, only, refused, row, table

both = pytest.mark.parametrize("game", ["MBS3", "MEGA"])


def in_the_deal(game: str) -> ScriptedDealer:
    """Seats 2 and 5, five of eight cards out: 5d 3c Td 9s 2h."""
    dealer = draws(game, "5d 3c Td 9s 2h 8h Js Qh")
    dealer.prepare()
    dealer.bets({2: base(1000, progressive=100), 5: base(500)})
    for _ in range(5):
        dealer.deal_one()
    return dealer


def record_with(game: str, **event: Any) -> Any:
    seat = {"seat": 2, "wagers": base(1000), "cards": ["Tc", "Td", "2h"]}
    body = {"seats": [seat], "community": ["Js", "Qh"], "events": [event]}
    return settle(decode_record({"game": game, "round": body}))


@pytest.mark.clause("MBS3-5.1", "MEGA-5.1")
@pytest.mark.parametrize(
    "found",
    [
        f.CardDrawn(HiddenCard(card("5d"))),
        f.UnknownCardSeen(),
        f.CardFaultReported("foreign"),
    ],
    ids=["a second 5d", "unreadable", "reported by the dealer"],
)
@both
def test_a_card_that_does_not_belong_freezes_the_round_and_voids_nothing_yet(
    game: str, found: f.What
) -> None:
    dealer = in_the_deal(game)
    effects = dealer.do(found, SHOE)
    assert dealer.is_in(Phase.FROZEN)
    measured = not isinstance(found, f.CardFaultReported)  # a person has the card in hand
    misread = ("misread",) if measured else ()
    assert only(effects, fx.AskSupervisor).answers == (*misread, "confirmed", "resume")
    assert not [e for e in effects if isinstance(e, fx.ReturnWager)]
    assert refused(dealer.try_(f.SupervisorRuled("confirmed")))  # the dealer may not rule


@pytest.mark.clause("MBS3-5.1", "MEGA-5.1")
@pytest.mark.parametrize("found", [f.CardDrawn(HiddenCard(card("5d"))), f.UnknownCardSeen()])
@both
def test_a_misread_card_is_put_right_and_the_round_goes_on(game: str, found: f.What) -> None:
    """AMB-V08: the card on the table was 8h; seat 5 holds it, and the deal goes on after it."""
    dealer = in_the_deal(game)
    dealer.do(found, SHOE)
    dealer.do(f.SupervisorRuled("misread", card=_hidden("8h")), SUPERVISOR)
    dealer.deck.remove(card("8h"))
    dealer.let_it_ride()
    assert dealer.state.seats[2].opened == cards("5d Td 2h")
    assert dealer.state.seats[5].opened == cards("3c 9s 8h")
    assert dealer.state.turned == cards("Js Qh")


def _hidden(name: str) -> HiddenCard:
    return HiddenCard(card(name))


@pytest.mark.clause("MBS3-5.1.1", "MEGA-5.1.1")
@both
def test_a_confirmed_foreign_card_voids_the_round_and_every_wager_goes_back(game: str) -> None:
    dealer = in_the_deal(game)
    dealer.do(f.UnknownCardSeen(), SHOE)
    effects = dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    clause = f"{game}-5.1.1"
    assert [e for e in effects if isinstance(e, fx.ReturnWager)] == [
        fx.ReturnWager(2, "1", 1000, clause),
        fx.ReturnWager(2, "2", 1000, clause),
        fx.ReturnWager(2, "$", 1000, clause),
        fx.ReturnWager(2, "progressive", 100, clause),
        fx.ReturnWager(5, "1", 500, clause),
        fx.ReturnWager(5, "2", 500, clause),
        fx.ReturnWager(5, "$", 500, clause),
    ]
    assert {(e.seat, e.lamp) for e in effects if isinstance(e, fx.SetLamp)} == {
        (2, "void"),
        (5, "void"),
    }
    assert only(effects, fx.ReverseContributions) == fx.ReverseContributions(1, ((2, 100),))
    for what in (f.HandOpened(2), f.SeatSettled(2), f.CommunityTurned(1), f.BetsOpened()):
        assert refused(dealer.try_(what))
    published = only(dealer.do(f.VoidCleared()), fx.PublishRound)
    assert published.result["round_status"] == "void"
    assert published.result["clauses"] == [clause]
    assert [seat["net"] for seat in published.result["seats"]] == [0, 0]
    assert record_with(game, type="foreign_card")["round_status"] == "void"


@pytest.mark.clause("MBS3-5.1.2", "MEGA-5.1.2")
@both
def test_results_of_earlier_rounds_stand(game: str) -> None:
    dealer = table(game, {2: "TcTd2h"}, "JsQh")
    dealer.round({2: base(1000)})
    first = dealer.state.history[0]
    dealer.do(f.CardFaultReported("foreign"), SUPERVISOR)  # found after the round
    assert refused(dealer.try_(f.SupervisorRuled("void"), SUPERVISOR))
    assert dealer.state.history == (first,)
    dealer.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    dealer.prepare()
    dealer.bets({2: base(1000)})
    dealer.deal_one()
    dealer.do(f.UnknownCardSeen(), SHOE)
    dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    dealer.do(f.VoidCleared())
    assert [a.result["round_status"] for a in dealer.state.history] == ["settled", "void"]
    assert dealer.state.history[0] == first
    assert first.result["seats"][0]["net"] == 3000
    stands = record_with(game, type="foreign_card", after_round_concluded=True)
    assert stands["round_status"] == "settled"
    assert stands["seats"][0]["net"] == 3000


@pytest.mark.clause("MBS3-5.2", "MEGA-5.2")
@pytest.mark.parametrize("count", [51, 53])
@both
def test_a_wrong_count_in_the_round_voids_it_once_confirmed(game: str, count: int) -> None:
    """Found while the hands are paid: seat 5 has lost 15.00 and gets it back."""
    dealer = table(game, {2: "TcTd2h", 5: "3c5d8h"}, "JsQh")
    dealer.prepare()
    dealer.bets({2: base(1000), 5: base(500)})
    dealer.deal()
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    dealer.do(f.HandOpened(5))
    dealer.do(f.SeatSettled(5))
    dealer.do(f.DeckCounted(52), SUPERVISOR)
    assert dealer.is_in(Phase.SETTLEMENT)
    dealer.do(f.DeckCounted(count), SUPERVISOR)
    assert dealer.is_in(Phase.FROZEN)
    effects = confirmed(dealer)
    assert only(effects, fx.PayDifference) == fx.PayDifference(1, 5, 1500)
    assert {e.seat for e in effects if isinstance(e, fx.ReturnWager)} == {2}
    dealer.do(f.VoidCleared())
    result = dealer.state.history[-1].result
    assert (result["round_status"], result["clauses"]) == ("void", [f"{game}-5.2"])
    assert [seat["net"] for seat in result["seats"]] == [0, 0]


@pytest.mark.clause("MBS3-5.2", "MEGA-5.2")
@both
def test_a_wrong_count_while_bets_are_open_stops_the_round_too(game: str) -> None:
    dealer = table(game)
    dealer.prepare()
    dealer.do(f.BetsOpened())
    dealer.place(2, "$", 1000)
    dealer.do(f.CardFaultReported("short", 51))
    assert dealer.is_in(Phase.FROZEN)
    effects = dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert only(effects, fx.Prompt) == fx.Prompt("void", detail=f"{game}-5.2")
    dealer.do(f.VoidCleared())
    dealer.do(f.DeckShuffled("red"), SHOE)
    assert "must be checked" in refused(dealer.try_(f.BetsOpened())).reason


@pytest.mark.clause("MBS3-5.2", "MEGA-5.2")
@both
def test_a_wrong_count_between_rounds_blocks_the_next_opening(game: str) -> None:
    dealer = table(game, {2: "TcTd2h"}, "JsQh")
    dealer.round({2: base(1000)})
    effects = dealer.do(f.DeckCounted(51), SHOE)
    assert only(effects, fx.RaiseAlarm).code == "deck count"
    assert "51 cards" in only(effects, fx.AskSupervisor).question
    assert row(dealer, 2)["net"] == 3000
    dealer.do(f.DeckShuffled("red"), SHOE)
    assert "must be checked" in refused(dealer.try_(f.BetsOpened())).reason
    dealer.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    dealer.do(f.BetsOpened())
    held = record_with(game, type="deck_count", count=51, after_round_concluded=True)
    assert (held["round_status"], held["clauses"]) == ("supervisor", [f"{game}-5.2"])
