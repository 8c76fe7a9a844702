"""Every hand of three, five and six cards: the counts of the classes, and the order of all."""

from __future__ import annotations

from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
import pytest
from phevaluator import evaluate_cards
from treys import Card as TreysCard
from treys import Evaluator

from controller.math import bulk
from controller.math.frequencies import (
    five_by_strength,
    five_card_counts,
    six_card_counts,
    three_card_counts,
)
from controller.rules.cards import DECK, NAMES
from controller.rules.hands import (
    CLASS_OF,
    STRENGTHS,
    WEIGHTS,
    Hand,
    ThreeHand,
    best_of_six,
    rank3,
    rank5,
)
from controller.rules.progressive_return import FIVE_CARD_COUNTS, FIVE_CARD_HANDS

FIVE = {
    Hand.ROYAL_FLUSH: 4,
    Hand.STRAIGHT_FLUSH: 36,
    Hand.FOUR_OF_A_KIND: 624,
    Hand.FULL_HOUSE: 3_744,
    Hand.FLUSH: 5_108,
    Hand.STRAIGHT: 10_200,
    Hand.THREE_OF_A_KIND: 54_912,
    Hand.TWO_PAIR: 123_552,
    Hand.ONE_PAIR: 1_098_240,
    Hand.HIGH_CARD: 1_302_540,
}

THREE = {
    ThreeHand.STRAIGHT_FLUSH: 48,
    ThreeHand.THREE_OF_A_KIND: 52,
    ThreeHand.STRAIGHT: 720,
    ThreeHand.FLUSH: 1_096,
    ThreeHand.PAIR: 3_744,
    ThreeHand.HIGH_CARD: 16_440,
}

SIX = {
    Hand.ROYAL_FLUSH: 188,
    Hand.STRAIGHT_FLUSH: 1_656,
    Hand.FOUR_OF_A_KIND: 14_664,
    Hand.FULL_HOUSE: 165_984,
    Hand.FLUSH: 205_792,
    Hand.STRAIGHT: 361_620,
    Hand.THREE_OF_A_KIND: 732_160,
    Hand.TWO_PAIR: 2_532_816,
    Hand.ONE_PAIR: 9_730_740,
    Hand.HIGH_CARD: 6_612_900,
}

WAYS = {
    Hand.ROYAL_FLUSH: 4,
    Hand.STRAIGHT_FLUSH: 4,
    Hand.FOUR_OF_A_KIND: 4,
    Hand.FULL_HOUSE: 4 * 6,
    Hand.FLUSH: 4,
    Hand.STRAIGHT: 4**5 - 4,
    Hand.THREE_OF_A_KIND: 4 * 4 * 4,
    Hand.TWO_PAIR: 6 * 6 * 4,
    Hand.ONE_PAIR: 6 * 4**3,
    Hand.HIGH_CARD: 4**5 - 4,
}
"""How many hands share one strength, by choosing suits."""


@cache
def all_five() -> bulk.Cards:
    hands = np.concatenate(list(bulk.every_hand(5)))
    hands.flags.writeable = False
    return hands


@cache
def all_strengths() -> bulk.Strengths:
    return bulk.rank5(all_five())


def test_the_literals_are_the_textbook_products() -> None:
    straights = 10
    assert FIVE[Hand.ROYAL_FLUSH] + FIVE[Hand.STRAIGHT_FLUSH] == straights * 4
    assert FIVE[Hand.FOUR_OF_A_KIND] == 13 * 48
    assert FIVE[Hand.FULL_HOUSE] == 13 * comb(4, 3) * 12 * comb(4, 2)
    assert FIVE[Hand.FLUSH] == 4 * (comb(13, 5) - straights)
    assert FIVE[Hand.STRAIGHT] == straights * (4**5 - 4)
    assert FIVE[Hand.THREE_OF_A_KIND] == 13 * comb(4, 3) * comb(12, 2) * 4**2
    assert FIVE[Hand.TWO_PAIR] == comb(13, 2) * comb(4, 2) ** 2 * 44
    assert FIVE[Hand.ONE_PAIR] == 13 * comb(4, 2) * comb(12, 3) * 4**3
    assert FIVE[Hand.HIGH_CARD] == (comb(13, 5) - straights) * (4**5 - 4)
    assert sum(FIVE.values()) == comb(52, 5) == FIVE_CARD_HANDS
    assert sum(THREE.values()) == comb(52, 3)
    assert sum(SIX.values()) == comb(52, 6)


def test_five_card_classes() -> None:
    assert dict(zip(Hand, five_card_counts(), strict=True)) == FIVE


def test_the_constants_of_the_opening_gate_are_those_counts() -> None:
    assert FIVE_CARD_COUNTS == FIVE


def test_three_card_classes() -> None:
    assert dict(zip(ThreeHand, three_card_counts(), strict=True)) == THREE


def test_six_card_classes_by_their_best_five() -> None:
    assert dict(zip(Hand, six_card_counts(), strict=True)) == SIX


def test_every_strength_comes_as_often_as_its_suits_allow() -> None:
    counts = five_by_strength()
    assert counts[0] == 0
    assert [counts[s] for s in range(1, STRENGTHS + 1)] == [
        WAYS[Hand(CLASS_OF[s])] for s in range(1, STRENGTHS + 1)
    ]


def test_every_hand_deals_each_hand_once() -> None:
    flat = np.fromiter(
        (card for hand in combinations(range(52), 5) for card in hand), np.uint8, 5 * comb(52, 5)
    )
    assert np.array_equal(all_five(), flat.reshape(-1, 5))


def test_single_and_bulk_agree_on_every_five_card_hand() -> None:
    single = np.fromiter((rank5(*hand) for hand in combinations(DECK, 5)), np.uint16, comb(52, 5))
    assert np.array_equal(single, all_strengths())


def test_single_and_bulk_agree_on_every_three_card_hand() -> None:
    hands = np.concatenate(list(bulk.every_hand(3)))
    assert len(hands) == comb(52, 3)
    assert bulk.rank3(hands).tolist() == [rank3(*hand) for hand in combinations(DECK, 3)]


@pytest.mark.parametrize("seed", [1, 2])
def test_single_and_bulk_agree_on_six_card_hands(seed: int) -> None:
    random = np.random.default_rng(seed)
    decks = random.permuted(np.tile(np.arange(52, dtype=np.uint8), (5_000, 1)), axis=1)
    hands = np.ascontiguousarray(decks[:, :6])
    single = [best_of_six([DECK[c] for c in hand]) for hand in hands.tolist()]
    assert bulk.best_of_six(hands).tolist() == single


def _ranks_from_treys() -> np.ndarray[Any, Any]:
    """1 is the best of 7462, as treys counts."""
    five = Evaluator()._five
    names = [TreysCard.new(name) for name in NAMES]
    return np.fromiter((five(hand) for hand in combinations(names, 5)), np.int64, comb(52, 5))


def _ranks_from_phevaluator() -> np.ndarray[Any, Any]:
    """1 is the best of 7462; its card numbers are four times the rank plus the suit, as ours."""
    return np.fromiter(
        (evaluate_cards(*hand) for hand in combinations(range(52), 5)), np.int64, comb(52, 5)
    )


@pytest.mark.parametrize("ranks", [_ranks_from_treys, _ranks_from_phevaluator])
def test_the_order_of_all_hands_is_that_of_an_independent_evaluator(ranks: Any) -> None:
    """Equal in every one of 2,598,960 places: the same hands tie, and the same hand is higher."""
    ours = STRENGTHS + 1 - all_strengths().astype(np.int64)
    assert np.array_equal(ours, ranks())


def test_no_two_sets_of_ranks_share_a_sum_of_weights() -> None:
    sets = [
        five
        for five in combinations_with_replacement(range(13), 5)
        if max(five.count(rank) for rank in five) <= 4
    ]
    assert len(sets) == 6_175
    assert len({sum(WEIGHTS[rank] for rank in five) for five in sets}) == len(sets)
