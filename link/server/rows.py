"""Stored rows for whoever reads them through the server: reports, and the list of jackpots.

A page is cut by rows and by bytes, so that the loop answers tables again soon. ``mark`` comes from
one turn of the loop: balances, levels and awards as they are after event ``last_event``; a reader
then asks for rows up to that event and has a picture in which everything belongs together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec.structs import asdict

from link.server.bridge import Answer
from link.store.contract import INT64_MAX, Span, Store

MOST_ROWS: Final = 500
MOST_BYTES: Final = 1 << 18

Time = Annotated[int, msgspec.Meta(ge=0, le=INT64_MAX)]
Short = Annotated[str, msgspec.Meta(max_length=100)]


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``after`` is an id for events and entries, and a number of rows for the others."""

    kind: Literal["mark", "events", "entries", "steps", "alarms"]
    verb: str = "rows"
    after: Time = 0
    from_ms: Time = 0
    to_ms: Time = INT64_MAX
    journal: Short | None = None
    pool: Short | None = None
    most: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)] = MOST_ROWS


def rows(store: Store, given: Mapping[str, Any]) -> Answer:
    try:
        wanted = msgspec.convert(dict(given), Wanted)
    except msgspec.ValidationError as error:
        return {"error": "E-SVC-001", "text": f"rows: {error}"}
    if wanted.kind == "mark":
        return _mark(store)
    found, more = _cut(_FROM[wanted.kind](store, wanted), wanted.most)
    return {"rows": found, "more": more}


def _mark(store: Store) -> Answer:
    saved = store.load()
    return {
        "last_event": saved.last_event,
        "balances": [asdict(row) for row in saved.balances],
        "levels": [_plain(asdict(row)) for row in saved.levels],
        "awards": [asdict(row) for row in store.awards()],
    }


def _events(store: Store, wanted: Wanted) -> Iterable[Any]:
    span = Span(wanted.from_ms, wanted.to_ms)
    return store.events(span, journal=wanted.journal, after=wanted.after)


def _entries(store: Store, wanted: Wanted) -> Iterable[Any]:
    return store.entries(pool=wanted.pool, after=wanted.after)


def _steps(store: Store, wanted: Wanted) -> Iterable[Any]:
    return _after(store.steps(), wanted.after)


def _alarms(store: Store, wanted: Wanted) -> Iterable[Any]:
    return _after(store.alarms(Span(wanted.from_ms, wanted.to_ms)), wanted.after)


_FROM: Final[dict[str, Callable[[Store, Wanted], Iterable[Any]]]] = {
    "events": _events,
    "entries": _entries,
    "steps": _steps,
    "alarms": _alarms,
}


def _after(found: Iterable[Any], many: int) -> Iterator[Any]:
    for place, row in enumerate(found, 1):
        if place > many:
            yield row


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
