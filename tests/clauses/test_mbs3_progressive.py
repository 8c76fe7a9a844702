"""MBS3: the progressive jackpot and the Envy Bonus."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import ScriptedDealer
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.settle import settle
from controller.rules.wagers import check_wagers
from tests.clauses.tables import base, only, refused, row, table

LINK = f.Measured("link")
ACCEPTOR = f.Measured("acceptor")


def names(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def settled(seats: dict[int, tuple[str, dict[str, int]]], community: str, **settings: Any) -> Any:
    rows = [
        {"seat": n, "wagers": wagers, "cards": names(hand)} for n, (hand, wagers) in seats.items()
    ]
    body = {"seats": rows, "community": names(community)}
    return settle(decode_record({"game": "MBS3", "settings": settings, "round": body}))


def envy_of(result: Any) -> dict[int, list[tuple[int, int]]]:
    """Seat to (seat that triggered, amount)."""
    return {
        seat["seat"]: [(a["from_seat"], a["amount"]) for a in seat["awards"]]
        for seat in result["seats"]
    }


def to_settlement(dealer: ScriptedDealer, wagers: dict[int, dict[str, int]]) -> list[fx.Effect]:
    """Both community cards open; gives the list that later effects are added to."""
    dealer.prepare()
    dealer.bets(wagers)
    dealer.deal()
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    told: list[fx.Effect] = []
    dealer.told = lambda _fact, effects: told.extend(effects)
    return told


@pytest.mark.clause("MBS3-3.5")
def test_a_progressive_wager_without_the_base_wagers_is_refused_and_not_reported() -> None:
    dealer = table("MBS3")
    dealer.prepare()
    dealer.do(f.BetsOpened())
    for spot in ("1", "2", "$"):
        dealer.place(2, spot, 1000)
    dealer.place(2, "progressive", 100)
    dealer.place(5, "progressive", 100)
    effects = dealer.do(f.BetsClosed())
    assert fx.ReturnWager(5, "progressive", 100, "MBS3-3.5") in effects
    assert only(effects, fx.PostContributions) == fx.PostContributions(1, ((2, 100),))
    assert list(dealer.state.seats) == [2]
    alone = settled({5: ("TcTd2h", {"progressive": 100})}, "JsQh")
    assert alone["seats"][0]["wagers"]["progressive"]["status"] == "refused"
    assert (alone["clauses"], alone["seats"][0]["net"]) == (["MBS3-3.5"], 0)
    for missing in ("1", "2", "$"):
        wagers = {s: c for s, c in base(1000, progressive=100).items() if s != missing}
        checked = check_wagers({"game": "MBS3", "wagers": wagers})
        assert checked == {"accept": False, "broken": ["MBS3-3.4", "MBS3-3.5"]}


@pytest.mark.clause("MBS3-3.5")
def test_credits_of_a_seat_that_is_left_out_go_back_and_a_lost_link_disarms_every_seat() -> None:
    """AMB-W17, P17: spot 2 of seat 5 is empty; seat 7 has nothing but a credit."""
    dealer = table("MBS3")
    dealer.prepare()
    dealer.do(f.BetsOpened())
    for seat in (2, 5):
        for spot in ("1", "2", "$"):
            dealer.place(seat, spot, 1000)
    dealer.place(5, "progressive", 100)
    dealer.place(7, "progressive", 100)
    dealer.take(5, "2")
    refusal = refused(dealer.try_(f.BetsClosed()))
    assert refusal.reason == "seat 5: wagers are not valid; correct or leave out"
    back = dealer.do(f.SeatLeftOut(5))
    assert fx.ReturnWager(5, "progressive", 100, "MBS3-3.4") in back
    lost = dealer.do(f.LinkLost(), LINK)
    assert fx.ReturnWager(7, "progressive", 100, "MBS3-3.5") in lost
    for seat in range(1, 8):
        assert fx.ArmAcceptor(seat, False) in lost
    down = refused(dealer.try_(f.CreditsRead(2, 1), ACCEPTOR))
    assert down == fx.Refused("the link is down: the progressive is closed", "MBS3-3.5")
    effects = dealer.do(f.BetsClosed())
    assert not [e for e in effects if isinstance(e, fx.PostContributions)]
    assert list(dealer.state.seats) == [2]


@pytest.mark.clause("MBS3-1.1.3")
def test_nobody_is_paid_envy_for_the_own_hand() -> None:
    royal = ("AhKhQh", base(1000, progressive=100))
    alone = settled({4: royal}, "JhTh", jackpot=5000000)
    assert envy_of(alone) == {4: []}
    watched = settled({4: royal, 6: ("2c5d9s", base(1000, progressive=100))}, "JhTh")
    assert envy_of(watched) == {4: [], 6: [(4, 100000)]}


@pytest.mark.clause("MBS3-3.20")
def test_every_progressive_seat_is_paid_envy_for_any_hand_with_a_dollar_wager() -> None:
    """Seat 2 has no progressive and took back 1 and 2: its royal still pays seats 1 and 4."""
    hands = {1: "2c5d9s", 2: "AhKhQh", 4: "3c6d8s", 5: "4c7d9c"}
    dealer = table("MBS3", hands, "JhTh")
    dealer.ride = lambda seat, _spot: "withdraw" if seat == 2 else "ride"
    told = to_settlement(
        dealer,
        {
            1: base(1000, progressive=100),
            2: base(1000),
            4: base(1000, progressive=100),
            5: base(1000),
        },
    )
    for seat in (5, 4, 2):
        dealer.do(f.HandOpened(seat))
        assert not [e for e in told if isinstance(e, fx.ShowAward)]  # not before all are open
        dealer.do(f.SeatSettled(seat))
        dealer._clear(seat)
    dealer.settle()
    awards = [e for e in told if isinstance(e, fx.ShowAward)]
    assert awards == [fx.ShowAward(1, "envy", 100000), fx.ShowAward(4, "envy", 100000)]
    assert envy_of(dealer.state.history[-1].result) == {
        1: [(2, 100000)],
        2: [],
        4: [(2, 100000)],
        5: [],
    }
    assert not [e for e in told if isinstance(e, fx.ClaimJackpot)]
    assert row(dealer, 2)["net"] == 1000 * 1000


@pytest.mark.clause("MBS3-4.2-T3")
def test_envy_is_1000_for_a_royal_and_300_for_each_straight_flush() -> None:
    """Two straight flushes at 2 and 5: seat 1 gets 300 twice, 2 and 5 get the other's 300."""
    bet = base(1000, progressive=100)
    two = settled({1: ("2c3d9s", bet), 2: ("4h5h6h", bet), 5: ("9hThJh", bet)}, "7h8h")
    assert envy_of(two) == {
        1: [(2, 30000), (5, 30000)],
        2: [(5, 30000)],
        5: [(2, 30000)],
    }
    five_credits = settled(
        {1: ("2c3d9s", base(1000, progressive=500)), 2: ("4h5h6h", base(1000))}, "7h8h"
    )
    assert envy_of(five_credits) == {1: [(2, 30000)], 2: []}
    royal = settled({1: ("2c3d9s", bet), 2: ("AhKhQh", base(1000))}, "JhTh")
    assert envy_of(royal) == {1: [(2, 100000)], 2: []}
    quads = settled({1: ("2c3d9s", bet), 2: ("AcAdAh", bet)}, "AsTh")
    assert envy_of(quads) == {1: [], 2: []}


@pytest.mark.clause("MBS3-4.2-T1")
@pytest.mark.parametrize(
    ("hand", "community", "name", "percent", "award"),
    [
        ("AhKhQh", "JhTh", "royal flush", 100, 12345678),
        ("5h6h8h", "7h9h", "straight flush", 10, 1234567),
    ],
)
def test_a_share_of_the_jackpot_is_claimed_and_paid_as_the_server_says(
    hand: str, community: str, name: str, percent: int, award: int
) -> None:
    """The table's own meter is not the amount of record, and the seat waits for the server."""
    dealer = table("MBS3", {2: hand}, community)
    dealer.do(f.MeterReported(12000000), LINK)
    to_settlement(dealer, {2: base(1000, progressive=100)})
    opened = dealer.do(f.HandOpened(2))
    assert only(opened, fx.ClaimJackpot) == fx.ClaimJackpot(1, ((2, name, percent),))
    assert only(opened, fx.ShowHand).pays["wagers"]["progressive"] is None
    waits = refused(dealer.try_(f.SeatSettled(2)))
    assert waits == fx.Refused("wait: the jackpot is not locked", "MBS3-4.2-T1")
    assert refused(dealer.try_(f.RoundEnded()))
    dealer.do(f.JackpotLocked(12345678), LINK)
    dealer.settle()
    wager = row(dealer, 2)["wagers"]["progressive"]
    assert (wager["win"], wager["stake_back"]) == (award, 100)
    assert wager["odds"] == f"{percent}% of the jackpot"
    assert dealer.state.history[-1].result["jackpot_before"] == 12345678


@pytest.mark.clause("MBS3-4.2-T1")
@pytest.mark.parametrize(
    ("rule", "second", "after"),
    [("sequential", 900000, 8100000), ("snapshot", 1000000, 8000000)],
)
def test_two_straight_flushes_share_the_meter_by_the_rule_chosen(
    rule: str, second: int, after: int
) -> None:
    """AMB-P01: seat 5 is settled first and takes a tenth; all claims go out in one message."""
    dealer = table("MBS3", {2: "4h5h6h", 5: "9hThJh"}, "7h8h", meter_rule=rule)
    dealer.do(f.MeterReported(10000000), LINK)
    told = to_settlement(dealer, {2: base(1000, progressive=100), 5: base(1000, progressive=100)})
    dealer.settle()
    claims = ((5, "straight flush", 10), (2, "straight flush", 10))
    assert [e for e in told if isinstance(e, fx.ClaimJackpot)] == [fx.ClaimJackpot(1, claims)]
    assert row(dealer, 5)["wagers"]["progressive"]["win"] == 1000000
    assert row(dealer, 2)["wagers"]["progressive"]["win"] == second
    assert dealer.state.history[-1].result["jackpot_after"] == after
    assert dealer.is_in(Phase.IDLE)


@pytest.mark.clause("MBS3-4.2-T2")
def test_the_jackpot_wager_pays_the_odds_rows_on_its_unit() -> None:
    """A unit of 5.00: a straight pays 150.00; two pair and less lose the unit."""
    rows = [
        ("AcAhAdAsJh", 300 * 500),
        ("KcKhKdAsAh", 50 * 500),
        ("Jh8h6h5h2h", 40 * 500),
        ("9c8d7c6h5s", 30 * 500),
        ("TsThTc6h3d", 9 * 500),
    ]
    for hand, win in rows:
        seat = settled({1: (hand[:6], base(1000, progressive=500))}, hand[6:])["seats"][0]
        wager = seat["wagers"]["progressive"]
        assert (wager["status"], wager["win"], wager["stake_back"]) == ("win", win, 500), hand
        kept = settled(
            {1: (hand[:6], base(1000, progressive=500))},
            hand[6:],
            progressive_stake_returned=False,
        )["seats"][0]["wagers"]["progressive"]
        assert (kept["win"], kept["stake_back"]) == (win, 0)
    for hand in ("QsQh6c6h3d", "AcAh8d6h5s", "QcTh6d5s2h"):
        seat = settled({1: (hand[:6], base(1000, progressive=500))}, hand[6:])["seats"][0]
        wager = seat["wagers"]["progressive"]
        assert (wager["status"], wager["to_player"]) == ("lose", 0), hand
