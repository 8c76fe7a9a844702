"""What a par sheet is made of, and its JSON form.

A sheet holds exact values only: ``Fraction`` for a figure, ``int`` for a count or for cents. How a
value is shown is its ``Kind``; nothing here rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from math import ceil
from typing import Final

from controller.math.exact import fraction_text
from controller.rules.hands import HAND_NAMES
from controller.rules.progressive_return import ReturnLine

SCHEMA: Final = "underfelt.par/1"

Value = Fraction | int | str | None


class Kind(Enum):
    """How a terminal shows a value."""

    TEXT = "text"
    COUNT = "count"
    PERCENT = "percent"
    NUMBER = "number"
    FINE = "number to eight places"
    CENTS = "cents"


@dataclass(frozen=True, slots=True)
class Figure:
    key: str
    label: str
    value: Value
    kind: Kind
    none: str = "-"
    """What a terminal writes for a value of None."""


@dataclass(frozen=True, slots=True)
class Column:
    key: str
    heading: str
    kind: Kind
    shown: bool = True
    """False: for machines only, where a terminal has a rounded neighbour of it."""


@dataclass(frozen=True, slots=True)
class Table:
    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    none: str = "-"
    """What a terminal writes for a value of None."""


@dataclass(frozen=True, slots=True)
class Bars:
    """A plot of how often each class comes, on a scale of "one in ..."."""

    title: str
    chances: tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, slots=True)
class MeterPlot:
    """A plot of return against the meter, one line for each of the ``lines``."""

    title: str
    lines: tuple[tuple[str, ReturnLine], ...]
    marks: tuple[tuple[str, int], ...]
    """Meters worth a mark, in cents: the reset value, the jackpot."""

    @property
    def reach_cents(self) -> int:
        """The meter at the right edge: past every mark and every break-even."""
        reach = [Fraction(meter) for _, meter in self.marks]
        reach += [line.break_even_cents or Fraction(0) for _, line in self.lines]
        furthest = max(reach) or Fraction(10_000_000)
        return ceil(furthest * Fraction(5, 4))


Plot = Bars | MeterPlot


@dataclass(frozen=True, slots=True)
class Wager:
    """One wager against the house, or several that are played as one."""

    key: str
    title: str
    clause: str
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    plots: tuple[Plot, ...] = ()

    def __getitem__(self, key: str) -> Value:
        return next(f.value for f in self.figures if f.key == key)

    def table(self, key: str) -> Table:
        return next(t for t in self.tables if t.key == key)


@dataclass(frozen=True, slots=True)
class ParSheet:
    game: str
    title: str
    settings: Mapping[str, object]
    wagers: tuple[Wager, ...]
    tables: tuple[Table, ...] = ()
    """What belongs to the game and to no wager."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Wagers without a par sheet, each with the reason."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def wager(self, key: str) -> Wager:
        return next(w for w in self.wagers if w.key == key)

    def table(self, key: str) -> Table:
        return next(t for t in self.tables if t.key == key)


def as_json(sheet: ParSheet) -> dict[str, object]:
    """The sheet for machines: fractions ``"a/b"`` in lowest terms, counts and cents as numbers."""
    return {
        "schema": SCHEMA,
        "game": sheet.game,
        "title": sheet.title,
        "settings": {name: setting_json(value) for name, value in sheet.settings.items()},
        "warnings": list(sheet.warnings),
        "wagers": {wager.key: _wager_json(wager) for wager in sheet.wagers},
        "tables": _tables_json(sheet.tables),
        "left_out": dict(sheet.left_out),
        "notes": list(sheet.notes),
    }


def _wager_json(wager: Wager) -> dict[str, object]:
    return {
        "title": wager.title,
        "clause": wager.clause,
        "figures": {f.key: _value_json(f.value) for f in wager.figures},
        "tables": _tables_json(wager.tables),
        "notes": list(wager.notes),
    }


def _tables_json(tables: tuple[Table, ...]) -> dict[str, object]:
    return {
        table.key: [
            {c.key: _value_json(v) for c, v in zip(table.columns, row, strict=True)}
            for row in table.rows
        ]
        for table in tables
    }


def _value_json(value: Value) -> str | int | None:
    return fraction_text(value) if isinstance(value, Fraction) else value


def setting_json(value: object) -> object:
    """A setting as its configuration file writes it."""
    if isinstance(value, Fraction):
        return fraction_text(value)
    if isinstance(value, Mapping):
        return {HAND_NAMES[k] if isinstance(k, int) else k: v for k, v in value.items()}
    return value
