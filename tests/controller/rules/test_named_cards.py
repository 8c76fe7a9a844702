"""A card that a supervisor names: the answer does not tell whether it lies closed elsewhere.

It is compared with the open cards when it is named, and with the others when those are opened.
"""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.cards import HiddenCard, card, cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from tests.clauses.tables import base, confirmed, draws, only, refused, row, table

CARDS = "5d 3c Td 9s 2h 8h Js Qh"
"""Seat 2 gets 5d Td 2h, seat 5 gets 3c 9s 8h; Js and Qh are shared."""
SEATS = {2: base(1000), 5: base(500)}


def doubtful(game: str = "MBS3", in_order: str = CARDS) -> ScriptedDealer:
    """Five of eight cards are out, and the sixth, seat 5's, cannot be read."""
    croupier = draws(game, in_order)
    croupier.prepare()
    croupier.bets(SEATS)
    for _ in range(5):
        croupier.deal_one()
    croupier.do(f.UnknownCardSeen(), SHOE)
    return croupier


def named(name: str) -> f.SupervisorRuled:
    return f.SupervisorRuled("misread", card=HiddenCard(card(name)))


def to_settlement(croupier: ScriptedDealer) -> None:
    while not croupier.is_in(Phase.DECISION_1):
        croupier.deal_one()
    for number in (1, 2):
        croupier.decide()
        croupier.turn(number)


@pytest.mark.parametrize("name", ["9s", "Td", "8h"])
def test_naming_a_closed_card_is_answered_like_any_other(name: str) -> None:
    """9s lies closed at seat 5, Td at seat 2; 8h is what it is. In Ace's deck none of them is."""
    croupier, other = doubtful(), doubtful(in_order="Ad Ac Kd Kc Kh 8h Js Qh")
    assert croupier.do(named(name), SUPERVISOR) == other.do(named(name), SUPERVISOR)
    assert croupier.is_in(Phase.DEALING)


def test_a_wrong_name_is_found_when_the_hand_is_opened_and_put_right() -> None:
    croupier = doubtful()
    croupier.do(named("9s"), SUPERVISOR)
    croupier.deck.remove(card("8h"))
    to_settlement(croupier)
    asked = only(croupier.do(f.HandOpened(5)), fx.AskSupervisor)
    assert croupier.is_in(Phase.FROZEN)
    assert asked.answers == ("misread", "confirmed")
    assert croupier.state.seats[5].opened is None
    again = refused(croupier.try_(named("Js"), SUPERVISOR))
    assert again.reason == "that card is already out: it cannot be the misread one"
    croupier.do(named("8h"), SUPERVISOR)
    assert croupier.is_in(Phase.SETTLEMENT)
    croupier.settle()
    assert croupier.state.history[-1].result["round_status"] == "settled"
    assert croupier.state.seats[5].opened == cards("3c 9s 8h")


def test_the_same_card_at_two_seats_voids_the_round_if_it_is_foreign() -> None:
    """Seat 5 shows Td, paid; then seat 2 opens Td as well: the supervisor finds a foreign card."""
    croupier = doubtful()
    croupier.do(named("Td"), SUPERVISOR)
    croupier.deck.remove(card("8h"))
    to_settlement(croupier)
    croupier.do(f.HandOpened(5))
    croupier.do(f.SeatSettled(5))
    croupier.do(f.HandOpened(2))
    assert croupier.is_in(Phase.FROZEN)
    confirmed(croupier)
    assert croupier.is_in(Phase.VOIDING)
    assert croupier.state.voided_by == "MBS3-5.1.1"


@pytest.mark.parametrize("name", ["7c", "Tc"])
def test_a_correction_to_a_closed_card_is_answered_like_any_other(name: str) -> None:
    """Seat 4's 9c was really another card; seat 2, which is still closed, holds 7c."""
    croupier = table("NSW", {2: "7c8d3h", 4: "9cTd2h"}, "4s5s")
    other = table("NSW", {2: "Kc8d3h", 4: "9cTd2h"}, "4s5s")
    answers: list[Any] = []
    for one in (croupier, other):
        one.prepare()
        one.bets({2: base(1000), 4: base(1000)})
        one.deal()
        to_settlement(one)
        one.do(f.HandOpened(4))
        answers.append(one.try_(f.CardCorrected(4, 1, card(name)), SUPERVISOR))
    assert answers[0] == answers[1]
    assert only(answers[0], fx.ShowHand).cards == cards(f"{name} Td 2h")


def test_a_correction_changes_the_card_that_was_corrected_and_no_other() -> None:
    """Seat 4's 9c becomes 7c, like seat 2's; seat 2's is then named Qc, and seat 4 keeps its."""
    croupier = table("NSW", {2: "7c8d3h", 4: "9cTd2h"}, "4s5s")
    croupier.prepare()
    croupier.bets({2: base(1000), 4: base(1000)})
    croupier.deal()
    to_settlement(croupier)
    croupier.do(f.HandOpened(4))
    croupier.do(f.CardCorrected(4, 1, card("7c")), SUPERVISOR)
    croupier.do(f.SeatSettled(4))
    croupier.do(f.HandOpened(2))
    assert croupier.is_in(Phase.FROZEN)
    croupier.do(named("Qc"), SUPERVISOR)
    for spot in ("1", "2", "$"):
        croupier.take(4, spot)
    croupier.settle()
    assert croupier.state.seats[4].opened == cards("7c Td 2h")
    assert croupier.state.seats[2].opened == cards("Qc 8d 3h")
    assert row(croupier, 2)["hand"] == "high card"


def test_a_shared_card_that_lies_open_already_is_not_turned() -> None:
    """Hands are dealt face up; the one named at seat 2 is what the device read as card 1."""
    croupier = table("PP6", {2: "TcTd7h"}, "9s6c5s", face_up=True)
    croupier.prepare()
    croupier.bets({2: base(1000)})
    for _ in range(4):
        croupier.deal_one()
    croupier.do(f.UnknownCardSeen(), SHOE)
    assert refused(croupier.try_(named("Tc"), SUPERVISOR))  # open: everybody sees it
    croupier.do(named("9s"), SUPERVISOR)
    croupier.deck.remove(card("7h"))
    while not croupier.is_in(Phase.DECISION_1):
        croupier.deal_one()
    croupier.decide()
    croupier.do(f.CommunityTurned(1))
    assert croupier.is_in(Phase.FROZEN)
    assert croupier.state.turned == ()
    croupier.do(named("8s"), SUPERVISOR)
    croupier.do(f.CommunityTurned(1))
    assert croupier.state.turned == cards("8s")


def test_a_middle_card_that_lies_open_already_is_not_turned() -> None:
    croupier = table("PP6", {2: "TcTd7h"}, "9s6c5s")
    croupier.prepare()
    croupier.bets({2: {**base(1000), "six_card": 500}})
    for _ in range(4):
        croupier.deal_one()
    croupier.do(f.UnknownCardSeen(), SHOE)
    croupier.do(named("6c"), SUPERVISOR)
    croupier.deck.remove(card("7h"))
    to_settlement(croupier)
    croupier.do(f.HandOpened(2))
    croupier.do(f.SeatSettled(2))
    croupier.do(f.BonusCardTurned())
    assert croupier.is_in(Phase.FROZEN)
    croupier.do(named("Ks"), SUPERVISOR)
    croupier.do(f.BonusCardTurned())
    assert croupier.state.bonus == card("Ks")
