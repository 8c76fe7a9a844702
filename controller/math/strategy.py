"""The optimal play of Let It Ride in words: which three and which four cards ride.

What a unit is worth on three or four cards depends on their ranks and on whether all are of one
suit; that is checked here, not assumed. The names below only sort those values for a reader: a
kind that holds both riding and returning hands would show as "some ride".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from controller.math.bulk import WEIGHT, Cards
from controller.math.ride import Ints, Ride
from controller.math.sheet import Column, Kind, Table
from controller.rules.hands import ACE, TEN

_STRAIGHTS: Final = (
    *(frozenset(range(top - 4, top + 1)) for top in range(4, ACE + 1)),
    frozenset((ACE, 0, 1, 2, 3)),
)

COLUMNS: Final = (
    Column("cards", "cards held", Kind.TEXT),
    Column("hands", "hands", Kind.COUNT),
    Column("play", "play", Kind.TEXT),
    Column("least", "worth from", Kind.NUMBER),
    Column("most", "to", Kind.NUMBER),
)


@dataclass(frozen=True, slots=True)
class Held:
    """Cards a player looks at, as far as their value depends on them."""

    ranks: tuple[int, ...]
    suited: bool
    hands: int
    value: int

    @property
    def pair_rank(self) -> int | None:
        """The highest rank held more than once."""
        return max((r for r in self.ranks if self.ranks.count(r) > 1), default=None)

    @property
    def most_of_a_rank(self) -> int:
        return max(self.ranks.count(r) for r in self.ranks)

    @property
    def ranks_held(self) -> int:
        return len(set(self.ranks))

    @property
    def tens_or_better(self) -> int:
        return sum(r >= TEN for r in self.ranks)

    @property
    def straights(self) -> int:
        """How many straights the ranks can still become."""
        different = len(set(self.ranks)) == len(self.ranks)
        return sum(different and straight.issuperset(self.ranks) for straight in _STRAIGHTS)


def held(cards: Cards, values: Ints) -> Iterator[Held]:
    """The different holdings among ``cards``; stops if equal holdings had different values."""
    suited = (cards & 3 == cards[:, :1] & 3).all(axis=1)
    keys = 2 * WEIGHT[cards].sum(axis=1) + suited
    _, first, which, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    if (values[first][which] != values).any():
        raise ArithmeticError("the value of a holding depends on more than ranks and one suit")
    for row, count in zip(first, counts, strict=True):
        ranks = tuple(sorted((int(c) >> 2 for c in cards[row]), reverse=True))
        yield Held(ranks, bool(suited[row]), int(count), int(values[row]))


def name_three(h: Held) -> str:
    if h.most_of_a_rank == 3:
        return "three of a kind"
    if h.pair_rank is not None:
        return "pair of tens or better" if h.pair_rank >= TEN else "pair below tens"
    if not h.suited or not h.straights:
        return "anything else"
    if h.tens_or_better == 3:
        return "three to a royal flush"
    if h.straights == 3:
        return "suited in a row, 3-4-5 or higher"
    if h.straights == 2:
        return "suited, fits 2 straights, " + ("a ten or better" if h.tens_or_better else "no ten")
    return "suited, fits 1 straight, " + (
        "2 tens or better" if h.tens_or_better == 2 else "fewer high"
    )


def name_four(h: Held) -> str:
    if h.most_of_a_rank > 2 or h.ranks_held == 2 or (h.pair_rank or 0) >= TEN:
        return "pays already"
    if h.pair_rank is not None:
        return "pair below tens"
    if h.suited:
        return "four to a flush or straight flush"
    if h.straights == 2:
        return "open straight, " + ("a ten or better" if h.tens_or_better else "no ten")
    if h.straights == 1:
        return "inside straight, " + ("4 tens or better" if h.tens_or_better == 4 else "fewer high")
    return "anything else"


def _kinds(
    cards: Cards, values: Ints, deals: int, name: Callable[[Held], str]
) -> tuple[tuple[str, int, str, Fraction, Fraction], ...]:
    kinds: dict[str, list[Held]] = {}
    for h in held(cards, values):
        kinds.setdefault(name(h), []).append(h)
    rows = []
    for kind, members in kinds.items():
        least, most = min(h.value for h in members), max(h.value for h in members)
        rows.append(
            (
                kind,
                sum(h.hands for h in members),
                _play(least, most),
                Fraction(least, deals),
                Fraction(most, deals),
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row[3], row[0])))


def _play(least: int, most: int) -> str:
    if least > 0:
        return "ride"
    if least == most == 0:
        return "even: back"
    return "back" if most <= 0 else "some ride"


def strategy_tables(ride: Ride) -> tuple[Table, Table]:
    """Spot 1 on a seat's three cards, spot 2 on those and the first community card."""
    spot_1 = _kinds(ride.threes, ride.values_of_three, 49 * 48, name_three)
    spot_2 = _kinds(ride.fours, ride.values_of_four, 48, name_four)
    return (
        Table("strategy_1", "spot 1, three cards seen", COLUMNS, spot_1),
        Table("strategy_2", "spot 2, four cards seen", COLUMNS, spot_2),
    )
