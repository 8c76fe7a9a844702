"""Rows out of a store, page by page: no statement stays open between two pages, so a slow reader
holds up neither a checkpoint of SQLite nor the cleaning of PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Protocol, TypeVar

from link.rows import (
    AccountRow,
    AlarmRow,
    AwardRow,
    AwardStep,
    BalanceRow,
    Entry,
    EventRow,
    Group,
    JournalRow,
    KeyRow,
    LevelRow,
    Saved,
    Standing,
    SumRow,
)
from link.store import tables as t
from link.store.contract import ALWAYS, INT64_MAX, Span
from link.store.tables import Row

PAGE: Final = 1000

T = TypeVar("T")


class Query(Protocol):
    def __call__(self, sql: str, values: Sequence[Any] = ()) -> list[Row]: ...


def pages(rows: Iterable[Row], size: int = PAGE) -> Iterator[list[Row]]:
    source = iter(rows)
    while page := list(islice(source, size)):
        yield page


def _paged(
    query: Query,
    sql: str,
    values: Sequence[Any],
    ids: tuple[int, int],
    made: Callable[[list[Row]], Iterable[T]],
) -> Iterator[T]:
    """``sql`` ends in conditions; its first column is the id by which pages follow each other.
    ``ids``: above the first, up to the second."""
    after, upto = ids
    while True:
        rows = query(
            f"{sql} AND x.id > ? AND x.id <= ? ORDER BY x.id LIMIT {PAGE}", (*values, after, upto)
        )
        yield from made(rows)
        if len(rows) < PAGE:
            return
        after = rows[-1][0]


# --- events -----------------------------------------------------------------------------------

_EVENT: Final = (
    "SELECT x.id, j.table_id, j.journal, x.n, x.seq, x.hash, x.at_ms, x.received_ms, x.body,"
    " x.chain FROM events x JOIN journals j ON j.id = x.journal WHERE "
)
_WALK: Final = (
    "WITH RECURSIVE back(id) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT e.previous"
    " FROM back JOIN events e ON e.id = back.id WHERE e.n > ? AND e.journal = ?)"
    " SELECT MIN(id) FROM back"
)


def event(query: Query, journal: str, n: int) -> EventRow | None:
    """From the next mark, or the last event, back along the journal: at most 256 steps."""
    held = query(
        "SELECT j.id, w.n, w.event FROM journals j JOIN watermarks w ON w.id = j.id"
        " WHERE j.journal = ?",
        (journal,),
    )
    if not held or not 0 < n <= held[0][1]:
        return None
    number, _, start = held[0]
    mark = query(
        "SELECT event FROM marks WHERE journal = ? AND n >= ? ORDER BY n LIMIT 1", (number, n)
    )
    found = query(_WALK, (mark[0][0] if mark else start, n, number))[0][0]
    rows = query(_EVENT + "x.id = ? AND x.n = ? AND x.journal = ?", (found, n, number))
    return t.to_event(rows[0]) if rows else None


def _range(query: Query, span: Span) -> tuple[int, int]:
    """The ids between which all events of the span lie; the clock may have been set back."""
    if span == ALWAYS:
        return 0, query("SELECT COALESCE(MAX(id), 0) FROM events")[0][0]
    low, high = query(
        "SELECT COALESCE(MIN(id), 1), COALESCE(MAX(id), 0) FROM events"
        " WHERE received_ms >= ? AND received_ms < ?",
        (span.from_ms, span.to_ms),
    )[0]
    return low - 1, high


def events_before(query: Query, span: Span) -> int:
    """The id before the first event of the span."""
    return _range(query, span)[0]


def events(
    query: Query, span: Span, table: str | None, journal: str | None, ids: tuple[int, int]
) -> Iterator[EventRow]:
    """With an end to ``ids`` the span is looked for between them alone."""
    after, upto = ids
    if upto == INT64_MAX:
        low, upto = _range(query, span)
        after = max(low, after)
    sql = _EVENT + "x.received_ms >= ? AND x.received_ms < ?"
    values: list[Any] = [span.from_ms, span.to_ms]
    for column, wanted in (("table_id", table), ("journal", journal)):
        if wanted is not None:
            sql += f" AND x.journal IN (SELECT id FROM journals WHERE {column} = ?)"
            values.append(wanted)
    yield from _paged(query, sql, values, (after, upto), lambda rows: map(t.to_event, rows))


# --- money ------------------------------------------------------------------------------------


def entries(
    query: Query, span: Span, pool: str | None, level: str | None, ids: tuple[int, int]
) -> Iterator[Entry]:
    sql, values = f"SELECT {t.listed('entries', 'x')} FROM entries x", list[Any]()
    if span == ALWAYS:
        sql += " WHERE TRUE"  # no join: SQLite would begin each page with the first event again
    else:
        low, high = _range(query, span)
        sql += (
            " JOIN events e ON e.id = x.through_event"
            " WHERE x.through_event > ? AND x.through_event <= ?"
            " AND e.received_ms >= ? AND e.received_ms < ?"
        )
        values += [low, high, span.from_ms, span.to_ms]
    for column, wanted in (("pool", pool), ("level", level)):
        if wanted is not None:
            sql += f" AND x.{column} = ?"
            values.append(wanted)
    yield from _paged(query, sql, values, ids, lambda rows: t.to_rows(Entry, rows))


def awards(query: Query, span: Span, pool: str | None) -> Iterator[AwardRow]:
    """Few enough for one page: a jackpot is rare."""
    sql = (
        f"SELECT {t.listed('awards', 'x')} FROM awards x JOIN events e ON e.id = x.event"
        " WHERE e.received_ms >= ? AND e.received_ms < ?"
    )
    values: list[Any] = [span.from_ms, span.to_ms]
    if pool is not None:
        sql += " AND x.pool = ?"
        values.append(pool)
    yield from t.to_rows(AwardRow, query(f"{sql} ORDER BY x.event, x.place", values))


def steps(query: Query, span: Span, award: str | None) -> Iterator[AwardStep]:
    sql = f"SELECT {t.listed('steps')} FROM steps WHERE at_ms >= ? AND at_ms < ?"
    values: list[Any] = [span.from_ms, span.to_ms]
    if award is not None:
        sql += " AND award = ?"
        values.append(award)
    yield from t.to_rows(AwardStep, query(f"{sql} ORDER BY event, award, step_no", values))


_SUMMED: Final = ", ".join(
    f"CAST(SUM({c}) AS BIGINT)" for c in t.COLUMNS["sums"] if c not in t.KEYS["sums"]
)


def sums(query: Query, span: Span) -> list[SumRow]:
    found = query(
        f"SELECT pool, level, table_id, {_SUMMED} FROM sums WHERE at_ms >= ? AND at_ms < ?"
        " GROUP BY pool, level, table_id ORDER BY pool, level, table_id",
        (span.from_ms, span.to_ms),
    )
    return [SumRow(span.from_ms, *row) for row in found]


def alarms(query: Query, span: Span, table: str | None, ids: tuple[int, int]) -> Iterator[AlarmRow]:
    sql = f"SELECT {t.listed('alarms', 'x')} FROM alarms x WHERE x.at_ms >= ? AND x.at_ms < ?"
    values: list[Any] = [span.from_ms, span.to_ms]
    if table is not None:
        sql += " AND x.table_id = ?"
        values.append(table)
    yield from _paged(query, sql, values, ids, lambda rows: t.to_rows(AlarmRow, rows))


def staff(query: Query) -> Iterator[EventRow]:
    """The orders of the chain, in its order."""
    sql = (
        "SELECT e.id, '', '', e.n, e.seq, e.hash, e.at_ms, e.received_ms, e.body, e.chain, s.number"
        " FROM staff s JOIN events e ON e.id = s.event WHERE s.number > ?"
        f" ORDER BY s.number LIMIT {PAGE}"
    )
    after = 0
    while rows := query(sql, (after,)):
        yield from (t.to_event(row[:-1]) for row in rows)
        after = rows[-1][-1]


def journals(query: Query) -> list[JournalRow]:
    return [t.to_journal(row) for row in query(f"{t.JOURNAL} WHERE j.id > 0 ORDER BY j.id")]


# --- the newest first -------------------------------------------------------------------------


def latest_alarms(query: Query, most: int, before: int) -> list[AlarmRow]:
    sql = f"SELECT {t.listed('alarms')} FROM alarms WHERE id < ? ORDER BY id DESC LIMIT ?"
    return t.to_rows(AlarmRow, query(sql, (before, most)))


def latest_journals(query: Query, most: int, before: str, prefix: str) -> list[JournalRow]:
    sql, values = f"{t.JOURNAL} WHERE j.id > 0", list[Any]()
    if before:
        sql += " AND j.id < (SELECT id FROM journals WHERE journal = ?)"
        values.append(before)
    if prefix:
        sql += " AND j.journal LIKE ?"
        values.append(f"{prefix}%")
    rows = query(f"{sql} ORDER BY j.id DESC LIMIT ?", (*values, most))
    return [t.to_journal(row) for row in rows]


def latest_awards(query: Query, most: int, before: str) -> list[AwardRow]:
    sql, values = f"SELECT {t.listed('awards')} FROM awards", list[Any]()
    if before:
        sql += " WHERE (event, place) < (SELECT event, place FROM awards WHERE award = ?)"
        values.append(before)
    rows = query(f"{sql} ORDER BY event DESC, place DESC LIMIT ?", (*values, most))
    return t.to_rows(AwardRow, rows)


# --- a start ----------------------------------------------------------------------------------

_OPEN: Final = "state NOT IN ('paid', 'rejected', 'withdrawn')"


def load(query: Query) -> Saved:
    last = query("SELECT id, chain FROM events ORDER BY id DESC LIMIT 1")
    wanted = (
        f"SELECT a.award FROM awards a WHERE EXISTS (SELECT 1 FROM awards o"
        f" WHERE o.journal = a.journal AND o.round_no = a.round_no AND o.{_OPEN})"
    )
    awards = f"SELECT {t.listed('awards')} FROM awards WHERE award IN ({wanted})"
    awards += " ORDER BY event, place"
    steps = f"SELECT {t.listed('steps')} FROM steps WHERE award IN ({wanted})"
    steps += " ORDER BY award, step_no"
    last_order, staff_number, staff_head = query(
        "SELECT n, seq, hash FROM watermarks WHERE id = 0"
    )[0]
    return Saved(
        last_event=last[0][0] if last else 0,
        last_order=last_order,
        staff=staff_number,
        staff_head=staff_head.hex(),
        last_entry=query("SELECT COALESCE(MAX(id), 0) FROM entries")[0][0],
        last_alarm=query("SELECT COALESCE(MAX(id), 0) FROM alarms")[0][0],
        chain=last[0][1].hex() if last else "",
        balances=_balances(query),
        levels=t.to_rows(LevelRow, _all(query, "levels")),
        journals=journals(query),
        awards=t.to_rows(AwardRow, query(awards)),
        steps=t.to_rows(AwardStep, query(steps)),
        keys=t.to_rows(KeyRow, _all(query, "keys")),
        accounts=t.to_rows(AccountRow, _all(query, "accounts")),
    )


def standing(query: Query, *, awards: bool) -> Standing:
    """In a transaction, so that all of it is of one moment."""
    sql = f"SELECT {t.listed('awards')} FROM awards WHERE {_OPEN} ORDER BY event, place"
    return Standing(
        last_event=query("SELECT COALESCE(MAX(id), 0) FROM events")[0][0],
        balances=_balances(query),
        levels=t.to_rows(LevelRow, _all(query, "levels")),
        open_awards=t.to_rows(AwardRow, query(sql)) if awards else [],
    )


def _all(query: Query, table: str) -> list[Row]:
    order = ", ".join(t.KEYS[table])
    return query(f"SELECT {t.listed(table)} FROM {table} ORDER BY {order}")


def _balances(query: Query) -> list[BalanceRow]:
    return [BalanceRow(*row) for row in _all(query, "balances")]


def has(query: Query, group: Group) -> bool:
    """Whether this very group is stored: by its last event, its last alarm, else by its rows."""
    if group.events:
        last = group.events[-1]
        rows = query("SELECT chain FROM events WHERE id = ?", (last.id,))
        return bool(rows) and rows[0][0].hex() == last.chain
    if group.alarms:
        alarm = group.alarms[-1]
        rows = query(f"SELECT {t.listed('alarms')} FROM alarms WHERE id = ?", (alarm.id,))
        return t.to_rows(AlarmRow, rows) == [alarm]
    if group.journals:
        return group.journals.items() <= {row.journal: row for row in journals(query)}.items()
    return False
