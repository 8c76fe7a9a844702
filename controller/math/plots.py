"""Plots for a terminal, in plain characters. Floats are for drawing only: no figure is read off."""

from __future__ import annotations

from math import log10
from typing import Final

from controller.math.exact import decimal_text
from controller.math.sheet import Bars, MeterPlot, Plot
from record.kit.money import cents_text

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
