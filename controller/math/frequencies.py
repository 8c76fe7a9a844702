"""How often each hand comes, by dealing all of them: the ground of every par sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from controller.math.bulk import Cards, Strengths, best_of_six, every_hand, rank3, rank5
from controller.rules.hands import (
    CLASS_OF,
    STRENGTHS,
    THREE_CLASS_OF,
    THREE_STRENGTHS,
    Hand,
    ThreeHand,
)


def _by_strength(size: int, rank: Callable[[Cards], Strengths], strengths: int) -> tuple[int, ...]:
    counts = np.zeros(strengths + 1, np.int64)
    for hands in every_hand(size):
        counts += np.bincount(rank(hands), minlength=strengths + 1)
    return tuple(int(n) for n in counts)


def _by_class(by_strength: Sequence[int], class_of: bytearray, classes: int) -> tuple[int, ...]:
    counts = [0] * classes
    for strength, count in enumerate(by_strength):
        counts[class_of[strength]] += count
    return tuple(counts)


@cache
def five_by_strength() -> tuple[int, ...]:
    """How many of all five-card hands have each strength; the index is the strength."""
    return _by_strength(5, rank5, STRENGTHS)


@cache
def five_card_counts() -> tuple[int, ...]:
    """All 2,598,960 five-card hands by ``Hand``."""
    return _by_class(five_by_strength(), CLASS_OF, len(Hand))


@cache
def three_card_counts() -> tuple[int, ...]:
    """All 22,100 three-card hands by ``ThreeHand``."""
    return _by_class(_by_strength(3, rank3, THREE_STRENGTHS), THREE_CLASS_OF, len(ThreeHand))


@cache
def six_card_counts() -> tuple[int, ...]:
    """All 20,358,520 six-card hands by the ``Hand`` their best five make."""
    return _by_class(_by_strength(6, best_of_six, STRENGTHS), CLASS_OF, len(Hand))
