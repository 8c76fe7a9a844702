"""A par sheet for people: at most 80 columns, rounded for reading, the exact fraction beside it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import log10
from textwrap import wrap
from typing import Final

from controller.math.exact import decimal_text, fraction_text, percent_text
from controller.math.sheet import (
    Bars,
    Column,
    Figure,
    Kind,
    MeterPlot,
    ParSheet,
    Plot,
    Table,
    Value,
    Wager,
    setting_json,
)
from record.kit.money import cents_text
from record.kit.words import shown

WIDTH: Final = 80
LABEL: Final = 30
SHOWN: Final = 16


def show(value: Value, kind: Kind, none: str = "-") -> str:
    if value is None:
        return none
    if isinstance(value, str):
        return value
    if kind is Kind.PERCENT:
        return percent_text(value)
    if kind is Kind.NUMBER:
        return decimal_text(value, 4)
    if kind is Kind.FINE:
        return decimal_text(value, 8)
    if isinstance(value, Fraction):
        return fraction_text(value)
    return cents_text(value) if kind is Kind.CENTS else f"{value:,}"


def render(sheet: ParSheet) -> str:
    return "\n".join(line.rstrip() for line in _sheet(sheet)) + "\n"


def _sheet(sheet: ParSheet) -> Iterator[str]:
    yield f"{sheet.title}: par sheet of {sheet.game}"
    yield "=" * WIDTH
    yield from _settings(sheet)
    for warning in sheet.warnings:
        yield ""
        yield from _loud(warning)
    for wager in sheet.wagers:
        yield from _wager(wager)
    for table in sheet.tables:
        yield ""
        yield from _table(table)
    for name, reason in sheet.left_out.items():
        yield ""
        yield from _paragraph(f"Left out: {name}. No par sheet: {reason}.")
    for note in sheet.notes:
        yield ""
        yield from _paragraph(note)


def _settings(sheet: ParSheet) -> Iterator[str]:
    parts = []
    for name, value in sheet.settings.items():
        text = "not set" if value is None else "= " + shown(setting_json(value))
        parts.append(f"{name} {text}".replace(" ", "\0"))
    for line in wrap("; ".join(parts), WIDTH, break_long_words=False):
        yield line.replace("\0", " ")


def _loud(warning: str) -> Iterator[str]:
    yield "!" * WIDTH
    for line in wrap("WARNING: " + warning, WIDTH - 8):
        yield f"!!  {line:{WIDTH - 8}}  !!"
    yield "!" * WIDTH


def _paragraph(text: str) -> list[str]:
    return wrap(text, WIDTH)


def _wager(wager: Wager) -> Iterator[str]:
    yield ""
    yield f"{wager.title} ({wager.clause})"
    yield "-" * WIDTH
    for figure in wager.figures:
        yield from _figure(figure)
    for note in wager.notes:
        yield from _paragraph(note)
    for table in wager.tables:
        yield ""
        yield from _table(table)
    for plot in wager.plots:
        yield ""
        yield from draw(plot)


def _figure(figure: Figure) -> Iterator[str]:
    """Label, rounded value, and the exact fraction where the line has room for it."""
    text = show(figure.value, figure.kind, none=figure.none)
    line = f"  {figure.label:{LABEL}} {text:>{SHOWN}}"
    if isinstance(figure.value, Fraction) and figure.kind is not Kind.TEXT:
        exact = fraction_text(figure.value)
        if len(line) + 3 + len(exact) <= WIDTH:
            line += f"   {exact}"
    yield line


def _table(table: Table) -> Iterator[str]:
    """Text to the left, numbers to the right, columns as wide as they need."""
    places = [i for i, column in enumerate(table.columns) if column.shown]
    columns = [table.columns[i] for i in places]
    cells = [
        [show(row[i], table.columns[i].kind, table.none) for i in places] for row in table.rows
    ]
    widths = [
        max(len(column.heading), *(len(row[i]) for row in cells)) if cells else len(column.heading)
        for i, column in enumerate(columns)
    ]
    gutter = "  " if sum(widths) + 2 * len(widths) <= WIDTH else " "
    yield f"{table.title}"
    yield "  " + gutter.join(_cells([column.heading for column in columns], columns, widths))
    for row in cells:
        yield "  " + gutter.join(_cells(row, columns, widths))


def _cells(cells: list[str], columns: list[Column], widths: list[int]) -> list[str]:
    parts = []
    for place, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
        left = column.kind is Kind.TEXT and place == 0
        parts.append(f"{cell:{width}}" if left else f"{cell:>{width}}")
    return parts


# --- plots --------------------------------------------------------------------------------------


BAR_COLUMNS: Final = 38
METER_COLUMNS: Final = 64
METER_ROWS: Final = 13


def draw(plot: Plot) -> list[str]:
    return _bars(plot) if isinstance(plot, Bars) else _meter(plot)


def _bars(plot: Bars) -> list[str]:
    """One bar a class, on a logarithmic scale: a linear one would show three of ten classes."""
    seen = [(name, chance) for name, chance in plot.chances if chance]
    if not seen:
        return []
    rarest = max(log10(1 / chance) for _, chance in seen) or 1.0
    lines = [plot.title]
    for name, chance in seen:
        filled = 1 + round((BAR_COLUMNS - 1) * (1 - log10(1 / chance) / rarest))
        one_in = decimal_text(1 / chance, 1)
        lines.append(f"  {name:22} {'#' * filled:{BAR_COLUMNS}} {one_in:>12}")
    return lines


def _meter(plot: MeterPlot) -> list[str]:
    """Return against the meter; each line is drawn with the first sign of its name."""
    reach = plot.reach_cents
    ends = [1.0] + [float(line.at(meter)) for _, line in plot.lines for meter in (0, reach)]
    low, high = min(ends), max(ends)
    step = (high - low) / (METER_ROWS - 1)

    def row(value: float) -> int:
        return METER_ROWS - 1 - round((value - low) / step)

    grid = [[" "] * METER_COLUMNS for _ in range(METER_ROWS)]
    grid[row(1.0)] = ["-"] * METER_COLUMNS
    for name, line in plot.lines:
        for column in range(METER_COLUMNS):
            meter = reach * column // (METER_COLUMNS - 1)
            grid[row(float(line.at(meter)))][column] = name[0]
    lines = [f"{plot.title}: " + ", ".join(f"{n[0]} = {n}" for n, _ in plot.lines)]
    for i, cells in enumerate(grid):
        value = high - i * step
        label = "100.0 %" if i == row(1.0) else f"{100 * value:.1f} %"
        lines.append(f"  {label:>9} |{''.join(cells).rstrip()}")
    lines.append(" " * 12 + "+" + _axis(plot, reach))
    lines.append(" " * 12 + f"0{cents_text(reach):>{METER_COLUMNS}}")
    for name, meter in plot.marks:
        lines.append(" " * 13 + f"{name[0].upper()} = {name}, {cents_text(meter)}")
    return lines


def _axis(plot: MeterPlot, reach: int) -> str:
    axis = ["-"] * METER_COLUMNS
    for name, meter in plot.marks:
        axis[meter * (METER_COLUMNS - 1) // reach] = name[0].upper()
    return "".join(axis)
