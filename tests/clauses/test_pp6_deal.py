"""PP6: three passes that end at the dealer, whose middle card is the bonus card; card faults."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.croupier import SHOE, SUPERVISOR, Croupier
from controller.rules.cards import Card, HiddenCard, card, cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.rules.engine.state import Phase
from controller.rules.errors import SettingsError
from tests.clauses.tables import SETTINGS, TODAY, draws, only, refused, row, table


def listened(croupier: Croupier) -> list[fx.Effect]:
    """Every effect from now on."""
    told: list[fx.Effect] = []
    croupier.told = lambda _, effects: told.extend(effects)
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
    croupier = draws("PP6", in_order, **device)
    told = listened(croupier)
    croupier.round({1: {"$": 500, "six_card": 100}, 4: {"$": 500}})
    asked = [
        e.seat or 0
        for e in told
        if isinstance(e, fx.Prompt) and e.code in ("deal seat", "deal dealer")
    ]
    assert asked == places
    assert croupier.state.seats[1].opened == cards("Tc Td 2h")
    assert croupier.state.seats[4].opened == cards("3c 5d 8h")
    assert croupier.state.turned == cards("Kc Jd")
    assert croupier.state.bonus == card("7s")
    assert (row(croupier, 1)["net"], row(croupier, 4)["net"]) == (500 - 100, -500)
    # Which card of a packet is the second is a matter of the machine: nothing is assumed.
    with pytest.raises(SettingsError, match="bonus_index"):
        open_table("PP6", {**SETTINGS["PP6"], "card_device": "shuffler"}, TODAY)


@pytest.mark.clause("PP6-E3")
@pytest.mark.parametrize("fault", ["read twice", "of no deck"])
def test_a_card_that_cannot_be_of_this_deck_stops_the_round(fault: str) -> None:
    """The cut card is skipped; the supervisor names the true card and the deal goes on."""
    croupier = draws("PP6", "Tc 3c Kc Td 5d")
    croupier.prepare("red")
    assert croupier.state.deck.name == "red"
    croupier.bets({1: {"$": 500}, 4: {"$": 500}})
    for _ in range(5):
        croupier.deal_one()
    before = croupier.state
    croupier.do(f.CutCardSeen(), SHOE)
    assert croupier.state == before
    twice = f.CardDrawn(HiddenCard(card("3c")))
    stop = croupier.do(twice if fault == "read twice" else f.UnknownCardSeen(), SHOE)
    assert croupier.is_in(Phase.FROZEN)
    assert only(stop, fx.AskSupervisor).answers == ("misread", "confirmed", "resume")
    assert refused(croupier.try_(f.CommunityTurned(1)))

    true = f.SupervisorRuled("misread", card=HiddenCard(card("7s")))
    assert refused(croupier.try_(true)).clause == "house rule"
    croupier.do(true, SUPERVISOR)
    for name in ("2h", "8h", "Jd"):
        croupier.do(f.CardDrawn(HiddenCard(card(name))), SHOE)
    croupier.let_it_ride()
    assert croupier.state.turned == cards("Kc Jd")
    assert croupier.state.seats[4].opened == cards("3c 5d 8h")
    assert row(croupier, 1)["net"] == 500


@pytest.mark.clause("PP6-E3")
def test_a_card_read_twice_as_the_last_of_the_deal_does_not_end_it() -> None:
    croupier = draws("PP6", "Tc Kc Td 7s 2h")
    croupier.prepare()
    croupier.bets({1: {"$": 500}})
    for _ in range(5):
        croupier.deal_one()
    croupier.do(f.CardDrawn(HiddenCard(card("Tc"))), SHOE)
    assert croupier.is_in(Phase.FROZEN)
    croupier.do(f.SupervisorRuled("misread", card=HiddenCard(card("Jd"))), SUPERVISOR)
    assert croupier.is_in(Phase.DECISION_1)


@pytest.mark.clause("PP6-E3")
def test_a_foreign_card_is_the_supervisors_because_the_book_is_silent() -> None:
    croupier = draws("PP6", "Tc 3c Kc")
    croupier.prepare()
    croupier.bets({1: {"$": 500, "pair_plus": 100}, 4: {"$": 500}})
    for _ in range(3):
        croupier.deal_one()
    croupier.do(f.CardDrawn(HiddenCard(card("3c"))), SHOE)
    asked = croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert only(asked, fx.AskSupervisor) == fx.AskSupervisor(
        "A foreign card was found: the rule book does not decide. "
        "Answers: play on as dealt, or void the round.",
        ("play on", "void"),
    )
    void = croupier.do(f.SupervisorRuled("void"), SUPERVISOR)
    back = [(e.seat, e.spot, e.cents) for e in void if isinstance(e, fx.ReturnWager)]
    assert back == [(1, "$", 500), (1, "pair_plus", 100), (4, "$", 500)]


@pytest.mark.clause("PP6-M3a")
def test_the_dealers_first_card_is_turned_when_every_first_choice_is_made() -> None:
    croupier = draws("PP6", "Tc 3c Kc  Td 5d 7s  2h 8h Jd")
    croupier.prepare()
    croupier.bets({1: {"$": 500, "1": 500}, 4: {"$": 500, "1": 500}})
    croupier.deal()
    croupier.do(f.Decided(1, "1", "ride"))
    refusal = refused(croupier.try_(f.CommunityTurned(1)))
    assert refusal == fx.Refused("seat 4 has not decided", "PP6-M3a")
    croupier.do(f.Decided(4, "1", "ride"))
    assert only(croupier.do(f.CommunityTurned(1)), fx.ShowCommunity) == fx.ShowCommunity(
        1, card("Kc")
    )


@pytest.mark.clause("PP6-M4")
def test_the_dealers_third_card_completes_the_hands_and_the_middle_one_stays_closed() -> None:
    croupier = draws("PP6", "Tc 3c Kc  Td 5d 7s  2h 8h Jd")
    croupier.prepare()
    croupier.bets({1: {"$": 500, "six_card": 500}, 4: {"$": 500}})
    told = listened(croupier)
    croupier.deal()
    croupier.turn(1)
    croupier.turn(2)
    assert [e for e in told if isinstance(e, fx.ShowCommunity)] == [
        fx.ShowCommunity(1, card("Kc")),
        fx.ShowCommunity(2, card("Jd")),
    ]
    assert croupier.is_in(Phase.SETTLEMENT)
    assert cards_in(told) == set(cards("Kc Jd"))
    opened = croupier.do(f.HandOpened(4))
    assert only(opened, fx.ShowHand).cards == cards("3c 5d 8h")


@pytest.mark.clause("PP6-R5b")
def test_no_output_shows_a_players_card_before_the_second_shared_card() -> None:
    croupier = draws("PP6", "Tc 3c Kc  Td 5d 7s  2h 8h Jd")
    croupier.prepare()
    told = listened(croupier)
    croupier.bets({1: {"$": 500, "1": 500, "2": 500}, 4: {"$": 500, "pair_plus": 500}})
    croupier.deal()
    croupier.decide()
    croupier.turn(1)
    croupier.decide()
    assert cards_in(told) == set(cards("Kc"))
    assert refused(croupier.try_(f.HandOpened(4)))


@pytest.mark.clause("PP6-R5d")
def test_cards_dealt_face_up_are_shown_and_no_exposure_is_counted() -> None:
    croupier = table("PP6", {1: "TcTd2h", 4: "3c5d8h"}, "Kc7sJd", face_up=True)
    croupier.prepare()
    croupier.bets({1: {"$": 500}, 4: {"$": 500}})
    told = listened(croupier)
    croupier.deal()
    assert cards_in(told) == set(cards("TcTd2h 3c5d8h"))
    assert croupier.do(f.CardExposed(2)) == ()
    assert croupier.state.notes[-1] == "exposed card: cards are dealt face up"
    croupier.let_it_ride()
    assert row(croupier, 1)["net"] == 500

    closed = table("PP6", {1: "TcTd2h", 4: "3c5d8h"}, "Kc7sJd")
    closed.prepare()
    closed.bets({1: {"$": 500}, 4: {"$": 500}})
    told = listened(closed)
    closed.deal()
    assert cards_in(told) == set()
    closed.do(f.CardExposed(2))
    assert closed.is_in(Phase.FROZEN)
