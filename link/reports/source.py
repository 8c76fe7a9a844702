"""Where the rows of a report come from, and the part of them that a report is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Protocol

from link.reports.days import GamingDays
from link.rows import AlarmRow, AwardRow, AwardStep, BalanceRow, Entry, EventRow, LevelRow

LARGEST_GROUP: Final = 20_000
"""More events are never in one group, orders of the server among them."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How it stands after ``last_event``."""

    last_event: int
    balances: tuple[BalanceRow, ...]
    levels: tuple[LevelRow, ...]
    awards: tuple[AwardRow, ...]


class Source(Protocol):
    """Rows in order. What came after the mark is not given."""

    @property
    def place(self) -> str: ...

    def mark(self) -> Mark: ...

    def events(
        self, after: int = 0, *, from_ms: int = 0, journal: str | None = None
    ) -> Iterator[EventRow]: ...

    def entries(self, pool: str | None = None) -> Iterator[Entry]: ...

    def steps(self) -> Iterator[AwardStep]: ...

    def alarms(self, from_ms: int, to_ms: int) -> Iterator[AlarmRow]: ...


@dataclass(frozen=True, slots=True)
class Period:
    """Gaming days, inclusive, as the events of record that lie in them.

    An event belongs to the day in which the server received it. Contributions of one group are one
    entry, so that a day ends with the group that was being written: everything then adds up.
    """

    days: GamingDays
    first_day: date
    last_day: date
    after: int
    last: int
    """Events ``after`` < id <= ``last``."""

    def __contains__(self, event: int) -> bool:
        return self.after < event <= self.last

    @property
    def from_ms(self) -> int:
        return self.days.begins_ms(self.first_day)

    @property
    def to_ms(self) -> int:
        return self.days.begins_ms(self.last_day + timedelta(days=1))

    @property
    def name(self) -> str:
        if self.first_day == self.last_day:
            return self.first_day.isoformat()
        return f"{self.first_day} to {self.last_day}"

    def facts(self, place: str) -> list[tuple[str, str]]:
        many = max(0, self.last - self.after)
        listed = f"{self.after + 1} to {self.last}" if many else "none"
        return [
            ("Gaming days", self.name),
            ("Time zone", self.days.name),
            ("Events of record", listed),
            ("Read from", place),
        ]


def period_of(source: Source, mark: Mark, days: GamingDays, first: date, last: date) -> Period:
    cuts = [
        _cut(source, mark.last_event, days.begins_ms(first)),
        _cut(source, mark.last_event, days.begins_ms(last + timedelta(days=1))),
    ]
    after, until = _between_groups(source, cuts)
    return Period(days, first, last, after, until)


def _cut(source: Source, last_event: int, at_ms: int) -> int:
    """The last event before this time came for the first time."""
    found = next(source.events(from_ms=max(0, at_ms)), None)
    return last_event if found is None else found.id - 1


def _between_groups(source: Source, cuts: list[int]) -> list[int]:
    """Moved up to where no entry sums up events of both sides."""
    near: list[list[Entry]] = [[] for _ in cuts]
    for entry in source.entries():
        for place, cut in enumerate(cuts):
            if entry.through > cut and entry.first <= cut + LARGEST_GROUP:
                near[place].append(entry)
    moved = []
    for cut, entries in zip(cuts, near, strict=True):
        while across := [e.through for e in entries if e.first <= cut < e.through]:
            cut = max(across)
        moved.append(cut)
    return moved
