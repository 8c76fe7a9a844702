"""The deal, the two hidden community cards and the deck: what both MBS books say."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.cards import HiddenCard, card, cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.export import export_round
from controller.rules.engine.state import Phase
from tests.clauses.tables import SHUFFLER, base, draws, only, refused, row

both = pytest.mark.parametrize("game", ["MBS3", "MEGA"])

PACKETS = SHUFFLER["MBS3"]
THREE_OUT = {**PACKETS, "dealer_packet": 3}


def told_by(scripted_dealer: ScriptedDealer) -> list[fx.Effect]:
    told: list[fx.Effect] = []
    scripted_dealer.told = lambda _fact, effects: told.extend(effects)
    return told


@pytest.mark.clause("MBS3-1.1.2", "MEGA-1.1.2")
@both
def test_no_output_depends_on_a_community_card_before_it_is_turned(game: str) -> None:
    """Two rounds that differ in the hidden community cards alone look alike until COMM1."""
    outputs, records = [], []
    for community in ("JsQh", "4sKd"):
        scripted_dealer = draws(game, "Tc 3c Td 5d 2h 8h" + community)
        told = told_by(scripted_dealer)
        scripted_dealer.prepare()
        scripted_dealer.bets({2: base(1000), 5: base(1000)})
        scripted_dealer.deal()
        scripted_dealer.do(f.CardsHandled())
        scripted_dealer.decide()
        outputs.append(list(told))
        records.append(export_round(scripted_dealer.state))
        assert (
            len(scripted_dealer.state.drawn) == 8
        )  # three to each seat and exactly two shared cards
        shown = only(scripted_dealer.do(f.CommunityTurned(1)), fx.ShowCommunity)
        assert shown == fx.ShowCommunity(1, card(community[:2]))
        assert export_round(scripted_dealer.state)["round"]["community"] == [community[:2], None]
        scripted_dealer.decide()
        shown = only(scripted_dealer.do(f.CommunityTurned(2)), fx.ShowCommunity)
        assert shown == fx.ShowCommunity(2, card(community[2:]))
    assert outputs[0] == outputs[1]
    assert records[0] == records[1]
    assert records[0]["round"]["community"] == [None, None]


@pytest.mark.clause("MBS3-3.6", "MEGA-3.6")
@pytest.mark.parametrize(
    ("settings", "in_order"),
    [
        ({"deal_pattern": "passes"}, "Tc 3c Ac Td 5d Ad 2h 8h 7s Js Qh"),
        ({"deal_pattern": "hands"}, "Tc Td 2h 3c 5d 8h Ac Ad 7s Js Qh"),
        (PACKETS, "Tc Td 2h 3c 5d 8h Ac Ad 7s Js Qh"),
    ],
    ids=["passes", "hands", "packets"],
)
@both
def test_each_pattern_serves_the_seats_clockwise(
    game: str, settings: dict[str, Any], in_order: str
) -> None:
    scripted_dealer = draws(game, in_order, **settings)
    told = told_by(scripted_dealer)
    scripted_dealer.round({1: base(1000), 3: base(1000), 6: base(1000)})
    assert scripted_dealer.state.seats[1].opened == cards("Tc Td 2h")
    assert scripted_dealer.state.seats[3].opened == cards("3c 5d 8h")
    assert scripted_dealer.state.seats[6].opened == cards("Ac Ad 7s")
    asked = [e.seat for e in told if isinstance(e, fx.Prompt) and e.code == "deal seat"]
    pattern = settings["deal_pattern"]
    order = {"passes": [1, 3, 6] * 3, "hands": [1, 1, 1, 3, 3, 3, 6, 6, 6], "packets": [1, 3, 6]}
    assert asked == order[pattern]
    assert [row(scripted_dealer, n)["net"] for n in (1, 3, 6)] == [3000, -3000, 3000]


@pytest.mark.clause("MBS3-3.7", "MEGA-3.7")
@pytest.mark.parametrize(
    ("settings", "dealer", "community"),
    [
        ({}, "Js Qh", "Js Qh"),
        (PACKETS, "Js Qh", "Js Qh"),
        (THREE_OUT, "9s Js Qh", "Js Qh"),
        ({**THREE_OUT, "packet_bottom": "last_out"}, "Js Qh 9s", "Js Qh"),
        ({**PACKETS, "community_order": "reversed"}, "Js Qh", "Qh Js"),
    ],
    ids=["shoe", "packet of two", "bottom first out", "bottom last out", "reversed"],
)
@both
def test_then_two_community_cards_come_and_any_further_card_is_too_many(
    game: str, settings: dict[str, Any], dealer: str, community: str
) -> None:
    scripted_dealer = draws(game, "Tc Td 2h" + dealer, **settings)
    scripted_dealer.prepare()
    scripted_dealer.bets({4: base(1000)})
    scripted_dealer.deal()
    assert scripted_dealer.is_in(Phase.DECISION_1)
    assert len(scripted_dealer.state.drawn) == 3 + len(cards(dealer))
    spare: f.What = f.CardDrawn(HiddenCard(card("4s")))
    if settings:
        spare = f.PacketDispensed(tuple(HiddenCard(c) for c in cards("4s 5s 6s")))
    effects = scripted_dealer.do(spare, SHOE)
    asked = only(effects, fx.AskSupervisor)
    assert asked.question == f"One card too many is out ({game}-3.7)."
    assert scripted_dealer.is_in(Phase.FROZEN)
    assert refused(scripted_dealer.try_(f.Decided(4, "1", "ride")))
    scripted_dealer.do(
        f.SupervisorRuled("resume"), SUPERVISOR
    )  # set aside: the hands stay as dealt
    scripted_dealer.decide()
    scripted_dealer.turn(1)
    scripted_dealer.decide()
    scripted_dealer.turn(2)
    assert scripted_dealer.state.turned == cards(community)
    scripted_dealer.settle()
    assert row(scripted_dealer, 4)["net"] == 3000


@pytest.mark.clause("MBS3-2.1", "MEGA-2.1")
@pytest.mark.parametrize(
    "fault",
    [
        f.CardDrawn(HiddenCard(card("Qh"))),
        f.UnknownCardSeen(),
        f.DeckCounted(51),
        f.DeckCounted(53),
    ],
    ids=["a second Qh", "a joker", "51 cards", "53 cards"],
)
@both
def test_anything_but_one_deck_of_52_freezes_the_round(game: str, fault: f.What) -> None:
    scripted_dealer = draws(game, "Qh 3c Td")
    scripted_dealer.prepare()
    scripted_dealer.bets({2: base(1000), 5: base(1000)})
    for _ in range(3):
        scripted_dealer.deal_one()
    effects = scripted_dealer.do(fault, SHOE)
    assert scripted_dealer.is_in(Phase.FROZEN)
    assert "confirmed" in only(effects, fx.AskSupervisor).answers
    assert only(effects, fx.Prompt).code == "frozen"
    for what in (f.Decided(2, "1", "ride"), f.BetsOpened(), f.CommunityTurned(1)):
        assert "frozen" in refused(scripted_dealer.try_(what)).reason
    void = scripted_dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert scripted_dealer.is_in(Phase.VOIDING)
    assert len([e for e in void if isinstance(e, fx.ReturnWager)]) == 6


@pytest.mark.clause("MBS3-2.1", "MEGA-2.1")
@both
def test_a_full_deck_is_no_fault_and_a_failed_check_keeps_the_table_closed(game: str) -> None:
    scripted_dealer = draws(game, "Qh 3c Td")
    scripted_dealer.prepare()
    scripted_dealer.bets({2: base(1000)})
    scripted_dealer.deal_one()
    scripted_dealer.do(f.DeckCounted(52), SHOE)
    scripted_dealer.do(f.CutCardSeen(), SHOE)  # no playing card: the deal does not move
    assert scripted_dealer.is_in(Phase.DEALING)
    assert len(scripted_dealer.state.drawn) == 1
    scripted_dealer.let_it_ride()
    scripted_dealer.do(f.DeckShuffled("red"), SHOE)
    scripted_dealer.do(f.DeckChecked("red", passed=False), SHOE)
    assert "must be checked" in refused(scripted_dealer.try_(f.BetsOpened())).reason
    scripted_dealer.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    scripted_dealer.do(f.BetsOpened())


@pytest.mark.clause("MBS3-2.1", "MEGA-2.1")
@both
def test_two_decks_in_the_device_must_differ_in_their_backs(game: str) -> None:
    """AMB-D11: allowed, as long as each round uses one deck that can be told apart."""
    scripted_dealer = draws(game, "", **PACKETS)
    scripted_dealer.prepare()
    alike = scripted_dealer.do(f.DecksLoaded("red", "red"), SHOE)
    assert only(alike, fx.RaiseAlarm).code == "deck colours"
    assert (
        refused(scripted_dealer.try_(f.BetsOpened())).reason
        == "both decks have the same back colour"
    )
    scripted_dealer.do(f.DecksLoaded("red", "blue"), SHOE)
    scripted_dealer.do(f.BetsOpened())
