"""Poker hands by counting: slow, plain and typed from the books, not from the code under test."""

from __future__ import annotations

from itertools import combinations

RANKS = "23456789TJQKA"
NAMES = (
    "high card",
    "one pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
    "royal flush",
)
HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH, ROYAL = range(
    10
)

# MBS3 4.1.1, PP6 table 1, NSW 10.1, MEGA 4.1.1: the same in every Let It Ride book.
MAIN_ODDS = {
    ROYAL: 1000,
    STRAIGHT_FLUSH: 200,
    QUADS: 50,
    FULL_HOUSE: 11,
    FLUSH: 8,
    STRAIGHT: 5,
    TRIPS: 3,
    TWO_PAIR: 2,
}
# MBS3 4.2 and MEGA 4.2: the odds rows; royal and straight flush take a share of the meter.
PROGRESSIVE_ODDS = {
    "MBS3": {QUADS: 300, FULL_HOUSE: 50, FLUSH: 40, STRAIGHT: 30, TRIPS: 9},
    "MEGA": {QUADS: 500, FULL_HOUSE: 100, FLUSH: 50},
}
# PP6 tables 2 and 3.
PAIR_PLUS_ODDS = {
    "straight flush": 40,
    "three of a kind": 30,
    "straight": 6,
    "flush": 3,
    "pair": 1,
}
SIX_CARD_ODDS = {
    ROYAL: 250,
    STRAIGHT_FLUSH: 100,
    QUADS: 40,
    FULL_HOUSE: 20,
    FLUSH: 11,
    STRAIGHT: 8,
    TRIPS: 4,
}

Value = tuple[int, tuple[int, ...]]


class UndecidedError(Exception):
    """The contract does not say; the record is left out of the comparison."""


def rank(card: str) -> int:
    return RANKS.index(card[0]) + 2


def five(cards: list[str]) -> Value:
    """The class and the ranks that break ties within it, best first."""
    assert len(cards) == 5
    if len(set(cards)) < 5:
        raise UndecidedError("a card twice within one hand: ranked, or the supervisor's?")
    ranks = sorted((rank(card) for card in cards), reverse=True)
    groups = sorted(((ranks.count(r), r) for r in set(ranks)), reverse=True)
    shape = [count for count, _ in groups]
    order = tuple(r for _, r in groups)
    suited = len({card[1] for card in cards}) == 1
    top = 0
    if shape == [1, 1, 1, 1, 1]:
        if ranks[0] - ranks[4] == 4:
            top = ranks[0]
        elif ranks == [14, 5, 4, 3, 2]:
            top = 5
    if suited and top == 14:
        return ROYAL, (14,)
    if suited and top:
        return STRAIGHT_FLUSH, (top,)
    if shape == [4, 1]:
        return QUADS, order
    if shape == [3, 2]:
        return FULL_HOUSE, order
    if suited:
        return FLUSH, tuple(ranks)
    if top:
        return STRAIGHT, (top,)
    if shape == [3, 1, 1]:
        return TRIPS, order
    if shape == [2, 2, 1]:
        return TWO_PAIR, order
    if shape == [2, 1, 1, 1]:
        return PAIR, order
    return HIGH_CARD, tuple(ranks)


def main_odds(value: Value) -> int:
    """Odds to 1 of the main wagers; 0 loses. A pair needs tens or better."""
    if value[0] == PAIR:
        return 1 if value[1][0] >= 10 else 0
    return MAIN_ODDS.get(value[0], 0)


def best_of_six(cards: list[str]) -> Value:
    assert len(cards) == 6
    return max(five(list(chosen)) for chosen in combinations(cards, 5))


def three(cards: list[str]) -> str:
    """Three-card classes; A-2-3 and Q-K-A are straights, nothing wraps (AMB-H03)."""
    assert len(cards) == 3
    ranks = sorted((rank(card) for card in cards), reverse=True)
    suited = len({card[1] for card in cards}) == 1
    distinct = len(set(ranks))
    straight = distinct == 3 and (ranks[0] - ranks[2] == 2 or ranks == [14, 3, 2])
    if straight and suited:
        return "straight flush"
    if distinct == 1:
        return "three of a kind"
    if straight:
        return "straight"
    if suited:
        return "flush"
    return "pair" if distinct == 2 else "high card"


def two(cards: list[str]) -> Value:
    """Two cards rank as a pair or as high cards; missing side cards are lowest (AMB-R02)."""
    assert len(cards) == 2
    high, low = sorted((rank(card) for card in cards), reverse=True)
    return (PAIR, (high,)) if high == low else (HIGH_CARD, (high, low))
