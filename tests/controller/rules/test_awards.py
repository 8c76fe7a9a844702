"""Awards that the link server holds: one amount or none, and no next round before it is sure."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import SUPERVISOR, ScriptedDealer
from controller.rules.cards import card
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Award, Phase
from controller.rules.settle import settle
from tests.clauses.tables import base, confirmed, only, refused, row, table

LINK = f.Measured("link")
A, B = "main/3/17", "main/3/18"


def in_settlement(hands: dict[int, str], community: str, **changes: Any) -> ScriptedDealer:
    croupier = table("MBS3", hands, community, **changes)
    croupier.prepare()
    croupier.bets({n: base(1000, progressive=100) for n in hands})
    croupier.deal()
    croupier.decide()
    croupier.turn(1)
    croupier.decide()
    croupier.turn(2)
    return croupier


def straight_flush() -> ScriptedDealer:
    croupier = in_settlement({2: "5h6h8h"}, "7h9h")
    croupier.do(f.HandOpened(2))
    return croupier


def royal_before_straight_flush() -> ScriptedDealer:
    """Seat 5 is settled first and takes it all; seat 2 gets a tenth of what comes after."""
    croupier = in_settlement({2: "9s8s7s", 5: "AsKsQs"}, "JsTs")
    croupier.do(f.HandOpened(5))
    croupier.do(f.HandOpened(2))
    return croupier


LOCKED = f.JackpotLocked(10_000_000, 2_000_000, ((5, A, 10_000_000), (2, B, 200_000)))


def test_two_claims_of_a_round_are_paid_from_the_servers_reset() -> None:
    """The table's own setting says 0; what the server says with the lock counts and is exported."""
    croupier = royal_before_straight_flush()
    croupier.do(LOCKED, LINK)
    croupier.settle()
    assert row(croupier, 5)["wagers"]["progressive"]["win"] == 10_000_000
    assert row(croupier, 2)["wagers"]["progressive"]["win"] == 200_000
    archive = croupier.state.history[-1]
    assert archive.record["settings"]["jackpot_reset"] == 2_000_000
    assert settle(decode_record(archive.record)) == archive.result


@pytest.mark.parametrize(
    ("awards", "says"),
    [
        (((2, A, 99_999),), "seat 2: the server locks 999.99, the table settles 1,000.00"),
        (((2, A, 100_001),), "seat 2: the server locks 1,000.01, the table settles 1,000.00"),
        (((3, A, 100_000),), "seat 2: the server locks no award"),
        (((2, A, 100_000), (3, B, 5)), "seat 3: the server locks 0.05, no claim"),
    ],
)
def test_another_amount_than_the_settlement_pays_stops_the_table(
    awards: tuple[tuple[int, str, int], ...], says: str
) -> None:
    croupier = straight_flush()
    effects = croupier.do(f.JackpotLocked(1_000_000, 0, awards), LINK)
    alarm = only(effects, fx.RaiseAlarm)
    assert (alarm.code, alarm.detail) == ("jackpot differs", says)
    assert croupier.is_in(Phase.FROZEN)
    assert croupier.state.frozen is not None
    assert croupier.state.frozen.question == f"Jackpot: {says}."
    assert (croupier.state.jackpot, croupier.state.awards) == (None, ())
    assert refused(croupier.try_(f.SeatSettled(2)))
    croupier.do(f.SupervisorRuled("resume"), SUPERVISOR)
    croupier.do(f.JackpotLocked(1_000_000, 0, ((2, A, 100_000),)), LINK)
    croupier.settle()
    assert row(croupier, 2)["wagers"]["progressive"]["win"] == 100_000


def test_a_table_that_stopped_over_two_amounts_may_be_voided() -> None:
    croupier = straight_flush()
    croupier.do(f.JackpotLocked(1_000_000, 0, ((2, A, 1),)), LINK)
    effects = croupier.do(f.SupervisorRuled("void"), SUPERVISOR)
    assert only(effects, fx.WithdrawClaim) == fx.WithdrawClaim(1, (2,))
    assert only(effects, fx.ReverseContributions) == fx.ReverseContributions(1, ((2, 100),))


# --- the hold ----------------------------------------------------------------------------------


def locked_and_closed() -> ScriptedDealer:
    croupier = straight_flush()
    effects = croupier.do(f.JackpotLocked(1_000_000, 0, ((2, A, 100_000),)), LINK)
    assert only(effects, fx.ShowHand).seat == 2
    assert fx.Prompt("jackpot pending", 2, A) in effects
    croupier.settle()
    croupier.clear_table()
    croupier.prepare()
    return croupier


@pytest.mark.parametrize("state", ["verified", "approved", "paid", "rejected", "withdrawn"])
def test_no_next_round_before_the_jackpot_is_verified_or_over(state: Any) -> None:
    croupier = locked_and_closed()
    refusal = refused(croupier.try_(f.BetsOpened()))
    assert refusal == fx.Refused(f"seat 2: its jackpot {A} is not verified yet", "MBS3-4.2-T1")
    croupier.do(f.AwardChanged(A, state, 100_000), LINK)
    croupier.do(f.BetsOpened())
    assert croupier.state.awards == (Award(A, 1, 2, 100_000, state),)
    assert croupier.state.awards[0].pending == (state in ("verified", "approved"))


def test_a_rejected_award_is_told_and_corrects_nothing_by_itself() -> None:
    croupier = locked_and_closed()
    effects = croupier.do(f.AwardChanged(A, "rejected", 100_000), LINK)
    assert only(effects, fx.RaiseAlarm).code == "jackpot rejected"
    codes = [e.code for e in effects if isinstance(e, fx.Prompt)]
    assert codes == ["jackpot rejected", "jackpot ended"]
    assert row(croupier, 2)["wagers"]["progressive"]["win"] == 100_000


def test_what_is_told_again_or_too_late_changes_nothing() -> None:
    croupier = locked_and_closed()
    for what in (
        f.AwardChanged(A, "locked", 100_000),
        f.AwardChanged("main/9/9", "paid", 1),
    ):
        assert refused(croupier.try_(what, LINK)).reason.endswith("nothing new")
    croupier.do(f.AwardChanged(A, "paid", 100_000), LINK)
    assert refused(croupier.try_(f.AwardChanged(A, "rejected", 100_000), LINK))


def test_another_amount_in_a_later_state_is_an_alarm_and_not_taken() -> None:
    croupier = locked_and_closed()
    effects = croupier.do(f.AwardChanged(A, "verified", 100_001), LINK)
    said = "seat 2: the server locks 1,000.01, the table settles 1,000.00"
    assert only(effects, fx.RaiseAlarm).detail == said
    assert croupier.state.awards == (Award(A, 1, 2, 100_000, "verified"),)


def test_nobody_at_the_table_declares_what_only_the_server_knows() -> None:
    croupier = locked_and_closed()
    for what in (f.AwardChanged(A, "paid", 100_000), f.MysteryWon(1, 2, B, "mini", 5)):
        assert refused(croupier.try_(what, SUPERVISOR)).reason.endswith("not declared")


def test_awards_that_are_over_are_forgotten_and_pending_ones_are_not() -> None:
    croupier = locked_and_closed()
    croupier.do(f.MysteryWon(1, 2, B, "mini", 5), LINK)
    croupier.do(f.AwardChanged(A, "paid", 100_000), LINK)
    seen = []
    for number in range(2, 54):
        croupier.clear_table()
        croupier.deck = table("MBS3", {4: "2c3d9s"}, "4h5s").deck
        croupier.round({4: base(1000)})
        seen.append((number, [a.award for a in croupier.state.awards]))
    assert seen[48:52] == [(50, [A, B]), (51, [A, B]), (52, [B]), (53, [B])]


# --- mystery -----------------------------------------------------------------------------------


def test_a_mystery_award_is_told_and_holds_no_round() -> None:
    croupier = in_settlement({2: "5c6h8h"}, "7h9h")
    effects = croupier.do(f.MysteryWon(1, 2, B, "mini", 50_000), LINK)
    assert only(effects, fx.RaiseAlarm).detail == f"mini: $500.00, award {B} of round 1"
    assert only(effects, fx.Prompt) == fx.Prompt("mystery", 2, B)
    assert refused(croupier.try_(f.MysteryWon(1, 2, B, "mini", 50_000), LINK))
    croupier.settle()
    croupier.clear_table()
    croupier.prepare()
    croupier.do(f.BetsOpened())
    assert croupier.state.awards == (Award(B, 1, 2, 50_000, share=False),)


# --- after the lock ----------------------------------------------------------------------------


def test_a_void_round_ends_its_awards_at_once_and_the_next_may_open() -> None:
    croupier = straight_flush()
    croupier.do(f.JackpotLocked(1_000_000, 0, ((2, A, 100_000),)), LINK)
    croupier.do(f.CardFaultReported("foreign"))
    croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert croupier.state.awards == (Award(A, 1, 2, 100_000, "withdrawn"),)
    croupier.do(f.VoidCleared())
    croupier.clear_table()
    croupier.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    croupier.prepare()
    croupier.do(f.BetsOpened())


def test_a_share_that_rested_on_one_that_is_gone_waits_for_its_new_amount() -> None:
    """Without the royal the straight flush is due a tenth of all of it, not of the reset."""
    croupier = royal_before_straight_flush()
    croupier.do(LOCKED, LINK)
    effects = croupier.do(f.CardCorrected(5, 1, card("Ad")), SUPERVISOR)
    assert [e for e in effects if isinstance(e, fx.WithdrawClaim | fx.ClaimJackpot)] == [
        fx.WithdrawClaim(1, (5,))
    ]
    assert croupier.state.awards == (
        Award(A, 1, 5, 10_000_000, "withdrawn"),
        Award(B, 1, 2, 200_000, due=1_000_000),
    )
    croupier.do(f.SeatSettled(5))
    assert refused(croupier.try_(f.SeatSettled(2))).reason == "wait: the jackpot is not locked"
    effects = croupier.do(f.AwardChanged(B, "locked", 1_000_000), LINK)
    assert only(effects, fx.ShowHand).pays["wagers"]["progressive"]["win"] == 1_000_000
    croupier.settle()
    assert row(croupier, 2)["wagers"]["progressive"]["win"] == 1_000_000
    assert croupier.state.awards[1] == Award(B, 1, 2, 1_000_000)


def test_a_third_amount_for_a_share_that_waits_stops_the_table() -> None:
    croupier = royal_before_straight_flush()
    croupier.do(LOCKED, LINK)
    croupier.do(f.CardCorrected(5, 1, card("Ad")), SUPERVISOR)
    effects = croupier.do(f.AwardChanged(B, "locked", 999_999), LINK)
    said = "seat 2: the server locks 9,999.99, the table settles 10,000.00"
    assert only(effects, fx.RaiseAlarm).detail == said
    assert croupier.state.frozen is not None
    assert croupier.state.frozen.answers == ("void",)


def test_a_hand_that_becomes_better_is_claimed_anew_locked_or_not() -> None:
    """The server may have locked it while the message was on its way: first it is withdrawn."""
    for locked in (False, True):
        croupier = in_settlement({2: "9sKsQs"}, "JsTs")
        croupier.do(f.HandOpened(2))
        if locked:
            croupier.do(f.JackpotLocked(1_000_000, 0, ((2, A, 100_000),)), LINK)
        effects = croupier.do(f.CardCorrected(2, 1, card("As")), SUPERVISOR)
        assert [e for e in effects if isinstance(e, fx.WithdrawClaim | fx.ClaimJackpot)] == [
            fx.WithdrawClaim(1, (2,)),
            fx.ClaimJackpot(1, ((2, "royal flush", 100),)),
        ]
        assert only(effects, fx.ShowHand).pays["wagers"]["progressive"] is None
        assert refused(croupier.try_(f.SeatSettled(2))).reason == "wait: the jackpot is not locked"
        assert (croupier.state.jackpot, croupier.state.reset) == (None, None)


def test_a_new_claim_beside_one_that_is_paid_stops_the_table() -> None:
    croupier = in_settlement({2: "9s8s7d", 5: "AsKsQs"}, "JsTs")
    croupier.do(f.HandOpened(5))
    croupier.do(f.HandOpened(2))
    croupier.do(f.JackpotLocked(1_000_000, 0, ((5, A, 1_000_000),)), LINK)
    croupier.do(f.SeatSettled(5))
    croupier.do(f.CardCorrected(2, 3, card("7s")), SUPERVISOR)
    effects = croupier.do(f.RulingSeconded())
    said = "seat 5: its royal flush is paid, and the claims of the round change"
    assert only(effects, fx.RaiseAlarm).detail == said
    assert croupier.is_in(Phase.FROZEN)


def test_what_a_void_hand_was_paid_comes_back_once_while_the_other_waits() -> None:
    croupier = royal_before_straight_flush()
    croupier.do(LOCKED, LINK)
    croupier.do(f.SeatSettled(5))
    croupier.do(f.HandVoided(5, "switched cards"), SUPERVISOR)
    effects = croupier.do(f.RulingSeconded())
    won = 3 * 1000 * 1000 + 10_000_000 + 30_000  # three wagers at 1000 to 1, the jackpot, envy
    assert only(effects, fx.PayDifference) == fx.PayDifference(1, 5, -won)
    assert only(effects, fx.WithdrawClaim) == fx.WithdrawClaim(1, (5,))
    effects = croupier.do(f.AwardChanged(B, "locked", 1_000_000), LINK)
    assert not [e for e in effects if isinstance(e, fx.PayDifference)]
    croupier.settle()
    assert row(croupier, 5)["net"] == 0


def test_a_paid_share_stops_the_table_when_one_before_it_goes() -> None:
    croupier = royal_before_straight_flush()
    croupier.do(LOCKED, LINK)
    croupier.do(f.SeatSettled(5))
    croupier.do(f.SeatSettled(2))
    croupier.do(f.HandVoided(5, "switched cards"), SUPERVISOR)
    effects = croupier.do(f.RulingSeconded())
    alarm = only(effects, fx.RaiseAlarm)
    said = "seat 2: the server locks 2,000.00, the table settles 10,000.00"
    assert (alarm.code, alarm.detail) == ("jackpot differs", said)
    assert croupier.state.frozen is not None
    assert croupier.state.frozen.answers == ("void",)


def test_an_award_rejected_before_it_is_paid_is_not_paid() -> None:
    """The server holds it back: the supervisor corrects the hand or voids it."""
    croupier = straight_flush()
    croupier.do(f.JackpotLocked(1_000_000, 0, ((2, A, 100_000),)), LINK)
    croupier.do(f.AwardChanged(A, "rejected", 100_000), LINK)
    assert refused(croupier.try_(f.SeatSettled(2))).reason == "wait: the jackpot is not locked"
    croupier.do(f.HandVoided(2, "hand switched"), SUPERVISOR)
    croupier.settle()
    assert row(croupier, 2)["net"] == 0


# --- what goes back to the link ----------------------------------------------------------------


def test_a_wager_refused_after_the_lock_is_taken_back_from_the_pool() -> None:
    croupier = table("MBS3", {2: "5h6h8h", 4: "2c3d9s"}, "7h9h")
    croupier.prepare()
    croupier.bets({n: base(1000, progressive=100) for n in (2, 4)})
    effects = croupier.do(f.WagerRefused(2, "intoxicated"), SUPERVISOR)
    assert only(effects, fx.ReverseContributions) == fx.ReverseContributions(1, ((2, 100),))


def test_a_round_found_void_after_it_was_closed_is_taken_back_from_the_pool() -> None:
    croupier = locked_and_closed()
    croupier.do(f.CountFound(2, 4))
    effects = confirmed(croupier)
    assert only(effects, fx.ReverseContributions) == fx.ReverseContributions(1, ((2, 100),))
    assert only(effects, fx.WithdrawClaim) == fx.WithdrawClaim(1, (2,))
    assert croupier.state.awards[0].state == "withdrawn"
    croupier.do(f.BetsOpened())


# --- no link, no wager -------------------------------------------------------------------------


def test_a_progressive_wager_is_not_declared_without_the_link() -> None:
    croupier = table("MBS3", {2: "5h6h8h"}, "7h9h")
    croupier.do(f.LinkLost(), LINK)
    croupier.prepare()
    croupier.do(f.BetsOpened())
    declared = f.WagerDeclared(2, "progressive", 100)
    assert refused(croupier.try_(declared, SUPERVISOR)).reason == (
        "the link is down: the progressive is closed"
    )
    croupier.do(f.LinkRestored(), LINK)
    croupier.do(declared, SUPERVISOR)


def test_chips_on_a_plain_spot_do_not_lock_without_the_link() -> None:
    croupier = table("MBS3", {2: "5h6h8h"}, "7h9h")
    croupier.prepare()
    croupier.do(f.BetsOpened())
    for spot, cents in base(1000, progressive=100).items():
        croupier.do(f.WagerRead(2, spot, cents), f.Measured("chips"))
    croupier.do(f.LinkLost(), LINK)
    effects = croupier.do(f.BetsClosed())
    assert only(effects, fx.ReturnWager) == fx.ReturnWager(2, "progressive", 100, "MBS3-3.5")
    assert not [e for e in effects if isinstance(e, fx.PostContributions)]
    assert "progressive" not in croupier.state.seats[2].locked
