"""NSW rules 9 to 11: what a hand is, what it pays, and how the table pays it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from controller.demo.scripted_dealer import CHIPS, SUPERVISOR, ScriptedDealer
from controller.rules.cards import cards
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.hands import Hand, rank_hand
from controller.rules.settle import settle
from tests.clauses.tables import base, only, refused, row, table


def settled(hand: str, cents: int = 1000, **settings: Any) -> Any:
    """One seat with five cards (its own three first), equal wagers, everything rides."""
    five = hand.split()
    body = {
        "seats": [{"seat": 3, "wagers": base(cents), "cards": five[:3]}],
        "community": five[3:],
    }
    return settle(decode_record({"game": "NSW", "settings": settings, "round": body}))["seats"][0]


def outcome(hand: str) -> tuple[str, str | None]:
    """The name of the hand, and the odds its wagers are paid at."""
    seat = settled(hand)
    return seat["hand"], seat["wagers"]["$"]["odds"]


def all_decided() -> ScriptedDealer:
    """Both community cards are turned: seat 2 has a pair of tens, seat 5 nothing."""
    dealer = table("NSW", {2: "TcTd2h", 5: "3c5d8h"}, "JsQh")
    dealer.prepare()
    dealer.bets({2: base(1000), 5: base(1000)})
    dealer.deal()
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    return dealer


# --- the hand ----------------------------------------------------------------------------------


@pytest.mark.clause("NSW-1.1-hand")
def test_a_hand_is_exactly_five_cards_or_it_is_not_ranked() -> None:
    """Seat 1 holds three cards, seat 4 only two: noticed too late to void anything."""
    body = {
        "seats": [
            {"seat": 1, "wagers": base(1000), "cards": ["Tc", "4d", "2h"]},
            {"seat": 4, "wagers": base(1000), "cards": ["Kc", "Kd"]},
        ],
        "community": ["Th", "9s"],
        "events": [
            {
                "type": "player_card_count",
                "seat": 4,
                "count": 2,
                "players_handled": True,
                "after_next_game_began": True,
            }
        ],
    }
    whole, short = settle(decode_record({"game": "NSW", "round": body}))["seats"]
    assert (whole["hand"], whole["net"]) == ("one pair", 3000)
    assert (short["hand"], short["net"]) == (None, None)
    assert short["wagers"]["$"]["status"] == "supervisor"
    with pytest.raises(ValueError, match="five different cards"):
        rank_hand(cards("Kc Kd Th 9s"))


@pytest.mark.clause("NSW-8.7")
def test_the_community_cards_complete_every_players_hand() -> None:
    dealer = table("NSW", {2: "Jc4d2h", 5: "Qd5d8h", 6: "9cTdKh"}, "JsQh")
    dealer.round({2: base(1000), 5: base(1000), 6: base(1000)})
    assert [row(dealer, n)["hand"] for n in (2, 5, 6)] == ["one pair", "one pair", "straight"]
    assert [row(dealer, n)["net"] for n in (2, 5, 6)] == [3000, 3000, 15000]


@pytest.mark.clause("NSW-3.3")
def test_suits_have_no_rank() -> None:
    """The best pair of nines loses and the worst pair of tens wins, in whatever suits."""
    for a, b, c in ("cds", "dsc", "scd", "csd", "sdc", "dcs"):
        assert outcome(f"9{a} 9{b} A{c} K{a} Q{b}") == ("one pair", None)
        assert outcome(f"T{a} T{b} 4{c} 3{a} 2{b}") == ("one pair", "1 to 1")
    assert rank_hand(cards("9s 9h Ac Kd Qs")) == rank_hand(cards("9c 9d Ah Ks Qc"))


@pytest.mark.clause("NSW-3.3.1")
def test_an_ace_is_high_and_in_a_sequence_also_low() -> None:
    pairs = [rank_hand(cards(f"{r}c {r}d" + _three_others(r))) for r in "AKQJT98765432"]
    assert pairs == sorted(pairs, reverse=True)
    assert outcome("Ac Kd Qh Js Tc") == ("straight", "5 to 1")
    assert outcome("Ah 2d 3h 4s 5c") == ("straight", "5 to 1")
    assert outcome("Ah 2h 3h 4h 5h") == ("straight flush", "200 to 1")


def _three_others(rank: str) -> str:
    return " 2h 4s 7h" if rank not in "247" else " 3h 5s 8h"


# --- order of hands ----------------------------------------------------------------------------

BEST_FIRST = (
    "As Ks Qs Js Ts",
    "9h 8h 7h 6h 5h",
    "2c 2d 2h 2s 3c",
    "2c 2d 2h 3s 3c",
    "7d 5d 4d 3d 2d",
    "5c 4d 3h 2s Ac",
    "2c 2d 2h 4s 3c",
    "3c 3d 2h 2s 4c",
    "2c 2d 5h 4s 3c",
    "Ac Kd Qh Js 9c",
)


@pytest.mark.clause("NSW-11.1")
def test_the_least_hand_of_a_class_beats_the_next_class() -> None:
    strengths = [rank_hand(cards(five)) for five in BEST_FIRST]
    for better, worse in pairwise(strengths):
        assert better > worse
    assert rank_hand(cards("Ac Ad Ah Ks Kc")) < rank_hand(cards("2c 2d 2h 2s 3c"))
    assert rank_hand(cards("Ad Kd Qd Jd 9d")) < rank_hand(cards("2c 2d 2h 3s 3c"))
    assert rank_hand(cards("Ac Kd Qh Js Tc")) < rank_hand(cards("7d 5d 4d 3d 2d"))
    assert rank_hand(cards("Ac Ad Ah Ks Qc")) < rank_hand(cards("5c 4d 3h 2s Ac"))


@pytest.mark.clause("NSW-11.1.1")
def test_a_royal_flush_is_ace_to_ten_of_one_suit() -> None:
    assert outcome("As Ks Qs Js Ts") == ("royal flush", "1000 to 1")
    assert outcome("Ks Qs Js Ts 9s") == ("straight flush", "200 to 1")


@pytest.mark.clause("NSW-11.1.2")
def test_a_straight_flush_is_a_suited_sequence_and_its_ace_may_be_low() -> None:
    assert outcome("9h 8h 7h 6h 5h") == ("straight flush", "200 to 1")
    assert outcome("5h 4h 3h 2h Ah") == ("straight flush", "200 to 1")


@pytest.mark.clause("NSW-11.1.3")
def test_four_of_a_kind_is_four_cards_of_a_rank() -> None:
    assert outcome("7c 7d 7h 7s 2c") == ("four of a kind", "50 to 1")


@pytest.mark.clause("NSW-11.1.4")
def test_a_full_house_is_three_of_a_kind_and_a_pair() -> None:
    assert outcome("7c 7d 7h 2s 2c") == ("full house", "11 to 1")


@pytest.mark.clause("NSW-11.1.5")
def test_a_flush_is_suited_but_no_sequence() -> None:
    assert outcome("Ad 9d 6d 3d 2d") == ("flush", "8 to 1")


@pytest.mark.clause("NSW-11.1.6")
def test_a_straight_is_a_sequence_that_does_not_go_round_the_ace() -> None:
    assert outcome("Ac 2d 3h 4s 5c") == ("straight", "5 to 1")
    assert outcome("Tc Jd Qh Ks Ac") == ("straight", "5 to 1")
    assert outcome("Kc Ad 2h 3s 4c") == ("high card", None)


@pytest.mark.clause("NSW-11.1.7")
def test_three_of_a_kind_is_three_cards_of_a_rank() -> None:
    assert outcome("2c 2d 2h Ks Ac") == ("three of a kind", "3 to 1")


@pytest.mark.clause("NSW-11.1.8")
def test_two_pairs_pay_whatever_their_ranks() -> None:
    assert outcome("2c 2d 3h 3s Ac") == ("two pair", "2 to 1")


@pytest.mark.clause("NSW-11.1.9")
def test_one_pair_is_two_cards_of_a_rank() -> None:
    assert outcome("Tc Td 4h 3s 2c") == ("one pair", "1 to 1")
    assert outcome("9c 9d Ah Ks Qc") == ("one pair", None)


@pytest.mark.clause("NSW-11.1.10")
def test_five_odd_cards_are_nothing() -> None:
    assert outcome("Ac Qd 9h 8s 5c") == ("high card", None)
    assert outcome("9c 8d 7h 6s 5c") == ("straight", "5 to 1")


# --- odds --------------------------------------------------------------------------------------


@pytest.mark.clause("NSW-9.1")
def test_a_pair_of_tens_qualifies_and_a_pair_of_nines_does_not() -> None:
    assert settled("Tc Td 4h 3s 2c")["net"] == 3000
    assert settled("9c 9d Ah Ks Qc")["net"] == -3000


@pytest.mark.clause("NSW-10.1-T")
@pytest.mark.parametrize(
    ("hand", "net"),
    [
        ("Tc Td 4h 3s 2c", 3000),
        ("2c 2d 3h 3s 4c", 6000),
        ("2c 2d 2h 3s 4c", 9000),
        ("2c 3d 4h 5s 6c", 15000),
        ("2c 4c 6c 8c Tc", 24000),
        ("2c 2d 2h 3s 3c", 33000),
        ("2c 2d 2h 2s 3c", 150000),
        ("2c 3c 4c 5c 6c", 600000),
        ("Tc Jc Qc Kc Ac", 3000000),
    ],
)
def test_three_wagers_of_ten_are_paid_by_the_table_of_odds(hand: str, net: int) -> None:
    assert settled(hand)["net"] == net


@pytest.mark.clause("NSW-10.1")
def test_every_wager_still_there_is_paid_at_the_odds_of_the_hand() -> None:
    """A flush: spot 2 was taken back, spots 1 and $ win eight times 25.00 each."""
    body = {
        "seats": [
            {
                "seat": 3,
                "wagers": base(2500),
                "cards": ["2c", "4c", "6c"],
                "decisions": {"1": "ride", "2": "withdraw"},
            }
        ],
        "community": ["8c", "Tc"],
    }
    (seat,) = settle(decode_record({"game": "NSW", "round": body}))["seats"]
    won = {
        "placed": 2500,
        "status": "win",
        "odds": "8 to 1",
        "win": 20000,
        "stake_back": 2500,
        "to_player": 22500,
    }
    assert seat["wagers"]["1"] == seat["wagers"]["$"] == won
    assert seat["wagers"]["2"]["to_player"] == 2500
    assert seat["net"] == 40000


@pytest.mark.clause("NSW-10.2")
def test_the_posted_maximum_payout_caps_what_a_hand_or_a_wager_wins() -> None:
    """A royal flush on three times 100.00, capped at 50 000.00: 300 000.00 are not paid."""
    seat = settled("As Ks Qs Js Ts", 10000, max_payout=5_000_000)
    assert [w["win"] for w in seat["wagers"].values()] == [10_000_000] * 3
    assert seat["payout_cap_reduction"] == 25_000_000
    assert seat["net"] == 5_000_000
    seat = settled("As Ks Qs Js Ts", 10000, max_payout=5_000_000, max_payout_scope="per_wager")
    assert (seat["payout_cap_reduction"], seat["net"]) == (15_000_000, 15_000_000)


# --- at the table ------------------------------------------------------------------------------


@pytest.mark.clause("NSW-9.2")
def test_hands_are_opened_and_settled_one_by_one_from_the_dealers_right() -> None:
    dealer = all_decided()
    refusal = refused(dealer.try_(f.HandOpened(2)))
    assert refusal == fx.Refused("open seat 5 first", "NSW-9.2")
    dealer.do(f.HandOpened(5))
    assert refused(dealer.try_(f.HandOpened(2))).reason == "settle seat 5 first"
    dealer.do(f.SeatSettled(5))
    dealer.do(f.HandOpened(2))
    dealer.do(f.SeatSettled(2))
    assert refused(dealer.try_(f.RoundEnded())).reason == "seat 5: collect the wager on 1"


@pytest.mark.clause("NSW-8.8")
def test_the_table_shows_the_class_of_an_open_hand_and_the_dealer_may_dispute_it() -> None:
    dealer = all_decided()
    dealer.do(f.HandOpened(5))
    dealer.do(f.SeatSettled(5))
    shown = only(dealer.do(f.HandOpened(2)), fx.ShowHand)
    assert (shown.seat, shown.cards, shown.hand) == (2, cards("Tc Td 2h"), "one pair")
    effects = dealer.do(f.DisputeRaised(2, "a third ten"))
    assert effects == (fx.Prompt("dispute", 2, "a third ten"),)
    dealer.do(f.SeatSettled(2))
    for number in (2, 5):
        for spot in ("1", "2", "$"):
            dealer.take(number, spot)
    refusal = refused(dealer.try_(f.RoundEnded()))
    assert refusal == fx.Refused("seat 2: a dispute is open", "NSW-14.12")
    dealer.do(f.DisputeDecided(2, "two tens"), SUPERVISOR)
    dealer.do(f.RoundEnded())


@pytest.mark.clause("NSW-9.2.1")
def test_the_round_does_not_end_before_losing_wagers_are_collected() -> None:
    dealer = all_decided()
    for number in (5, 2):
        dealer.do(f.HandOpened(number))
        dealer.do(f.SeatSettled(number))
    refusal = refused(dealer.try_(f.RoundEnded()))
    assert refusal.reason == "seat 5: collect the wager on 1"
    for spot in ("1", "2", "$"):
        dealer.take(5, spot)
    dealer.do(f.RoundEnded())
    lost = row(dealer, 5)["wagers"].values()
    assert [(w["status"], w["placed"], w["to_player"]) for w in lost] == [("lose", 1000, 0)] * 3


@pytest.mark.clause("NSW-9.2.2")
def test_winners_are_paid_what_the_table_shows_and_chips_on_the_spot_are_compared() -> None:
    dealer = all_decided()
    dealer.do(f.HandOpened(5))
    dealer.do(f.SeatSettled(5))
    effects = dealer.do(f.HandOpened(2))
    pays = only(effects, fx.ShowHand).pays["wagers"]
    assert {spot: w["to_player"] for spot, w in pays.items()} == base(2000)
    assert fx.SetLamp(2, "pay") in effects
    assert dealer.do(f.WagerRead(2, "1", 2000), CHIPS) == ()  # stake and winnings
    short = dealer.do(f.WagerRead(2, "2", 1500), CHIPS)
    assert short == (fx.Prompt("pay", 2, "2: paid $5.00, due $10.00", 500),)
    assert dealer.do(f.WagerRead(2, "2", 2000), CHIPS) == ()
    for spot in ("1", "2", "$"):
        dealer.take(5, spot)
    dealer.settle()
    assert row(dealer, 2)["net"] == 3000


@pytest.mark.clause("NSW-9.3")
def test_after_the_last_seat_the_cards_are_collected_and_must_be_shuffled() -> None:
    dealer = all_decided()
    dealer.do(f.HandOpened(5))
    dealer.do(f.SeatSettled(5))
    dealer.do(f.HandOpened(2))
    effects = dealer.do(f.SeatSettled(2))
    assert effects[-1] == fx.Prompt("end round")  # "Collect the cards, end the round"
    for spot in ("1", "2", "$"):
        dealer.take(5, spot)
    assert fx.Prompt("shuffle") in dealer.do(f.RoundEnded())
    assert dealer.state.deck.shuffled is False


@pytest.mark.clause("NSW-9.4")
def test_a_call_that_is_not_the_engines_needs_the_supervisor_and_both_are_kept() -> None:
    dealer = all_decided()
    dealer.do(f.HandOpened(5))
    dealer.do(f.SeatSettled(5, Hand.HIGH_CARD))
    dealer.do(f.HandOpened(2))
    called = f.SeatSettled(2, Hand.FLUSH)
    refusal = refused(dealer.try_(called))
    assert refusal == fx.Refused(
        "dealer calls flush, cards say one pair: the supervisor's key is needed", "NSW-9.4"
    )
    assert dealer.state.seats[2].settled is False
    dealer.do(called, SUPERVISOR)
    for number in (2, 5):
        for spot in ("1", "2", "$"):
            dealer.take(number, spot)
    dealer.do(f.RoundEnded())
    kept = dealer.state.history[-1]
    assert kept.record["round"]["events"] == [
        {
            "type": "supervisor_confirmed",
            "by": "S1",
            "what": "seat 2: dealer calls flush, cards say one pair",
        }
    ]
    assert row(dealer, 2)["hand"] == "one pair"
    assert dealer.state.phase is Phase.IDLE
