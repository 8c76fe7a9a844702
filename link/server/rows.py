"""Stored rows for whoever reads them through the server: reports, and the list of jackpots.

A page is cut by rows, by bytes and by how many rows were looked at, so that the loop answers tables
again soon however much is stored. ``mark`` comes from one turn of the loop: balances, levels and
open awards as they are after event ``last_event``. A reader then asks for rows up to that event and
has a picture in which everything belongs together: an award that is not open never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import asdict

from link.server.bridge import Answer
from link.server.requests import Rows
from link.store.contract import INT64_MAX, Span, Store

MOST_BYTES: Final = 1 << 18
MOST_LOOKED_AT: Final = 10_000
"""Rows that one answer reads to find those of a journal, a pool or a time."""


def rows(store: Store, wanted: Rows) -> Answer:
    if wanted.kind == "mark":
        return _mark(store)
    after = wanted.after
    if wanted.kind == "events" and not after:
        after = store.events_before(Span(wanted.from_ms, wanted.to_ms))
    upto = min(after + MOST_LOOKED_AT, INT64_MAX)
    found, more = _cut(_FROM[wanted.kind](store, wanted, after, upto), wanted.most)
    if more:
        return {"rows": found, "next": found[-1]["id"]}
    return {"rows": found, "next": upto if upto < store.last_id(wanted.kind) else 0}


def _mark(store: Store) -> Answer:
    standing = store.standing(awards=True)
    return {
        "last_event": standing.last_event,
        "balances": [asdict(row) for row in standing.balances],
        "levels": [_plain(asdict(row)) for row in standing.levels],
        "open_awards": [asdict(row) for row in standing.open_awards],
    }


def _events(store: Store, wanted: Rows, after: int, upto: int) -> Iterable[Any]:
    span = Span(wanted.from_ms, wanted.to_ms)
    return store.events(span, journal=wanted.journal, after=after, upto=upto)


def _entries(store: Store, wanted: Rows, after: int, upto: int) -> Iterable[Any]:
    return store.entries(pool=wanted.pool, after=after, upto=upto)


def _alarms(store: Store, wanted: Rows, after: int, upto: int) -> Iterable[Any]:
    return store.alarms(Span(wanted.from_ms, wanted.to_ms), after=after, upto=upto)


_FROM: Final[dict[str, Callable[[Store, Rows, int, int], Iterable[Any]]]] = {
    "events": _events,
    "entries": _entries,
    "alarms": _alarms,
}


def _cut(found: Iterable[Any], most: int) -> tuple[list[dict[str, Any]], bool]:
    """The first rows, and whether there are more."""
    page: list[dict[str, Any]] = []
    room = MOST_BYTES
    for row in found:
        if len(page) == most or room <= 0:
            return page, True
        page.append(_plain(asdict(row)))
        room -= len(page[-1].get("body", ""))
    return page, False


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Bodies and parameters are JSON text."""
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in row.items()}
