"""Rows for reports: through the server that runs, or from its store while nobody runs it.

A SQLite store has one owner. While a server runs, its control socket is the only way; when none
does, the report is the owner for as long as it reads, and changes nothing. A backup is read as the
file it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from link.commands.io import asked, listed
from link.config import LinkConfig
from link.reports.source import Mark, Source
from link.rows import AlarmRow, AwardRow, AwardStep, Entry, EventRow
from link.server.replies import AlarmsPage, AwardsReply, EntriesPage, EventsPage, MarkReply
from link.store import open_store
from link.store.base import Store
from link.store.contract import INT64_MAX, Span
from record.kit.verbs import Stop

LONG_S: Final = 60.0
P = TypeVar("P", EventsPage, EntriesPage, AlarmsPage)


class StoreSource:
    """A store that this process has open."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._mark: Mark | None = None

    @property
    def place(self) -> str:
        return self._store.place

    def mark(self) -> Mark:
        if self._mark is None:
            standing = self._store.standing()
            self._mark = Mark(
                standing.last_event,
                tuple(standing.balances),
                tuple(standing.levels),
                tuple(self._store.awards()),
            )
        return self._mark

    def events(
        self, after: int = 0, *, from_ms: int = 0, journal: str | None = None
    ) -> Iterator[EventRow]:
        last = self.mark().last_event
        for row in self._store.events(Span(from_ms), journal=journal, after=after):
            if row.id > last:
                return
            yield row

    def entries(self, pool: str | None = None) -> Iterator[Entry]:
        last = self.mark().last_event
        for row in self._store.entries(pool=pool):
            if row.through > last:
                return
            yield row

    def steps(self) -> Iterator[AwardStep]:
        last = self.mark().last_event
        return (row for row in self._store.steps() if row.event <= last)

    def alarms(self, from_ms: int, to_ms: int) -> Iterator[AlarmRow]:
        return self._store.alarms(Span(from_ms, to_ms))


class ControlSource:
    """The server that runs."""

    def __init__(self, control: Path) -> None:
        self._control = control
        found = asked(control, {"verb": "rows", "kind": "mark"}, MarkReply)
        self._steps: list[AwardStep] = []
        self._mark = Mark(
            found.last_event,
            tuple(found.balances),
            tuple(level.row() for level in found.levels),
            tuple(self._awards(found.last_event, found.open_awards)),
        )

    def _awards(self, last_event: int, still_open: list[AwardRow]) -> list[AwardRow]:
        """As they were at the mark: the open ones came with it, no other changes any more."""
        as_of = {award.award: award for award in still_open}
        awards = list[AwardRow]()
        for page in listed(self._control, "awards", AwardsReply, LONG_S):
            known = (as_of.get(award.award, award) for award in page.awards)
            awards += [award for award in known if award.event <= last_event]
            self._steps += [step for step in page.steps if step.event <= last_event]
        self._steps.sort(key=lambda step: (step.event, step.award, step.step))
        return awards[::-1]

    @property
    def place(self) -> str:
        return "the running server"

    def mark(self) -> Mark:
        return self._mark

    def events(
        self, after: int = 0, *, from_ms: int = 0, journal: str | None = None
    ) -> Iterator[EventRow]:
        wanted = {"kind": "events", "from_ms": from_ms, "journal": journal}
        for page in self._pages(wanted, EventsPage, after):
            for text in page.rows:
                if text.id > self._mark.last_event:
                    return
                yield text.row()

    def entries(self, pool: str | None = None) -> Iterator[Entry]:
        for page in self._pages({"kind": "entries", "pool": pool}, EntriesPage):
            for entry in page.rows:
                if entry.through > self._mark.last_event:
                    return
                yield entry

    def steps(self) -> Iterator[AwardStep]:
        return iter(self._steps)

    def alarms(self, from_ms: int, to_ms: int) -> Iterator[AlarmRow]:
        wanted = {"kind": "alarms", "from_ms": from_ms, "to_ms": min(to_ms, INT64_MAX)}
        return (alarm for page in self._pages(wanted, AlarmsPage) for alarm in page.rows)

    def _pages(self, wanted: Mapping[str, Any], kind: type[P], after: int = 0) -> Iterator[P]:
        while True:
            request = {"verb": "rows", **wanted, "after": after}
            page = asked(self._control, request, kind, LONG_S)
            yield page
            after = page.next
            if not after:
                return


@contextmanager
def opened(config: LinkConfig | None, socket: str | None, backup: str | None) -> Iterator[Source]:
    """The first of these that there is."""
    if backup is not None:
        from link.store.sqlite import SqliteStore

        with closing(SqliteStore(Path(backup), read_only=True)) as store:
            yield StoreSource(store)
        return
    control = Path(socket) if socket else config.server.control if config else None
    assert control is not None
    try:
        running: ControlSource | None = ControlSource(control)
    except Stop as stop:
        if stop.code != os.EX_UNAVAILABLE or config is None:
            raise
        running = None
    if running is not None:
        yield running
        return
    assert config is not None
    with closing(open_store(config.server.store)) as store:
        yield StoreSource(store)
