"""Which card came how often at which place: finds a shuffler with favourites. Pure."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from controller.deckwatch.statistics import DECK, at_least, divergence, far_from_equal
from controller.rules.cards import NAMES

LOOK: Final = 64
"""Rounds between two looks at the counts; each look may use the rate of all of them."""
WINDOW: Final = 8192
"""Rounds after which counting starts again: an old bias must not hide a new one."""


class Places:
    """Counts by place. A look asks each place (are its cards equally frequent?) and each card at
    each place (does it come too often?), and divides its rate among all these questions."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.rounds = 0
        self.counts: list[list[int]] = [[0] * DECK for _ in range(DECK)]

    def take(self, sample: list[tuple[int, int]]) -> tuple[float, str] | None:
        """Place and card of one round; a probability and its story if a look finds something."""
        for place, card in sample:
            self.counts[place][card] += 1
        self.rounds += 1
        if self.rounds % LOOK:
            return None
        found = self._look()
        if found is not None or self.rounds >= WINDOW:
            self.rounds = 0
            self.counts = [[0] * DECK for _ in range(DECK)]
        return found

    def _look(self) -> tuple[float, str] | None:
        asked = [(place, row) for place, row in enumerate(self.counts) if any(row)]
        if not asked:
            return None
        cells, rows = [], []
        for place, row in asked:
            trials, most = sum(row), max(row)
            cells.append((at_least(trials, most, Fraction(1, DECK)), place, row.index(most)))
            rows.append((far_from_equal(divergence(row)), place))
        cell, row_ = min(cells), min(rows)
        one_card, whole_row = 2 * len(asked) * DECK * cell[0], 2 * len(asked) * row_[0]
        chance = min(one_card, whole_row)
        if chance > self.rate * LOOK:
            return None
        if one_card <= whole_row:
            times, card = self.counts[cell[1]][cell[2]], NAMES[cell[2]]
            text = f"{card} came {times} times as card {cell[1] + 1} in {self.rounds} rounds"
        else:
            text = f"card {row_[1] + 1} is not equally often each card in {self.rounds} rounds"
        return chance / LOOK, text  # a look every so many rounds: the share of rounds
