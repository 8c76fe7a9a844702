"""The progressive wagers of the rule books, as the link server needs to know them.

The server never reads the rule books. What it must know of a game to judge a pool is written here
a second time: which hands take which share of the jackpot, what the other hands pay, and how many
of the five-card hands there are of each class. A test compares it with the rule books.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

FIVE_CARD_HANDS: Final = 2_598_960

COUNTS: Final[Mapping[str, int]] = {
    "royal flush": 4,
    "straight flush": 36,
    "four of a kind": 624,
    "full house": 3_744,
    "flush": 5_108,
    "straight": 10_200,
    "three of a kind": 54_912,
    "two pair": 123_552,
    "one pair": 1_098_240,
    "high card": 1_302_540,
}
"""Class of hand to how many of all five-card hands are of it."""


@dataclass(frozen=True, slots=True)
class Progressive:
    shares: Mapping[str, int]
    """Class of hand to its share of the jackpot, in per cent."""
    odds: Mapping[str, int]
    """Class of hand to what it pays to one, from the table."""

    def pays(self, hand: str) -> str:
        """As a par sheet prints it."""
        if hand in self.shares:
            return f"{self.shares[hand]}% of meter"
        return f"{self.odds[hand]} to 1" if hand in self.odds else "loses"

    def slope(self, stake_cents: int) -> Fraction:
        """What each cent of the jackpot adds to the return of this stake."""
        each = (percent * chance(hand) for hand, percent in self.shares.items())
        return sum(each, Fraction(0)) / (100 * stake_cents)


PROGRESSIVES: Final[Mapping[str, Progressive | None]] = {
    "MBS3": Progressive(
        {"royal flush": 100, "straight flush": 10},
        {
            "four of a kind": 300,
            "full house": 50,
            "flush": 40,
            "straight": 30,
            "three of a kind": 9,
        },
    ),
    "MEGA": Progressive(
        {"royal flush": 100, "straight flush": 10},
        {"four of a kind": 500, "full house": 100, "flush": 50},
    ),
    "NSW": None,
    "PP6": None,
    "RICO": None,
}
"""Every game; None: it has no progressive wager, so its tables play for no pool."""


def chance(hand: str) -> Fraction:
    return Fraction(COUNTS[hand], FIVE_CARD_HANDS)
