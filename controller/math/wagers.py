"""Wagers that pay fixed odds by the class of a hand: Pair Plus, 6 Card Bonus, HedgeBet, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from controller.math.exact import Distribution
from controller.math.sheet import Bars, Column, Figure, Kind, Table, Wager
from controller.rules.paytables import Odds, PayTable

CLASS_COLUMNS: Final = (
    Column("hand", "hand", Kind.TEXT),
    Column("combinations", "deals", Kind.COUNT),
    Column("probability", "probability", Kind.PERCENT),
    Column("pays", "pays", Kind.TEXT),
    Column("to_return", "to return", Kind.PERCENT),
)

LOSES: Final = "loses"
TAKEN_BACK: Final = "taken back"


def to_one(table: PayTable, hand: int) -> int:
    """What one unit wins (or -1) in a table that pays nothing but odds."""
    pay = table.pay(hand)
    if pay is None:
        return -1
    if not isinstance(pay, Odds):
        raise TypeError(f"{table.name} pays {pay.text}, which has no value without a meter")
    return pay.to_one


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row of a wager: what it is called, how often it comes, what one unit wins."""

    name: str
    combinations: int
    win: int
    pays: str


def outcomes(table: PayTable, names: Sequence[str], counts: Sequence[int]) -> tuple[Outcome, ...]:
    """Every class of hand that ``table`` may pay, best first."""
    rows = []
    for hand in reversed(range(len(names))):
        win = to_one(table, hand)
        pays = LOSES if win < 0 else f"{win} to 1"
        rows.append(Outcome(names[hand], counts[hand], win, pays))
    return tuple(rows)


def distribution(rows: Sequence[Outcome]) -> Distribution:
    total = sum(row.combinations for row in rows)
    return Distribution.of(((row.win, row.combinations) for row in rows), total)


def class_table(rows: Sequence[Outcome], title: str = "hands") -> Table:
    total = sum(row.combinations for row in rows)
    return Table(
        "classes",
        title,
        CLASS_COLUMNS,
        tuple(
            (
                row.name,
                row.combinations,
                Fraction(row.combinations, total),
                row.pays,
                Fraction(row.combinations * (1 + row.win), total),
            )
            for row in rows
        ),
    )


def odds_figures(rows: Sequence[Outcome]) -> tuple[Figure, ...]:
    """The four figures of every wager, per unit staked."""
    result = distribution(rows)
    return (
        Figure("combinations", "combinations", sum(r.combinations for r in rows), Kind.COUNT),
        Figure("return", "return", 1 + result.mean, Kind.PERCENT),
        Figure("house_edge", "house edge", -result.mean, Kind.PERCENT),
        Figure("hit_frequency", "hit frequency", result.hit_frequency, Kind.PERCENT),
        Figure("variance", "variance", result.variance, Kind.NUMBER),
    )


def bars(rows: Sequence[Outcome], title: str) -> Bars:
    total = sum(row.combinations for row in rows)
    return Bars(title, tuple((row.name, Fraction(row.combinations, total)) for row in rows))


def odds_wager(
    key: str,
    title: str,
    clause: str,
    rows: Sequence[Outcome],
    *,
    extra: Sequence[Figure] = (),
    notes: tuple[str, ...] = (),
) -> Wager:
    return Wager(
        key,
        title,
        clause,
        (*odds_figures(rows), *extra),
        (class_table(rows),),
        notes,
        (bars(rows, f"{title}: one in ..."),),
    )
