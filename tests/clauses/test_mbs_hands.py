"""The order of hands, class by class, as both MBS books print it."""

from __future__ import annotations

from typing import Any

import pytest

from controller.rules.cards import cards
from controller.rules.decode import decode_record
from controller.rules.errors import RecordError
from controller.rules.hands import Hand, hand_of, rank_hand
from controller.rules.settle import settle
from tests.clauses.tables import base

both = pytest.mark.parametrize("game", ["MBS3", "MEGA"])


def names(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def judged(game: str, hand: str) -> tuple[str, int]:
    """Class and net of a seat with 1.00 on each spot: own three cards, then the two shared."""
    seat: dict[str, Any] = {"seat": 1, "wagers": base(100), "cards": names(hand[:6])}
    record = {"game": game, "round": {"seats": [seat], "community": names(hand[6:])}}
    row = settle(decode_record(record))["seats"][0]
    return row["hand"], row["net"]


@pytest.mark.clause("MBS3-1.1.4", "MEGA-1.1.3")
@both
def test_a_hand_is_the_own_three_cards_and_both_shared_cards(game: str) -> None:
    """All five count: a straight flush needs both shared cards, and none may be left out."""
    assert judged(game, "2h3h4h5h6h") == ("straight flush", 3 * 200 * 100)
    assert judged(game, "2h3h4h5h9h") == ("flush", 3 * 8 * 100)
    assert judged(game, "2h3h4h5h9c") == ("high card", -300)
    with pytest.raises(ValueError, match="a hand is five different cards"):
        rank_hand(cards("2h3h4h5h6h7h"))
    with pytest.raises(RecordError, match="3 cards; expected 2"):
        judged(game, "2h3h4h5h6h7h")


EXEMPLARS = (
    "AdKdQdJdTd",
    "JcTc9c8c7c",
    "AcAhAdAsJh",
    "KcKhKdAsAh",
    "Jh8h6h5h2h",
    "9c8d7c6h5s",
    "TsThTc6h3d",
    "QsQh6c6h3d",
    "AcAh8d6h5s",
    "QcTh6d5s2h",
)
"""The example of each class that the books print, highest first."""


@pytest.mark.clause("MBS3-3.21", "MEGA-3.21")
def test_hands_rank_in_the_order_of_the_list() -> None:
    strengths = [rank_hand(cards(text)) for text in EXEMPLARS]
    assert strengths == sorted(strengths, reverse=True)
    assert len(set(strengths)) == 10
    assert [hand_of(s) for s in strengths] == sorted(Hand, reverse=True)
    weakest_of_each = ("5d4d3d2dAd", "2c2d2h2s3c", "2c2d2h3c3d", "7h5h4h3h2h", "5c4d3h2sAc")
    strongest_below = ("AcAdAhAsKc", "AcAdAhKcKd", "AhKhQhJh9h", "AcKdQhJsTc", "AcAdAhKcQd")
    for above, below in zip(weakest_of_each, strongest_below, strict=True):
        assert rank_hand(cards(above)) > rank_hand(cards(below))


@pytest.mark.parametrize(
    "examples",
    [
        pytest.param(
            [("AhKhQhJhTh", "royal flush", 300000), ("JhQhAhThKh", "royal flush", 300000)],
            marks=pytest.mark.clause("MBS3-3.21.1", "MEGA-3.21.1"),
            id="royal flush",
        ),
        pytest.param(
            [
                ("JcTc9c8c7c", "straight flush", 60000),
                ("KdQdJdTd9d", "straight flush", 60000),
                ("Ah2h3h4h5h", "straight flush", 60000),
            ],
            marks=pytest.mark.clause("MBS3-3.21.2", "MEGA-3.21.2"),
            id="straight flush",
        ),
        pytest.param(
            [("AcAhAdAsJh", "four of a kind", 15000), ("2c7h2d2s2h", "four of a kind", 15000)],
            marks=pytest.mark.clause("MBS3-3.21.3", "MEGA-3.21.3"),
            id="four of a kind",
        ),
        pytest.param(
            [("KcKhKdAsAh", "full house", 3300), ("2c3h2d3s3d", "full house", 3300)],
            marks=pytest.mark.clause("MBS3-3.21.4", "MEGA-3.21.4"),
            id="full house",
        ),
        pytest.param(
            [
                ("Jh8h6h5h2h", "flush", 2400),
                ("AsKsQsJs9s", "flush", 2400),
                ("Jh8h6h5h2c", "high card", -300),
            ],
            marks=pytest.mark.clause("MBS3-3.21.5", "MEGA-3.21.5"),
            id="flush",
        ),
        pytest.param(
            [
                ("9c8d7c6h5s", "straight", 1500),
                ("Ac2d3h4s5c", "straight", 1500),
                ("TcJdQhKsAc", "straight", 1500),
                ("QcKdAh2s3c", "high card", -300),
            ],
            marks=pytest.mark.clause("MBS3-3.21.6", "MEGA-3.21.6"),
            id="straight",
        ),
        pytest.param(
            [("TsThTc6h3d", "three of a kind", 900), ("2s5h2c6h2d", "three of a kind", 900)],
            marks=pytest.mark.clause("MBS3-3.21.7", "MEGA-3.21.7"),
            id="three of a kind",
        ),
        pytest.param(
            [("QsQh6c6h3d", "two pair", 600), ("3s2h3c2d9d", "two pair", 600)],
            marks=pytest.mark.clause("MBS3-3.21.8", "MEGA-3.21.8"),
            id="two pair",
        ),
        pytest.param(
            [("AcAh8d6h5s", "one pair", 300), ("9c9h8d6h5s", "one pair", -300)],
            marks=pytest.mark.clause("MBS3-3.21.9", "MEGA-3.21.9"),
            id="one pair",
        ),
        pytest.param(
            [("QcTh6d5s2h", "high card", -300), ("AcKhQdJs9h", "high card", -300)],
            marks=pytest.mark.clause("MBS3-3.21.10", "MEGA-3.21.10"),
            id="five odd cards",
        ),
    ],
)
@both
def test_each_class_is_what_the_book_says_it_is(
    game: str, examples: list[tuple[str, str, int]]
) -> None:
    for hand, name, net in examples:
        assert judged(game, hand) == (name, net), hand
