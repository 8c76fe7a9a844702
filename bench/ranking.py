"""Five-card ranking, single and bulk, against four evaluators from PyPI.

    python -m bench.ranking [HANDS] [REPEATS]

Cards are built outside the timing for everyone. Every evaluator must first put a sample in the same
order as ours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from random import Random
from time import perf_counter
from typing import Any

import eval7
import numpy as np
import pokerkit
from phevaluator import evaluate_cards
from treys import Card as TreysCard
from treys import Evaluator

from bench.common import Measure, Target, interleaved, print_ratios, verdict, versions
from controller.math import bulk
from controller.rules.cards import DECK, NAMES
from controller.rules.hands import rank5

TARGETS = (
    Target("underfelt single", "treys", 1.5),
    Target("underfelt bulk", "treys", 15),
)
POKERKIT_SHARE = 20  # it is slow enough that a twentieth of the hands takes as long


def hands_per_second(rank: Callable[[Any], Any], hands: Sequence[Any]) -> Measure:
    def run() -> float:
        start = perf_counter()
        for hand in hands:
            rank(hand)
        return len(hands) / (perf_counter() - start)

    return run


def single_per_second(hands: Sequence[tuple[Any, ...]], rank: Callable[..., Any]) -> Measure:
    """As above for functions that take five cards and not a hand."""

    def run() -> float:
        start = perf_counter()
        for a, b, c, d, e in hands:
            rank(a, b, c, d, e)
        return len(hands) / (perf_counter() - start)

    return run


def bulk_per_second() -> Measure:
    every = np.concatenate(list(bulk.every_hand(5)))
    np.random.default_rng(7).shuffle(every)

    def run() -> float:
        start = perf_counter()
        bulk.rank5(every)
        return len(every) / (perf_counter() - start)

    return run


def agree(ours: Sequence[int], theirs: Sequence[Any], *, best_is_low: bool) -> None:
    """Stop if a pair of neighbours in the sample comes in another order, or ties for one only."""
    for i in range(1, len(theirs)):
        a, b = theirs[i - 1], theirs[i]
        if best_is_low:
            a, b = b, a
        x, y = ours[i - 1], ours[i]
        if (x < y, x == y) != (a < b, a == b):
            raise SystemExit(f"hands {i - 1} and {i} of the sample are ordered differently")


def main(argv: list[str]) -> int:
    count = int(argv[0]) if argv else 100_000
    repeats = int(argv[1]) if len(argv) > 1 else 5
    random = Random(7)
    ours = [tuple(random.sample(DECK, 5)) for _ in range(count)]
    names = [[NAMES[c] for c in hand] for hand in ours]
    treys = [[TreysCard.new(n) for n in hand] for hand in names]
    eval7_hands = [[eval7.Card(n) for n in hand] for hand in names]
    texts = ["".join(hand) for hand in names[: count // POKERKIT_SHARE]]
    five = Evaluator()._five
    strengths = [rank5(*hand) for hand in ours[:2_000]]
    agree(strengths, [five(h) for h in treys[:2_000]], best_is_low=True)
    agree(strengths, [evaluate_cards(*h) for h in ours[:2_000]], best_is_low=True)
    agree(strengths, [eval7.evaluate(h) for h in eval7_hands[:2_000]], best_is_low=False)
    agree(strengths, [pokerkit.StandardHighHand(t) for t in texts[:500]], best_is_low=False)
    print(versions("numpy", "treys", "phevaluator", "eval7", "pokerkit"))
    medians = interleaved(
        {
            "treys": hands_per_second(five, treys),
            "phevaluator": single_per_second(ours, evaluate_cards),
            "eval7": hands_per_second(eval7.evaluate, eval7_hands),
            "pokerkit": hands_per_second(pokerkit.StandardHighHand, texts),
            "underfelt single": single_per_second(ours, rank5),
            "underfelt bulk": bulk_per_second(),
        },
        repeats,
    )
    print_ratios(medians, "treys", "hands/s")
    return verdict(medians, TARGETS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
