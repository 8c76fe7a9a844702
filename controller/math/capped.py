"""Let It Ride under a posted maximum payout: what it does to the three wagers, exactly.

A cap makes the return depend on the stake, and under ``per_hand`` it joins the two decisions: a
third live wager may win nothing more. So both are chosen together, for every round of a seat.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from controller.math.bulk import Cards, subsets
from controller.math.ride import ROUNDS, Ints, classes_of_fours
from controller.math.wagers import to_one
from controller.rules.cards import DECK_SIZE
from controller.rules.paytables import MainHand, PayTable
from controller.rules.settings import Settings

LAST_CARDS = DECK_SIZE - 4


@dataclass(frozen=True, slots=True)
class Capped:
    """The three wagers at one stake, played as well as the cap allows. Units are one wager."""

    stake: int
    mean: Fraction
    left_up: Fraction

    @property
    def house_edge(self) -> Fraction:
        return -self.mean

    @property
    def element_of_risk(self) -> Fraction:
        return -self.mean / self.left_up


def pays(table: PayTable, settings: Settings, stake: int, live: int, hand: MainHand) -> int:
    """What ``live`` wagers of ``stake`` win or lose together, in cents."""
    odds = to_one(table, hand)
    if odds < 0 or settings.max_payout is None:
        return live * odds * stake
    if settings.max_payout_scope == "per_hand":
        return min(live * odds * stake, settings.max_payout)
    return live * min(odds * stake, settings.max_payout)


@cache
def _own_cards() -> tuple[Cards, tuple[Ints, ...]]:
    """Every three cards, and for each way to pick the community card which three a four leaves."""
    threes, fours = subsets(3), classes_of_fours()[0]
    place = np.zeros((DECK_SIZE,) * 3, np.int64)
    place[tuple(threes.T)] = np.arange(len(threes))
    own = (place[tuple(np.delete(fours, community, axis=1).T)] for community in range(4))
    return threes, tuple(own)


def values_of_fours(table: PayTable, settings: Settings, stake: int) -> tuple[Ints, Ints, Ints]:
    """Cents won over the 48 last cards with one, two and three wagers live, per four."""
    _, counts = classes_of_fours()
    one, two, three = (
        counts @ np.array([pays(table, settings, stake, n, hand) for hand in MainHand], np.int64)
        for n in (1, 2, 3)
    )
    return one, two, three


def capped(table: PayTable, settings: Settings, stake: int) -> Capped:
    """Best play of both spots together at ``stake`` a spot; a spot of no value is taken back."""
    one, two, three = values_of_fours(table, settings, stake)
    without, with_1 = np.maximum(one, two), np.maximum(two, three)
    threes, own = _own_cards()
    taken, rides = np.zeros(len(threes), np.int64), np.zeros(len(threes), np.int64)
    for rows in own:
        np.add.at(taken, rows, without)
        np.add.at(rides, rows, with_1)
    rides_1 = rides > taken
    left_up = 0
    for rows in own:
        lets = rides_1[rows]
        second = np.where(lets, three > two, two > one)
        left_up += len(rows) + int(lets.sum()) + int(second.sum())
    won = sum(int(n) for n in np.maximum(taken, rides))
    return Capped(stake, Fraction(won, ROUNDS * stake), Fraction(left_up * LAST_CARDS, ROUNDS))


def stakes(table: PayTable, settings: Settings) -> list[int]:
    """The stakes a spot at which something changes: the limits, and where each win is first cut."""
    if settings.max_payout is None:
        return []
    per_area = settings.limit_scope == "per_area"
    least = max(1, -(-(settings.min_wager or 100) // 3) if per_area else settings.min_wager or 100)
    most = settings.max_wager
    if most is not None and per_area:
        most //= 3
    live = (1, 2, 3) if settings.max_payout_scope == "per_hand" else (1,)
    odds = [won for hand in MainHand if (won := to_one(table, hand)) > 0]
    found = {settings.max_payout // (won * n) + 1 for won in odds for n in live}
    found |= {least} if most is None else {least, most}
    return sorted(s for s in found if s >= least and (most is None or s <= most))
