"""Pay tables as data: one row per class of hand, in the terms the books print.

This is the only reader of pay tables. Settlement, par sheets and prompts all ask ``PayTable``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from controller.rules.hands import CLASS_OF, STRENGTHS, WORST_PAIR_OF_TENS, Hand, ThreeHand


@dataclass(frozen=True, slots=True)
class Odds:
    """``Odds(3)`` pays 3 to 1: three times the stake, and the stake stays the player's."""

    to_one: int
    text: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", f"{self.to_one} to 1")


@dataclass(frozen=True, slots=True)
class JackpotShare:
    """``JackpotShare(10)`` pays a tenth of the jackpot; the stake does not scale it."""

    percent: int
    text: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", f"{self.percent}% of the jackpot")


Pay = Odds | JackpotShare


class MainHand(IntEnum):
    """The classes of the main pay table: the five-card classes with pairs cut at tens."""

    LESS = 0
    TENS_OR_BETTER = 1
    TWO_PAIR = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8
    ROYAL_FLUSH = 9


MAIN_OF: Final = bytes(
    0 if strength < WORST_PAIR_OF_TENS else CLASS_OF[strength] for strength in range(STRENGTHS + 1)
)
"""``MainHand`` by strength: below a pair of tens everything is ``LESS``."""


@dataclass(frozen=True, slots=True)
class PayTable:
    """What each class of hand pays; a class without a row loses."""

    name: str
    clause: str
    rows: Mapping[int, Pay]
    by_class: tuple[Pay | None, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        width = 1 + max(self.rows)
        object.__setattr__(self, "by_class", tuple(self.rows.get(i) for i in range(max(width, 10))))

    def pay(self, hand: int) -> Pay | None:
        return self.by_class[hand]


def main_table(clause: str) -> PayTable:
    """The main table, the same in all four Let It Ride books; each cites its own clause."""
    return PayTable(
        "Let It Ride",
        clause,
        {
            MainHand.ROYAL_FLUSH: Odds(1000),
            MainHand.STRAIGHT_FLUSH: Odds(200),
            MainHand.FOUR_OF_A_KIND: Odds(50),
            MainHand.FULL_HOUSE: Odds(11),
            MainHand.FLUSH: Odds(8),
            MainHand.STRAIGHT: Odds(5),
            MainHand.THREE_OF_A_KIND: Odds(3),
            MainHand.TWO_PAIR: Odds(2),
            MainHand.TENS_OR_BETTER: Odds(1),
        },
    )


PAIR_PLUS: Final = PayTable(
    "Pair Plus",
    "PP6-P2",
    {
        ThreeHand.STRAIGHT_FLUSH: Odds(40),
        ThreeHand.THREE_OF_A_KIND: Odds(30),
        ThreeHand.STRAIGHT: Odds(6),
        ThreeHand.FLUSH: Odds(3),
        ThreeHand.PAIR: Odds(1),
    },
)

SIX_CARD_BONUS: Final = PayTable(
    "6 Card Bonus",
    "PP6-P3",
    {
        Hand.ROYAL_FLUSH: Odds(250),
        Hand.STRAIGHT_FLUSH: Odds(100),
        Hand.FOUR_OF_A_KIND: Odds(40),
        Hand.FULL_HOUSE: Odds(20),
        Hand.FLUSH: Odds(11),
        Hand.STRAIGHT: Odds(8),
        Hand.THREE_OF_A_KIND: Odds(4),
    },
)

MBS3_PROGRESSIVE: Final = PayTable(
    "Progressive",
    "MBS3-4.2-T2",
    {
        Hand.ROYAL_FLUSH: JackpotShare(100),
        Hand.STRAIGHT_FLUSH: JackpotShare(10),
        Hand.FOUR_OF_A_KIND: Odds(300),
        Hand.FULL_HOUSE: Odds(50),
        Hand.FLUSH: Odds(40),
        Hand.STRAIGHT: Odds(30),
        Hand.THREE_OF_A_KIND: Odds(9),
    },
)

MBS3_ENVY_CENTS: Final[Mapping[Hand, int]] = {
    Hand.ROYAL_FLUSH: 100_000,
    Hand.STRAIGHT_FLUSH: 30_000,
}

MEGA_PROGRESSIVE: Final = PayTable(
    "Progressive",
    "MEGA-4.2-T2",
    {
        Hand.ROYAL_FLUSH: JackpotShare(100),
        Hand.STRAIGHT_FLUSH: JackpotShare(10),
        Hand.FOUR_OF_A_KIND: Odds(500),
        Hand.FULL_HOUSE: Odds(100),
        Hand.FLUSH: Odds(50),
    },
)

MEGA_MAGIC_CARD: Final = Odds(5)
MEGA_LUCKY_PLAYER: Final = Odds(5)
