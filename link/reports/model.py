"""What a report is before it is text, HTML, CSV or JSON: sections of rows with kinds of columns.

Amounts are whole numbers up to here: ``units`` are millionths of a cent, ``cents`` are cents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

Kind = Literal["text", "count", "cents", "units"]
Value = str | int | None
Line = tuple[Value, ...]

DIFFERENCE: Final = "E-RPT-010"
"""Figures that must be equal and are not."""
UNREADABLE: Final = "E-RPT-006"
"""A table reported a round whose result cannot be read."""
DRIFT: Final = "E-RPT-020"
"""Hits or return are farther from the par sheet than chance explains."""


class ReportError(ValueError):
    """A report that cannot be made: ``text (E-RPT-001)``."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code, self.text = code, text


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    """The same in every report of this kind; ``about`` tells two of one name apart."""
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Line]
    about: tuple[tuple[str, str], ...] = ()
    sums: int = 0
    """So many rows at the end are sums of those above."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    code: str
    text: str


@dataclass(slots=True)
class Report:
    kind: str
    title: str
    facts: list[tuple[str, str]]
    """What it is about, for the head of the page."""
    sections: list[Section] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def differs(self, text: str) -> None:
        self.findings.append(Finding(DIFFERENCE, text))

    def add(self, other: Report) -> None:
        self.sections += other.sections
        self.findings += other.findings


def columns(*stated: str) -> tuple[Column, ...]:
    """``"pool"`` or ``"amount:units"``."""
    found = []
    for text in stated:
        name, _, kind = text.partition(":")
        found.append(Column(name, kind or "text"))  # type: ignore[arg-type]
    return tuple(found)
