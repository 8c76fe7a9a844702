"""PP6: three passes that end at the dealer, whose middle card is the bonus card; card faults."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.cards import Card, HiddenCard, card, cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.rules.engine.state import Phase
from controller.rules.errors import SettingsError
from tests.clauses.tables import SETTINGS, TODAY, draws, only, refused, row, table


def listened(dealer: ScriptedDealer) -> list[fx.Effect]:
    """Every effect from now on."""
    told: list[fx.Effect] = []
    dealer.told = lambda _, effects: told.extend(effects)
    return told


def cards_in(effects: list[fx.Effect]) -> set[Card]:
    """Every card that an output has named."""
    seen: set[Card] = set()
    for effect in effects:
        if isinstance(effect, fx.ShowCommunity | fx.ShowBonusCard | fx.ShowDealtCard):
            seen.add(effect.card)
        elif isinstance(effect, fx.ShowHand):
            seen |= set(effect.cards)
    return seen


@pytest.mark.clause("PP6-M1c")
@pytest.mark.parametrize(
    ("in_order", "device", "places"),
    [
        ("Tc 3c Kc  Td 5d 7s  2h 8h Jd", {}, [1, 4, 0, 1, 4, 0, 1, 4, 0]),
        ("Tc Td 2h  3c 5d 8h  7s Kc Jd", {"card_device": "shuffler", "bonus_index": 1}, [1, 4, 0]),
        ("Tc Td 2h  3c 5d 8h  Kc Jd 7s", {"card_device": "shuffler", "bonus_index": 3}, [1, 4, 0]),
    ],
    ids=["three passes", "packets, middle card out first", "packets, middle card out last"],
)
def test_the_dealer_is_dealt_last_in_each_pass_and_his_second_card_is_the_bonus_card(
    in_order: str, device: dict[str, Any], places: list[int]
) -> None:
    dealer = draws("PP6", in_order, **device)
    told = listened(dealer)
    dealer.round({1: {"$": 500, "six_card": 100}, 4: {"$": 500}})
    asked = [
        e.seat or 0
        for e in told
        if isinstance(e, fx.Prompt) and e.code in ("deal seat", "deal dealer")
    ]
    assert asked == places
    assert dealer.state.seats[1].opened == cards("Tc Td 2h")
    assert dealer.state.seats[4].opened == cards("3c 5d 8h")
    assert dealer.state.turned == cards("Kc Jd")
    assert dealer.state.bonus == card("7s")
    assert (row(dealer, 1)["net"], row(dealer, 4)["net"]) == (500 - 100, -500)
    # Which card of a packet is the second is a matter of the machine: nothing is assumed.
    with pytest.raises(SettingsError, match="bonus_index"):
        open_table("PP6", {**SETTINGS["PP6"], "card_device": "shuffler"}, TODAY)


@pytest.mark.clause("PP6-E3")
@pytest.mark.parametrize("fault", ["read twice", "of no deck"])
def test_a_card_that_cannot_be_of_this_deck_stops_the_round(fault: str) -> None:
    """The cut card is skipped; the supervisor names the true card and the deal goes on."""
    dealer = draws("PP6", "Tc 3c Kc Td 5d")
    dealer.prepare("red")
    assert dealer.state.deck.name == "red"
    dealer.bets({1: {"$": 500}, 4: {"$": 500}})
    for _ in range(5):
        dealer.deal_one()
    before = dealer.state
    dealer.do(f.CutCardSeen(), SHOE)
    assert dealer.state == before
    twice = f.CardDrawn(HiddenCard(card("3c")))
    stop = dealer.do(twice if fault == "read twice" else f.UnknownCardSeen(), SHOE)
    assert dealer.is_in(Phase.FROZEN)
    assert only(stop, fx.AskSupervisor).answers == ("misread", "confirmed", "resume")
    assert refused(dealer.try_(f.CommunityTurned(1)))

    true = f.SupervisorRuled("misread", card=HiddenCard(card("7s")))
    assert refused(dealer.try_(true)).clause == "house rule"
    dealer.do(true, SUPERVISOR)
    for name in ("2h", "8h", "Jd"):
        dealer.do(f.CardDrawn(HiddenCard(card(name))), SHOE)
    dealer.let_it_ride()
    assert dealer.state.turned == cards("Kc Jd")
    assert dealer.state.seats[4].opened == cards("3c 5d 8h")
    assert row(dealer, 1)["net"] == 500


@pytest.mark.clause("PP6-E3")
def test_a_card_read_twice_as_the_last_of_the_deal_does_not_end_it() -> None:
    dealer = draws("PP6", "Tc Kc Td 7s 2h")
    dealer.prepare()
    dealer.bets({1: {"$": 500}})
    for _ in range(5):
        dealer.deal_one()
    dealer.do(f.CardDrawn(HiddenCard(card("Tc"))), SHOE)
    assert dealer.is_in(Phase.FROZEN)
    dealer.do(f.SupervisorRuled("misread", card=HiddenCard(card("Jd"))), SUPERVISOR)
    assert dealer.is_in(Phase.DECISION_1)


@pytest.mark.clause("PP6-E3")
def test_a_foreign_card_is_the_supervisors_because_the_book_is_silent() -> None:
    dealer = draws("PP6", "Tc 3c Kc")
    dealer.prepare()
    dealer.bets({1: {"$": 500, "pair_plus": 100}, 4: {"$": 500}})
    for _ in range(3):
        dealer.deal_one()
    dealer.do(f.CardDrawn(HiddenCard(card("3c"))), SHOE)
    asked = dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert only(asked, fx.AskSupervisor) == fx.AskSupervisor(
        "A foreign card was found: the rule book does not decide. "
        "Answers: play on as dealt, or void the round.",
        ("play on", "void"),
    )
    void = dealer.do(f.SupervisorRuled("void"), SUPERVISOR)
    back = [(e.seat, e.spot, e.cents) for e in void if isinstance(e, fx.ReturnWager)]
    assert back == [(1, "$", 500), (1, "pair_plus", 100), (4, "$", 500)]


@pytest.mark.clause("PP6-M3a")
def test_the_dealers_first_card_is_turned_when_every_first_choice_is_made() -> None:
    dealer = draws("PP6", "Tc 3c Kc  Td 5d 7s  2h 8h Jd")
    dealer.prepare()
    dealer.bets({1: {"$": 500, "1": 500}, 4: {"$": 500, "1": 500}})
    dealer.deal()
    dealer.do(f.Decided(1, "1", "ride"))
    refusal = refused(dealer.try_(f.CommunityTurned(1)))
    assert refusal == fx.Refused("seat 4 has not decided", "PP6-M3a")
    dealer.do(f.Decided(4, "1", "ride"))
    assert only(dealer.do(f.CommunityTurned(1)), fx.ShowCommunity) == fx.ShowCommunity(
        1, card("Kc")
    )


@pytest.mark.clause("PP6-M4")
def test_the_dealers_third_card_completes_the_hands_and_the_middle_one_stays_closed() -> None:
    dealer = draws("PP6", "Tc 3c Kc  Td 5d 7s  2h 8h Jd")
    dealer.prepare()
    dealer.bets({1: {"$": 500, "six_card": 500}, 4: {"$": 500}})
    told = listened(dealer)
    dealer.deal()
    dealer.turn(1)
    dealer.turn(2)
    assert [e for e in told if isinstance(e, fx.ShowCommunity)] == [
        fx.ShowCommunity(1, card("Kc")),
        fx.ShowCommunity(2, card("Jd")),
    ]
    assert dealer.is_in(Phase.SETTLEMENT)
    assert cards_in(told) == set(cards("Kc Jd"))
    opened = dealer.do(f.HandOpened(4))
    assert only(opened, fx.ShowHand).cards == cards("3c 5d 8h")


@pytest.mark.clause("PP6-R5b")
def test_no_output_shows_a_players_card_before_the_second_shared_card() -> None:
    dealer = draws("PP6", "Tc 3c Kc  Td 5d 7s  2h 8h Jd")
    dealer.prepare()
    told = listened(dealer)
    dealer.bets({1: {"$": 500, "1": 500, "2": 500}, 4: {"$": 500, "pair_plus": 500}})
    dealer.deal()
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    assert cards_in(told) == set(cards("Kc"))
    assert refused(dealer.try_(f.HandOpened(4)))


@pytest.mark.clause("PP6-R5d")
def test_cards_dealt_face_up_are_shown_and_no_exposure_is_counted() -> None:
    dealer = table("PP6", {1: "TcTd2h", 4: "3c5d8h"}, "Kc7sJd", face_up=True)
    dealer.prepare()
    dealer.bets({1: {"$": 500}, 4: {"$": 500}})
    told = listened(dealer)
    dealer.deal()
    assert cards_in(told) == set(cards("TcTd2h 3c5d8h"))
    assert dealer.do(f.CardExposed(2)) == ()
    assert dealer.state.notes[-1] == "exposed card: cards are dealt face up"
    dealer.let_it_ride()
    assert row(dealer, 1)["net"] == 500

    closed = table("PP6", {1: "TcTd2h", 4: "3c5d8h"}, "Kc7sJd")
    closed.prepare()
    closed.bets({1: {"$": 500}, 4: {"$": 500}})
    told = listened(closed)
    closed.deal()
    assert cards_in(told) == set()
    closed.do(f.CardExposed(2))
    assert closed.is_in(Phase.FROZEN)
