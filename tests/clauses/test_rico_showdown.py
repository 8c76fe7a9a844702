"""RICO: kickout hands, and what a new five-card hand does to the others (rules 3 and 5 to 9)."""

from __future__ import annotations

from typing import Any

import pytest

from controller.rules.cards import DECK, NAMES
from controller.rules.decode import decode_record
from controller.rules.engine.opening import open_table
from controller.rules.errors import RecordError, SettingsError
from controller.rules.settle import settle
from tests.clauses.tables import SETTINGS, TODAY

ACE_HIGH = "Ah Kd 9c 7s 3d"

Seats = dict[int, str]


def names(packed: str) -> list[str]:
    return packed.split()


def showdown(seats: Seats, dealer: str = ACE_HIGH, **settings: Any) -> Any:
    """Settle a record: a seat with five cards plays, one with two folds. Antes of 5.00."""
    rows = []
    for number, held in seats.items():
        two, draw = names(held)[:2], names(held)[2:]
        action = "play" if draw else "fold"
        rows.append(
            {
                "seat": number,
                "wagers": {"ante": 500},
                "cards": two,
                "action": action,
                "draw": draw or None,
            }
        )
    body = {"seats": rows, "dealer": names(dealer), "ante": 500}
    return settle(decode_record({"game": "RICO", "settings": settings, "round": body}))


def final(result: Any) -> dict[int, str]:
    return {row["seat"]: row["final"] for row in result["seats"]}


def nets(result: Any) -> dict[int, int]:
    return {row["seat"]: row["net"] for row in result["seats"]}


def kicked_out(hands: int, dealer: str) -> bool:
    """Does the dealer fold against so many hands?"""
    spare = [NAMES[c] for c in DECK if NAMES[c] not in names(dealer)]
    seats = {n: f"{spare[2 * n]} {spare[2 * n + 1]}" for n in range(1, hands + 1)}
    out: bool = showdown(seats, dealer, orphan_pot="house")["kickout"]
    return out


@pytest.mark.clause("RICO-K1")
def test_against_one_hand_the_dealer_folds_kings_with_a_queen_or_better() -> None:
    assert kicked_out(1, "Kc Kd Qh 3s 2c")
    assert kicked_out(1, "Kc Kd Ah 3s 2c")
    assert kicked_out(1, "Ac Ad 4h 3s 2c")
    assert not kicked_out(1, "Kc Kd Jh Ts 9c")


@pytest.mark.clause("RICO-K2")
def test_against_two_hands_the_dealer_folds_aces_with_a_queen_or_better() -> None:
    assert kicked_out(2, "Ac Ad Qh 3s 2c")
    assert kicked_out(2, "3c 3d 2h 2s 4c")
    assert not kicked_out(2, "Ac Ad Jh Ts 9c")
    assert not kicked_out(2, "Kc Kd Ah Qs Jc")


@pytest.mark.clause("RICO-K3")
def test_against_three_hands_the_dealer_folds_two_pair_tens_high_or_better() -> None:
    assert kicked_out(3, "Tc Td 2h 2s 3c")
    assert not kicked_out(3, "9c 9d 8h 8s 3c")
    assert not kicked_out(3, "Ac Ad Kh Qs Jc")


@pytest.mark.clause("RICO-K4")
def test_against_four_hands_the_dealer_folds_two_pair_aces_high_or_better() -> None:
    assert kicked_out(4, "Ac Ad 2h 2s 3c")
    assert not kicked_out(4, "Kc Kd Qh Qs Jc")


@pytest.mark.clause("RICO-K5")
def test_against_five_hands_the_dealer_folds_three_twos_or_better() -> None:
    assert kicked_out(5, "2c 2d 2h 3s 4c")
    assert not kicked_out(5, "Ac Ad Kh Ks Qc")


@pytest.mark.clause("RICO-K6")
def test_against_six_hands_the_dealer_folds_three_queens_or_better() -> None:
    assert kicked_out(6, "Qc Qd Qh 2s 3c")
    assert not kicked_out(6, "Jc Jd Jh As Kc")


@pytest.mark.clause("RICO-K7")
def test_against_seven_hands_the_dealer_folds_a_five_high_straight_or_better() -> None:
    assert kicked_out(7, "Ac 2d 3h 4s 5c")
    assert kicked_out(7, "2c 9c Jc Qc 4c")
    assert not kicked_out(7, "Ac Ad Ah Ks Qc")


@pytest.mark.clause("RICO-K0")
def test_the_kickout_limit_is_looked_up_by_the_number_of_hands_1_to_7() -> None:
    """Each limit hand folds at its own number of hands and still plays at the next."""
    limits = {
        1: "Kc Kd Qh 3s 2c",
        2: "Ac Ad Qh 3s 2c",
        3: "Tc Td 2h 2s 3c",
        4: "Ac Ad 2h 2s 3c",
        5: "2c 2d 2h 4s 3c",
        6: "Qc Qd Qh 3s 2c",
        7: "Ac 2d 3h 4s 5c",
    }
    assert [kicked_out(n, limits[n]) for n in range(1, 8)] == [True] * 7
    assert [kicked_out(n + 1, limits[n]) for n in range(1, 7)] == [False] * 6
    with pytest.raises(SettingsError, match="from 1 to 7"):
        open_table("RICO", {**SETTINGS["RICO"], "seats": 8}, TODAY)
    with pytest.raises(RecordError, match="7 seats at most"):
        showdown({8: "Qc 8d"})


@pytest.mark.clause("RICO-5")
def test_a_hand_that_tops_the_best_five_cards_discards_them() -> None:
    """Seat 2's flush tops the dealer's pair; then seat 5's full house tops the flush."""
    result = showdown(
        {2: "4h 2h 9h Jh Kh", 5: "Qc Qs Qd 7c 7d"},
        "8c 8d Ac 5s 3d",
    )
    assert result["action_order"] == [2, 5]
    assert final(result) == {2: "discarded", 5: "live"}
    assert "seat 2 tops the dealer: the dealer is discarded" in result["log"]
    assert "seat 5 tops seat 2: 1000 to the pot" in result["log"]
    assert result["pot"] == 500 + 1000
    assert nets(result) == {2: -1000, 5: 1500}


@pytest.mark.clause("RICO-6")
def test_a_hand_that_does_not_top_every_hand_showing_is_out_at_once() -> None:
    """Seat 1's queens beat the dealer's ace high, but seat 4 waits with a pair of aces."""
    seats = {1: "Qc 8d Qd 4h 2s", 4: "Ac Ad"}
    literal = showdown({**seats, 4: "Ac Ad Kc 5h 4s"})
    assert literal["action_order"] == [1, 4]
    assert final(literal) == {1: "discarded", 4: "live"}
    assert literal["log"][1:4] == [
        "seat 1 plays: one pair",
        "seat 1 tops the dealer: the dealer is discarded",
        "seat 1 is topped and discarded: 1000 to the pot",
    ]
    assert nets(literal) == {1: -1000, 4: 1500}

    # Rule 5 comes before rule 6: if the aces then fold, nobody is left. Rule 6 first: the dealer.
    orphan = showdown(seats, orphan_pot="house")
    assert "seat 1 tops the dealer: the dealer is discarded" in orphan["log"]
    assert (orphan["pot"], nets(orphan)) == (2000, {1: -1000, 4: -500})
    kept = showdown(seats, ricochet_order="must_top_all")
    assert "seat 1 tops the dealer: the dealer is discarded" not in kept["log"]
    assert kept["pot_winners"] == ["dealer"]

    # Against the same pair without side cards five cards are better.
    sixes = showdown({1: "6c 5d 6d 4h 2s", 4: "6h 6s"})
    assert final(sixes) == {1: "live", 4: "folded"}


@pytest.mark.clause("RICO-6")
def test_a_hand_below_the_dealer_is_out() -> None:
    result = showdown({1: "Qc 8d 9s 4h 2s", 4: "Ac As"}, "Kd Kc 9c 7s 3d")
    assert final(result) == {1: "discarded", 4: "folded"}
    assert result["pot_winners"] == ["dealer"]
    high = showdown({1: "Kh 8d 9s 4h 2s", 4: "Ac As"}, "Qd Jc 9c 7s 3d")
    assert final(high) == {1: "discarded", 4: "folded"}


@pytest.mark.clause("RICO-7")
def test_a_player_who_ties_the_dealer_wins() -> None:
    """The same five ranks: the dealer is out and the pot is the player's."""
    result = showdown({3: "As Kc 9d 7h 3c"})
    assert "seat 3 ties the dealer: the dealer is discarded" in result["log"]
    assert (result["pot_winners"], nets(result)) == ([3], {3: 500})
    assert result["house_net"] == -500
    # Two who tie him: he is out at the first tie, the two stay and split his ante.
    both = showdown({3: "As Kc 9d 7h 3c", 5: "Ac Kh 9s 7d 3h"})
    assert final(both) == {3: "live", 5: "live"}
    assert both["pot_winners"] == [3, 5]


@pytest.mark.clause("RICO-8")
def test_players_who_tie_on_five_cards_all_stay() -> None:
    """Two equal straights; suits never break a tie of five cards."""
    result = showdown({1: "8c 7d 6h 5s 4c", 4: "8s 7c 6c 5d 4s"})
    assert result["action_order"] == [1, 4]
    assert final(result) == {1: "live", 4: "live"}
    assert (result["pot"], result["pot_winners"]) == (500, [1, 4])


@pytest.mark.clause("RICO-9")
@pytest.mark.parametrize(
    ("seats", "dealer", "settings", "winners", "money"),
    [
        ({1: "Qc 8d 4h 2s 5c", 3: "6h 5s"}, ACE_HIGH, {}, ["dealer"], {1: -1000, 3: -500}),
        ({1: "Qc 8d Qd 4h 2s", 3: "6h 5s"}, ACE_HIGH, {}, [1], {1: 1000, 3: -500}),
        ({1: "Qc 8d", 3: "6h 5s"}, "Ah Ad Qh 3s 2c", {}, None, {1: None, 3: None}),
        (
            {1: "Qc 8d", 3: "6h 5s"},
            "Ah Ad Qh 3s 2c",
            {"orphan_pot": "last_player"},
            [1],
            {1: 1000, 3: -500},
        ),
        (
            {1: "Qc 8d", 3: "6h 5s"},
            "Ah Ad Qh 3s 2c",
            {"orphan_pot": "house"},
            ["dealer"],
            {1: -500, 3: -500},
        ),
        (
            {1: "Qc 8d", 3: "6h 5s"},
            "Ah Ad Qh 3s 2c",
            {"orphan_pot": "carry"},
            [],
            {1: -500, 3: -500},
        ),
    ],
    ids=["dealer", "player", "nobody", "last player", "house", "carried"],
)
def test_when_all_have_acted_the_best_live_hand_takes_the_pot(
    seats: Seats, dealer: str, settings: Any, winners: Any, money: dict[int, int]
) -> None:
    """Kicked out and all folded: the book names nobody, the operator's setting or a supervisor."""
    result = showdown(seats, dealer, **settings)
    assert result["pot_winners"] == winners
    assert nets(result) == money
    if winners is None:
        assert (result["round_status"], result["clauses"]) == ("supervisor", ["RICO-9"])
        assert result["question"].startswith("Nobody is left to take the pot")


TIED = {1: "8c 7d 6h 5s 4c", 2: "8s 7s 6c 5d 4s"}
FOLDED = {3: "9c 2d", 4: "9d 2h", 5: "9h 2s", 6: "9s 2c"}


@pytest.mark.clause("RICO-9a")
@pytest.mark.parametrize(
    ("seats", "settings", "shares"),
    [
        ({**TIED, **FOLDED}, {"smallest_chip": 500}, {1: 1000, 2: 1500}),
        ({**TIED, **FOLDED}, {"smallest_chip": 100}, {1: 1200, 2: 1300}),
        (
            {**TIED, 7: "8d 7h 6d 5c 4d", 3: "9c 2d", 4: "9d 2h", 5: "9h 2s"},
            {"smallest_chip": 500},
            {1: 500, 2: 1000, 7: 500},
        ),
    ],
    ids=["five chips, two winners", "25 chips, two winners", "four chips, three winners"],
)
def test_tied_players_split_the_pot_and_the_odd_chip_goes_to_the_last_to_act(
    seats: Seats, settings: dict[str, Any], shares: dict[int, int]
) -> None:
    """8c-7 acts before 8d-7 and 8s-7: of the tied, seat 2 acts last."""
    result = showdown(seats, "Kh Jd Tc 3h 3d", **settings)
    assert result["pot"] == sum(shares.values())
    assert {s: n for s, n in nets(result).items() if s in shares} == shares
    won = {s["seat"]: s["wagers"]["ante"]["win"] for s in result["seats"] if s["seat"] in shares}
    assert won == shares
