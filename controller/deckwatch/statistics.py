"""How likely is it with a fair shuffle? Exact where it says exact, else an upper bound.

Pure mathematics: no state and no game. A fair shuffle makes all orders of the deck equally likely.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb, exp, factorial, lgamma, log, prod, sqrt
from typing import Final

DECK: Final = 52


@lru_cache(maxsize=4096)
def coincidences(places: int, seen: int, deck: int = DECK) -> Fraction:
    """Exact: at least ``seen`` of ``places`` coincide, where any j of them do so together with
    probability (deck - j)! / deck!.

    That is so for places that hold the same card as in another order, and for neighbours that
    are neighbours, in the same sequence, in another order of the whole deck: glue the j pairs
    together and deck - j pieces are left to arrange. Of the sums over all sets of j places the
    tail is an alternating one (inclusion and exclusion).
    """
    if seen <= 0:
        return Fraction(1)
    total = sum(
        (-1) ** (j - seen) * comb(j - 1, seen - 1) * comb(places, j) * factorial(deck - j)
        for j in range(seen, places + 1)
    )
    return Fraction(total, factorial(deck))


@lru_cache(maxsize=4096)
def coincidence_chance(places: int, seen: int) -> float:
    """``coincidences`` in a deck of 52, as a number to compare."""
    return float(coincidences(places, seen))


@lru_cache(maxsize=64)
def descents(length: int) -> tuple[int, ...]:
    """How many orders of ``length`` things have 0, 1, ... descents: the Eulerian numbers."""
    row = [1]
    for n in range(2, length + 1):
        before = [*row, 0]
        row = [
            (k + 1) * before[k] + ((n - k) * before[k - 1] if k else 0) for k in range(n)
        ]  # fmt: skip
    return tuple(row)


@lru_cache(maxsize=4096)
def _disorder_counts(lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Cumulated: in how many ways is the disorder of all suits together 0, at most 1, ..."""
    ways = [1]
    for length in lengths:
        folded = [0] * ((length + 1) // 2)
        for k, count in enumerate(descents(length)):
            folded[min(k, length - 1 - k)] += count
        joined = [0] * (len(ways) + len(folded) - 1)
        for i, a in enumerate(ways):
            for j, b in enumerate(folded):
                joined[i + j] += a * b
        ways = joined
    cumulated, total = [], 0
    for count in ways:
        total += count
        cumulated.append(total)
    return tuple(cumulated)


def disorder(ranks: list[int]) -> int:
    """Descents of a sequence, or ascents if they are fewer: 0 for one that runs up or down."""
    falls = sum(b < a for a, b in pairwise(ranks))
    return min(falls, len(ranks) - 1 - falls)


def little_disorder(lengths: Iterable[int], seen: int) -> Fraction:
    """Exact: sequences of these lengths, in random order each, are ``seen`` or less disordered.

    With a fair shuffle the orders of the suits are independent of each other and uniform.
    """
    sizes = tuple(sorted(n for n in lengths if n))
    counts = _disorder_counts(sizes)
    ways = counts[min(seen, len(counts) - 1)]
    return Fraction(ways, prod(factorial(n) for n in sizes))


def same_groups(groups: int, others: int, seen: int, cards: int, deck: int = DECK) -> Fraction:
    """Bound: ``seen`` or more of ``groups`` packets of ``cards`` cards are among ``others``.

    The expected number of ways to pick ``seen`` pairs of equal packets; a probability is no more.
    """
    if seen <= 0:
        return Fraction(1)
    if seen * cards > deck:
        return Fraction(0)
    ways = comb(groups, seen) * comb(others, seen) * factorial(seen)
    return min(Fraction(1), Fraction(ways * factorial(deck - seen * cards), factorial(deck)))


def at_least(trials: int, seen: int, chance: Fraction) -> float:
    """Bound: ``seen`` or more of so many independent trials, each with this chance.

    The binomial's first term and a geometric series above all the others.
    """
    if seen <= 0 or seen <= trials * chance:
        return 1.0
    p = float(chance)
    first = lgamma(trials + 1) - lgamma(seen + 1) - lgamma(trials - seen + 1)
    first += seen * log(p) + (trials - seen) * log(1 - p)
    ratio = (trials - seen) * p / ((seen + 1) * (1 - p))
    return min(1.0, exp(first) / (1 - ratio))


def divergence(counts: Iterable[int], kinds: int = DECK) -> float:
    """How far observed shares are from equal ones: relative entropy times number of trials."""
    seen = [n for n in counts if n]
    trials = sum(seen)
    return sum(n * log(n * kinds / trials) for n in seen)


def far_from_equal(found: float, kinds: int = DECK) -> float:
    """Bound: equal chances give a ``divergence`` of ``found`` or more.

    Agrawal's inequality for the relative entropy of a multinomial (IEEE Trans. Inf. Theory 66,
    2020): a gamma tail of shape kinds - 1. It holds for every number of trials, where the
    chi-square table is an approximation that fails far out in the tail.
    """
    free = kinds - 1
    if found <= free:
        return 1.0
    return min(1.0, exp(free - found + free * log(found / free)))


def evidence(probability: float) -> float:
    """A bet against the fair shuffle: what it pays. Its expectation is at most 1 if it is fair."""
    return 1 / (2 * sqrt(probability))
