"""What a fuzz case may say: counts by row, or that the law is broken; and how much chance allows.

A case is a function of a seeded ``Random`` alone, so its number reproduces it. It counts what it
saw and raises ``Broken`` if the law does not hold; any other exception is itself a breach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, lgamma, log, log1p
from random import Random
from typing import Final

Tally = Counter[tuple[str, str]]
"""(row, column) to a count: a row is a mutator or a kind of reading."""
Case = Callable[[Random, Tally], None]

FRAMES: Final = "frames"
ACCEPTED: Final = "accepted"
"""Something came out that nobody had sent."""
ALONE: Final = "accepted alone"
"""The same, in the form in which a driver would use it."""

CRC16_RATE: Final = 2 / 65_536
CONFIDENCE: Final = 0.9999


class Broken(Exception):
    """The law does not hold for this case."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a column of some rows may count: no more than this share of ``of``, but for chance."""

    text: str
    column: str
    rows: frozenset[str] | None
    """None: all rows."""
    rate: float = 0.0
    of: str = FRAMES


@dataclass(frozen=True, slots=True)
class Checked:
    text: str
    seen: int
    out_of: int
    allowed: int

    @property
    def holds(self) -> bool:
        return self.seen <= self.allowed


@dataclass(frozen=True, slots=True)
class Target:
    """One codec or driver under the law."""

    name: str
    title: str
    case: Case
    columns: tuple[str, ...]
    bounds: tuple[Bound, ...] = ()
    one_in: int = 1
    """Whole-driver cases are dear: one of them per so many frames of a codec."""
    notes: str = ""
    row_title: str = "mutator"
    order: tuple[str, ...] = field(default=())

    def check(self, tally: Tally) -> list[Checked]:
        found = []
        for bound in self.bounds:
            rows = {row for row, _ in tally} if bound.rows is None else bound.rows
            seen = sum(tally[row, bound.column] for row in rows)
            out_of = sum(tally[row, bound.of] for row in rows)
            found.append(Checked(bound.text, seen, out_of, quantile(out_of, bound.rate)))
        return found


def quantile(trials: int, rate: float, confidence: float = CONFIDENCE) -> int:
    """The smallest count that Binomial(trials, rate) exceeds with at most 1 - confidence."""
    if rate <= 0 or trials == 0:
        return 0
    total, count = 0.0, 0
    while count <= trials:
        total += exp(
            lgamma(trials + 1)
            - lgamma(count + 1)
            - lgamma(trials - count + 1)
            + count * log(rate)
            + (trials - count) * log1p(-rate)
        )
        if total >= confidence:
            return count
        count += 1
    return trials
