"""Bulk ranking with numpy: the strengths of ``controller.rules.hands`` for millions of hands.

The tables are those of ``hands``, spread into arrays, so there is one source of truth for what a
hand is worth. Everything here runs in chunks: memory does not grow with the number of hands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np

from controller.rules.cards import DECK_SIZE
from controller.rules.hands import (
    ACE,
    MIXED,
    SUITED,
    THREE_MIXED,
    THREE_SUITED,
    WEIGHTS,
)

Cards: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
"""n rows of cards, each the index of a ``controller.rules.cards.Card``."""
Strengths: TypeAlias = np.ndarray[Any, np.dtype[np.uint16]]

CHUNK: Final = 1 << 15
"""Hands ranked at a time: five columns and their sums stay within a core's cache."""

HEAVIEST: Final = 5 * WEIGHTS[ACE]
"""No sum of five weights is above this, even of cards that cannot lie together."""


def _spread(strength_of: Mapping[int, int]) -> Strengths:
    table = np.zeros(HEAVIEST + 1, np.uint16)
    table[list(strength_of)] = list(strength_of.values())
    return table


WEIGHT: Final = np.array([WEIGHTS[c >> 2] for c in range(DECK_SIZE)], np.int32)
_FIVE: Final = (_spread(MIXED), _spread(SUITED))
_THREE: Final = (_spread(THREE_MIXED), _spread(THREE_SUITED))


def _rank(columns: Cards, tables: tuple[Strengths, Strengths]) -> Strengths:
    """Strengths of hands given column by column: the first card of each, the second, ..."""
    mixed, suited = tables
    first = columns[0]
    weight = WEIGHT.take(first)
    suits_differ = np.zeros_like(first)
    for column in columns[1:]:
        weight += WEIGHT.take(column)
        suits_differ |= first ^ column
    strengths: Strengths = mixed.take(weight)
    flushes = np.flatnonzero(suits_differ & 3 == 0)
    if flushes.size:
        strengths[flushes] = suited.take(weight[flushes])
    return strengths


def _rank_five(columns: Cards) -> Strengths:
    return _rank(columns, _FIVE)


def _rank_three(columns: Cards) -> Strengths:
    return _rank(columns, _THREE)


def _rank_best_of_six(columns: Cards) -> Strengths:
    best = _rank(columns[1:], _FIVE)
    for dropped in range(1, 6):
        np.maximum(best, _rank(np.delete(columns, dropped, axis=0), _FIVE), out=best)
    return best


def _in_chunks(hands: Cards, size: int, rank: Callable[[Cards], Strengths]) -> Strengths:
    if hands.ndim != 2 or hands.shape[1] != size or hands.dtype != np.uint8:
        raise ValueError(f"expected n x {size} cards of uint8, not {hands.shape} of {hands.dtype}")
    strengths = np.empty(len(hands), np.uint16)
    for start in range(0, len(hands), CHUNK):
        columns = np.ascontiguousarray(hands[start : start + CHUNK].T)
        strengths[start : start + CHUNK] = rank(columns)
    return strengths


def rank5(hands: Cards) -> Strengths:
    """Strength, 1 to 7462, of every row of five different cards."""
    return _in_chunks(hands, 5, _rank_five)


def rank3(hands: Cards) -> Strengths:
    """Strength, 1 to 741, of every row of three different cards."""
    return _in_chunks(hands, 3, _rank_three)


def best_of_six(hands: Cards) -> Strengths:
    """Strength of the best five of every row of six different cards."""
    return _in_chunks(hands, 6, _rank_best_of_six)


# --- every hand there is -----------------------------------------------------------------------


def subsets(size: int) -> Cards:
    """Every set of up to four cards, one a row, in lexicographic order."""
    if not 1 <= size <= 4:
        raise ValueError(f"{size}: sets of 1 to 4 cards fit in memory; see every_hand")
    rows = np.arange(DECK_SIZE, dtype=np.uint8).reshape(-1, 1)
    for _ in range(size - 1):
        rows = np.concatenate([_with_heads((head,), rows) for head in range(DECK_SIZE)])
    return rows


def _with_heads(heads: tuple[int, ...], tails: Cards) -> Cards:
    """``heads`` before each of the tails that starts above them: a suffix, as tails are sorted."""
    above = tails[np.searchsorted(tails[:, 0], heads[-1], side="right") :]
    hands = np.empty((len(above), len(heads) + tails.shape[1]), np.uint8)
    hands[:, : len(heads)] = heads
    hands[:, len(heads) :] = above
    return hands


def every_hand(size: int) -> Iterator[Cards]:
    """All C(52, size) hands of 3, 5 or 6 cards, some hundred thousand at a time."""
    tail = min(size, 4) - 1 if size < 5 else 4
    tails = subsets(tail)
    for heads in combinations(range(DECK_SIZE), size - tail):
        hands = _with_heads(heads, tails)
        if len(hands):
            yield hands
