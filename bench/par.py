"""The exact par sheets of all five books, each in a fresh process.

    python -m bench.par [REPEATS]

The floor is a process that only loads numpy. The peer is treys: as many five-card rankings as the
five sheets make, at the pace treys ranks in this run.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, islice
from math import comb
from time import perf_counter

from treys import Card as TreysCard
from treys import Evaluator

from bench.common import Measure, interleaved, print_ratios, versions
from controller.rules.cards import NAMES

GAMES = ("MBS3", "PP6", "NSW", "MEGA", "RICO")
LIMIT_S = 60

FIVE = comb(52, 5)
FOURS = comb(52, 4) * 48
SIX = comb(52, 6) * 6
RANKINGS = 4 * FOURS + 3 * FIVE + SIX
"""Main wagers in four books; progressives and Ricochet in three; 6 Card Bonus in one."""


def process(*arguments: str) -> Measure:
    def run() -> float:
        start = perf_counter()
        # A sheet of the defaults warns of a lucky player every round; that is not the point here.
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        return perf_counter() - start

    return run


def treys_rankings() -> Measure:
    sample = 200_000
    cards = [TreysCard.new(name) for name in NAMES]
    hands = [list(hand) for hand in islice(combinations(cards, 5), sample)]
    five = Evaluator()._five

    def run() -> float:
        start = perf_counter()
        for hand in hands:
            five(hand)
        return (perf_counter() - start) * RANKINGS / sample

    return run


def main(argv: list[str]) -> int:
    repeats = int(argv[0]) if argv else 3
    print(versions("numpy", "treys"))
    alternatives = {"numpy alone": process("-c", "import numpy")}
    for game in GAMES:
        alternatives[game] = process("-m", "controller.cli", "par", game, "--json")
    alternatives["treys, as many hands"] = treys_rankings()
    medians = interleaved(alternatives, repeats)
    medians["all five"] = sum(medians[game] for game in GAMES)
    print_ratios(medians, "numpy alone", "s")
    met = medians["all five"] < LIMIT_S
    word = "met" if met else "MISSED"
    print(f"  {RANKINGS:,} rankings of five cards in {medians['all five']:.1f} s")
    print(f"  target: all five under {LIMIT_S} s: {medians['all five']:.1f} s, {word}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
