"""Rows for reports: through the server that runs, or from its store while nobody runs it.

A SQLite store has one owner. While a server runs, its control socket is the only way; when none
does, the report is the owner for as long as it reads, and changes nothing. A backup is read as the
file it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from link.commands.io import asked
from link.config import LinkConfig
from link.reports.source import Mark, Source
from link.rows import AlarmRow, AwardRow, AwardStep, BalanceRow, Entry, EventRow, LevelRow
from link.store import open_store
from link.store.contract import INT64_MAX, Span, Store
from link.store.errors import StoreError
from record.kit.verbs import Stop


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
        found = asked(control, {"verb": "rows", "kind": "mark"})
        self._steps: list[AwardStep] = []
        self._mark = Mark(
            found["last_event"],
            tuple(BalanceRow(**row) for row in found["balances"]),
            tuple(LevelRow(**_bytes(row)) for row in found["levels"]),
            tuple(self._awards(found["last_event"], found["open_awards"])),
        )

    def _awards(self, last_event: int, still_open: list[dict[str, Any]]) -> list[AwardRow]:
        """As they were at the mark: the open ones came with it, no other changes any more."""
        as_of = {row["award"]: row for row in still_open}
        awards, cursor = list[AwardRow](), ""
        while True:
            page = asked(self._control, {"verb": "awards", "cursor": cursor}, 60.0)
            rows = (as_of.get(row["award"], row) for row in page["awards"])
            awards += [AwardRow(**row) for row in rows if row["event"] <= last_event]
            steps = (AwardStep(**row) for row in page["steps"])
            self._steps += [step for step in steps if step.event <= last_event]
            cursor = page["next"]
            if not cursor:
                break
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
        for row in self._pages(wanted, after):
            if row["id"] > self._mark.last_event:
                return
            yield EventRow(**{**row, "body": row["body"].encode()})

    def entries(self, pool: str | None = None) -> Iterator[Entry]:
        for row in self._pages({"kind": "entries", "pool": pool}):
            if row["through"] > self._mark.last_event:
                return
            yield Entry(**row)

    def steps(self) -> Iterator[AwardStep]:
        return iter(self._steps)

    def alarms(self, from_ms: int, to_ms: int) -> Iterator[AlarmRow]:
        wanted = {"kind": "alarms", "from_ms": from_ms, "to_ms": min(to_ms, INT64_MAX)}
        return (AlarmRow(**row) for row in self._pages(wanted))

    def _pages(self, wanted: dict[str, Any], after: int = 0) -> Iterator[dict[str, Any]]:
        while True:
            page = asked(self._control, {"verb": "rows", **wanted, "after": after}, 60.0)
            yield from page["rows"]
            after = page["next"]
            if not after:
                return


def _bytes(row: dict[str, Any]) -> dict[str, Any]:
    texts = ("parameters", "next_parameters", "state")
    return {k: v.encode() if k in texts else v for k, v in row.items()}


@contextmanager
def opened(config: LinkConfig | None, socket: str | None, backup: str | None) -> Iterator[Source]:
    """The first of these that there is."""
    if backup is not None:
        from link.store.sqlite import SqliteStore

        with _closing(lambda: SqliteStore(Path(backup), read_only=True)) as store:
            yield StoreSource(store)
        return
    control = Path(socket) if socket else config.control if config else None
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
    with _closing(lambda: open_store(config.store)) as store:
        yield StoreSource(store)


@contextmanager
def _closing(make: Any) -> Iterator[Store]:
    try:
        store: Store = make()
    except StoreError as error:
        raise Stop(str(error), error.exit_code) from None
    except OSError as error:
        raise Stop(f"{error.filename or 'store'}: {error.strerror}", os.EX_NOINPUT) from None
    try:
        yield store
    except StoreError as error:
        raise Stop(str(error), error.exit_code or os.EX_DATAERR) from None
    finally:
        store.close()
