"""NSW rule 14 and who may do what: sanctions, cancelled outcomes, notices, disputes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controller.demo.scripted_dealer import SUPERVISOR, ScriptedDealer
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.settle import settle
from tests.clauses.tables import base, only, refused, row, table

GAMES_SUPERVISOR = f.Declared("G1", f.Role.GAMES_SUPERVISOR)
MINUTE = 60_000
WAGERS = {2: base(1000), 3: base(2500)}


def locked(**changes: Any) -> ScriptedDealer:
    """Seat 2 will win with a pair of tens, seat 3 will lose; bets are closed."""
    dealer = table("NSW", {2: "TcTd2h", 3: "3c5d8h"}, "JsQh", **changes)
    dealer.prepare()
    dealer.bets(WAGERS)
    return dealer


def brought_to(phase: Phase) -> ScriptedDealer:
    """A round in this phase; in settlement, with everything paid and collected."""
    dealer = locked()
    dealer.deal_one()
    if phase is Phase.DEALING:
        return dealer
    dealer.deal()
    if phase is Phase.FROZEN:
        dealer.do(f.UnknownCardSeen(), f.Measured("shoe"))
    if phase in (Phase.DECISION_1, Phase.FROZEN):
        return dealer
    dealer.decide()
    dealer.turn(1)
    if phase is Phase.DECISION_2:
        return dealer
    dealer.decide()
    dealer.turn(2)
    for number in (3, 2):
        dealer.do(f.HandOpened(number))
        dealer.do(f.SeatSettled(number))
        for spot in ("1", "2", "$"):
            dealer.take(number, spot)
    return dealer


# --- who may do what ---------------------------------------------------------------------------


@pytest.mark.clause("NSW-1.1-casinosup", "NSW-1.1-gamessup", "NSW-14.3")
def test_a_sanction_needs_a_casino_supervisor_and_other_directives_either_supervisor() -> None:
    dealer = brought_to(Phase.DECISION_1)
    sanction = f.HandVoided(3, "device under the table")
    for by in (f.Declared("D1", f.Role.DEALER), GAMES_SUPERVISOR):
        refusal = refused(dealer.try_(sanction, by))
        assert refusal == fx.Refused("hand voided needs a casino supervisor", "NSW-14.3")
    barred = f.SeatExcluded(3, "device under the table")
    assert refused(dealer.try_(barred)).reason == (
        "seat excluded needs a casino supervisor or games supervisor"
    )
    dealer.do(barred, GAMES_SUPERVISOR)
    dealer.do(sanction, SUPERVISOR)
    assert dealer.state.seats[3].out is True
    assert dealer.state.notes[-2:] == (
        "G1: excluded seat 3: device under the table",
        "S1: seat 3: device under the table",
    )


@pytest.mark.clause("NSW-14.3.1")
def test_a_sanctioned_players_wagers_are_void() -> None:
    dealer = brought_to(Phase.DECISION_1)
    effects = dealer.do(f.HandVoided(2, "sanction"), SUPERVISOR)
    assert fx.Prompt("hand void", 2, "NSW-14.3.1") in effects
    dealer.let_it_ride()
    result = dealer.state.history[-1].result
    assert result["clauses"] == ["NSW-14.3.1"]
    assert {w["status"] for w in row(dealer, 2)["wagers"].values()} == {"void"}
    assert (row(dealer, 2)["net"], row(dealer, 3)["net"]) == (0, -7500)
    assert "S1: seat 2: sanction" in dealer.state.notes


# --- cancelled outcomes ------------------------------------------------------------------------


@pytest.mark.clause("NSW-14.4")
@pytest.mark.parametrize(
    "phase",
    [Phase.DEALING, Phase.DECISION_1, Phase.DECISION_2, Phase.SETTLEMENT, Phase.FROZEN],
)
def test_an_outcome_may_be_cancelled_from_the_first_card_to_the_last_payment(phase: Phase) -> None:
    dealer = brought_to(phase)
    assert refused(dealer.try_(f.OutcomeInvalidated("disruption"))).clause == "NSW-14.4"
    effects = dealer.do(f.OutcomeInvalidated("disruption"), SUPERVISOR)
    if phase is Phase.SETTLEMENT:  # seats are paid: a second person agrees
        assert refused(dealer.try_(f.RulingSeconded(), SUPERVISOR))
        effects = dealer.do(f.RulingSeconded())
    assert effects[0] == fx.Prompt("void", detail="NSW-14.4")
    reversals = {e.seat: e.cents for e in effects if isinstance(e, fx.PayDifference)}
    assert reversals == ({2: -3000, 3: 7500} if phase is Phase.SETTLEMENT else {})
    dealer.do(f.VoidCleared())
    assert [row(dealer, n)["net"] for n in (2, 3)] == [0, 0]


@pytest.mark.clause("NSW-14.4.1")
def test_the_reason_of_a_disrupted_game_is_kept() -> None:
    dealer = brought_to(Phase.DECISION_1)
    dealer.do(f.OutcomeInvalidated("disruption"), SUPERVISOR)
    assert dealer.state.notes[-1] == "S1: disruption"
    assert dealer.state.voided_by == "NSW-14.4"


@pytest.mark.clause("NSW-14.4.2", "NSW-14.5")
def test_the_wagers_of_a_cheat_may_be_forfeit_and_all_others_are_refunded() -> None:
    dealer = brought_to(Phase.DECISION_1)
    dealer.do(f.Decided(2, "1", "ride"))
    dealer.do(f.Decided(3, "1", "withdraw"))
    dealer.take(3, "1")
    wrong = refused(dealer.try_(f.OutcomeInvalidated("disruption", (3,)), SUPERVISOR))
    assert wrong == fx.Refused("only a fraud forfeits a wager", "NSW-14.5")
    effects = dealer.do(f.OutcomeInvalidated("fraud", (3,)), SUPERVISOR)
    back = [(e.seat, e.spot, e.cents) for e in effects if isinstance(e, fx.ReturnWager)]
    assert back == [(2, "1", 1000), (2, "2", 1000), (2, "$", 1000)]
    assert dealer.state.notes[-1] == "S1: fraud [3]"
    dealer.do(f.VoidCleared())
    statuses = {spot: w["status"] for spot, w in row(dealer, 3)["wagers"].items()}
    assert statuses == {"1": "withdrawn", "2": "forfeited", "$": "forfeited"}
    assert [row(dealer, n)["net"] for n in (2, 3)] == [0, -5000]
    (event,) = dealer.state.history[-1].record["round"]["events"]
    assert event == {"type": "game_invalidated", "forfeit_seats": [3]}


# --- notices -----------------------------------------------------------------------------------


@pytest.mark.clause("NSW-14.8")
def test_a_table_with_players_closes_twenty_minutes_after_its_sign() -> None:
    dealer = locked()
    dealer.do(f.SignShown("closing"), SUPERVISOR)
    shown_at = dealer.clock_ms
    dealer.let_it_ride()
    dealer.prepare()
    dealer.clock_ms = shown_at + 20 * MINUTE - 2000
    dealer.do(f.BetsOpened())  # 19:59
    dealer.do(f.WagerRead(2, "1", 1000), f.Measured("chips"))
    for spot in ("2", "$"):
        dealer.place(2, spot, 1000)
    dealer.do(f.BetsClosed())
    dealer.let_it_ride()  # the round that was opened in time is played to its end
    dealer.prepare()
    refusal = refused(dealer.try_(f.BetsOpened()))
    assert refusal == fx.Refused("the table is closed: its notice has run out", "NSW-14.8")


def plays(dealer: ScriptedDealer, seats: tuple[int, ...]) -> list[fx.Prompt]:
    """One round of these seats; the notices about seats without a wager."""
    told: list[fx.Effect] = []
    dealer.told = lambda _fact, effects: told.extend(effects)
    dealer.round({number: base(1000) for number in seats})
    return [e for e in told if isinstance(e, fx.Prompt) and e.code == "idle"]


@pytest.mark.clause("NSW-14.9")
def test_three_rounds_without_a_wager_while_all_others_play_are_told_to_the_dealer() -> None:
    six = (1, 2, 3, 5, 6, 7)
    dealer = table("NSW")
    deck = list(dealer.deck)
    noticed = []
    for seats in (six, six, six, six[:-1], six, six, six):
        dealer.deck = list(deck)
        noticed.append(plays(dealer, seats))
    notice = [fx.Prompt("idle", 4, "3")]
    assert noticed == [[], [], notice, [], [], [], notice]


@pytest.mark.parametrize(("least", "most"), [(1001, 1000), (500, 100)])
def test_no_minimum_above_the_maximum_is_posted(least: int, most: int) -> None:
    dealer = table("NSW", min_wager=500, max_wager=5000)
    before = (dealer.state.min_wager, dealer.state.max_wager)
    refusal = refused(dealer.try_(f.LimitsChanged(least, most), SUPERVISOR))
    assert refusal.clause == "NSW-6.1"
    assert refusal.reason == (
        f"{least}: a minimum above the maximum of {most}; expected at most that"
    )
    assert (dealer.state.min_wager, dealer.state.max_wager) == before
    dealer.do(f.LimitsChanged(500, 500), SUPERVISOR)


def test_betting_called_off_before_the_first_card_counts_as_no_round_without_a_wager() -> None:
    six = (1, 2, 3, 5, 6, 7)
    dealer = table("NSW")
    for _ in range(3):
        dealer.prepare()
        dealer.bets({number: base(1000) for number in six})
        effects = dealer.do(f.OutcomeInvalidated("disruption"), SUPERVISOR)
        dealer.clear_table()
        effects += dealer.do(f.VoidCleared())
        assert [e for e in effects if isinstance(e, fx.Prompt) and e.code == "idle"] == []
    assert dealer.state.idle == {}


# --- disputes and the record -------------------------------------------------------------------


@pytest.mark.clause("NSW-14.12")
def test_a_dispute_holds_the_round_until_a_supervisor_has_decided_it() -> None:
    dealer = brought_to(Phase.SETTLEMENT)
    effects = dealer.do(f.DisputeRaised(3, "the second card"))
    assert only(effects, fx.Prompt) == fx.Prompt("dispute", 3, "the second card")
    refusal = refused(dealer.try_(f.RoundEnded()))
    assert refusal == fx.Refused("seat 3: a dispute is open", "NSW-14.12")
    decision = f.DisputeDecided(3, "the result stands")
    assert refused(dealer.try_(decision)).clause == "NSW-14.12"
    dealer.do(decision, GAMES_SUPERVISOR)
    assert dealer.state.notes[-1] == ("G1 (games supervisor): dispute of seat 3: the result stands")
    # A review may be asked for; what is raised between rounds is not forgotten either.
    dealer.do(f.RoundEnded())
    dealer.do(f.DisputeRaised(3, "review"))
    dealer.prepare()
    dealer.do(f.BetsOpened())
    assert dealer.state.disputes == {3: "review"}
    dealer.do(decision, SUPERVISOR)
    assert dealer.state.notes[-1].startswith("S1 (casino supervisor): dispute of seat 3")


@pytest.mark.clause("NSW-14.13", "NSW-0")
def test_the_record_of_a_closed_round_is_complete_and_names_its_rule_book() -> None:
    dealer = locked()
    dealer.ride = lambda seat, _spot: "withdraw" if seat == 3 else "ride"
    published: list[fx.Effect] = []
    dealer.told = lambda _fact, effects: published.extend(effects)
    dealer.let_it_ride()
    (round_,) = [e for e in published if isinstance(e, fx.PublishRound)]
    assert round_.record == {
        "game": "NSW",
        "settings": {},
        "round": {
            "seats": [
                {
                    "seat": 2,
                    "wagers": base(1000),
                    "cards": ["Tc", "Td", "2h"],
                    "decisions": {"1": "ride", "2": "ride"},
                },
                {
                    "seat": 3,
                    "wagers": base(2500),
                    "cards": ["3c", "5d", "8h"],
                    "decisions": {"1": "withdraw", "2": "withdraw"},
                },
            ],
            "community": ["Js", "Qh"],
            "events": [],
        },
    }
    again = settle(decode_record(json.loads(json.dumps(round_.record))))
    assert again == round_.result
    assert [seat["net"] for seat in again["seats"]] == [3000, -2500]
