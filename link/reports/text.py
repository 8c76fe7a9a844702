"""A report as text for a terminal or a printer: 80 columns where the figures allow it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Final

from link.ledger.units import UNITS
from link.reports.model import Column, Report, Section, Value
from record.kit.money import cents_text

WIDTH: Final = 78


def units_text(units: int, places: int = 0) -> str:
    """Money with so many places below a cent, exactly: the caller knows that no more are used."""
    sign, units = ("-", -units) if units < 0 else ("", units)
    cents, rest = divmod(units, UNITS)
    return f"{sign}{cents_text(cents)}{f'{rest:06}'[:places]}"


def places_of(values: Sequence[Value]) -> int:
    """Places below a cent that a column needs."""
    rests = (f"{abs(v) % UNITS:06}".rstrip("0") for v in values if isinstance(v, int))
    return max((len(rest) for rest in rests), default=0)


def shown(column: Column, values: Sequence[Value]) -> list[str]:
    """A column's cells, alike in their places."""
    places = places_of(values) if column.kind == "units" else 0
    found = []
    for value in values:
        if value is None:
            found.append("")
        elif isinstance(value, str):
            found.append(value)
        elif column.kind == "units":
            found.append(units_text(value, places))
        elif column.kind == "cents":
            found.append(cents_text(value))
        else:
            found.append(f"{value:,}")
    return found


def heading(section: Section) -> str:
    about = "/".join(value for _, value in section.about)
    return f"{section.title}: {about}" if about else section.title


def cells(section: Section) -> list[list[str]]:
    """Row by row."""
    by_column = [
        shown(column, [row[place] for row in section.rows])
        for place, column in enumerate(section.columns)
    ]
    return [list(row) for row in zip(*by_column, strict=True)]


def section_text(section: Section) -> list[str]:
    lines = [heading(section), "-" * WIDTH]
    if not section.rows:
        return [*lines, "none", ""]
    rows = cells(section)
    head = [column.name for column in section.columns]
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    spare = WIDTH - sum(widths) - 2 * (len(widths) - 1)
    if any(column.kind != "text" for column in section.columns):
        widths[0] += max(0, spare)  # figures stand at the right edge
    body = [_line(section, widths, row) for row in [head, *rows]]
    if section.sums:
        body.insert(len(body) - section.sums, "-" * WIDTH)
    lines += body
    if section.note:
        lines += ["", *wrap(section.note, WIDTH)]
    return [*lines, ""]


def _line(section: Section, widths: Sequence[int], row: Sequence[str]) -> str:
    made = (
        cell.ljust(width) if column.kind == "text" else cell.rjust(width)
        for column, width, cell in zip(section.columns, widths, row, strict=True)
    )
    return "  ".join(made).rstrip()


def report_text(report: Report) -> str:
    lines = [report.title.upper(), "=" * WIDTH]
    lines += [f"{name:18}{value}" for name, value in report.facts]
    lines.append("")
    for section in report.sections:
        lines += section_text(section)
    lines += findings_text(report)
    return "\n".join(lines)


def findings_text(report: Report) -> list[str]:
    if not report.findings:
        return ["Everything agrees."]
    return [f"{finding.code}  {finding.text}" for finding in report.findings]
