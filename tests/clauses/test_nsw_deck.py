"""NSW rules 3, 4 and 13: the deck is checked, shuffled and cut, and the device that deals it."""

from __future__ import annotations

import pytest

from controller.demo.scripted_dealer import SHOE, SUPERVISOR, ScriptedDealer
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


def at_shuffler(in_order: str = "") -> ScriptedDealer:
    return draws("NSW", in_order, **SHUFFLER["NSW"])


# --- checks and decks --------------------------------------------------------------------------


@pytest.mark.clause("NSW-1.1-deckcheck", "NSW-3.4")
def test_a_deck_without_a_passed_check_is_not_put_in_play() -> None:
    dealer = table("NSW")
    dealer.do(f.DeckShuffled("red"), SHOE)
    dealer.do(f.DeckCut())
    refusal = refused(dealer.try_(f.BetsOpened()))
    assert refusal == fx.Refused("the deck in play has no passed check", "NSW-3.4")
    dealer.do(f.DeckChecked("red", passed=True), f.Measured("deck checker"))
    assert dealer.state.notes[-1] == "deck checker: deck red checked: passed"
    dealer.do(f.DeckChecked("red", passed=False), SUPERVISOR)
    assert "S1: deck red checked: failed" in dealer.state.notes
    assert refused(dealer.try_(f.BetsOpened())).clause == "NSW-3.4"
    dealer.do(f.DeckChecked("red", passed=True), f.Measured("deck checker"))
    assert refused(dealer.try_(f.BetsOpened())).clause == "NSW-3.4"
    dealer.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    dealer.do(f.BetsOpened())


@pytest.mark.clause("NSW-3.5")
def test_a_check_made_ahead_holds_only_under_its_seal() -> None:
    for seal, opens in (("seal 17", True), ("seal 18", False)):
        dealer = table("NSW")
        dealer.prepare("red")
        dealer.do(f.DeckChecked("blue", passed=True, seal="seal 17"), SUPERVISOR)
        prompts = dealer.do(f.DeckChanged("blue", seal=seal), SUPERVISOR)
        assert (fx.Prompt("check deck") in prompts) is not opens
        dealer.do(f.DeckShuffled("blue"), SHOE)
        dealer.do(f.DeckCut())
        effects = dealer.try_(f.BetsOpened())
        assert effects[0] == (
            fx.Prompt("place bets")
            if opens
            else fx.Refused("the deck in play has no passed check", "NSW-3.4")
        )


@pytest.mark.clause("NSW-3.7")
def test_a_supervisor_changes_the_cards_only_between_rounds() -> None:
    dealer = table("NSW", {4: "TcTd2h"}, "JsQh")
    dealer.prepare()
    dealer.bets(ONE_SEAT)
    dealer.deal_one()
    refusal = refused(dealer.try_(f.DeckChanged("blue"), SUPERVISOR))
    assert refusal.reason == "deck changed: not while dealing"
    dealer.let_it_ride()
    refusal = refused(dealer.try_(f.DeckChanged("blue")))
    assert refusal == fx.Refused(
        "deck changed needs a casino supervisor or games supervisor", "NSW-3.7"
    )
    effects = dealer.do(f.DeckChanged("blue"), SUPERVISOR)
    assert effects == (fx.Prompt("check deck"), SHUFFLE)
    assert refused(dealer.try_(f.BetsOpened())).clause == "NSW-3.4"
    dealer.do(f.DeckChecked("blue", passed=True), SUPERVISOR)
    assert refused(dealer.try_(f.BetsOpened())).clause == "NSW-4.1"
    dealer.do(f.DeckShuffled("blue"), SHOE)
    assert refused(dealer.try_(f.BetsOpened())).clause == "NSW-4.2"
    dealer.do(f.DeckCut())
    dealer.do(f.BetsOpened())


@pytest.mark.clause("NSW-3.8", "NSW-1.1-inspector")
def test_a_count_ordered_by_an_inspector_stops_the_deal_and_51_cards_void_the_round() -> None:
    dealer = table("NSW", {4: "TcTd2h"}, "JsQh")
    dealer.prepare()
    dealer.bets(ONE_SEAT)
    dealer.deal_one()
    assert refused(dealer.try_(f.CountOrdered())).clause == "NSW-3.8"
    dealer.do(f.CountOrdered(), INSPECTOR)
    assert dealer.state.phase is Phase.FROZEN
    assert dealer.state.notes[-1] == "I1: card count ordered by the inspector"
    question = only(dealer.do(f.DeckCounted(51)), fx.AskSupervisor)
    assert question.question == "The deck holds 51 cards."
    assert dealer.state.notes[-1] == "D1: deck counted: 51"
    effects = dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert fx.Prompt("void", detail="NSW-12.9.2") in effects
    assert dealer.is_in(Phase.VOIDING)


# --- one deck, or two in a shuffler ------------------------------------------------------------


@pytest.mark.clause("NSW-3.1")
def test_the_cut_card_does_not_move_the_deal_and_a_joker_or_a_double_stops_it() -> None:
    dealer = draws("NSW", "Tc Td 2h Js Qh")
    dealer.prepare()
    dealer.bets(ONE_SEAT)
    dealer.deal_one()
    assert dealer.do(f.CutCardSeen(), SHOE) == ()
    dealer.do(f.UnknownCardSeen(), SHOE)  # a joker
    assert dealer.state.phase is Phase.FROZEN
    dealer.do(f.SupervisorRuled("resume"), SUPERVISOR)
    dealer.do(f.CardDrawn(hidden("Tc")), SHOE)  # the first card once more
    assert dealer.is_in(Phase.FROZEN)
    dealer.do(f.SupervisorRuled("misread", card=hidden("Td")), SUPERVISOR)
    dealer.deck.pop()
    dealer.let_it_ride()
    assert dealer.state.seats[4].opened == cards("Tc Td 2h")
    assert row(dealer, 4)["net"] == 3000


@pytest.mark.clause("NSW-3.2.1")
def test_the_deck_in_the_shuffler_is_made_ready_while_the_other_is_played() -> None:
    dealer = at_shuffler("Tc Td 2h 9s Js Qh")
    dealer.prepare("red")
    dealer.bets(ONE_SEAT)
    dealer.deal_one()
    before = dealer.state
    dealer.do(f.DeckChecked("blue", passed=True), SHOE)
    dealer.do(f.DeckShuffled("blue"), SHOE)
    assert (dealer.state.drawn, dealer.state.seats) == (before.drawn, before.seats)
    assert dealer.state.deck.name == "red"
    assert dealer.state.deck.shuffled is False  # red is in play; only blue was shuffled
    dealer.let_it_ride()
    assert row(dealer, 4)["net"] == 3000
    dealer.do(f.BetsOpened())  # the next round is dealt from blue
    assert dealer.state.deck.name == "blue"
    assert dealer.state.deck.shuffled is True


@pytest.mark.clause("NSW-3.2.2")
def test_two_decks_of_one_back_colour_keep_the_table_closed() -> None:
    dealer = at_shuffler()
    dealer.prepare("A")
    alarm = only(dealer.do(f.DecksLoaded("red", "red"), SHOE), fx.RaiseAlarm)
    assert alarm == fx.RaiseAlarm("deck colours", None, "red", "NSW-3.2.2")
    refusal = refused(dealer.try_(f.BetsOpened()))
    assert refusal == fx.Refused("both decks have the same back colour", "NSW-3.2.2")
    dealer.do(f.DecksLoaded("red", "blue"), SHOE)
    dealer.do(f.BetsOpened())


@pytest.mark.clause("NSW-2.3.1")
def test_a_table_has_exactly_one_card_source() -> None:
    with pytest.raises(SettingsError, match='expected one of "shoe", "shuffler"'):
        table("NSW", card_device=["shoe", "shuffler"])
    assert table("NSW").state.rules.table.card_device == "shoe"
    assert at_shuffler().state.rules.table.card_device == "shuffler"


@pytest.mark.clause("NSW-1.1-shoe")
def test_a_packet_at_a_table_with_a_shoe_is_a_device_fault() -> None:
    dealer = draws("NSW", "Tc Td 2h Js Qh")
    dealer.prepare()
    dealer.bets(ONE_SEAT)
    packet = f.PacketDispensed((hidden("3c"), hidden("4c"), hidden("5c")))
    dealer.do(packet, SHOE)
    assert dealer.state.phase is Phase.FROZEN
    assert dealer.state.drawn == ()
    dealer.do(f.SupervisorRuled("resume"), SUPERVISOR)
    dealer.let_it_ride()
    assert dealer.state.seats[4].opened == cards("Tc Td 2h")


@pytest.mark.clause("NSW-1.1-shuffler")
def test_a_single_card_at_a_table_with_a_shuffler_is_a_device_fault() -> None:
    dealer = at_shuffler("Tc Td 2h 9s Js Qh")
    dealer.prepare()
    dealer.bets(ONE_SEAT)
    dealer.do(f.CardDrawn(hidden("3c")), SHOE)
    assert dealer.state.phase is Phase.FROZEN
    assert dealer.state.drawn == ()
    dealer.do(f.SupervisorRuled("resume"), SUPERVISOR)
    dealer.let_it_ride()
    assert dealer.state.seats[4].opened == cards("Tc Td 2h")


@pytest.mark.clause("NSW-3.6")
def test_no_community_card_is_turned_that_did_not_come_from_the_device() -> None:
    dealer = at_shuffler()
    dealer.prepare()
    dealer.bets(ONE_SEAT)
    assert refused(dealer.try_(f.CommunityTurned(1))).clause == "NSW-1.1-round"
    dealer.do(f.PacketDispensed((hidden("Tc"), hidden("Td"), hidden("2h"))), SHOE)
    dealer.do(f.PacketDispensed((hidden("9s"), hidden("Js"))), SHOE)  # one card short
    dealer.do(f.SupervisorRuled("resume"), SUPERVISOR)
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    refusal = refused(dealer.try_(f.CommunityTurned(2)))
    said = "that card has not come from the device: report the count"
    assert refusal == fx.Refused(said, "NSW-3.6")


# --- shuffle and cut ---------------------------------------------------------------------------


@pytest.mark.clause("NSW-4.1", "NSW-4.1.2")
def test_the_second_round_waits_for_a_shuffle_of_its_own() -> None:
    dealer = table("NSW", {4: "TcTd2h"}, "JsQh")
    dealer.prepare()
    dealer.bets(ONE_SEAT)
    before = dealer.state.deck.shuffled
    dealer.deal_one()
    assert (before, dealer.state.deck.shuffled) == (True, False)
    dealer.let_it_ride()
    refusal = refused(dealer.try_(f.BetsOpened()))
    assert refusal == fx.Refused("the cards must be shuffled", "NSW-4.1")


@pytest.mark.clause("NSW-4.1.1")
def test_the_table_opens_only_after_a_shuffle() -> None:
    dealer = at_shuffler()
    dealer.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    refusal = refused(dealer.try_(f.BetsOpened()))
    assert refusal == fx.Refused("the cards must be shuffled", "NSW-4.1")
    dealer.do(f.DeckShuffled("red"), SHOE)
    assert dealer.do(f.BetsOpened())[0] == fx.Prompt("place bets")


@pytest.mark.clause("NSW-4.1.3")
def test_after_the_table_stood_empty_the_cards_are_shuffled_before_the_first_one() -> None:
    dealer = table("NSW", {4: "TcTd2h"}, "JsQh", vacancy_ms=300_000)
    dealer.prepare()
    timer = only(dealer.do(f.BetsOpened()), fx.StartTimer)
    assert timer == fx.StartTimer("vacancy", 300_000)
    assert dealer.do(f.TimerFired("vacancy"), f.Measured("clock")) == (SHUFFLE,)
    for spot in ("1", "2", "$"):
        dealer.place(4, spot, 1000)
    # A wager lies there now: the table is not empty, the clock runs on.
    assert dealer.do(f.TimerFired("vacancy"), f.Measured("clock")) == (timer,)
    dealer.do(f.BetsClosed())
    refusal = refused(dealer.try_(f.CardDrawn(hidden("Tc")), SHOE))
    assert refusal == fx.Refused("no shuffle since the last round", "NSW-4.1")
    dealer.do(f.DeckShuffled("red"), SHOE)
    dealer.do(f.DeckCut())
    dealer.let_it_ride()
    assert row(dealer, 4)["net"] == 3000


@pytest.mark.clause("NSW-4.2")
def test_a_shoe_is_cut_and_loaded_after_every_shuffle() -> None:
    dealer = table("NSW")
    dealer.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    assert dealer.do(f.DeckShuffled("red"), SHOE) == (fx.Prompt("cut"),)
    refusal = refused(dealer.try_(f.BetsOpened()))
    assert refusal == fx.Refused("the cards must be cut and loaded", "NSW-4.2")
    dealer.do(f.DeckCut())
    assert dealer.state.notes[-1] == "D1: deck cut and loaded"
    assert dealer.do(f.DeckShuffled("red"), SHOE) == (fx.Prompt("cut"),)  # reloaded
    assert refused(dealer.try_(f.BetsOpened())).clause == "NSW-4.2"
    dealer.do(f.DeckCut())
    dealer.do(f.BetsOpened())


@pytest.mark.clause("NSW-4.4")
def test_cards_from_a_shuffler_are_not_cut() -> None:
    dealer = at_shuffler()
    dealer.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    assert dealer.do(f.DeckShuffled("red"), SHOE) == ()
    refusal = refused(dealer.try_(f.DeckCut()))
    assert refusal == fx.Refused("cards from a shuffler are not cut", "NSW-4.4")
    dealer.do(f.BetsOpened())
