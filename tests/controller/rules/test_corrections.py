"""What is put right after the fact is put right once, whatever is reported again."""

from __future__ import annotations

from controller.demo.scripted_dealer import SUPERVISOR, ScriptedDealer
from controller.rules import events as ev
from controller.rules.cards import card, cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from tests.clauses.tables import base, confirmed, only, refused, table


def closed_round() -> ScriptedDealer:
    """Seat 4 won 3000 on three wagers of 1000: 6000 was handed over."""
    croupier = table("MBS3", {4: "TcTd2h"}, "4s5s")
    croupier.round({4: base(1000)})
    return croupier


def test_a_count_reported_twice_takes_the_money_back_once() -> None:
    croupier = closed_round()
    found = f.CountFound(4, 4)
    assert not [e for e in croupier.do(found) if isinstance(e, fx.PayDifference)]
    assert only(confirmed(croupier), fx.PayDifference) == fx.PayDifference(1, 4, -3000)
    assert refused(croupier.try_(found)).reason == "the result stands"
    assert croupier.state.history[-1].corrections == ((4, -3000, "D1 and S1: MBS3-5.4"),)


def test_a_mispay_found_after_the_void_is_measured_against_the_void() -> None:
    """6000 was due and paid, the void took 3000 back: nothing is owed either way."""
    croupier = closed_round()
    croupier.do(f.CountFound(4, 4))
    confirmed(croupier)
    paid = refused(croupier.try_(f.PayCorrected(1, 4, 6000, "recount"), SUPERVISOR))
    assert paid.reason == "the seat was paid what it is due"
    croupier.do(f.PayCorrected(1, 4, 5500, "recount"), SUPERVISOR)
    short = croupier.do(f.RulingSeconded())
    assert only(short, fx.PayDifference) == fx.PayDifference(1, 4, 500)


def test_the_closed_round_itself_is_never_changed() -> None:
    croupier = closed_round()
    before = croupier.state.history[-1]
    croupier.do(f.CountFound(4, 4))
    assert croupier.state.history[-1] == before
    confirmed(croupier)
    after = croupier.state.history[-1]
    assert (after.record, after.result) == (before.record, before.result)
    assert after.ruled_anew[1]["round_status"] == "void"


def in_settlement(hands: dict[int, str], community: str) -> ScriptedDealer:
    croupier = table("MBS3", hands, community)
    croupier.prepare()
    croupier.bets({n: base(1000, progressive=100) for n in hands})
    croupier.deal()
    croupier.decide()
    croupier.turn(1)
    croupier.decide()
    croupier.turn(2)
    return croupier


def test_a_claim_that_rested_on_a_misread_card_is_withdrawn() -> None:
    croupier = in_settlement({2: "5h6h8h"}, "7h9h")
    assert only(croupier.do(f.HandOpened(2)), fx.ClaimJackpot).claims == (
        (2, "straight flush", 10),
    )
    effects = croupier.do(f.CardCorrected(2, 1, card("5c")), SUPERVISOR)
    assert only(effects, fx.WithdrawClaim) == fx.WithdrawClaim(1, (2,))
    assert only(effects, fx.ShowHand).hand == "straight"


def test_a_correction_that_makes_a_straight_flush_pays_envy_to_a_seat_already_settled() -> None:
    croupier = in_settlement({2: "5c6h8h", 5: "KcKd2s"}, "7h9h")
    croupier.do(f.HandOpened(5))
    croupier.do(f.SeatSettled(5))
    croupier.do(f.HandOpened(2))
    effects = croupier.do(f.CardCorrected(2, 1, card("5h")), SUPERVISOR)
    assert only(effects, fx.ClaimJackpot).claims == ((2, "straight flush", 10),)
    locked = croupier.do(f.JackpotLocked(1_000_000), f.Measured("link"))
    assert fx.ShowAward(5, "envy", 30000) in locked
    assert croupier.state.result["seats"][1]["net"] == 3000 - 100 + 30000


def test_a_correction_that_unmakes_a_straight_flush_takes_shown_envy_back() -> None:
    croupier = in_settlement({2: "5h6h8h", 5: "KcKd2s"}, "7h9h")
    croupier.do(f.HandOpened(5))
    croupier.do(f.SeatSettled(5))
    croupier.do(f.HandOpened(2))
    croupier.do(f.JackpotLocked(1_000_000), f.Measured("link"))
    effects = croupier.do(f.CardCorrected(2, 1, card("5c")), SUPERVISOR)
    asked = "Seat 2: card 1 is 5c? That changes what another seat was paid."
    assert only(effects, fx.AskSupervisor).question == asked
    assert croupier.state.seats[2].opened == tuple(cards("5h6h8h"))
    assert refused(croupier.try_(f.RulingSeconded(), SUPERVISOR)).reason == (
        "S1 gave the ruling: another person must agree"
    )
    effects = croupier.do(f.RulingSeconded())
    assert croupier.state.events[-1] == ev.SupervisorConfirmed(
        "S1 and D1", "seat 2: read 5h, on the felt 5c"
    )
    assert only(effects, fx.PayDifference) == fx.PayDifference(1, 5, -30000)
    assert only(effects, fx.WithdrawClaim) == fx.WithdrawClaim(1, (2,))


def test_a_decision_of_a_void_hand_is_not_corrected() -> None:
    croupier = table("NSW", {2: "TcTd2h", 5: "3c5d8h"}, "JsQh")
    croupier.prepare()
    croupier.bets({n: base(500) for n in (2, 5)})
    croupier.deal()
    croupier.do(f.Decided(2, "1", "ride"))
    croupier.do(f.HandVoided(2, "sanction"), SUPERVISOR)
    refusal = refused(croupier.try_(f.DecisionCorrected(2, "1", "withdraw")))
    assert refusal.reason == "seat 2 has no decision about 1 to correct"
