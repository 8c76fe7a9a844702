"""Let It Ride by full enumeration: when to let a wager ride, and what all three then return.

Every set of four cards meets each of the 48 cards that can complete it, which gives the value of
spot 2. A seat's own three cards lie in 49 such sets, which gives the value of spot 1. Each four
counts once for every way to say which of its cards is the first community card: together these are
all 51,979,200 rounds of a seat, C(52, 3) own hands times 49 first and 48 second community cards.

A wager of no value either way is taken back: the house edge is the same, the variance is smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np

from controller.math.bulk import Cards, rank5, subsets
from controller.math.wagers import to_one
from controller.rules.cards import DECK_SIZE
from controller.rules.paytables import MAIN_OF, MainHand, PayTable

Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

ROUNDS: Final = 51_979_200
"""Own three cards, then two community cards in order."""

_MAIN: Final = np.frombuffer(MAIN_OF, np.uint8)


@dataclass(frozen=True, slots=True)
class Ride:
    """The optimal play of spots 1 and 2 against one pay table."""

    threes: Cards
    values_of_three: Ints
    """Sum of what one unit wins over the 49 x 48 ordered pairs of community cards, per three."""
    fours: Cards
    values_of_four: Ints
    """Sum of what one unit wins over the 48 last cards, per four."""
    joint: tuple[tuple[tuple[int, ...], ...], ...]
    """Rounds by (spot 1 rides, spot 2 rides, ``MainHand``)."""


@cache
def classes_of_fours() -> tuple[Cards, Ints]:
    """Every set of four cards, and how many of its 48 fifth cards make each ``MainHand``."""
    fours = subsets(4)
    counts = np.zeros((len(fours), len(MainHand)), np.int64)
    for fifth in range(DECK_SIZE):
        rows = np.flatnonzero((fours != fifth).all(axis=1))
        hands = np.empty((len(rows), 5), np.uint8)
        hands[:, :4] = fours[rows]
        hands[:, 4] = fifth
        counts[rows, _MAIN.take(rank5(hands))] += 1
    return fours, counts


def optimal(table: PayTable) -> Ride:
    """Best play of both spots, and every round of a seat that plays so."""
    fours, counts = classes_of_fours()
    values_of_four = counts @ np.array([to_one(table, hand) for hand in MainHand], np.int64)
    threes = subsets(3)
    place = np.zeros((DECK_SIZE,) * 3, np.int64)
    place[tuple(threes.T)] = np.arange(len(threes))
    own = [place[tuple(np.delete(fours, community, axis=1).T)] for community in range(4)]
    values_of_three = np.zeros(len(threes), np.int64)
    for rows in own:
        np.add.at(values_of_three, rows, values_of_four)
    rides_1 = sum((values_of_three[rows] > 0).astype(np.int64) for rows in own)
    joint = _joint(counts, np.asarray(rides_1), values_of_four > 0)
    return Ride(threes, values_of_three, fours, values_of_four, joint)


def _joint(
    counts: Ints, rides_1: Ints, rides_2: np.ndarray[Any, np.dtype[np.bool_]]
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """``rides_1`` tells how many of the four ways to pick the community card let spot 1 ride."""

    def of(ways: Ints, which: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[int, ...]:
        return tuple(int(n) for n in ways[which] @ counts[which])

    return tuple((of(ways, ~rides_2), of(ways, rides_2)) for ways in (4 - rides_1, rides_1))
