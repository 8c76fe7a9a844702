"""A par sheet's plots as one SVG file, written by hand: no library, no script, no outside font.

Floats are for drawing only: no figure is read from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import floor, log10
from typing import Final
from xml.sax.saxutils import escape

from controller.math.exact import decimal_text, percent_text
from controller.math.sheet import Bars, MeterPlot, ParSheet, Plot
from record.kit.money import cents_text

WIDTH: Final = 760
MARGIN: Final = 24
TITLE: Final = 56
BAR: Final = 22
LABEL: Final = 170
VALUE: Final = 120
METER_HEIGHT: Final = 300
AXIS_LEFT: Final = 76
AXIS_RIGHT: Final = 84
INK, FAINT, LINE = "#1c2733", "#66727e", "#d5dbe1"
HUES: Final = ("#1b6ca8", "#c2571a", "#3d7d3f")
ALARM: Final = "#b3261e"


def svg(sheet: ParSheet) -> str:
    """Every plot of the sheet, one below the other."""
    plots = [plot for wager in sheet.wagers for plot in wager.plots]
    parts = []
    top = TITLE
    for plot in plots:
        height = _height(plot)
        drawn = _bars(plot) if isinstance(plot, Bars) else _meter(plot)
        parts.append(f'<g transform="translate({MARGIN} {top})">' + "".join(drawn) + "</g>")
        top += height
    title = f"{sheet.title}: par sheet of {sheet.game}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" '
        f'height="{top}" role="img" font-family="system-ui, sans-serif" font-size="13" '
        f'fill="{INK}"><title>{escape(title)}</title><desc>{escape(_words(plots))}</desc>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<text x="{MARGIN}" y="34" font-size="18" font-weight="600">{escape(title)}</text>'
    )
    return head + "\n" + "\n".join(parts) + "\n</svg>\n"


def _words(plots: list[Plot]) -> str:
    """What the picture says, for those who do not see it."""
    said = []
    for plot in plots:
        if isinstance(plot, Bars):
            each = (f"{name} {percent_text(chance)}" for name, chance in plot.chances)
            said.append(f"{plot.title} {', '.join(each)}.")
        else:
            for name, line in plot.lines:
                even = line.break_even_cents
                at = "over 100 % at any meter"
                if even is not None:
                    at = f"100 % at {cents_text(floor(even))}"
                said.append(f"{plot.title}, {name}: {percent_text(line.at(0))} at 0, {at}.")
    return " ".join(said)


def _height(plot: Plot) -> int:
    return 44 + BAR * len(plot.chances) + 20 if isinstance(plot, Bars) else METER_HEIGHT + 90


def _text(x: float, y: float, text: str, *, anchor: str = "start", fill: str = INK) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{escape(text)}</text>'
    )


def _heading(text: str) -> str:
    return f'<text x="0" y="18" font-weight="600">{escape(text)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float, stroke: str, *, style: str = "") -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" {style}/>'
    )


def _bars(plot: Bars) -> Iterator[str]:
    """How often each class comes; the scale is logarithmic and ends at "always"."""
    yield _heading(plot.title)
    reach = WIDTH - 2 * MARGIN - LABEL - VALUE
    rarest = max((log10(1 / chance) for _, chance in plot.chances if chance), default=1.0) + 0.5
    decades = range(floor(rarest) + 1)
    bottom = 36 + BAR * len(plot.chances)
    for decade in decades:
        x = LABEL + reach * (1 - decade / rarest)
        yield _rule(x, 30, x, bottom, LINE)
        yield _text(x, bottom + 15, f"{10**decade:,}", anchor="middle", fill=FAINT)
    for i, (name, chance) in enumerate(plot.chances):
        y = 34 + BAR * i
        yield _text(LABEL - 8, y + 14, name, anchor="end")
        if chance:
            length = reach * (1 - log10(1 / chance) / rarest)
            yield (
                f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR - 6}" rx="2" '
                f'fill="{HUES[0]}"/>'
            )
            one_in = decimal_text(1 / chance, 1)
            yield _text(LABEL + reach + VALUE, y + 14, f"1 in {one_in}", anchor="end")


def _meter(plot: MeterPlot) -> Iterator[str]:
    """Return against the meter, the 100 % line in the colour of an alarm."""
    yield _heading(plot.title)
    reach = plot.reach_cents
    ends = [float(line.at(meter)) for _, line in plot.lines for meter in (0, reach)]
    low, high = 0.0, max([1.0, *ends]) * 1.05
    right, bottom = WIDTH - 2 * MARGIN - AXIS_RIGHT, METER_HEIGHT + 30.0

    def x(meter: float) -> float:
        return AXIS_LEFT + (right - AXIS_LEFT) * meter / reach

    def y(value: float) -> float:
        return bottom - METER_HEIGHT * (value - low) / (high - low)

    for value in _ticks(high):
        yield _rule(AXIS_LEFT, y(value), right, y(value), LINE)
        if abs(y(value) - y(1)) > 14:
            label = f"{100 * value:.0f} %"
            yield _text(AXIS_LEFT - 8, y(value) + 4, label, anchor="end", fill=FAINT)
    yield _rule(
        AXIS_LEFT, y(1), right, y(1), ALARM, style='stroke-width="1.5" stroke-dasharray="6 4"'
    )
    yield _text(AXIS_LEFT - 8, y(1) + 4, "100 %", anchor="end", fill=ALARM)
    for name, meter in plot.marks:
        yield _rule(x(meter), 30, x(meter), bottom, FAINT, style='stroke-dasharray="2 3"')
        left = meter * 2 > reach
        label, anchor = f"{name} {cents_text(meter)}", "end" if left else "start"
        yield _text(x(meter) + (-5 if left else 5), bottom - 8, label, anchor=anchor, fill=FAINT)
    labels = _apart([y(float(line.at(reach))) + 4 for _, line in plot.lines])
    for i, (name, line) in enumerate(plot.lines):
        hue = HUES[i % len(HUES)]
        start, end = y(float(line.at(0))), y(float(line.at(reach)))
        yield _rule(AXIS_LEFT, start, right, end, hue, style='stroke-width="2.5"')
        yield _text(right + 6, labels[i], name, fill=hue)
    yield _rule(AXIS_LEFT, bottom, right, bottom, INK)
    yield _text(AXIS_LEFT, bottom + 18, "0", anchor="middle", fill=FAINT)
    yield _text(right, bottom + 18, cents_text(reach), anchor="end", fill=FAINT)
    yield _text((AXIS_LEFT + right) / 2, bottom + 34, "meter", anchor="middle", fill=FAINT)


def _ticks(high: float) -> list[float]:
    """Round values below ``high``, at most ten of them."""
    step = next(s for s in (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 50.0, 1e9) if high / s <= 10)
    return [step * i for i in range(floor(high / step) + 1)]


def _apart(places: list[float]) -> list[float]:
    """Labels of lines that end close together, moved so that they do not overlap."""
    order = sorted(range(len(places)), key=places.__getitem__)
    moved = list(places)
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + 15)
    return moved
