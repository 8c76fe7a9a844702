"""Bulk ranking outside of the exhaustive runs: any order of cards, any number of hands."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from controller.math import bulk
from controller.rules.cards import DECK, cards
from controller.rules.hands import STRENGTHS, rank3, rank5


def dealt(count: int, size: int, seed: int) -> bulk.Cards:
    """Random hands, their cards in any order."""
    random = np.random.default_rng(seed)
    decks = random.permuted(np.tile(np.arange(52, dtype=np.uint8), (count, 1)), axis=1)
    return np.ascontiguousarray(decks[:, :size])


@pytest.mark.parametrize("count", [0, 1, bulk.CHUNK - 1, bulk.CHUNK, bulk.CHUNK + 1])
def test_rank5_is_the_single_ranking_across_the_border_of_a_chunk(count: int) -> None:
    hands = dealt(count, 5, seed=count)
    single = [rank5(*(DECK[c] for c in hand)) for hand in hands.tolist()]
    assert bulk.rank5(hands).tolist() == single


def test_rank3_takes_cards_in_any_order() -> None:
    hands = dealt(3_000, 3, seed=3)
    assert bulk.rank3(hands).tolist() == [rank3(*(DECK[c] for c in h)) for h in hands.tolist()]


def test_rows_that_are_not_contiguous_rank_the_same() -> None:
    hands = dealt(500, 10, seed=10)[:, ::2]
    assert bulk.rank5(hands).tolist() == bulk.rank5(np.ascontiguousarray(hands)).tolist()


def test_the_ends_of_the_scale() -> None:
    hands = np.array([cards("7c 5d 4c 3c 2c"), cards("Th Jh Qh Kh Ah")], np.uint8)
    assert bulk.rank5(hands).tolist() == [1, STRENGTHS]


def test_best_of_six_finds_the_five_it_may_leave_any_card_out_of() -> None:
    royal = cards("Ts Js Qs Ks As")
    rows = [[*royal[:i], *cards("2h"), *royal[i:]] for i in range(6)]
    assert bulk.best_of_six(np.array(rows, np.uint8)).tolist() == [STRENGTHS] * 6


@pytest.mark.parametrize(
    "hands",
    [
        np.zeros((4, 6), np.uint8),
        np.zeros(5, np.uint8),
        np.zeros((4, 5), np.int64),
    ],
)
def test_wrong_shapes_and_types_are_refused(hands: bulk.Cards) -> None:
    with pytest.raises(ValueError, match="n x 5 cards of uint8"):
        bulk.rank5(hands)


def test_a_number_that_is_no_card_is_refused() -> None:
    with pytest.raises(IndexError):
        bulk.rank5(np.array([[0, 1, 2, 3, 52]], np.uint8))


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_subsets_are_all_and_in_order(size: int) -> None:
    rows = bulk.subsets(size)
    assert len(rows) == comb(52, size)
    listed = [tuple(row) for row in rows.tolist()]
    assert listed == sorted(set(listed))
    assert all(tuple(sorted(set(row))) == row for row in listed)


def test_subsets_that_would_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="every_hand"):
        bulk.subsets(5)


def test_every_hand_comes_in_pieces_of_bounded_size() -> None:
    sizes = [len(hands) for hands in bulk.every_hand(6)]
    assert sum(sizes) == comb(52, 6)
    assert max(sizes) <= comb(50, 4)
