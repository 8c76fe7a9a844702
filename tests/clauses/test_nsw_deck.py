"""NSW rules 3, 4 and 13: the deck is checked, shuffled and cut, and the device that deals it."""

from __future__ import annotations

import pytest

from controller.demo.croupier import SHOE, SUPERVISOR, Croupier
from controller.rules.cards import HiddenCard, cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.errors import SettingsError
from tests.clauses.tables import SHUFFLER, base, draws, only, refused, row, table

INSPECTOR = f.Declared("I1", f.Role.INSPECTOR)
SHUFFLE = fx.Prompt("shuffle")
ONE_SEAT = {4: base(1000)}


def hidden(name: str) -> HiddenCard:
    return HiddenCard(cards(name)[0])


def at_shuffler(in_order: str = "") -> Croupier:
    return draws("NSW", in_order, **SHUFFLER["NSW"])


# --- checks and decks --------------------------------------------------------------------------


@pytest.mark.clause("NSW-1.1-deckcheck", "NSW-3.4")
def test_a_deck_without_a_passed_check_is_not_put_in_play() -> None:
    croupier = table("NSW")
    croupier.do(f.DeckShuffled("red"), SHOE)
    croupier.do(f.DeckCut())
    refusal = refused(croupier.try_(f.BetsOpened()))
    assert refusal == fx.Refused("the deck in play has no passed check", "NSW-3.4")
    croupier.do(f.DeckChecked("red", passed=True), f.Measured("deck checker"))
    assert croupier.state.notes[-1] == "deck checker: deck red checked: passed"
    croupier.do(f.DeckChecked("red", passed=False), SUPERVISOR)
    assert "S1: deck red checked: failed" in croupier.state.notes
    assert refused(croupier.try_(f.BetsOpened())).clause == "NSW-3.4"
    croupier.do(f.DeckChecked("red", passed=True), f.Measured("deck checker"))
    assert refused(croupier.try_(f.BetsOpened())).clause == "NSW-3.4"
    croupier.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    croupier.do(f.BetsOpened())


@pytest.mark.clause("NSW-3.5")
def test_a_check_made_ahead_holds_only_under_its_seal() -> None:
    for seal, opens in (("seal 17", True), ("seal 18", False)):
        croupier = table("NSW")
        croupier.prepare("red")
        croupier.do(f.DeckChecked("blue", passed=True, seal="seal 17"), SUPERVISOR)
        prompts = croupier.do(f.DeckChanged("blue", seal=seal), SUPERVISOR)
        assert (fx.Prompt("check deck") in prompts) is not opens
        croupier.do(f.DeckShuffled("blue"), SHOE)
        croupier.do(f.DeckCut())
        effects = croupier.try_(f.BetsOpened())
        assert effects[0] == (
            fx.Prompt("place bets")
            if opens
            else fx.Refused("the deck in play has no passed check", "NSW-3.4")
        )


@pytest.mark.clause("NSW-3.7")
def test_a_supervisor_changes_the_cards_only_between_rounds() -> None:
    croupier = table("NSW", {4: "TcTd2h"}, "JsQh")
    croupier.prepare()
    croupier.bets(ONE_SEAT)
    croupier.deal_one()
    refusal = refused(croupier.try_(f.DeckChanged("blue"), SUPERVISOR))
    assert refusal.reason == "deck changed: not while dealing"
    croupier.let_it_ride()
    refusal = refused(croupier.try_(f.DeckChanged("blue")))
    assert refusal == fx.Refused(
        "deck changed needs a casino supervisor or games supervisor", "NSW-3.7"
    )
    effects = croupier.do(f.DeckChanged("blue"), SUPERVISOR)
    assert effects == (fx.Prompt("check deck"), SHUFFLE)
    assert refused(croupier.try_(f.BetsOpened())).clause == "NSW-3.4"
    croupier.do(f.DeckChecked("blue", passed=True), SUPERVISOR)
    assert refused(croupier.try_(f.BetsOpened())).clause == "NSW-4.1"
    croupier.do(f.DeckShuffled("blue"), SHOE)
    assert refused(croupier.try_(f.BetsOpened())).clause == "NSW-4.2"
    croupier.do(f.DeckCut())
    croupier.do(f.BetsOpened())


@pytest.mark.clause("NSW-3.8", "NSW-1.1-inspector")
def test_a_count_ordered_by_an_inspector_stops_the_deal_and_51_cards_void_the_round() -> None:
    croupier = table("NSW", {4: "TcTd2h"}, "JsQh")
    croupier.prepare()
    croupier.bets(ONE_SEAT)
    croupier.deal_one()
    assert refused(croupier.try_(f.CountOrdered())).clause == "NSW-3.8"
    croupier.do(f.CountOrdered(), INSPECTOR)
    assert croupier.state.phase is Phase.FROZEN
    assert croupier.state.notes[-1] == "I1: card count ordered by the inspector"
    question = only(croupier.do(f.DeckCounted(51)), fx.AskSupervisor)
    assert question.question == "The deck holds 51 cards."
    assert croupier.state.notes[-1] == "D1: deck counted: 51"
    effects = croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert fx.Prompt("void", detail="NSW-12.9.2") in effects
    assert croupier.is_in(Phase.VOIDING)


# --- one deck, or two in a shuffler ------------------------------------------------------------


@pytest.mark.clause("NSW-3.1")
def test_the_cut_card_does_not_move_the_deal_and_a_joker_or_a_double_stops_it() -> None:
    croupier = draws("NSW", "Tc Td 2h Js Qh")
    croupier.prepare()
    croupier.bets(ONE_SEAT)
    croupier.deal_one()
    assert croupier.do(f.CutCardSeen(), SHOE) == ()
    croupier.do(f.UnknownCardSeen(), SHOE)  # a joker
    assert croupier.state.phase is Phase.FROZEN
    croupier.do(f.SupervisorRuled("resume"), SUPERVISOR)
    croupier.do(f.CardDrawn(hidden("Tc")), SHOE)  # the first card once more
    assert croupier.is_in(Phase.FROZEN)
    croupier.do(f.SupervisorRuled("misread", card=hidden("Td")), SUPERVISOR)
    croupier.deck.pop()
    croupier.let_it_ride()
    assert croupier.state.seats[4].opened == cards("Tc Td 2h")
    assert row(croupier, 4)["net"] == 3000


@pytest.mark.clause("NSW-3.2.1")
def test_the_deck_in_the_shuffler_is_made_ready_while_the_other_is_played() -> None:
    croupier = at_shuffler("Tc Td 2h 9s Js Qh")
    croupier.prepare("red")
    croupier.bets(ONE_SEAT)
    croupier.deal_one()
    before = croupier.state
    croupier.do(f.DeckChecked("blue", passed=True), SHOE)
    croupier.do(f.DeckShuffled("blue"), SHOE)
    assert (croupier.state.drawn, croupier.state.seats) == (before.drawn, before.seats)
    assert croupier.state.deck.name == "red"
    assert croupier.state.deck.shuffled is False  # red is in play; only blue was shuffled
    croupier.let_it_ride()
    assert row(croupier, 4)["net"] == 3000
    croupier.do(f.BetsOpened())  # the next round is dealt from blue
    assert croupier.state.deck.name == "blue"
    assert croupier.state.deck.shuffled is True


@pytest.mark.clause("NSW-3.2.2")
def test_two_decks_of_one_back_colour_keep_the_table_closed() -> None:
    croupier = at_shuffler()
    croupier.prepare("A")
    alarm = only(croupier.do(f.DecksLoaded("red", "red"), SHOE), fx.RaiseAlarm)
    assert alarm == fx.RaiseAlarm("deck colours", None, "red", "NSW-3.2.2")
    refusal = refused(croupier.try_(f.BetsOpened()))
    assert refusal == fx.Refused("both decks have the same back colour", "NSW-3.2.2")
    croupier.do(f.DecksLoaded("red", "blue"), SHOE)
    croupier.do(f.BetsOpened())


@pytest.mark.clause("NSW-2.3.1")
def test_a_table_has_exactly_one_card_source() -> None:
    with pytest.raises(SettingsError, match='expected one of "shoe", "shuffler"'):
        table("NSW", card_device=["shoe", "shuffler"])
    assert table("NSW").state.rules.table.card_device == "shoe"
    assert at_shuffler().state.rules.table.card_device == "shuffler"


@pytest.mark.clause("NSW-1.1-shoe")
def test_a_packet_at_a_table_with_a_shoe_is_a_device_fault() -> None:
    croupier = draws("NSW", "Tc Td 2h Js Qh")
    croupier.prepare()
    croupier.bets(ONE_SEAT)
    packet = f.PacketDispensed((hidden("3c"), hidden("4c"), hidden("5c")))
    croupier.do(packet, SHOE)
    assert croupier.state.phase is Phase.FROZEN
    assert croupier.state.drawn == ()
    croupier.do(f.SupervisorRuled("resume"), SUPERVISOR)
    croupier.let_it_ride()
    assert croupier.state.seats[4].opened == cards("Tc Td 2h")


@pytest.mark.clause("NSW-1.1-shuffler")
def test_a_single_card_at_a_table_with_a_shuffler_is_a_device_fault() -> None:
    croupier = at_shuffler("Tc Td 2h 9s Js Qh")
    croupier.prepare()
    croupier.bets(ONE_SEAT)
    croupier.do(f.CardDrawn(hidden("3c")), SHOE)
    assert croupier.state.phase is Phase.FROZEN
    assert croupier.state.drawn == ()
    croupier.do(f.SupervisorRuled("resume"), SUPERVISOR)
    croupier.let_it_ride()
    assert croupier.state.seats[4].opened == cards("Tc Td 2h")


@pytest.mark.clause("NSW-3.6")
def test_no_community_card_is_turned_that_did_not_come_from_the_device() -> None:
    croupier = at_shuffler()
    croupier.prepare()
    croupier.bets(ONE_SEAT)
    assert refused(croupier.try_(f.CommunityTurned(1))).clause == "NSW-1.1-round"
    croupier.do(f.PacketDispensed((hidden("Tc"), hidden("Td"), hidden("2h"))), SHOE)
    croupier.do(f.PacketDispensed((hidden("9s"), hidden("Js"))), SHOE)  # one card short
    croupier.do(f.SupervisorRuled("resume"), SUPERVISOR)
    croupier.decide()
    croupier.turn(1)
    croupier.decide()
    refusal = refused(croupier.try_(f.CommunityTurned(2)))
    said = "that card has not come from the device: report the count"
    assert refusal == fx.Refused(said, "NSW-3.6")


# --- shuffle and cut ---------------------------------------------------------------------------


@pytest.mark.clause("NSW-4.1", "NSW-4.1.2")
def test_the_second_round_waits_for_a_shuffle_of_its_own() -> None:
    croupier = table("NSW", {4: "TcTd2h"}, "JsQh")
    croupier.prepare()
    croupier.bets(ONE_SEAT)
    before = croupier.state.deck.shuffled
    croupier.deal_one()
    assert (before, croupier.state.deck.shuffled) == (True, False)
    croupier.let_it_ride()
    refusal = refused(croupier.try_(f.BetsOpened()))
    assert refusal == fx.Refused("the cards must be shuffled", "NSW-4.1")


@pytest.mark.clause("NSW-4.1.1")
def test_the_table_opens_only_after_a_shuffle() -> None:
    croupier = at_shuffler()
    croupier.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    refusal = refused(croupier.try_(f.BetsOpened()))
    assert refusal == fx.Refused("the cards must be shuffled", "NSW-4.1")
    croupier.do(f.DeckShuffled("red"), SHOE)
    assert croupier.do(f.BetsOpened())[0] == fx.Prompt("place bets")


@pytest.mark.clause("NSW-4.1.3")
def test_after_the_table_stood_empty_the_cards_are_shuffled_before_the_first_one() -> None:
    croupier = table("NSW", {4: "TcTd2h"}, "JsQh", vacancy_ms=300_000)
    croupier.prepare()
    timer = only(croupier.do(f.BetsOpened()), fx.StartTimer)
    assert timer == fx.StartTimer("vacancy", 300_000)
    assert croupier.do(f.TimerFired("vacancy"), f.Measured("clock")) == (SHUFFLE,)
    for spot in ("1", "2", "$"):
        croupier.place(4, spot, 1000)
    # A wager lies there now: the table is not empty, the clock runs on.
    assert croupier.do(f.TimerFired("vacancy"), f.Measured("clock")) == (timer,)
    croupier.do(f.BetsClosed())
    refusal = refused(croupier.try_(f.CardDrawn(hidden("Tc")), SHOE))
    assert refusal == fx.Refused("no shuffle since the last round", "NSW-4.1")
    croupier.do(f.DeckShuffled("red"), SHOE)
    croupier.do(f.DeckCut())
    croupier.let_it_ride()
    assert row(croupier, 4)["net"] == 3000


@pytest.mark.clause("NSW-4.2")
def test_a_shoe_is_cut_and_loaded_after_every_shuffle() -> None:
    croupier = table("NSW")
    croupier.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    assert croupier.do(f.DeckShuffled("red"), SHOE) == (fx.Prompt("cut"),)
    refusal = refused(croupier.try_(f.BetsOpened()))
    assert refusal == fx.Refused("the cards must be cut and loaded", "NSW-4.2")
    croupier.do(f.DeckCut())
    assert croupier.state.notes[-1] == "D1: deck cut and loaded"
    assert croupier.do(f.DeckShuffled("red"), SHOE) == (fx.Prompt("cut"),)  # reloaded
    assert refused(croupier.try_(f.BetsOpened())).clause == "NSW-4.2"
    croupier.do(f.DeckCut())
    croupier.do(f.BetsOpened())


@pytest.mark.clause("NSW-4.4")
def test_cards_from_a_shuffler_are_not_cut() -> None:
    croupier = at_shuffler()
    croupier.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    assert croupier.do(f.DeckShuffled("red"), SHOE) == ()
    refusal = refused(croupier.try_(f.DeckCut()))
    assert refusal == fx.Refused("cards from a shuffler are not cut", "NSW-4.4")
    croupier.do(f.BetsOpened())
