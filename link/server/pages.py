"""Answers in pages: lists, and stored rows for reports.

Every list takes ``cursor`` and answers ``next``: the cursor of the page that follows, empty on the
last one. A cursor names the last row seen, so rows that come meanwhile shift nothing.

A page of stored rows is cut by rows, by bytes and by how many rows were looked at, so that the loop
answers tables again soon however much is stored. ``mark`` comes from one turn of the loop:
balances, levels and open awards as they are after event ``last_event``. A reader then asks for rows
up to that event and has a picture in which everything belongs together: an award that is not open
never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from msgspec.structs import asdict

from link.rows import AlarmRow, Entry, EventRow
from link.server.replies import (
    AlarmsPage,
    EntriesPage,
    EventsPage,
    EventText,
    LevelText,
    MarkReply,
    Reply,
)
from link.server.requests import MOST_ROWS, Rows
from link.store.base import Store
from link.store.contract import INT64_MAX, Numbered, Span

PAGE_ROWS: Final = MOST_ROWS
MOST_BYTES: Final = 1 << 18
MOST_LOOKED_AT: Final = 10_000
"""Rows that one answer reads to find those of a journal, a pool or a time."""

T = TypeVar("T")
N = TypeVar("N", EventText, Entry, AlarmRow)


def cut(found: Sequence[T], most: int, cursor_of: Callable[[T], str]) -> tuple[Sequence[T], str]:
    """``found`` has one row more than ``most`` if another page follows."""
    page = found[:most]
    return page, cursor_of(page[-1]) if len(found) > most else ""


def by_name(rows: Iterable[T], name: Callable[[T], str], cursor: str) -> tuple[Sequence[T], str]:
    """A page of what is in memory, ordered by a name that no two of them have."""
    return cut(sorted((r for r in rows if name(r) > cursor), key=name), PAGE_ROWS, name)


def rows(store: Store, wanted: Rows) -> Reply:
    if wanted.kind == "mark":
        return _mark(store)
    after, span = wanted.after, Span(wanted.from_ms, wanted.to_ms)
    if wanted.kind == "events" and not after:
        after = store.events_before(span)
    upto = min(after + MOST_LOOKED_AT, INT64_MAX)
    match wanted.kind:
        case "events":
            events = store.events(span, journal=wanted.journal, after=after, upto=upto)
            found, more = _cut(map(_event, events), wanted.most)
            return EventsPage(found, _next(store, wanted.kind, found, upto, more=more))
        case "entries":
            entries = store.entries(pool=wanted.pool, after=after, upto=upto)
            page, more = _cut(entries, wanted.most)
            return EntriesPage(page, _next(store, wanted.kind, page, upto, more=more))
        case "alarms":
            alarms, more = _cut(store.alarms(span, after=after, upto=upto), wanted.most)
            return AlarmsPage(alarms, _next(store, wanted.kind, alarms, upto, more=more))


def _mark(store: Store) -> MarkReply:
    standing = store.standing(awards=True)
    levels = [
        LevelText(
            pool=row.pool,
            level=row.level,
            generation=row.generation,
            parameters=row.parameters.decode(),
            next_parameters=row.next_parameters.decode(),
            hits=row.hits,
            state=row.state.decode(),
        )
        for row in standing.levels
    ]
    return MarkReply(standing.last_event, standing.balances, levels, standing.open_awards)


def _event(row: EventRow) -> EventText:
    return EventText(**{**asdict(row), "body": row.body.decode()})


def _cut(found: Iterable[N], most: int) -> tuple[list[N], bool]:
    """The first rows, and whether there are more."""
    page: list[N] = []
    room = MOST_BYTES
    for row in found:
        if len(page) == most or room <= 0:
            return page, True
        page.append(row)
        if isinstance(row, EventText):
            room -= len(row.body)
    return page, False


def _next(store: Store, kind: Numbered, page: Sequence[N], upto: int, *, more: bool) -> int:
    if more:
        return page[-1].id
    return upto if upto < store.last_id(kind) else 0
