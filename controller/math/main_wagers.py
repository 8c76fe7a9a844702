"""The par sheet of Let It Ride's three main wagers, alone and together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from controller.math.capped import capped, stakes
from controller.math.exact import Distribution
from controller.math.ride import ROUNDS, Ride, optimal
from controller.math.sheet import Column, Figure, Kind, Table, Wager
from controller.math.strategy import strategy_tables
from controller.math.wagers import LOSES, TAKEN_BACK, Outcome, odds_wager, to_one
from controller.rules.book import Book
from controller.rules.paytables import MainHand, Odds, PayTable
from controller.rules.settings import Settings, TableSettings

NAMES: Final = tuple(
    {MainHand.LESS: "less", MainHand.TENS_OR_BETTER: "pair, tens or better"}.get(
        hand, hand.name.lower().replace("_", " ")
    )
    for hand in MainHand
)

ROUNDS_PER_HAND: Final = 20
"""Ten ways to say which three of five cards are a seat's own, and two orders of the others."""

CIRCLES: Final = (("$",), ("2", "$"), ("1", "$"), ("1", "2", "$"))


def _plays(ride: Ride) -> Iterator[tuple[int, int, MainHand, int]]:
    """(spot 1 rides, spot 2 rides, hand, rounds) over all rounds."""
    for one, by_two in enumerate(ride.joint):
        for two, by_hand in enumerate(by_two):
            for hand in MainHand:
                yield one, two, hand, by_hand[hand]


def _together(ride: Ride, table: PayTable, circles: Sequence[str]) -> tuple[Distribution, Fraction]:
    """The result of the wagers in ``circles``, each of one unit, and how much is left up."""
    results = []
    left_up = 0
    for one, two, hand, rounds in _plays(ride):
        live = 1 + one * ("1" in circles) + two * ("2" in circles)
        results.append((live * to_one(table, hand), rounds))
        left_up += live * rounds
    return Distribution.of(results, ROUNDS), Fraction(left_up, ROUNDS)


def _whole(ride: Ride, table: PayTable, extra: tuple[Table, ...]) -> Wager:
    result, left_up = _together(ride, table, ("1", "2", "$"))
    even = int((ride.values_of_four == 0).sum())
    edge = -result.mean
    figures = (
        Figure("combinations", "rounds of a seat", ROUNDS, Kind.COUNT),
        Figure("house_edge", "house edge, of one wager", edge, Kind.PERCENT),
        Figure("average_wager", "average left up, wagers", left_up, Kind.NUMBER),
        Figure("element_of_risk", "element of risk", edge / left_up, Kind.PERCENT),
        Figure("return", "return of what is left up", 1 - edge / left_up, Kind.PERCENT),
        Figure("hit_frequency", "hit frequency", result.hit_frequency, Kind.PERCENT),
        Figure("variance", "variance, of one wager", result.variance, Kind.NUMBER),
        Figure(
            "average_wager_if_even_rides",
            "average if even hands ride",
            left_up + Fraction(even, len(ride.fours)),
            Kind.NUMBER,
        ),
    )
    tables = (_left_up_table(ride), *strategy_tables(ride), *extra)
    note = (
        "Wagers 1, 2 and $ are one unit each, played by the optimal strategy below; a spot of no "
        "value either way is taken back. Figures are per unit of one wager."
    )
    return Wager("main", "1, 2 and $ together", table.clause, figures, tables, (note,))


def _left_up_table(ride: Ride) -> Table:
    """Rounds by hand and by how many of the three wagers are left up."""
    rounds = [[0, 0, 0, 0] for _ in MainHand]
    for one, two, hand, count in _plays(ride):
        rounds[hand][1 + one + two] += count
    columns = (
        Column("hand", "hand", Kind.TEXT),
        Column("one", "one left up", Kind.COUNT),
        Column("two", "two", Kind.COUNT),
        Column("three", "three", Kind.COUNT),
    )
    rows = []
    for hand in reversed(MainHand):
        _, one_left, two_left, three_left = rounds[hand]
        rows.append((NAMES[hand], one_left, two_left, three_left))
    return Table("left_up", "rounds by wagers left up", columns, tuple(rows))


def _spot(ride: Ride, table: PayTable, spot: str) -> Wager:
    """Spot 1 or 2 by itself: it rides or is taken back."""
    riding = [0] * len(MainHand)
    back = 0
    for one, two, hand, rounds in _plays(ride):
        if one if spot == "1" else two:
            riding[hand] += rounds
        else:
            back += rounds
    rows = [
        Outcome(NAMES[hand], riding[hand], to_one(table, hand), _pays(table, hand))
        for hand in reversed(MainHand)
    ]
    rows.append(Outcome(TAKEN_BACK, back, 0, "stake back"))
    rides = Fraction(ROUNDS - back, ROUNDS)
    value = Fraction(sum(row.win * row.combinations for row in rows), ROUNDS)
    extra = (
        Figure("rides", "left to ride", rides, Kind.PERCENT),
        Figure("return_when_riding", "return when riding", 1 + value / rides, Kind.PERCENT),
    )
    note = (
        "It rides only where it is worth more than nothing, so its own edge is the player's: the "
        "$ wager pays for it."
    )
    return odds_wager(spot, f"wager {spot}", table.clause, rows, extra=extra, notes=(note,))


def _pays(table: PayTable, hand: MainHand) -> str:
    pay = table.pay(hand)
    return LOSES if pay is None else pay.text


def _dollar(ride: Ride, table: PayTable) -> Wager:
    counts = [0] * len(MainHand)
    for _, _, hand, rounds in _plays(ride):
        counts[hand] += rounds
    rows = [
        Outcome(
            NAMES[hand], counts[hand] // ROUNDS_PER_HAND, to_one(table, hand), _pays(table, hand)
        )
        for hand in reversed(MainHand)
    ]
    return odds_wager("$", "wager $", table.clause, rows)


def _circles_table(ride: Ride, table: PayTable) -> Table:
    """Which circles a player uses, where 1 and 2 may stay empty."""
    rows = []
    for circles in CIRCLES:
        result, left_up = _together(ride, table, circles)
        edge = -result.mean
        rows.append((" ".join(circles), edge, left_up, edge / left_up, result.variance))
    columns = (
        Column("circles", "circles", Kind.TEXT),
        Column("house_edge", "house edge", Kind.PERCENT),
        Column("average_wager", "left up", Kind.NUMBER),
        Column("element_of_risk", "el. of risk", Kind.PERCENT),
        Column("variance", "variance", Kind.NUMBER),
    )
    return Table("circles", "by circles played", columns, tuple(rows))


def _cap_table(table: PayTable, settings: Settings) -> Table:
    """The least stake on one spot at which the posted maximum payout cuts a win (NSW-10.2)."""
    live = (1, 2, 3) if settings.max_payout_scope == "per_hand" else (1,)
    most = settings.max_wager
    if most is not None and settings.limit_scope == "per_area":
        most //= 3
    rows = []
    for hand in reversed(MainHand):
        pay = table.pay(hand)
        if isinstance(pay, Odds) and pay.to_one and settings.max_payout is not None:
            stakes = (settings.max_payout // (pay.to_one * n) + 1 for n in live)
            bites = tuple(None if most is not None and s > most else s for s in stakes)
            rows.append((NAMES[hand], *bites))
    headings = ("one left up", "two", "three") if len(live) > 1 else ("each wager",)
    columns = [Column("hand", "hand", Kind.TEXT)]
    columns += [Column(f"live_{n}", h, Kind.CENTS) for n, h in zip(live, headings, strict=True)]
    title = "least stake per spot that the maximum payout cuts"
    return Table("max_payout", title, tuple(columns), tuple(rows), none="never")


def _capped_table(table: PayTable, settings: Settings) -> Table:
    """What the maximum payout leaves of the three wagers, stake by stake, played optimally."""
    rows = []
    for stake in stakes(table, settings):
        found = capped(table, settings, stake)
        back = 1 - found.element_of_risk
        rows.append((stake, found.house_edge, found.left_up, found.element_of_risk, back))
    columns = (
        Column("stake", "stake a spot", Kind.CENTS),
        Column("house_edge", "house edge", Kind.PERCENT),
        Column("average_wager", "left up", Kind.NUMBER),
        Column("element_of_risk", "el. of risk", Kind.PERCENT),
        Column("return", "return", Kind.PERCENT),
    )
    return Table("capped", "under the maximum payout, by stake", columns, tuple(rows))


def main_wagers(book: Book, settings: Settings, table: TableSettings) -> tuple[Wager, ...]:
    """All three together, then each alone; nothing for a book without them."""
    if book.main is None:
        return ()
    ride = optimal(book.main)
    extra: tuple[Table, ...] = ()
    if book.circles_optional and table.circles_optional:
        extra += (_circles_table(ride, book.main),)
    if book.posted_limits and settings.max_payout is not None:
        extra += (_cap_table(book.main, settings), _capped_table(book.main, settings))
    whole = _whole(ride, book.main, extra)
    return (
        whole,
        _dollar(ride, book.main),
        _spot(ride, book.main, "2"),
        _spot(ride, book.main, "1"),
    )
