"""PP6: what the circles, Pair Plus and the 6 Card Bonus pay, and when the middle card opens."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import CHIPS
from controller.rules.cards import card, cards
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.settle import settle
from tests.clauses.tables import base, only, refused, row, table


def names(packed: str) -> list[str]:
    return [packed[i : i + 2] for i in range(0, len(packed), 2)]


def round_of(seats: dict[int, tuple[str, dict[str, int]]], dealer: str) -> dict[int, Any]:
    """Settle a record; the dealer's cards in the order first, middle, third."""
    first, middle, third = names(dealer)
    rows = [
        {"seat": n, "wagers": wagers, "cards": names(held)} for n, (held, wagers) in seats.items()
    ]
    body = {"seats": rows, "community": [first, third], "bonus_card": middle}
    result = settle(decode_record({"game": "PP6", "round": body}))
    assert result["round_status"] == "settled"
    return {r["seat"]: r for r in result["seats"]}


def one(held: str, dealer: str, **wagers: int) -> Any:
    """A single seat with $ 500 and these wagers."""
    return round_of({3: (held, {"$": 500, **wagers})}, dealer)[3]


@pytest.mark.clause("PP6-O2")
@pytest.mark.parametrize("middle", ["Ts", "9c", "2s"])
def test_the_main_hand_is_the_own_three_and_the_dealers_first_and_third(middle: str) -> None:
    """T T 2 with K and J is a pair of tens whatever lies in the middle, a third ten included."""
    scripted_dealer = table("PP6", {3: "TcTd2h"}, f"Kc{middle}Jd")
    scripted_dealer.round({3: {**base(500), "six_card": 100}})
    assert row(scripted_dealer, 3)["hand"] == "one pair"
    assert row(scripted_dealer, 3)["wagers"]["$"]["odds"] == "1 to 1"


@pytest.mark.clause("PP6-O3")
def test_pair_plus_looks_at_the_own_three_cards_alone() -> None:
    assert one("4c9h4d", "Kc7sJd", pair_plus=500)["wagers"]["pair_plus"]["win"] == 500
    # A pair with a shared card is no pair of the player's own.
    assert one("4c9hQd", "4d7s9c", pair_plus=500)["wagers"]["pair_plus"]["status"] == "lose"


@pytest.mark.clause("PP6-O4")
def test_the_six_card_bonus_is_the_best_five_of_all_six() -> None:
    """7 7 2 with 3, middle 7 and K: three sevens, 4 to 1."""
    seat = one("7c7d2h", "3c7sKd", six_card=500)
    assert seat["six_card_hand"] == "three of a kind"
    assert (seat["wagers"]["six_card"]["odds"], seat["wagers"]["six_card"]["win"]) == (
        "4 to 1",
        2000,
    )
    assert seat["wagers"]["$"]["status"] == "lose"


@pytest.mark.clause("PP6-R1")
def test_players_meet_a_pay_table_and_not_each_other() -> None:
    """A pair of tens pays the same alone and beside a full house, and so does the full house."""
    tens, full = ("TcTd2h", base(500)), ("JcJhKd", base(500))
    alone = round_of({3: tens}, "Kc7sJd")[3]
    beside = round_of({1: full, 3: tens, 6: ("4c9h5d", base(500))}, "Kc7sJd")
    assert beside[3] == alone
    assert {n: r["net"] for n, r in beside.items()} == {1: 11 * 1500, 3: 1500, 6: -1500}


@pytest.mark.clause("PP6-M5a")
def test_less_than_tens_loses_dollar_and_every_circle_let_ride() -> None:
    """A pair of nines in the own three: the circles lose, Pair Plus wins all the same."""
    scripted_dealer = table("PP6", {3: "9c9d2h"}, "Kc7sJd")
    scripted_dealer.ride = lambda _, spot: "withdraw" if spot == "1" else "ride"
    scripted_dealer.round({3: {**base(500), "pair_plus": 100}})
    wagers = row(scripted_dealer, 3)["wagers"]
    assert {s: w["status"] for s, w in wagers.items()} == {
        "1": "withdrawn",
        "2": "lose",
        "$": "lose",
        "pair_plus": "win",
    }
    assert row(scripted_dealer, 3)["net"] == -500 - 500 + 100


@pytest.mark.clause("PP6-M5b")
def test_tens_or_better_pays_dollar_and_every_circle_let_ride() -> None:
    """Three tens, 3 to 1 on circle 2 and $; circle 1 went back."""
    scripted_dealer = table("PP6", {3: "TcTd2h"}, "Th7sJd")
    scripted_dealer.ride = lambda _, spot: "withdraw" if spot == "1" else "ride"
    scripted_dealer.round({3: base(500)})
    wagers = row(scripted_dealer, 3)["wagers"]
    assert {s: w["win"] for s, w in wagers.items()} == {"1": 0, "2": 1500, "$": 1500}
    assert {s: w["to_player"] for s, w in wagers.items()} == {"1": 500, "2": 2000, "$": 2000}
    assert row(scripted_dealer, 3)["net"] == 3000


@pytest.mark.clause("PP6-M6")
@pytest.mark.parametrize("dealer", ["Kc7sJd", "AcAsAd"], ids=["nothing", "three aces"])
def test_pair_plus_wins_on_any_pair_whatever_the_dealer_shows(dealer: str) -> None:
    seat = one("4c4d9h", dealer, pair_plus=300)
    assert (seat["three_card_hand"], seat["wagers"]["pair_plus"]["win"]) == ("pair", 300)
    assert seat["wagers"]["$"]["status"] == ("lose" if dealer == "Kc7sJd" else "win")


@pytest.mark.clause("PP6-M7a")
@pytest.mark.parametrize("bonus", [0, 200], ids=["nobody has the bonus", "seat 2 has the bonus"])
def test_the_middle_card_opens_after_the_main_wagers_and_only_for_a_bonus_wager(
    bonus: int,
) -> None:
    scripted_dealer = table("PP6", {2: "4c9d3h", 5: "TcTd2h"}, "Kc7sJd")
    shown: list[fx.Effect] = []
    scripted_dealer.told = lambda _, effects: shown.extend(
        e for e in effects if isinstance(e, fx.ShowBonusCard)
    )
    scripted_dealer.prepare()
    scripted_dealer.bets({2: {"$": 500, "six_card": bonus}, 5: {"$": 500}})
    scripted_dealer.deal()
    assert refused(scripted_dealer.try_(f.BonusCardTurned()))
    scripted_dealer.turn(1)
    scripted_dealer.turn(2)
    assert refused(scripted_dealer.try_(f.BonusCardTurned())).clause == "PP6-M7a"
    for seat in (5, 2):
        scripted_dealer.do(f.HandOpened(seat))
        last = scripted_dealer.do(f.SeatSettled(seat))
        scripted_dealer.do(f.WagerRead(seat, "$", 0), CHIPS)
    if bonus:
        assert only(last, fx.Prompt) == fx.Prompt("turn bonus")
        assert refused(scripted_dealer.try_(f.RoundEnded())).clause == "PP6-M7a"
        # The bonus wager waits for its card: lifting it now is an alarm.
        lifted = scripted_dealer.do(f.WagerRead(2, "six_card", 0), CHIPS)
        assert only(lifted, fx.RaiseAlarm).detail == "six_card: $0.00 of $2.00"
        scripted_dealer.do(f.WagerRead(2, "six_card", 200), CHIPS)
        turned = scripted_dealer.do(f.BonusCardTurned())
        assert shown == [fx.ShowBonusCard(card("7s"))]
        hand = only(turned, fx.ShowHand)
        assert (hand.seat, list(hand.pays["wagers"])) == (2, ["six_card"])
        assert fx.SetLamp(2, "collect") in turned
        assert not [e for e in turned if isinstance(e, fx.ShowOwed)]
    else:
        assert only(last, fx.Prompt) == fx.Prompt("end round")
        refusal = refused(scripted_dealer.try_(f.BonusCardTurned()))
        assert refusal.clause == "PP6-M7a"
    scripted_dealer.settle()
    assert scripted_dealer.is_in(Phase.IDLE)
    assert ("bonus_card" in scripted_dealer.state.history[-1].record["round"]) is bool(bonus)
    assert len(shown) == bool(bonus)


@pytest.mark.clause("PP6-M7b")
def test_three_of_a_kind_or_better_of_six_is_paid() -> None:
    """Also when all three lie with the dealer: no own card is needed."""
    scripted_dealer = table("PP6", {3: "4c9d2h"}, "QcQsQd")
    scripted_dealer.round({3: {"$": 500, "six_card": 200}})
    wager = row(scripted_dealer, 3)["wagers"]["six_card"]
    assert (row(scripted_dealer, 3)["six_card_hand"], wager["win"]) == ("three of a kind", 800)
    assert wager["stake_back"] == 200


@pytest.mark.clause("PP6-M7c")
def test_two_pair_of_six_forfeits_the_bonus_wager() -> None:
    scripted_dealer = table("PP6", {3: "AcKd2h"}, "AhKs3d")
    scripted_dealer.round({3: {"$": 500, "six_card": 200}})
    wager = row(scripted_dealer, 3)["wagers"]["six_card"]
    assert row(scripted_dealer, 3)["six_card_hand"] == "two pair"
    assert (wager["status"], wager["to_player"]) == ("lose", 0)


@pytest.mark.clause("PP6-P1")
@pytest.mark.parametrize(
    ("held", "dealer", "hand", "to_one"),
    [
        ("AhKhQh", "Jh2cTh", "royal flush", 1000),
        ("9hKhQh", "Jh2cTh", "straight flush", 200),
        ("Ah2h3h", "4hKc5h", "straight flush", 200),
        ("8c8d8h", "8s2cTh", "four of a kind", 50),
        ("8c8d8h", "9s2c9h", "full house", 11),
        ("Ah8h3h", "2hKcTh", "flush", 8),
        ("Ah2c3h", "4dKc5h", "straight", 5),
        ("8c8d8h", "9s2cTh", "three of a kind", 3),
        ("8c8d9h", "9s2cTh", "two pair", 2),
        ("TcTd9h", "2s2cKh", "one pair", 1),
        ("9c9dTh", "2s2cKh", "one pair", 0),
        ("AcKd9h", "2s2c7h", "high card", 0),
    ],
)
def test_table_1_pays_each_circle(held: str, dealer: str, hand: str, to_one: int) -> None:
    seat = one(held, dealer, **{"1": 500, "2": 500})
    assert seat["hand"] == hand
    assert {w["win"] for w in seat["wagers"].values()} == {500 * to_one}
    assert seat["net"] == (1500 * to_one if to_one else -1500)


@pytest.mark.clause("PP6-P2")
@pytest.mark.parametrize(
    ("held", "hand", "to_one"),
    [
        ("QhKhAh", "straight flush", 40),
        ("2h3h4h", "straight flush", 40),
        ("8c8d8h", "three of a kind", 30),
        ("Ac2d3h", "straight", 6),
        ("QcKdAh", "straight", 6),
        ("2h9hKh", "flush", 3),
        ("4c4d9h", "pair", 1),
        ("KcAd2h", "high card", 0),
    ],
)
def test_table_2_pays_pair_plus(held: str, hand: str, to_one: int) -> None:
    """A straight is above a flush, there is no row for a royal, and K-A-2 is nothing."""
    seat = one(held, "6c7sTd", pair_plus=500)
    assert seat["three_card_hand"] == hand
    wager = seat["wagers"]["pair_plus"]
    assert (wager["win"], wager["stake_back"]) == (500 * to_one, 500 if to_one else 0)


@pytest.mark.clause("PP6-P3")
@pytest.mark.parametrize(
    ("held", "dealer", "hand", "to_one"),
    [
        ("AhKhQh", "2cJhTh", "royal flush", 250),
        ("9hKhQh", "JhTh2c", "straight flush", 100),
        ("Ah2h3h", "4h5hKc", "straight flush", 100),
        ("8c8d8h", "2c8sTh", "four of a kind", 40),
        ("8c8d8h", "9s9hTh", "full house", 20),
        ("8c8d8h", "9s9h9d", "full house", 20),
        ("Ah8h3h", "2hTh2c", "flush", 11),
        ("Ah2c3h", "4d5hKc", "straight", 8),
        ("8c8d9h", "2c8hTh", "three of a kind", 4),
        ("8c8d9h", "9s2cTh", "two pair", 0),
    ],
)
def test_table_3_pays_the_best_class_once(held: str, dealer: str, hand: str, to_one: int) -> None:
    """Two threes of a kind among six cards are one full house."""
    seat = one(held, dealer, six_card=500)
    assert seat["six_card_hand"] == hand
    wager = seat["wagers"]["six_card"]
    assert (wager["win"], wager["stake_back"]) == (500 * to_one, 500 if to_one else 0)


@pytest.mark.clause("PP6-M6")
def test_pair_plus_is_settled_with_the_main_wagers_before_the_middle_card() -> None:
    scripted_dealer = table("PP6", {3: "4c4d9h"}, "Kc7sJd")
    scripted_dealer.prepare()
    scripted_dealer.bets({3: {"$": 500, "pair_plus": 300, "six_card": 100}})
    scripted_dealer.deal()
    scripted_dealer.turn(1)
    scripted_dealer.turn(2)
    opened = only(scripted_dealer.do(f.HandOpened(3)), fx.ShowHand)
    assert opened.cards == cards("4c4d9h")
    assert {s: w["to_player"] for s, w in opened.pays["wagers"].items()} == {
        "$": 0,
        "pair_plus": 600,
    }
