"""Poker hands: five cards, three cards (Pair Plus), best five of six, and Ricochet's two cards.

A five-card hand becomes a *strength*: 1 (7-5-4-3-2 of mixed suits) to 7462 (a royal flush); equal
strength is an equal hand. No suit outranks another (NSW-3.3); the ace is low in A-2-3-4-5 only.

The tables are written out in order of value, best first, so their order is the rule itself. A hand
is found by one sum: every card adds its rank's weight and, in the bits above, a digit for its suit.
The weights are the smallest for which no two sets of five ranks share a sum (a test proves it).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import combinations
from typing import Final

from controller.rules.cards import Card


class Hand(IntEnum):
    """The classes of a five-card hand, lowest first."""

    HIGH_CARD = 0
    ONE_PAIR = 1
    TWO_PAIR = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8
    ROYAL_FLUSH = 9


HAND_NAMES: Final[tuple[str, ...]] = (
    "high card", "one pair", "two pair", "three of a kind", "straight", "flush", "full house",
    "four of a kind", "straight flush", "royal flush",
)  # fmt: skip
"""In records, settings and on the link; whatever the members are called."""
HAND_BY_NAME: Final[dict[str, Hand]] = {HAND_NAMES[h]: h for h in Hand}

TEN: Final = 8
ACE: Final = 12

WEIGHTS: Final = (0, 1, 5, 22, 94, 312, 992, 2422, 5624, 12522, 19998, 43258, 79415)

_DOWN: Final = tuple(range(ACE, -1, -1))
_WHEEL: Final = (ACE, 3, 2, 1, 0)
_STRAIGHTS: Final = (*(tuple(range(top, top - 5, -1)) for top in range(ACE, 3, -1)), _WHEEL)
_STRAIGHT_SETS: Final = frozenset(frozenset(s) for s in _STRAIGHTS)


def _odd_five() -> Iterator[tuple[int, ...]]:
    """Five different ranks that are no sequence, best first."""
    return (five for five in combinations(_DOWN, 5) if frozenset(five) not in _STRAIGHT_SETS)


def _kickers(count: int, *used: int) -> Iterator[tuple[int, ...]]:
    return combinations([r for r in _DOWN if r not in used], count)


def _best_first() -> Iterator[tuple[Hand, bool, tuple[int, ...]]]:
    """Every distinct five-card hand as (class, is it suited, its five ranks), best first."""
    yield Hand.ROYAL_FLUSH, True, _STRAIGHTS[0]
    for five in _STRAIGHTS[1:]:
        yield Hand.STRAIGHT_FLUSH, True, five
    for q in _DOWN:
        for (k,) in _kickers(1, q):
            yield Hand.FOUR_OF_A_KIND, False, (q, q, q, q, k)
    for t in _DOWN:
        for (p,) in _kickers(1, t):
            yield Hand.FULL_HOUSE, False, (t, t, t, p, p)
    for five in _odd_five():
        yield Hand.FLUSH, True, five
    for five in _STRAIGHTS:
        yield Hand.STRAIGHT, False, five
    for t in _DOWN:
        for k, j in _kickers(2, t):
            yield Hand.THREE_OF_A_KIND, False, (t, t, t, k, j)
    for p, q in combinations(_DOWN, 2):
        for (k,) in _kickers(1, p, q):
            yield Hand.TWO_PAIR, False, (p, p, q, q, k)
    for p in _DOWN:
        for i, j, k in _kickers(3, p):
            yield Hand.ONE_PAIR, False, (p, p, i, j, k)
    for five in _odd_five():
        yield Hand.HIGH_CARD, False, five


STRENGTHS: Final = 7462
"""How many different five-card hands there are."""

SUITED: Final[dict[int, int]] = {}
"""Strength of a flush by the sum of its ranks' weights."""
MIXED: Final[dict[int, int]] = {}
"""Strength of any other hand by the sum of its ranks' weights."""
CLASS_OF: Final = bytearray(STRENGTHS + 1)
"""Class (a ``Hand``) by strength."""
RANKS_OF: Final[list[tuple[int, ...]]] = [()] * (STRENGTHS + 1)
"""The five ranks by strength, grouped ranks first."""

for _place, (_hand, _suited, _five) in enumerate(_best_first()):
    _strength = STRENGTHS - _place
    CLASS_OF[_strength] = _hand
    RANKS_OF[_strength] = _five
    (SUITED if _suited else MIXED)[sum(WEIGHTS[r] for r in _five)] = _strength

SUIT_SHIFT: Final = 19  # five weights add up to less than 2 ** 19
SUIT_DIGIT: Final = (1, 6, 36, 216)  # base six: five cards never carry from one suit to the next
WEIGHT_MASK: Final = (1 << SUIT_SHIFT) - 1
KEY: Final = [WEIGHTS[c >> 2] + (SUIT_DIGIT[c & 3] << SUIT_SHIFT) for c in range(52)]
FIVE_OF_A_SUIT: Final = frozenset(5 * digit for digit in SUIT_DIGIT)
THREE_OF_A_SUIT: Final = frozenset(3 * digit for digit in SUIT_DIGIT)


FLUSH_IN_SIX: Final = frozenset(
    many * one + (6 - many) * other for one in SUIT_DIGIT for other in SUIT_DIGIT for many in (5, 6)
)
"""Suit digits of six cards of which at least five share a suit."""


def rank5(a: Card, b: Card, c: Card, d: Card, e: Card) -> int:
    """Strength of five different cards."""
    key = KEY[a] + KEY[b] + KEY[c] + KEY[d] + KEY[e]
    if key >> SUIT_SHIFT in FIVE_OF_A_SUIT:
        return SUITED[key & WEIGHT_MASK]
    return MIXED[key & WEIGHT_MASK]


def rank_hand(five: Sequence[Card]) -> int:
    """Strength of exactly five different cards; ValueError otherwise."""
    if len(five) != 5 or len(set(five)) != 5:
        raise ValueError(f"a hand is five different cards, not {len(set(five))} of {len(five)}")
    return rank5(*five)


def hand_of(strength: int) -> Hand:
    return Hand(CLASS_OF[strength])


def best_of_six(six: Sequence[Card]) -> int:
    """Strength of the best five of six cards: each card is left out in turn."""
    a, b, c, d, e, f = [KEY[card] for card in six]
    whole = a + b + c + d + e + f
    if whole >> SUIT_SHIFT in FLUSH_IN_SIX:
        return max(rank5(*five) for five in combinations(six, 5))
    return max(
        MIXED[(whole - a) & WEIGHT_MASK],
        MIXED[(whole - b) & WEIGHT_MASK],
        MIXED[(whole - c) & WEIGHT_MASK],
        MIXED[(whole - d) & WEIGHT_MASK],
        MIXED[(whole - e) & WEIGHT_MASK],
        MIXED[(whole - f) & WEIGHT_MASK],
    )


WORST_PAIR_OF_TENS: Final = MIXED[2 * WEIGHTS[TEN] + WEIGHTS[2] + WEIGHTS[1] + WEIGHTS[0]]


# --- three cards -------------------------------------------------------------------------------


class ThreeHand(IntEnum):
    """The classes of a three-card hand, lowest first: here a straight outranks a flush."""

    HIGH_CARD = 0
    PAIR = 1
    FLUSH = 2
    STRAIGHT = 3
    THREE_OF_A_KIND = 4
    STRAIGHT_FLUSH = 5


THREE_HAND_NAMES: Final[tuple[str, ...]] = (
    "high card", "pair", "flush", "straight", "three of a kind", "straight flush",
)  # fmt: skip
THREE_STRENGTHS: Final = 741

_THREE_STRAIGHTS: Final = (
    *(tuple(range(top, top - 3, -1)) for top in range(ACE, 1, -1)),
    (ACE, 1, 0),
)
_THREE_STRAIGHT_SETS: Final = frozenset(frozenset(s) for s in _THREE_STRAIGHTS)


def _odd_three() -> Iterator[tuple[int, ...]]:
    return (t for t in combinations(_DOWN, 3) if frozenset(t) not in _THREE_STRAIGHT_SETS)


def _three_best_first() -> Iterator[tuple[ThreeHand, bool, tuple[int, ...]]]:
    for three in _THREE_STRAIGHTS:
        yield ThreeHand.STRAIGHT_FLUSH, True, three
    for t in _DOWN:
        yield ThreeHand.THREE_OF_A_KIND, False, (t, t, t)
    for three in _THREE_STRAIGHTS:
        yield ThreeHand.STRAIGHT, False, three
    for three in _odd_three():
        yield ThreeHand.FLUSH, True, three
    for p in _DOWN:
        for (k,) in _kickers(1, p):
            yield ThreeHand.PAIR, False, (p, p, k)
    for three in _odd_three():
        yield ThreeHand.HIGH_CARD, False, three


THREE_SUITED: Final[dict[int, int]] = {}
THREE_MIXED: Final[dict[int, int]] = {}
THREE_CLASS_OF: Final = bytearray(THREE_STRENGTHS + 1)

for _place, (_three_hand, _suited, _three) in enumerate(_three_best_first()):
    _strength = THREE_STRENGTHS - _place
    THREE_CLASS_OF[_strength] = _three_hand
    (THREE_SUITED if _suited else THREE_MIXED)[sum(WEIGHTS[r] for r in _three)] = _strength


def rank3(a: Card, b: Card, c: Card) -> int:
    """Strength of three different cards, 1 to 741."""
    key = KEY[a] + KEY[b] + KEY[c]
    if key >> SUIT_SHIFT in THREE_OF_A_SUIT:
        return THREE_SUITED[key & WEIGHT_MASK]
    return THREE_MIXED[key & WEIGHT_MASK]


# --- two cards (Ricochet) ----------------------------------------------------------------------


def two_card_value(a: Card, b: Card) -> tuple[int, int, int]:
    """(1 for a pair, high rank, low rank): straights and flushes do not exist (RICO-RF0b)."""
    high, low = max(a, b) >> 2, min(a, b) >> 2
    return (1 if high == low else 0, high, low)


def two_card_order(a: Card, b: Card) -> tuple[int, int, int, int]:
    """The order in which players act, lowest first; the suit of the higher card breaks a tie.

    Of a pair the better suit counts: 6d-6h is lower than 6s-6c (RICO-4).
    """
    return (*two_card_value(a, b), max(a, b) & 3)


def two_card_value_of_five(strength: int) -> tuple[int, int, int] | None:
    """A five-card hand read as two cards: its pair, or its two highest; None above one pair."""
    ranks = RANKS_OF[strength]
    hand = CLASS_OF[strength]
    if hand == Hand.ONE_PAIR:
        return (1, ranks[0], ranks[0])
    if hand == Hand.HIGH_CARD:
        return (0, ranks[0], ranks[1])
    return None


def two_cards_top_five(two: tuple[int, int, int], strength: int) -> bool:
    """Does a bare two-card hand outrank a five-card hand?

    The three missing side cards rank lowest, so equal tops go to the five cards (AMB-R02).
    """
    five = two_card_value_of_five(strength)
    return five is not None and two > five
