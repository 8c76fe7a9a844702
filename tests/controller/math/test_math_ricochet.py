"""Ricochet: kickout, Rapid Fire and HedgeBet, against the book read card by card."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb
from random import Random

import pytest

from controller.math.frequencies import five_by_strength
from controller.math.par import par_sheet
from controller.math.ricochet import kickout_table, rapid_fire_against, rapid_fire_counts
from controller.rules.books.rico import KICKOUT_LIMITS
from controller.rules.cards import DECK, RANKS, Card, cards
from controller.rules.hands import RANKS_OF, STRENGTHS, Hand, hand_of, rank5
from controller.rules.settings import Settings, TableSettings

TABLE = TableSettings()
KING, ACE, QUEEN, TEN = (RANKS.index(r) for r in "KAQT")


def rapid_fire_by_the_book(dealer: tuple[Card, ...], player: tuple[Card, Card]) -> str:
    """RF1 to RF3, written without the helpers of the rules."""
    ranks = Counter(c // 4 for c in dealer)
    paired = [rank for rank, n in ranks.items() if n > 1]
    straight = sorted(ranks)
    in_a_row = len(ranks) == 5 and (straight[4] - straight[0] == 4 or straight == [0, 1, 2, 3, 12])
    suited = len({c % 4 for c in dealer}) == 1
    if in_a_row or suited or len(paired) > 1 or max(ranks.values()) > 2:
        return "lose"
    mine = sorted((c // 4 for c in player), reverse=True)
    i_have_a_pair = mine[0] == mine[1]
    if paired:
        if not i_have_a_pair or mine[0] < paired[0]:
            return "lose"
        return "tie" if mine[0] == paired[0] else "win"
    if i_have_a_pair:
        return "win"
    top = sorted(ranks, reverse=True)[:2]
    return "tie" if mine == top else "win" if mine > top else "lose"


def test_rapid_fire_against_dealt_hands() -> None:
    random = Random(20)
    dealers = [tuple(random.sample(DECK, 5)) for _ in range(60)]
    dealers += [cards("2c 3c 4c 5c 7c"), cards("Ac 2d 3d 4d 5d"), cards("7c 5d 4c 3c 2c")]
    dealers += [cards("Ac Ad Kd 4d 5d"), cards("Ac Kd 3d 4d 5h"), cards("2c 2d 3d 4d 5h")]
    for dealer in dealers:
        rest = [c for c in DECK if c not in dealer]
        dealt = Counter(rapid_fire_by_the_book(dealer, two) for two in combinations(rest, 2))
        result = rapid_fire_against(rank5(*dealer))
        assert result == (dealt["lose"], dealt["tie"], dealt["win"]), dealer


def test_rapid_fire_over_every_deal() -> None:
    lose, tie, win = rapid_fire_counts()
    assert (lose, tie, win) == (2_390_989_200, 12_821_100, 405_665_460)
    assert lose + tie + win == comb(52, 5) * comb(47, 2)


def test_every_strength_leaves_the_player_all_pairs_of_47_cards() -> None:
    for strength in range(1, STRENGTHS + 1):
        assert sum(rapid_fire_against(strength)) == comb(47, 2)


def test_rapid_fire_return_under_a_pay_table() -> None:
    settings = Settings(rapid_fire_pay={"win": 5, "tie": 0})
    wager = par_sheet("RICO", settings, TABLE).wager("rapid_fire")
    deals = comb(52, 5) * comb(47, 2)
    assert wager["return"] == Fraction(405_665_460 * 6 + 12_821_100, deals)
    assert wager["hit_frequency"] == Fraction(405_665_460, deals)  # a tie is a push


def test_hedge_return_under_a_pay_table() -> None:
    settings = Settings(hedge_pay={Hand.THREE_OF_A_KIND: 9, Hand.STRAIGHT: 15})
    wager = par_sheet("RICO", settings, TABLE).wager("hedge")
    assert wager["return"] == Fraction(54_912 * 10 + 10_200 * 16, comb(52, 5))
    assert wager["house_edge"] == 1 - Fraction(54_912 * 10 + 10_200 * 16, comb(52, 5))


@pytest.mark.parametrize("key", ["rapid_fire", "hedge"])
def test_a_wager_without_a_pay_table_has_frequencies_and_no_return(key: str) -> None:
    wager = par_sheet("RICO", Settings(), TABLE).wager(key)
    assert [f.key for f in wager.figures] == ["combinations"]
    chances = [row[2] for row in wager.table("classes").rows]
    assert sum(c for c in chances if isinstance(c, Fraction)) == 1


def test_a_hedge_table_without_a_class_has_no_return() -> None:
    wager = par_sheet("RICO", Settings(hedge_pay={}), TABLE).wager("hedge")
    assert [f.key for f in wager.figures] == ["combinations"]


def folds_by_the_chart(hands: int, strength: int) -> bool:
    """The chart of the book, read on the dealer's ranks."""
    hand, ranks = hand_of(strength), RANKS_OF[strength]
    if hands in (1, 2):
        pair = KING if hands == 1 else ACE
        if hand is Hand.ONE_PAIR:
            return ranks[0] > pair or (ranks[0] == pair and ranks[2] >= QUEEN)
        return hand > Hand.ONE_PAIR
    if hands in (3, 4):
        top = TEN if hands == 3 else ACE
        return ranks[0] >= top if hand is Hand.TWO_PAIR else hand > Hand.TWO_PAIR
    if hands in (5, 6):
        trips = 0 if hands == 5 else QUEEN
        if hand is Hand.THREE_OF_A_KIND:
            return ranks[0] >= trips
        return hand > Hand.THREE_OF_A_KIND
    return hand >= Hand.STRAIGHT


@pytest.mark.parametrize("hands", range(1, 8))
def test_kickout_is_the_chart_over_every_dealer_hand(hands: int) -> None:
    counts = five_by_strength()
    folds = sum(counts[s] for s in range(1, STRENGTHS + 1) if folds_by_the_chart(hands, s))
    row = next(row for row in kickout_table().rows if row[0] == hands)
    assert row[2] == folds
    assert row[3] == Fraction(folds, comb(52, 5))


def test_kickout_literals() -> None:
    assert [row[2] for row in kickout_table().rows] == [
        321_060,
        236_580,
        153_828,
        93_636,
        74_628,
        32_388,
        19_716,
    ]
    assert len(KICKOUT_LIMITS) == 7


def test_ante_and_play_are_left_out_by_name() -> None:
    left_out = par_sheet("RICO", Settings(), TABLE).left_out
    assert set(left_out) == {"ante", "play"}
    assert all("choice" in reason or "choose" in reason for reason in left_out.values())
