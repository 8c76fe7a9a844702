"""The probabilities, against plain enumeration of all orders of small decks."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import comb, exp, factorial, prod
from random import Random

import pytest

from controller.deckwatch.statistics import (
    at_least,
    coincidences,
    descents,
    disorder,
    divergence,
    evidence,
    far_from_equal,
    little_disorder,
    same_groups,
)


def share(hits: Counter[int], at_least_: int) -> Fraction:
    return Fraction(sum(n for k, n in hits.items() if k >= at_least_), sum(hits.values()))


@pytest.mark.parametrize("dealt", [2, 4, 6])
def test_same_places_are_counted_exactly(dealt: int) -> None:
    hits = Counter(
        sum(order[i] == i for i in range(dealt)) for order in permutations(range(6))
    )  # fmt: skip
    for seen in range(dealt + 1):
        assert coincidences(dealt, seen, deck=6) == share(hits, seen)


@pytest.mark.parametrize("dealt", [2, 4, 6])
def test_kept_neighbours_are_counted_exactly(dealt: int) -> None:
    hits = Counter(
        sum(b == a + 1 for a, b in pairwise(order[:dealt])) for order in permutations(range(6))
    )
    for seen in range(dealt):
        assert coincidences(dealt - 1, seen, deck=6) == share(hits, seen)


def test_a_part_of_a_path_is_bounded_by_the_whole() -> None:
    """Only the neighbours 0-1, 1-2, 4-5 count, as when an earlier order is known in part."""
    part = {(0, 1), (1, 2), (4, 5)}
    hits = Counter(sum(p in part for p in pairwise(order)) for order in permutations(range(6)))
    for seen in range(1, 4):
        assert share(hits, seen) <= coincidences(5, seen, deck=6)


def test_literal_probabilities() -> None:
    assert coincidences(52, 52) == Fraction(1, factorial(52))
    assert coincidences(4, 4) == Fraction(1, 52 * 51 * 50 * 49)
    assert coincidences(1, 1) == Fraction(1, 52)
    assert float(coincidences(52, 1)) == pytest.approx(1 - exp(-1), abs=1e-12)
    assert descents(4) == (1, 11, 11, 1)
    assert sum(descents(13)) == factorial(13)


@pytest.mark.parametrize("lengths", [(3,), (2, 3), (1, 4), (2, 2, 3)])
def test_disorder_is_counted_exactly(lengths: tuple[int, ...]) -> None:
    orders = [list(permutations(range(n))) for n in lengths]
    hits = Counter(sum(disorder(list(o)) for o in chosen) for chosen in product(*orders))
    total = prod(factorial(n) for n in lengths)
    for seen in range(max(hits) + 1):
        below = sum(n for k, n in hits.items() if k <= seen)
        assert little_disorder(lengths, seen) == Fraction(below, total)
    assert little_disorder((*lengths, 0), max(hits) + 5) == 1


def test_equal_packets_are_bounded() -> None:
    """Three packets of two from six cards, beside the packets 01, 23, 45."""
    mine = {(0, 1), (2, 3), (4, 5)}
    hits = Counter(
        sum(order[i : i + 2] in mine for i in (0, 2, 4)) for order in permutations(range(6))
    )
    for seen in (1, 2, 3):
        assert share(hits, seen) <= same_groups(3, 3, seen, 2, deck=6)
    assert share(hits, 3) == same_groups(3, 3, 3, 2, deck=6)
    assert same_groups(20, 20, 18, 3) == 0


@pytest.mark.parametrize(("trials", "seen"), [(10, 3), (64, 9), (500, 40), (52, 52)])
def test_the_binomial_bound_is_above_and_close(trials: int, seen: int) -> None:
    chance = Fraction(1, 52)
    exact = sum(
        comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(seen, trials + 1)
    )
    bound = at_least(trials, seen, chance)
    assert float(exact) <= bound * (1 + 1e-9)
    assert bound <= float(exact) * 1.5
    assert at_least(trials, 0, chance) == 1.0


def test_the_divergence_bound_holds_for_a_small_multinomial() -> None:
    """Three kinds, twelve trials: all outcomes enumerated."""
    trials, rows = 12, []
    for a in range(trials + 1):
        for b in range(trials + 1 - a):
            c = trials - a - b
            ways = factorial(trials) // (factorial(a) * factorial(b) * factorial(c))
            rows.append((divergence((a, b, c), 3), Fraction(ways, 3**trials)))
    for found, _ in rows:
        exact = sum(chance for d, chance in rows if d >= found - 1e-12)
        assert float(exact) <= far_from_equal(found, 3) + 1e-12
    assert divergence((4, 4, 4), 3) == pytest.approx(0.0)
    assert far_from_equal(500.0) < 1e-100


def test_a_bet_pays_at_most_its_stake_on_average() -> None:
    rng = Random(20)
    paid = sum(evidence(max(rng.random(), 1e-12)) for _ in range(100_000)) / 100_000
    assert paid < 1.02
    # Exactly, for a probability that takes the values of a real test:
    levels = [coincidences(22, k) for k in range(24)]
    mean = sum(
        float(levels[k] - levels[k + 1]) * evidence(float(levels[k]))
        for k in range(23)
        if levels[k] > 0
    )
    assert mean <= 1.0
