"""Who wins, what the main wagers are paid and in which order: what both MBS books say."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import ScriptedDealer
from controller.rules.cards import cards
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.settle import settle
from tests.clauses.tables import base, only, refused, row, table

both = pytest.mark.parametrize("game", ["MBS3", "MEGA"])


def to_settlement(game: str, hands: dict[int, str], dealer: str, **more: int) -> ScriptedDealer:
    """Both community cards are open, no hand is."""
    scripted_dealer = table(game, hands, dealer)
    scripted_dealer.prepare()
    scripted_dealer.bets({seat: base(1000, **more) for seat in hands})
    scripted_dealer.deal()
    scripted_dealer.decide()
    scripted_dealer.turn(1)
    scripted_dealer.decide()
    scripted_dealer.turn(2)
    return scripted_dealer


def names(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def settled(game: str, hand: str, wagers: dict[str, int], withdrawn: str = "") -> Any:
    """The seat's line: own three cards, then the two shared; ``withdrawn`` lists spots."""
    decisions = dict.fromkeys(withdrawn, "withdraw")
    seat = {"seat": 1, "wagers": wagers, "cards": names(hand[:6]), "decisions": decisions}
    record = {"game": game, "round": {"seats": [seat], "community": names(hand[6:])}}
    return settle(decode_record(record))["seats"][0]


@pytest.mark.clause("MBS3-3.3", "MEGA-3.3")
@both
def test_less_than_a_pair_of_tens_loses_every_wager_in_play(game: str) -> None:
    """9-9-A-K-4 loses what rides and the progressive; 10-10-4-3-2 wins."""
    lost = settled(game, "9c9dAhKs4c", base(1000, progressive=100))
    assert {spot: w["status"] for spot, w in lost["wagers"].items()} == {
        "1": "lose",
        "2": "lose",
        "$": "lose",
        "progressive": "lose",
    }
    assert lost["net"] == -3100
    taken_back = settled(game, "9c9dAhKs4c", base(1000, progressive=100), withdrawn="12")
    assert taken_back["net"] == -1100
    won = settled(game, "TcTd4h3s2c", base(1000, progressive=100))
    assert won["net"] == 3000 - 100


@pytest.mark.clause("MBS3-3.3", "MEGA-3.3")
@both
def test_the_dealer_collects_a_losing_hand_at_the_live_table(game: str) -> None:
    scripted_dealer = to_settlement(game, {4: "9c9dAh"}, "Ks4c", progressive=100)
    opened = scripted_dealer.do(f.HandOpened(4))
    assert fx.SetLamp(4, "collect") in opened
    shown = only(opened, fx.ShowHand)
    assert shown.hand == "one pair"
    assert [w["to_player"] for w in shown.pays["wagers"].values()] == [0, 0, 0, 0]
    scripted_dealer.settle()
    assert scripted_dealer.state.history[-1].result["house_net"] == 3100


@pytest.mark.clause("MBS3-3.18", "MEGA-3.18")
@pytest.mark.parametrize(
    ("hand", "net"),
    [
        ("9c9dAhKs4c", -3000),
        ("TcTd2h3s4c", 3000),
        ("JcJd2h3s4c", 3000),
        ("AcAd2h3s4c", 3000),
        ("3c3d2h2s4c", 6000),
        ("2c2d2h3s4c", 9000),
        ("AcKdQhJs9c", -3000),
    ],
)
@both
def test_a_winning_hand_holds_tens_or_better(game: str, hand: str, net: int) -> None:
    scripted_dealer = to_settlement(game, {1: hand[:6]}, hand[6:])
    scripted_dealer.settle()
    assert row(scripted_dealer, 1)["net"] == net


@pytest.mark.clause("MBS3-3.17", "MEGA-3.17")
@both
def test_hands_are_opened_from_the_dealers_right_anticlockwise(game: str) -> None:
    """Seats 1, 3, 6: prompts 6, 3, 1; a hand is shown only when it is its turn."""
    hands = {1: "TcTd2h", 3: "3c5d8h", 6: "AcAd7s"}
    scripted_dealer = table(game, hands, "JsQh")
    scripted_dealer.prepare()
    scripted_dealer.bets({seat: base(1000) for seat in hands})
    scripted_dealer.deal()
    scripted_dealer.decide()
    scripted_dealer.turn(1)
    scripted_dealer.decide()
    effects = scripted_dealer.do(f.CommunityTurned(2))
    walked = []
    for seat, others, name in (
        (6, (1, 3), "one pair"),
        (3, (1,), "high card"),
        (1, (), "one pair"),
    ):
        assert fx.Prompt("open hand", seat) in effects
        assert fx.SetLamp(seat, "your turn") in effects
        for other in others:
            refusal = refused(scripted_dealer.try_(f.HandOpened(other)))
            assert refusal == fx.Refused(f"open seat {seat} first", f"{game}-3.17")
        shown = only(scripted_dealer.do(f.HandOpened(seat)), fx.ShowHand)
        assert (shown.seat, shown.cards, shown.hand) == (seat, cards(hands[seat]), name)
        effects = scripted_dealer.do(f.SeatSettled(seat))
        walked.append(seat)
    assert walked == [6, 3, 1]
    assert fx.Prompt("end round") in effects


@pytest.mark.clause("MBS3-3.17", "MEGA-3.17")
@both
def test_a_seat_is_settled_before_the_next_hand_is_opened(game: str) -> None:
    scripted_dealer = to_settlement(game, {1: "TcTd2h", 6: "AcAd7s"}, "JsQh")
    scripted_dealer.do(f.HandOpened(6))
    assert refused(scripted_dealer.try_(f.HandOpened(1))).reason == "settle seat 6 first"
    assert refused(scripted_dealer.try_(f.SeatSettled(1))).reason == "settle seat 6 first"
    scripted_dealer.do(f.SeatSettled(6))
    scripted_dealer.do(f.HandOpened(1))


@pytest.mark.clause("MBS3-3.19", "MEGA-3.19", "MBS3-4.1.1", "MEGA-4.1.1")
@both
def test_a_flush_on_2_and_the_dollar_pays_eight_to_one_and_the_stakes_stay(game: str) -> None:
    """Spot 1 is taken back: 10.00 on two spots wins 160.00, and 20.00 of stakes come back."""
    scripted_dealer = table(game, {3: "2h6hTh"}, "Jh4h")
    scripted_dealer.ride = lambda _seat, spot: "withdraw" if spot == "1" else "ride"
    scripted_dealer.round({3: base(1000)})
    wagers = row(scripted_dealer, 3)["wagers"]
    assert row(scripted_dealer, 3)["hand"] == "flush"
    assert wagers["1"]["status"] == "withdrawn"
    assert [wagers[spot]["win"] for spot in ("1", "2", "$")] == [0, 8000, 8000]
    assert [wagers[spot]["stake_back"] for spot in ("1", "2", "$")] == [1000, 1000, 1000]
    assert row(scripted_dealer, 3)["net"] == 16000


ROWS = [
    ("AhKhQhJhTh", "royal flush", "1000 to 1", 100000),
    ("9h8h7h6h5h", "straight flush", "200 to 1", 20000),
    ("AcAhAdAsJh", "four of a kind", "50 to 1", 5000),
    ("KcKhKdAsAh", "full house", "11 to 1", 1100),
    ("Jh8h6h5h2h", "flush", "8 to 1", 800),
    ("9c8d7c6h5s", "straight", "5 to 1", 500),
    ("TsThTc6h3d", "three of a kind", "3 to 1", 300),
    ("QsQh6c6h3d", "two pair", "2 to 1", 200),
    ("TcTh8d6h5s", "one pair", "1 to 1", 100),
    ("JcJh8d6h5s", "one pair", "1 to 1", 100),
    ("QcQh8d6h5s", "one pair", "1 to 1", 100),
    ("KcKh8d6h5s", "one pair", "1 to 1", 100),
    ("AcAh8d6h5s", "one pair", "1 to 1", 100),
]


@pytest.mark.clause("MBS3-4.1.1-T", "MEGA-4.1.1-T")
@both
def test_every_row_of_the_main_table_pays_as_printed(game: str) -> None:
    for hand, name, odds, win in ROWS:
        seat = settled(game, hand, base(100))
        assert seat["hand"] == name
        for wager in seat["wagers"].values():
            paid = (wager["status"], wager["odds"], wager["win"], wager["stake_back"])
            assert paid == ("win", odds, win, 100), hand
    lost = settled(game, "9c9h8d6h5s", base(100))
    assert [(w["status"], w["odds"], w["to_player"]) for w in lost["wagers"].values()] == [
        ("lose", None, 0)
    ] * 3


@pytest.mark.clause("MBS3-4.1", "MEGA-4.1")
@both
def test_settlement_comes_once_and_only_after_the_second_community_card(game: str) -> None:
    scripted_dealer = table(game, {2: "TcTd2h"}, "JsQh")
    scripted_dealer.prepare()
    scripted_dealer.bets({2: base(1000)})
    scripted_dealer.deal()

    def nothing_is_settled() -> None:
        for what in (f.HandOpened(2), f.SeatSettled(2), f.RoundEnded()):
            assert "not while" in refused(scripted_dealer.try_(what)).reason

    nothing_is_settled()
    scripted_dealer.decide()
    scripted_dealer.turn(1)
    assert scripted_dealer.state.phase is Phase.DECISION_2
    nothing_is_settled()
    scripted_dealer.decide()
    nothing_is_settled()
    scripted_dealer.turn(2)
    assert scripted_dealer.is_in(Phase.SETTLEMENT)
    assert "not while settlement" in refused(scripted_dealer.try_(f.CommunityTurned(2))).reason
    scripted_dealer.do(f.HandOpened(2))
    assert refused(scripted_dealer.try_(f.HandOpened(2))).reason == "every hand is open"
    scripted_dealer.do(f.SeatSettled(2))
    assert refused(scripted_dealer.try_(f.SeatSettled(2))).reason == "no open hand is unsettled"
    scripted_dealer.do(f.RoundEnded())
    nothing_is_settled()
    assert len(scripted_dealer.state.history) == 1
