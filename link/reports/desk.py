"""Everything that a report is made from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from link.reports.days import GamingDays
from link.reports.past import Past
from link.reports.source import Mark, Period, Source, period_of


@dataclass(frozen=True, slots=True)
class Desk:
    source: Source
    mark: Mark
    past: Past
    period: Period

    @classmethod
    def of(cls, source: Source, days: GamingDays, first: date, last: date) -> Desk:
        mark = source.mark()
        return cls(source, mark, Past(source, mark), period_of(source, mark, days, first, last))

    def facts(self) -> list[tuple[str, str]]:
        """For the head of every report."""
        facts = self.period.facts(self.source.place)
        if self.past.unproved:
            said = f"accounts were made without proof: {self.past.unproved}"
            facts.insert(0, ("ALARM", f"{said}; two people acknowledge it (E-ACT-011)"))
        return facts
