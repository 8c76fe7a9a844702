"""Every fact and every effect has words, and none of them names a closed card."""

from __future__ import annotations

from typing import get_args

import pytest

from controller.replay import words
from controller.rules.cards import BY_NAME
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.names import WHATS
from controller.rules.rulings import Ruling

CARDS = {f.CardDrawn, f.PacketDispensed}
"""Told by the timeline, which knows what is public."""


def test_every_ruling_has_its_words() -> None:
    assert set(words.RULINGS) == set(get_args(Ruling))


def test_every_fact_has_words() -> None:
    assert words._FACTS.keys() | CARDS == set(WHATS.values())
    assert not words._FACTS.keys() & CARDS


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (f.DecisionCorrected(3, "2", "ride"),
         "CORRECTED, the key before was wrong: seat 3 lets it ride: wager 2"),
        (f.PlayerAbsent(4, False), "Seat 4: the player is absent, cards not looked at"),
        (f.CountFound(None, 3), "3 community cards"),
        (f.CountFound(5, 2), "2 cards at seat 5"),
        (f.LimitsChanged(500, None), "New limits: 5.00 to none"),
        (f.SelectionRevealed(BY_NAME["Qs"], 4),
         "The draw: magic card Qs, lucky seat 4"),
        (f.OutcomeInvalidated("fraud", (1, 2)),
         "The game is invalidated: fraud; forfeit: seats 1, 2"),
        (f.PayCorrected(7, 2, 12_345, "short"),
         "CORRECTION of round 7, seat 2: really paid 123.45 (short)"),
        (f.WagerRead(0, "pot", 500), "Dealer: 5.00 is on the pot"),
        (f.DisputeRaised(4, "console"), "DISPUTE at seat 4"),
        (f.DisputeDecided(4, "the player is right"),
         "DISPUTE at seat 4 IS DECIDED (the player is right)"),
        (f.PayCorrected(7, 2, 12_345, "console"),
         "CORRECTION of round 7, seat 2: really paid 123.45"),
        (f.CreditsRead(2, 1), "Seat 2: 1 progressive credit in"),
        (f.CreditsRead(2, 3), "Seat 2: 3 progressive credits in"),
    ],
)  # fmt: skip
def test_facts_in_the_words_of_the_trade(what: f.What, said: str) -> None:
    assert words.fact(what) == said


def test_a_correction_without_a_reason_is_by_the_person_alone() -> None:
    assert words.corrector("S1: console") == "S1"
    assert words.corrector("S1: short paid") == "S1: short paid"


EFFECTS: dict[fx.Effect, list[str]] = {
    fx.Refused("no", "NSW-5.7"): ["refused: no [NSW-5.7]"],
    fx.Prompt("open hand", 3): ["prompt: Open seat 3"],
    fx.Prompt("move to pot", detail="1500"): ["prompt: Move to the pot until it holds 15.00"],
    fx.Prompt("dispute", 4, "console"): ["prompt: Seat 4: dispute. Leave cards and chips"],
    fx.SetLamp(1, "live"): [],
    fx.RaiseAlarm("late wager", 2, "$: 500", "NSW-5.3"): [
        "ALARM late wager: seat 2: $: 500 [NSW-5.3]"
    ],
    fx.AskSupervisor("What?", ("void", "play on")): [
        "the supervisor is asked: What? Answers: void, play on"
    ],
    fx.ReturnWager(2, "1", 2_500, "NSW-8.3"): ["25.00 goes back to seat 2: wager 1 [NSW-8.3]"],
    fx.ArmAcceptor(2, True): ["credits taken at seats 2"],
    fx.PostContributions(1, ((2, 100),)): ["to the progressive: seat 2 1.00"],
    fx.ReverseContributions(1, ((2, 100),)): ["back from the progressive: seat 2 1.00"],
    fx.RequestSelection(1, (2, 5)): ["a draw is asked for, seats 2, 5"],
    fx.ShowSelection(None, None): ["shown: magic card none, lucky seat none"],
    fx.ShowJackpot(1_000, True): ["meter: 10.00 (stale)"],
    fx.ShowDealtCard(0, BY_NAME["Ah"]): ["open at the dealer: Ah"],
    fx.ShowCommunity(1, BY_NAME["Ts"]): ["community card 1: Ts"],
    fx.ShowBonusCard(BY_NAME["4h"]): ["middle card: 4h"],
    fx.ShowMagicHit((1, 3)): ["magic card: seats 1, 3"],
    fx.ShowAward(5, "envy", 30_000): ["seat 5: envy 300.00"],
    fx.ShowOwed(5, "$", 500): ["seat 5 owes 5.00: $"],
    fx.ShowKickout(True): ["kickout: the dealer is out"],
    fx.ShowPot(1_000, (1, "dealer")): ["pot 10.00 to seat 1, dealer"],
    fx.ClaimJackpot(1, ((2, "royal flush", 100),)): [
        "seat 2 claims 100% of the jackpot: royal flush"
    ],
    fx.WithdrawClaim(1, (2,)): ["claims withdrawn: seats 2"],
    fx.PayDifference(1, 2, -500): ["collect 5.00 at seat 2"],
    fx.StartTimer("vacancy", 1): [],
}


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda e: type(e).__name__)
def test_effects_in_words_with_their_clause(effect: fx.Effect) -> None:
    assert [str(said) for said in words.effects([effect])] == EFFECTS[effect]


def test_no_kind_of_effect_is_left_out() -> None:
    shown_with_a_round = {fx.ShowHand, fx.PublishRound}
    assert {type(e) for e in EFFECTS} | shown_with_a_round == set(get_args(fx.Effect))
