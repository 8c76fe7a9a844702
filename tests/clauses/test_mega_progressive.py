"""MEGA: progressive credits and what the jackpot table pays."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import CHIPS, SUPERVISOR, ScriptedDealer
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.settle import settle
from tests.clauses.tables import base, only, refused, row, table

LINK = f.Measured("link")
ACCEPTOR = f.Measured("acceptor")


def opened() -> ScriptedDealer:
    dealer = table("MEGA", credit_cents=500)
    dealer.prepare()
    dealer.do(f.BetsOpened())
    return dealer


def lay_base(dealer: ScriptedDealer, seat: int) -> tuple[fx.Effect, ...]:
    dealer.place(seat, "1", 1000)
    dealer.place(seat, "2", 1000)
    return dealer.do(f.WagerRead(seat, "$", 1000), CHIPS)


def names(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def settled(hand: str, progressive: int) -> Any:
    """One seat's line; own three cards, then the two shared."""
    wagers = base(1000, progressive=progressive)
    seat = {"seat": 1, "wagers": wagers, "cards": names(hand[:6])}
    record = {"game": "MEGA", "round": {"seats": [seat], "community": names(hand[6:])}}
    return settle(decode_record(record))["seats"][0]


def to_settlement(dealer: ScriptedDealer, wagers: dict[int, dict[str, int]]) -> None:
    dealer.prepare()
    dealer.bets(wagers)
    dealer.deal()
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)


@pytest.mark.clause("MEGA-3.5")
def test_credits_come_after_the_base_wagers_and_may_be_several() -> None:
    dealer = opened()
    early = refused(dealer.try_(f.CreditsRead(4, 1), ACCEPTOR))
    assert early == fx.Refused("seat 4: credits come after the base wagers", "MEGA-3.5")
    half = dealer.do(f.WagerRead(4, "1", 1000), CHIPS)
    assert only(half, fx.ArmAcceptor) == fx.ArmAcceptor(4, False)
    assert refused(dealer.try_(f.CreditsRead(4, 1), ACCEPTOR)).clause == "MEGA-3.5"
    assert only(lay_base(dealer, 4), fx.ArmAcceptor) == fx.ArmAcceptor(4, True)
    dealer.do(f.CreditsRead(4, 3), ACCEPTOR)
    over = refused(dealer.try_(f.CreditsRead(4, 6), ACCEPTOR))
    assert over == fx.Refused("at most 5 credits a seat", "MEGA-3.5")
    effects = dealer.do(f.BetsClosed())
    assert dealer.state.seats[4].locked["progressive"] == 3 * 500
    assert only(effects, fx.PostContributions) == fx.PostContributions(1, ((4, 1500),))
    assert fx.ArmAcceptor(4, False) in effects


@pytest.mark.clause("MEGA-3.5")
def test_when_the_base_wagers_go_the_credits_go_too() -> None:
    """AMB-W17: the acceptor is disarmed and the credits are returned before the lock."""
    dealer = opened()
    lay_base(dealer, 4)
    dealer.do(f.CreditsRead(4, 2), ACCEPTOR)
    effects = dealer.do(f.WagerRead(4, "2", 0), CHIPS)
    assert only(effects, fx.ReturnWager) == fx.ReturnWager(4, "progressive", 1000, "MEGA-3.5")
    assert only(effects, fx.ArmAcceptor) == fx.ArmAcceptor(4, False)
    dealer.do(f.WagerRead(4, "2", 1000), CHIPS)
    locked = dealer.do(f.BetsClosed())
    assert not [e for e in locked if isinstance(e, fx.PostContributions)]


@pytest.mark.clause("MEGA-3.5")
def test_wagers_left_up_after_a_void_arm_the_acceptor_at_the_opening() -> None:
    dealer = table("MEGA")
    shut = _opening(dealer)
    assert fx.ArmAcceptor(4, False) in shut
    lay_base(dealer, 4)
    dealer.do(f.BetsClosed())
    dealer.deal_one()
    dealer.do(f.DealtWrong())
    dealer.do(f.VoidCleared())
    effects = _opening(dealer)
    assert fx.ArmAcceptor(4, True) in effects
    assert fx.ArmAcceptor(5, False) in effects


def _opening(dealer: ScriptedDealer) -> tuple[fx.Effect, ...]:
    dealer.prepare()
    return dealer.do(f.BetsOpened())


@pytest.mark.clause("MEGA-3.5.1")
def test_only_the_acceptor_makes_a_progressive_wager() -> None:
    """Chips near the acceptor or on an antenna that is not mapped are no wager."""
    dealer = opened()
    lay_base(dealer, 4)
    chips = refused(dealer.try_(f.WagerRead(4, "progressive", 500), CHIPS))
    assert chips == fx.Refused("chips are no credits: the acceptor takes the wager", "MEGA-3.5.1")
    dealer.do(f.WagerRead(4, "unmapped", 500), CHIPS)
    said = refused(dealer.try_(f.CreditsRead(4, 1)))
    assert "is measured, not declared" in said.reason
    declared = dealer.try_(f.WagerDeclared(4, "progressive", 500), SUPERVISOR)
    assert refused(declared).clause == "MEGA-3.5.1"
    effects = dealer.do(f.BetsClosed())
    assert dealer.state.seats[4].locked == base(1000)
    assert not [e for e in effects if isinstance(e, fx.PostContributions)]
    late = dealer.try_(f.WagerRead(4, "progressive", 500), CHIPS)
    assert refused(late).clause == "MEGA-3.5.1"


@pytest.mark.clause("MEGA-3.20")
def test_a_full_house_pays_the_jackpot_wager_a_hundred_to_one() -> None:
    """One credit of 5.00: 500.00, and the stake."""
    dealer = table("MEGA", {6: "KcKhKd"}, "AsAh", credit_cents=500)
    to_settlement(dealer, {6: base(1000, progressive=500)})
    shown = only(dealer.do(f.HandOpened(6)), fx.ShowHand)
    assert shown.pays["wagers"]["progressive"]["win"] == 50000
    dealer.settle()
    wager = row(dealer, 6)["wagers"]["progressive"]
    assert (wager["odds"], wager["win"], wager["stake_back"]) == ("100 to 1", 50000, 500)


@pytest.mark.clause("MEGA-4.2")
def test_the_jackpot_goes_by_the_same_five_cards_as_the_main_wagers() -> None:
    """Three of the hand and two shared cards: the class in the claim is the class that is paid."""
    dealer = table("MEGA", {1: "2c5d9s", 6: "4h5h6h"}, "7h8h")
    to_settlement(dealer, {1: base(1000, progressive=100), 6: base(1000, progressive=100)})
    dealer.do(f.HandOpened(6))
    claim = only(dealer.do(f.HandOpened(1)), fx.ClaimJackpot)
    assert claim.claims == ((6, "straight flush", 10),)
    dealer.settle()
    assert row(dealer, 6)["hand"] == "straight flush"
    assert row(dealer, 6)["wagers"]["$"]["odds"] == "200 to 1"
    for hand, odds in (("KcKhKdAsAh", "100 to 1"), ("Jh8h6h5h2h", "50 to 1")):
        wagers = settled(hand, 100)["wagers"]
        assert (wagers["progressive"]["odds"], wagers["$"]["status"]) == (odds, "win")


@pytest.mark.clause("MEGA-4.2-T1")
@pytest.mark.parametrize(
    ("hand", "name", "percent", "award"),
    [
        ("AhKhQhJhTh", "royal flush", 100, 5000005),
        ("5h6h8h7h9h", "straight flush", 10, 500000),
    ],
)
@pytest.mark.parametrize("credits_", [1, 3])
def test_a_share_of_the_jackpot_does_not_grow_with_the_credits(
    hand: str, name: str, percent: int, award: int, credits_: int
) -> None:
    dealer = table("MEGA", {2: hand[:6]}, hand[6:])
    told: list[fx.Effect] = []
    dealer.told = lambda _fact, effects: told.extend(effects)
    dealer.do(f.MeterReported(4000000), LINK)
    to_settlement(dealer, {2: base(1000, progressive=100 * credits_)})
    dealer.do(f.HandOpened(2))
    claims = [e for e in told if isinstance(e, fx.ClaimJackpot)]
    assert claims == [fx.ClaimJackpot(1, ((2, name, percent),))]
    assert refused(dealer.try_(f.SeatSettled(2))).clause == "MEGA-4.2-T1"
    dealer.do(f.JackpotLocked(5000005), LINK)
    dealer.settle()
    wager = row(dealer, 2)["wagers"]["progressive"]
    assert (wager["win"], wager["stake_back"]) == (award, 100 * credits_)
    assert dealer.state.history[-1].result["jackpot_before"] == 5000005


@pytest.mark.clause("MEGA-4.2-T2")
def test_the_odds_rows_grow_with_the_credits_and_a_straight_pays_nothing() -> None:
    """Two credits of 5.00: a flush pays 500.00."""
    for hand, win in (
        ("AcAhAdAsJh", 500 * 1000),
        ("KcKhKdAsAh", 100 * 1000),
        ("Jh8h6h5h2h", 50 * 1000),
    ):
        wager = settled(hand, 1000)["wagers"]["progressive"]
        assert (wager["status"], wager["win"], wager["stake_back"]) == ("win", win, 1000), hand
    for hand in ("9c8d7c6h5s", "TsThTc6h3d", "QsQh6c6h3d", "AcAh8d6h5s", "QcTh6d5s2h"):
        wager = settled(hand, 1000)["wagers"]["progressive"]
        assert (wager["status"], wager["to_player"]) == ("lose", 0), hand


@pytest.mark.clause("MEGA-4.2.1")
def test_a_credit_after_the_lock_wins_nothing_in_this_round() -> None:
    dealer = table("MEGA", {2: "AhKhQh"}, "JhTh")
    told: list[fx.Effect] = []
    dealer.told = lambda _fact, effects: told.extend(effects)
    dealer.do(f.MeterReported(5000000), LINK)
    dealer.prepare()
    dealer.bets({2: base(1000)})
    late = refused(dealer.try_(f.CreditsRead(2, 1), ACCEPTOR))
    assert late == fx.Refused("seat 2: bets are closed, the credits go back", "MEGA-5.6")
    dealer.deal()
    assert refused(dealer.try_(f.CreditsRead(2, 1), ACCEPTOR)).clause == "MEGA-5.6"
    dealer.let_it_ride()
    assert row(dealer, 2)["hand"] == "royal flush"
    assert "progressive" not in row(dealer, 2)["wagers"]
    assert row(dealer, 2)["net"] == 3 * 1000 * 1000
    assert not [e for e in told if isinstance(e, fx.ClaimJackpot)]
    assert dealer.state.history[-1].result["jackpot_after"] == 5000000


@pytest.mark.clause("MEGA-4.2.1")
def test_a_void_hand_claims_nothing() -> None:
    """The royal flush at seat 6 is voided by the supervisor before it is paid."""
    dealer = table("MEGA", {1: "2c5d9s", 6: "AhKhQh"}, "JhTh")
    to_settlement(dealer, {1: base(1000, progressive=100), 6: base(1000, progressive=100)})
    assert refused(dealer.try_(f.CreditsRead(1, 2), ACCEPTOR)).clause == "MEGA-5.6"
    dealer.do(f.HandOpened(6))
    void = dealer.do(f.HandVoided(6, "marked card"), SUPERVISOR)
    assert fx.ReverseContributions(1, ((6, 100),)) in void
    effects = dealer.do(f.HandOpened(1))
    assert not [e for e in effects if isinstance(e, fx.ClaimJackpot)]
    dealer.settle()
    assert row(dealer, 6)["net"] == 0
