"""The engine where no single clause speaks: corrections, carried pots, claims, prompts anew."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from controller.demo.scripted_dealer import CHIPS, SHOE, SUPERVISOR, ScriptedDealer, stacked
from controller.rules.cards import HiddenCard, PublicMoment, card, cards, reveal
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.common import POT, POT_SEAT
from controller.rules.engine.opening import open_table
from controller.rules.engine.prompts import TEXTS, text
from controller.rules.engine.state import Phase
from controller.rules.errors import SettingsError
from tests.clauses.tables import SETTINGS, TODAY, base, confirmed, only, refused, row, table


def to_settlement(croupier: ScriptedDealer, wagers: dict[int, dict[str, int]]) -> None:
    croupier.prepare()
    croupier.bets(wagers)
    croupier.deal()
    croupier.decide()
    croupier.turn(1)
    croupier.decide()
    croupier.turn(2)


# --- hidden cards ------------------------------------------------------------------------------


def test_a_hidden_card_shows_itself_to_nobody() -> None:
    hidden = HiddenCard(card("Ah"))
    assert repr(hidden) == str(hidden) == f"{hidden}" == "HiddenCard(?)"
    assert hash(hidden) == hash(HiddenCard(card("2c")))
    with pytest.raises(TypeError, match="cannot be serialised"):
        hidden.__reduce__()
    with pytest.raises(TypeError, match="not a public moment"):
        reveal(hidden, "now")  # type: ignore[arg-type]
    assert reveal(hidden, PublicMoment.HAND_OPENED) == card("Ah")


# --- corrections -------------------------------------------------------------------------------


def test_a_misread_card_of_an_open_hand_is_corrected_by_the_supervisor() -> None:
    """The shoe read 9c, the felt shows Tc: a pair of tens is paid, and both stay on record."""
    croupier = table("NSW", {4: "9cTd2h"}, "4s5s")
    to_settlement(croupier, {4: base(1000)})
    shown = only(croupier.do(f.HandOpened(4)), fx.ShowHand)
    assert shown.hand == "high card"
    correction = f.CardCorrected(4, 1, card("Tc"))
    assert refused(croupier.try_(correction)).clause == "NSW-9.4"
    assert only(croupier.do(correction, SUPERVISOR), fx.ShowHand).hand == "one pair"
    croupier.settle()
    assert row(croupier, 4)["net"] == 3000
    events = croupier.state.history[-1].record["round"]["events"]
    assert events[-1]["what"] == "seat 4: read 9c, on the felt Tc"


@pytest.mark.parametrize(
    ("correction", "reason"),
    [
        (f.CardCorrected(4, 4, card("Tc")), "the hand has cards 1 to 3"),
        (f.CardCorrected(4, 1, card("4s")), "4s is already out"),
        (f.CardCorrected(5, 1, card("Tc")), "seat 5 is not in this round"),
    ],
)
def test_a_correction_that_cannot_be_is_refused(correction: f.CardCorrected, reason: str) -> None:
    croupier = table("NSW", {4: "9cTd2h"}, "4s5s")
    to_settlement(croupier, {4: base(1000)})
    croupier.do(f.HandOpened(4))
    assert refused(croupier.try_(correction, SUPERVISOR)).reason == reason


def test_a_mispay_is_a_new_fact_beside_the_closed_round() -> None:
    croupier = table("NSW", {4: "TcTd2h"}, "4s5s")
    croupier.round({4: base(1000)})
    closed = croupier.state.history[-1]
    paid = f.PayCorrected(1, 4, 5000, "one stack short")
    assert not [e for e in croupier.do(paid) if isinstance(e, fx.PayDifference)]
    assert only(confirmed(croupier), fx.PayDifference) == fx.PayDifference(1, 4, 1000)
    after = croupier.state.history[-1]
    assert (after.record, after.result) == (closed.record, closed.result)
    assert after.corrections == ((4, 1000, "D1 and S1: one stack short"),)
    again = refused(croupier.try_(paid, SUPERVISOR))
    assert again.reason == "the seat was paid what it is due"


# --- claims ------------------------------------------------------------------------------------


def test_a_claim_is_withdrawn_when_its_round_goes_void() -> None:
    croupier = table("MBS3", {2: "5h6h8h"}, "7h9h")
    to_settlement(croupier, {2: base(1000, progressive=100)})
    claim = only(croupier.do(f.HandOpened(2)), fx.ClaimJackpot)
    assert claim.claims == ((2, "straight flush", 10),)
    croupier.do(f.CardFaultReported("foreign"))
    effects = croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert only(effects, fx.WithdrawClaim) == fx.WithdrawClaim(1, (2,))
    assert only(effects, fx.ReverseContributions).cents == ((2, 100),)


def test_a_wager_refused_after_the_lock_takes_its_contribution_back_once() -> None:
    croupier = table("MBS3", {2: "5h6h8h", 5: "2c3d9s"}, "7h9c")
    croupier.prepare()
    croupier.bets({2: base(1000, progressive=100), 5: base(500, progressive=100)})
    gone = croupier.do(f.WagerRefused(5, "marked chips"), SUPERVISOR)
    assert only(gone, fx.ReverseContributions) == fx.ReverseContributions(1, ((5, 100),))
    croupier.deal_one()
    croupier.do(f.CardFaultReported("foreign"))
    void = croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert only(void, fx.ReverseContributions).cents == ((2, 100),)


def test_a_selection_is_not_accepted_once_a_shared_card_is_open() -> None:
    croupier = table("MEGA", {2: "5h6h8h"}, "7c9c")
    croupier.prepare()
    croupier.bets({2: base(1000, progressive=100)})
    croupier.do(f.SelectionCommitted("digest"), f.Measured("selector"))
    croupier.deal()
    croupier.decide()
    croupier.turn(1)
    late = f.SelectionRevealed(card("9c"), None)
    assert refused(croupier.try_(late, f.Measured("selector"))).reason.startswith(
        "selection revealed: not while"
    )


# --- a carried pot -----------------------------------------------------------------------------


def everybody_folds(croupier: ScriptedDealer) -> None:
    croupier.plays = lambda _seat: False
    croupier.round({1: {"ante": 500}, 3: {"ante": 500}})


def test_a_carried_pot_waits_on_the_spot_and_goes_with_the_next_one() -> None:
    """Kickout and two folds leave 15.00; the next winner gets it beside the round's own pot."""
    kickout = cards("2c 3c 4d 5d Ac Ad Ah Kc Kd")  # the dealer's full house is kicked out
    state = open_table("RICO", {**SETTINGS["RICO"], "orphan_pot": "carry"}, TODAY)
    croupier = ScriptedDealer(state, stacked(kickout, random.Random(1)))
    everybody_folds(croupier)
    assert croupier.state.history[-1].result["pot_carried"] == 1500
    assert croupier.state.carried == 1500
    croupier.deck = stacked(cards("Qc 8d 6h 5s Ah Kd 9c 7s 3d Qd 4h 2s"), random.Random(1))
    croupier.plays = lambda seat: seat == 1
    told: list[Any] = []
    croupier.told = lambda _fact, effects: told.extend(effects)
    croupier.prepare()
    croupier.do(f.BetsOpened())
    for seat in (1, 3):
        croupier.place(seat, "ante", 500)
    croupier.do(f.WagerRead(POT_SEAT, POT, 500), CHIPS)
    short = refused(croupier.try_(f.BetsClosed()))
    assert short.reason == "the pot must hold the dealer's ante of $5.00 and $15.00 carried over"
    croupier.do(f.WagerRead(POT_SEAT, POT, 2000), CHIPS)
    croupier.do(f.BetsClosed())
    croupier.ricochet()
    assert fx.ShowPot(2500, (1,)) in told
    assert row(croupier, 1)["net"] == 2500
    assert croupier.state.history[-1].record["settings"]["pot_carried_in"] == 1500
    assert croupier.state.carried == 0


def test_a_pot_carried_twice_is_in_the_record_of_each_round() -> None:
    kickout = cards("2c 3c 4d 5d Ac Ad Ah Kc Kd")
    state = open_table("RICO", {**SETTINGS["RICO"], "orphan_pot": "carry"}, TODAY)
    croupier = ScriptedDealer(state, stacked(kickout, random.Random(1)))
    everybody_folds(croupier)
    croupier.deck = stacked(kickout, random.Random(1))
    everybody_folds(croupier)
    first, second = (archive.result for archive in croupier.state.history)
    assert (first["pot"], first["pot_carried"]) == (1500, 1500)
    assert (second["pot"], second["pot_carried"]) == (3000, 3000)
    assert croupier.state.carried == 3000


def test_the_odd_chip_of_a_carried_pot_goes_to_the_last_to_act() -> None:
    """Equal pairs of kings: seat 6 acts before seat 4. The pot of 5.00 is joined by 16.00."""
    settings = {**SETTINGS["RICO"], "orphan_pot": "carry"}
    dealt = cards("Kh Kc 8c 8d Ah Qd 9c 7s 3d Kd 6h 4s Ks 6d 4c")
    state = replace(open_table("RICO", settings, TODAY), carried=1600)
    croupier = ScriptedDealer(state, stacked(dealt, random.Random(1)))
    croupier.round({4: {"ante": 500}, 6: {"ante": 500}})
    archive = croupier.state.history[-1]
    assert {r["seat"]: r["net"] for r in archive.result["seats"]} == {4: 1100, 6: 1000}
    assert archive.record["settings"]["pot_carried_in"] == 1600


def test_a_void_round_leaves_the_carried_pot_where_it_lies() -> None:
    settings = {**SETTINGS["RICO"], "orphan_pot": "carry", "after_void": "clear"}
    state = replace(open_table("RICO", settings, TODAY), carried=1600)
    croupier = ScriptedDealer(state, stacked([], random.Random(1)))
    croupier.prepare()
    croupier.bets({4: {"ante": 500}})
    croupier.do(f.CardFaultReported("foreign"))
    croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    croupier.do(f.SupervisorRuled("void"), SUPERVISOR)
    croupier.take(4, "ante")
    assert refused(croupier.try_(f.VoidCleared())).reason == "wagers still lie on the table"
    croupier.do(f.WagerRead(POT_SEAT, POT, 1600), CHIPS)
    croupier.do(f.VoidCleared())
    assert croupier.state.carried == 1600


# --- chips that were not lifted ----------------------------------------------------------------


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "NSW", "PP6"])
def test_a_late_withdrawal_is_ruled_on_only_where_chips_are_gone(game: str) -> None:
    """PP6's seat 4 has nothing on circle 1: an empty spot from which nothing can be lifted."""
    croupier = table(game)
    croupier.prepare()
    croupier.bets({2: base(1000), 4: {"$": 500} if game == "PP6" else base(500)})
    croupier.deal()
    for number in (2, 4):
        refusal = refused(croupier.try_(f.SeatRuled(number, "stays live"), SUPERVISOR))
        assert refusal.reason == f"seat {number}: no wager was lifted"
        assert croupier.state.seats[number].stays_live == frozenset()
    croupier.do(f.WagerRead(4, "$", 0), CHIPS)
    assert refused(croupier.try_(f.SeatRuled(2, "stays live"), SUPERVISOR))
    croupier.do(f.SeatRuled(4, "stays live"), SUPERVISOR)


# --- the supervisor ----------------------------------------------------------------------------


def test_after_the_ruling_the_dealer_is_asked_again() -> None:
    croupier = table("RICO", {1: "Qc8d", 3: "6h5s"}, "AhKd9c7s3d")
    croupier.prepare()
    croupier.bets({1: {"ante": 500}, 3: {"ante": 500}})
    croupier.deal()
    croupier.do(f.DealConfirmed())
    croupier.do(f.CardDrawn(croupier.draw()), SHOE)
    assert croupier.is_in(Phase.FROZEN)
    assert fx.Prompt("act", 3) in croupier.do(f.SupervisorRuled("resume"), SUPERVISOR)


def test_a_rule_of_another_book_is_a_house_rule_here() -> None:
    croupier = table("MBS3", {2: "5h6h8h"}, "7h9h")
    assert refused(croupier.try_(f.BetsOpened())) == fx.Refused(
        "the cards must be shuffled", "house rule"
    )


def test_a_profile_proposes_and_the_supervisor_decides() -> None:
    """PP6 states nothing on a misdeal; under the NSW profile the question proposes void."""
    croupier = table("PP6", {2: "5h6h8h"}, "7h2c9h", irregularity_profile="NSW")
    croupier.prepare()
    croupier.bets({2: {"$": 500}})
    croupier.deal()
    asked = only(croupier.do(f.DealtWrong()), fx.AskSupervisor)
    assert asked.question.endswith("The profile proposes: void (NSW-12.1).")
    croupier.do(f.SupervisorRuled("play on"), SUPERVISOR)
    assert croupier.is_in(Phase.DECISION_1)


# --- opening -----------------------------------------------------------------------------------


@pytest.mark.parametrize("game", sorted(SETTINGS))
def test_a_table_does_not_open_without_its_choices(game: str) -> None:
    """Every setting without a safe default is named at once, with what to choose between."""
    required = {
        "MBS3": {"meter_rule", "progressive_stake_returned", "seats", "deal_pattern"},
        "MEGA": {
            "meter_rule",
            "progressive_stake_returned",
            "seats",
            "deal_pattern",
            "selector",
        },
        "NSW": set(),
        "PP6": {"seats", "irregularity_profile"},
        "RICO": {"orphan_pot", "ante", "deal_pattern", "irregularity_profile"},
    }[game]
    if not required:
        open_table(game, {}, TODAY)
        return
    with pytest.raises(SettingsError) as error:
        open_table(game, {}, TODAY)
    assert {key for _, key, _ in error.value.problems} == required
    assert {code for code, _, _ in error.value.problems} == {"E-CFG-003"}
    if "deal_pattern" in required:
        assert 'Choose between "passes", "hands", "packets"' in str(error.value)


def test_a_round_selection_is_no_setting_of_a_table() -> None:
    with pytest.raises(SettingsError, match="belongs to one round"):
        open_table("MEGA", {**SETTINGS["MEGA"], "magic_card": "Qs"}, TODAY)


def test_every_prompt_can_be_printed() -> None:
    for code in TEXTS:
        assert "{" not in text(fx.Prompt(code, 3, "1500"))
