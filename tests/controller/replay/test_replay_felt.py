"""What is on the table, from a state alone: a card that nobody may know is never a card."""

from __future__ import annotations

import json
import random

import pytest

from controller.commands.demo import SETTINGS, TODAY, WAGERS
from controller.demo.scripted_dealer import ScriptedDealer, stacked
from controller.replay.felt import FACE_DOWN, OnSpot, rows
from controller.rules.cards import Card, cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table


@pytest.mark.parametrize("game", WAGERS)
def test_only_cards_that_an_effect_has_shown_are_cards(game: str) -> None:
    shown: set[Card] = set()
    hidden = 0

    def told(_fact: f.Fact, effects: tuple[fx.Effect, ...]) -> None:
        nonlocal hidden
        for effect in effects:
            match effect:
                case fx.ShowDealtCard(_, card) | fx.ShowCommunity(_, card):
                    shown.add(card)
                case fx.ShowHand(cards=held):
                    shown.update(held)
        on_table = [card for row in rows(croupier.state) for card in row.cards]
        hidden += on_table.count(FACE_DOWN)
        assert {card for card in on_table if card is not FACE_DOWN} <= shown
        assert json.dumps([row.row() for row in rows(croupier.state)])

    state = open_table(game, SETTINGS[game], TODAY)
    croupier = ScriptedDealer(state, stacked((), random.Random(5)), told=told)
    croupier.prepare()
    croupier.bets(WAGERS[game])
    if croupier.state.rules.book.magic_card is not None:
        croupier.select(None, None)
    if game == "RICO":
        croupier.ricochet()
    else:
        croupier.let_it_ride()
    assert hidden or game == "RICO"


def test_a_row_says_what_was_decided_and_what_became_public() -> None:
    state = open_table("MBS3", SETTINGS["MBS3"], TODAY)
    first = cards("5h Kc 6h Kd 8h 2s 7h 9h")
    croupier = ScriptedDealer(
        state, stacked(first, random.Random(5)), ride=lambda _seat, _spot: "ride"
    )
    croupier.prepare()
    croupier.bets({2: {"1": 500, "2": 500, "$": 500}, 5: {"1": 500, "2": 500, "$": 500}})
    croupier.deal()
    croupier.do(f.CardsHandled())
    croupier.decide()
    croupier.turn(1)
    two, _, dealer = rows(croupier.state)
    assert (two.seat, two.cards) == (2, (FACE_DOWN,) * 3)
    assert two.wagers == (OnSpot("1", 500, "rides"), OnSpot("2", 500), OnSpot("$", 500))
    assert dealer.row() == {"seat": 0, "wagers": [], "cards": ["7h"], "note": None, "credits": 0}
