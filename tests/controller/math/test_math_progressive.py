"""The progressive wager: its line, its break-even, envy, magic card and lucky player."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import ceil, comb

import pytest

from controller.math.progressive import Play, largest_lucky_rate, second_award_loss, warnings
from controller.math.progressive_sheet import progressive_wager
from controller.math.sheet import Wager
from controller.rules import progressive_return as pr
from controller.rules.book import Book
from controller.rules.books import BOOKS
from controller.rules.cards import DECK, Card, cards
from controller.rules.hands import CLASS_OF, Hand, rank5
from controller.rules.settings import Settings, TableSettings

MBS3, MEGA = BOOKS["MBS3"], BOOKS["MEGA"]
KEPT = Settings(progressive_stake_returned=False)
TABLE = TableSettings()


def wager(book: Book, settings: Settings, table: TableSettings) -> Wager:
    made = progressive_wager(book, settings, table)
    assert made is not None
    return made


def play(book: Book, settings: Settings, table: TableSettings = TABLE) -> Play:
    assert book.progressive is not None
    return Play(book, book.progressive, settings, table)


# --- the line ----------------------------------------------------------------------------------


def test_mbs3_by_hand() -> None:
    """Odds of the printed table over the textbook counts; the stake comes back with each."""
    odds = {624: 300, 3_744: 50, 5_108: 40, 10_200: 30, 54_912: 9}
    returned = sum(n * (to_one + 1) for n, to_one in odds.items()) + 40
    kept = sum(n * to_one for n, to_one in odds.items())
    slope = Fraction(4 * 100 + 36 * 10, 100 * 100 * 2_598_960)
    line = pr.return_line(MBS3, Settings(), TABLE, seats=1)
    assert line.constant == Fraction(returned, 2_598_960) == Fraction(27_953, 49_980)
    assert line.slope == slope == Fraction(19, 649_740_000)
    assert pr.return_line(MBS3, KEPT, TABLE, seats=1).constant == Fraction(kept, 2_598_960)


def test_mega_by_hand() -> None:
    """One seat, no lucky player: odds awards, 5 for the magic card, the stake once with any."""
    table = replace(TABLE, lucky_rate=Fraction(0))
    odds = {624: 500, 3_744: 100, 5_108: 50}
    awards = Fraction(sum(n * to_one for n, to_one in odds.items()), 2_598_960)
    magic = Fraction(5, 52)
    any_award = 1 - (1 - Fraction(sum(odds) + 40, 2_598_960)) * (1 - magic)
    line = pr.return_line(MEGA, Settings(), table, seats=3)
    assert line.constant == awards + 5 * magic + any_award
    assert pr.return_line(MEGA, KEPT, table, seats=3).constant == awards + 5 * magic


def test_percentages_are_rounded_down_as_they_are_paid() -> None:
    line = pr.return_line(MBS3, Settings(), TABLE, seats=1)
    assert line.at(1_000_009) < line.constant + line.slope * 1_000_009
    assert line.at(1_000_010) == line.constant + line.slope * 1_000_010


@pytest.mark.parametrize("others", range(7))
@pytest.mark.parametrize("settings", [Settings(), KEPT], ids=["returned", "kept"])
def test_break_even_is_the_meter_that_returns_everything(settings: Settings, others: int) -> None:
    line = pr.return_line(MBS3, settings, TABLE, others + 1)
    exact, as_paid = line.break_even_cents, line.break_even_as_paid_cents
    assert exact is not None
    assert as_paid is not None
    assert line.constant + line.slope * exact == 1
    assert line.at(as_paid) >= 1 > line.at(as_paid - 1)
    assert ceil(exact) <= as_paid <= ceil(exact) + 10


def test_there_is_no_break_even_above_100_percent() -> None:
    line = pr.return_line(MEGA, Settings(), TABLE, seats=1)
    assert line.constant > 1
    assert line.break_even_cents is None
    assert line.break_even_as_paid_cents is None


def test_more_credits_dilute_percentages_and_envy_but_not_odds() -> None:
    one = pr.return_line(MBS3, Settings(), TABLE, seats=4)
    three = pr.return_line(MBS3, Settings(), TABLE, seats=4, credits=3)
    envy = pr.envy_cents(MBS3, Settings(), 3)
    assert three.slope == one.slope / 3
    assert one.constant - three.constant == envy / 100 - envy / 300


def test_a_book_without_a_progressive_has_no_line() -> None:
    with pytest.raises(ValueError, match="NSW"):
        pr.return_line(BOOKS["NSW"], Settings(), TABLE, seats=1)
    assert progressive_wager(BOOKS["NSW"], Settings(), TABLE) is None
    assert pr.over_100_percent("NSW", Settings(), TABLE) is None


@pytest.mark.parametrize("meter", [0, 1_000_007, 25_000_000])
@pytest.mark.parametrize("returned", [True, False])
@pytest.mark.parametrize("seats", [1, 2, 7])
@pytest.mark.parametrize("key", ["MBS3", "MEGA"])
def test_every_outcome_of_a_round_adds_up_to_the_line(
    key: str, seats: int, returned: bool, meter: int
) -> None:
    """The joint distribution of hand, magic card and lucky player is built award by award."""
    settings = Settings(progressive_stake_returned=returned)
    table = replace(TABLE, lucky_rate=Fraction(1, 9), magic_rate=Fraction(2, 3))
    book = BOOKS[key]
    made = play(book, settings, table)
    envy = pr.envy_cents(book, settings, seats - 1) / table.credit_cents
    assert 1 + made.result(seats, meter).mean + envy == made.line(seats).at(meter)


# --- envy --------------------------------------------------------------------------------------


def shared_straight_flushes() -> tuple[dict[tuple[Hand, Hand], int], int]:
    """Deal two and three seats around two community cards of one suit, for all such cards.

    A straight flush is of one suit, so cards of others cannot help; the other suits are alike.
    """
    suit = [Card(4 * rank) for rank in range(13)]
    pairs: dict[tuple[Hand, Hand], int] = {}
    triples = 0
    for community in combinations(suit, 2):
        rest = [c for c in suit if c not in community]
        made = []
        for own in combinations(rest, 3):
            hand = Hand(CLASS_OF[rank5(*community, *own)])
            if hand in (Hand.STRAIGHT_FLUSH, Hand.ROYAL_FLUSH):
                made.append((frozenset(own), hand))
        for (a, mine), (b, theirs) in product(made, made):
            if a.isdisjoint(b):
                pairs[mine, theirs] = pairs.get((mine, theirs), 0) + 1
                triples += sum(third.isdisjoint(a | b) for third, _ in made)
    return {hands: 4 * deals for hands, deals in pairs.items()}, triples


def test_the_pairs_of_jackpot_hands_that_share_two_community_cards() -> None:
    pairs, triples = shared_straight_flushes()
    assert pairs == pr.SHARED_JACKPOT_DEALS
    assert triples == 0


def test_envy_for_each_hand_is_the_sum_of_the_others() -> None:
    each = Fraction(4 * 100_000 + 36 * 30_000, 2_598_960)
    assert [pr.envy_cents(MBS3, Settings(), n) for n in range(7)] == [n * each for n in range(7)]
    own = Settings(envy_self=True)
    assert [pr.envy_cents(MBS3, own, n) for n in range(7)] == [(n + 1) * each for n in range(7)]


def test_envy_for_the_highest_hand_only_loses_the_lower_of_two() -> None:
    highest = Settings(envy_per_hand=False)
    deals = comb(52, 2) * comb(50, 3) * comb(47, 3)
    for others in range(7):
        lost = comb(others, 2) * Fraction(56 * 30_000, deals)
        assert pr.envy_cents(MBS3, highest, others) == (
            pr.envy_cents(MBS3, Settings(), others) - lost
        )


def test_envy_of_the_highest_hand_by_every_deal_of_three_seats_in_one_suit() -> None:
    """Two others: the mean of the higher award, straight from the deals of both seats."""
    suit = [Card(4 * rank) for rank in range(13)]
    both = 0
    for community in combinations(suit, 2):
        rest = [c for c in suit if c not in community]
        worth = {
            frozenset(own): MBS3.envy_cents.get(Hand(CLASS_OF[rank5(*community, *own)]), 0)
            for own in combinations(rest, 3)
        }
        for own, other in product(worth, worth):
            if own.isdisjoint(other):
                both += worth[own] + worth[other] - max(worth[own], worth[other])
    each = Fraction(4 * 100_000 + 36 * 30_000, 2_598_960)
    expected = 2 * each - Fraction(4 * both, pr.TWO_SEAT_DEALS)
    assert pr.envy_cents(MBS3, Settings(envy_per_hand=False), 2) == expected


def test_a_book_without_envy_pays_none() -> None:
    assert pr.envy_cents(MEGA, Settings(envy_per_hand=False), 6) == 0


def test_envy_lowers_the_break_even() -> None:
    table = wager(MBS3, Settings(), TABLE).table("seats")
    column = [c.key for c in table.columns].index("break_even_cents")
    meters = [row[column] for row in table.rows]
    assert meters == sorted({m for m in meters if isinstance(m, int)}, reverse=True)
    assert meters[0] == 15_071_106
    assert meters[6] == 13_902_685


# --- magic card and lucky player ---------------------------------------------------------------


def test_the_magic_card_lies_in_five_cards_of_52() -> None:
    for hand in (cards("Ts Js Qs Ks As"), cards("2c 3d 5h 7s 9c")):
        assert Fraction(sum(card in hand for card in DECK), 52) == pr.MAGIC_CHANCE
    half = replace(TABLE, magic_rate=Fraction(1, 2))
    assert pr.magic_chance(MEGA, half) == Fraction(5, 104)
    assert pr.magic_chance(MBS3, half) == 0


def test_the_pool_the_lucky_player_is_drawn_from() -> None:
    table = replace(TABLE, lucky_rate=Fraction(1, 2), seats=5)
    every = replace(table, lucky_pool="all_seats")
    assert [pr.lucky_chance(MEGA, table, n) for n in (1, 2, 5)] == [
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(1, 10),
    ]
    assert {pr.lucky_chance(MEGA, every, n) for n in (1, 2, 5)} == {Fraction(1, 10)}


def test_a_lucky_player_every_round_returns_over_100_percent() -> None:
    highest = pr.over_100_percent("MEGA", Settings(), TABLE)
    assert highest == pr.return_at_reset("MEGA", Settings(), TABLE, 1) == Fraction(52_309, 7_644)
    for seats in range(1, 8):
        assert pr.return_at_reset("MEGA", Settings(), TABLE, seats) > 1


def test_the_worst_number_of_seats_counts() -> None:
    """Seven seats return less than 100 %, one seat more: the gate sees the one."""
    table = replace(TABLE, lucky_rate=Fraction(1, 50))
    assert pr.return_at_reset("MEGA", Settings(), table, 7) < 1
    assert pr.over_100_percent("MEGA", Settings(), table) == pr.return_at_reset(
        "MEGA", Settings(), table, 1
    )


def test_envy_counts_where_it_decides() -> None:
    """MBS3 is over 100 % at its reset value only if the table is full."""
    reset = Settings(jackpot_reset=14_000_000)
    assert pr.return_at_reset("MBS3", reset, TABLE, 1) < 1
    assert pr.over_100_percent("MBS3", reset, TABLE) == pr.return_at_reset("MBS3", reset, TABLE, 7)
    assert pr.over_100_percent("MBS3", reset, replace(TABLE, seats=1)) is None


def test_exactly_100_percent_is_not_over() -> None:
    rate = largest_lucky_rate(MEGA, Settings(), TABLE)
    assert rate is not None
    assert 0 < rate < 1
    table = replace(TABLE, lucky_rate=rate)
    assert pr.return_at_reset("MEGA", Settings(), table, 1) == 1
    assert pr.over_100_percent("MEGA", Settings(), table) is None
    more = replace(TABLE, lucky_rate=rate + Fraction(1, 10**9))
    assert pr.over_100_percent("MEGA", Settings(), more) is not None


def test_the_safe_rate_offered_is_safe_and_the_next_is_not() -> None:
    settings = Settings(jackpot_reset=1_000_000)
    safe = wager(MEGA, settings, TABLE)["safe_lucky_rate"]
    assert isinstance(safe, str)
    rate = Fraction(safe)
    nearest = Fraction(1, rate.denominator - 1)
    assert pr.over_100_percent("MEGA", settings, replace(TABLE, lucky_rate=rate)) is None
    assert pr.over_100_percent("MEGA", settings, replace(TABLE, lucky_rate=nearest)) is not None
    assert f"at most {safe} " in warnings(MEGA, settings, TABLE)[0]


def test_no_lucky_rate_mends_a_reset_value_that_is_too_high() -> None:
    settings = Settings(jackpot_reset=10_000_000)
    assert largest_lucky_rate(MEGA, settings, TABLE) is None
    assert "no lucky_rate alone mends it" in warnings(MEGA, settings, TABLE)[0]
    assert wager(MEGA, settings, TABLE)["safe_lucky_rate"] is None


def test_the_warning_names_the_return_and_the_seats() -> None:
    text = warnings(MEGA, Settings(), replace(TABLE, seats=5, lucky_rate=Fraction(1, 50)))
    assert text[0].startswith("the progressive wager returns up to 106.06 % at its reset value")
    assert "with 1 to 2 of 5 seats" in text[0]


def test_a_sane_table_has_no_warning() -> None:
    assert warnings(MEGA, Settings(), replace(TABLE, lucky_rate=Fraction(1, 500))) == ()
    assert warnings(MBS3, Settings(jackpot_reset=5_000_000), TABLE) == ()
    assert warnings(BOOKS["RICO"], Settings(), TABLE) == ()


# --- the sheet ---------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("key", ["MBS3", "MEGA"])
def test_the_parts_add_up_to_the_return_of_one_seat(key: str, own: bool) -> None:
    settings = Settings(jackpot=20_000_000, jackpot_reset=1_000_000, envy_self=own)
    table = replace(TABLE, lucky_rate=Fraction(1, 300))
    made = wager(BOOKS[key], settings, table)
    for place, where in ((-2, "reset"), (-1, "jackpot")):
        parts = [row[place] for row in made.table("parts").rows]
        total = sum(p for p in parts if isinstance(p, Fraction))
        assert total == made[f"return_at_{where}"]
        by_hand = [row[place] for row in made.table("classes").rows]
        assert sum(p for p in by_hand if isinstance(p, Fraction)) == parts[0]


@pytest.mark.parametrize("key", ["MBS3", "MEGA"])
def test_the_sheet_says_what_the_gate_sees(key: str) -> None:
    settings = Settings(jackpot_reset=2_345_678)
    table = replace(TABLE, seats=6, lucky_rate=Fraction(1, 20))
    made = wager(BOOKS[key], settings, table).table("seats")
    column = [c.key for c in made.columns].index("return_at_reset")
    sheet = [row[column] for row in made.rows]
    assert sheet == [pr.return_at_reset(key, settings, table, n) for n in range(1, 7)]


def test_a_second_share_in_one_round_costs_next_to_nothing() -> None:
    """Of 10 % after 10 %: a hundredth of the meter. Of all after 10 %, or 10 % after all: a tenth
    of it, less what the reset value gives back."""
    made = play(MBS3, Settings(jackpot_reset=1_000_000))
    meter = 20_000_000
    cut = 48 * 200_000 + 4 * 2_000_000 + 4 * (2_000_000 - 100_000)
    assert second_award_loss(made, 6, meter) == Fraction(6 * cut, pr.TWO_SEAT_DEALS * 100)


def test_a_snapshot_loses_nothing_to_a_second_share() -> None:
    made = wager(MBS3, Settings(meter_rule="snapshot"), TABLE)
    assert "second_award_loss" not in {f.key for f in made.figures}


def test_credits_have_a_table_only_where_several_may_be_staked() -> None:
    assert "credits" not in {t.key for t in wager(MEGA, Settings(), TABLE).tables}
    rows = wager(MEGA, Settings(), replace(TABLE, max_credits=3)).table("credits").rows
    assert [row[0] for row in rows] == [1, 2, 3]


def test_wrong_constants_would_stop_the_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(pr.FIVE_CARD_COUNTS, Hand.FLUSH, 5_109)
    with pytest.raises(ArithmeticError, match="not what was dealt"):
        progressive_wager(MBS3, Settings(), TABLE)
