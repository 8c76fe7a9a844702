"""The sums by time, counted again from the rows that they come from, without the ledger.

A store from before them gets them this way, and a check compares. Bodies are read only as far as
they matter here; one that cannot be read counts as nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from link.rows import SLICE_MS, EventRow
from link.store import reading
from link.store import tables as t
from link.store.contract import ALWAYS, INT64_MAX
from link.store.errors import Broken
from link.store.tables import Row
from record.link.codec import body_of
from record.link.events import Contributed, Reversed, RoundPlayed
from record.rounds import hands

KEPT_ROUNDS: Final = 256
"""Of a journal: what was wagered in them, for reversals."""
MOST_FINDINGS: Final = 100
ADD: Final = t.add("sums")
PLACES: Final = t.COLUMNS["sums"][4:]
WAGERS, CENTS, ROUNDS, HANDS, IN_UNITS, HITS, WIN_UNITS = range(len(PLACES))

Key = tuple[int, str, str, str]


class _Terms(msgspec.Struct, frozen=True):
    tables: dict[str, str] = {}


class _Order(msgspec.Struct, frozen=True):
    what: str = ""
    pool: str = ""
    terms: _Terms = _Terms()
    journal: str = ""
    skip: int = 0
    skip_hash: str = ""


class _Given(msgspec.Struct, frozen=True):
    order: _Order = _Order()


_given: Final = msgspec.json.Decoder(_Given)


class _Round:
    __slots__ = ("pool", "stands")

    def __init__(self, pool: str) -> None:
        self.pool = pool
        self.stands: dict[int, int] = {}
        """Seat to cents."""


class Recount:
    def __init__(self) -> None:
        self.sums: dict[Key, list[int]] = {}
        self.last_round: dict[str, int] = {}
        """Journal to the last round that was reported."""
        self._pool_of: dict[str, str] = {}
        self._skips: dict[str, tuple[int, str]] = {}
        self._rounds: dict[str, dict[int, _Round]] = {}

    def of(self, at_ms: int, pool: str, level: str, table: str) -> list[int]:
        """To be added to."""
        key = (at_ms // SLICE_MS * SLICE_MS, pool, level, table)
        return self.sums.setdefault(key, [0] * len(PLACES))

    def event(self, row: EventRow) -> None:
        if not row.table:
            self._order(row)
        elif self._skips.get(row.journal) != (row.n, row.hash):
            self._event(row)

    def _order(self, row: EventRow) -> None:
        try:
            order = _given.decode(row.body).order
        except msgspec.MsgspecError:
            return
        if order.what == "link":
            kept = {table: pool for table, pool in self._pool_of.items() if pool != order.pool}
            self._pool_of = kept | dict.fromkeys(order.terms.tables, order.pool)
        elif order.what == "resume":
            self._skips[order.journal] = (order.skip, order.skip_hash)

    def _event(self, row: EventRow) -> None:
        try:
            body = body_of(row.body)
        except (msgspec.MsgspecError, ValueError):
            return
        linked = self._pool_of.get(row.table, "")
        match body:
            case Contributed():
                book = self._round(row.journal, body.round, linked)
                total = sum(wager.cents for wager in body.wagers)
                sums = self.of(row.received_ms, book.pool, "", row.table)
                sums[WAGERS] += len(body.wagers)
                sums[CENTS] += total
                for wager in body.wagers:
                    book.stands[wager.seat] = wager.cents
            case Reversed():
                book = self._round(row.journal, body.round, linked)
                for wager in body.wagers:
                    left = book.stands.get(wager.seat, wager.cents) - wager.cents
                    book.stands[wager.seat] = left
                    sums = self.of(row.received_ms, book.pool, "", row.table)
                    sums[WAGERS] -= left == 0
                    sums[CENTS] -= wager.cents
            case RoundPlayed() if body.round > self.last_round.get(row.journal, 0):
                self.last_round[row.journal] = body.round
                sums = self.of(row.received_ms, linked, "", row.table)
                sums[ROUNDS] += 1
                sums[HANDS] += hands(body.result)
            case _:
                pass

    def _round(self, journal: str, number: int, pool: str) -> _Round:
        rounds = self._rounds.setdefault(journal, {})
        found = rounds.get(number)
        if found is None:
            found = rounds[number] = _Round(pool)
            if len(rounds) > KEPT_ROUNDS:
                del rounds[next(iter(rounds))]
        return found

    def rows(self) -> list[Row]:
        return [(*key, *found) for key, found in sorted(self.sums.items()) if any(found)]


_MONEY: Final = (
    "SELECT x.id, e.received_ms, x.pool, x.level, x.debit, x.credit, x.units,"
    " COALESCE(a.table_id, '') FROM entries x JOIN events e ON e.id = x.through_event"
    " LEFT JOIN awards a ON a.award = x.award WHERE x.id > ? AND"
    " (x.debit IN ('wagers', 'pending') OR x.credit IN ('wagers', 'pending'))"
    f" ORDER BY x.id LIMIT {reading.PAGE}"
)
_STEPS: Final = (
    "SELECT s.award, s.state, s.at_ms, a.pool, a.level, a.table_id FROM steps s"
    " JOIN awards a ON a.award = s.award ORDER BY s.award, s.step_no"
)


def recount(query: reading.Query) -> Recount:
    """In a transaction: everything that is stored."""
    counted = Recount()
    for row in reading.events(query, ALWAYS, None, None, (0, INT64_MAX)):
        counted.event(row)
    _money(query, counted)
    _hits(query, counted)
    return counted


def _money(query: reading.Query, counted: Recount) -> None:
    after = 0
    while rows := query(_MONEY, (after,)):
        for _, at_ms, pool, level, debit, credit, units, table in rows:
            if debit == "wagers":
                counted.of(at_ms, pool, level, "")[IN_UNITS] += units
            elif credit == "wagers":
                counted.of(at_ms, pool, level, "")[IN_UNITS] -= units
            if table and credit == "pending":
                counted.of(at_ms, pool, level, table)[WIN_UNITS] += units
            elif table and debit == "pending" and credit != "paid":
                counted.of(at_ms, pool, level, table)[WIN_UNITS] -= units
        after = rows[-1][0]


def _hits(query: reading.Query, counted: Recount) -> None:
    held = ""
    """The award that was locked."""
    for award, state, at_ms, pool, level, table in query(_STEPS):
        if state == "locked" and held != award:
            held = award
            counted.of(at_ms, pool, level, table)[HITS] += 1
        elif state in ("rejected", "withdrawn") and held == award:
            held = ""
            counted.of(at_ms, pool, level, table)[HITS] -= 1


def fill(query: reading.Query, change: Callable[[str, Sequence[Row]], int]) -> None:
    """For a store from before the sums, in the transaction that makes the table."""
    counted = recount(query)
    change(ADD, counted.rows())
    sql = f"SELECT j.journal, {t.listed('watermarks', 'w')} FROM watermarks w"
    for journal, *row in query(f"{sql} JOIN journals j ON j.id = w.id WHERE j.id > 0"):
        memory = _with_played(row[-2], counted.last_round.get(journal, 0))
        sealed = t.sealed((*row[:-2], memory))
        query("UPDATE watermarks SET rounds = ?, seal = ? WHERE id = ?", (*sealed[-2:], row[0]))


def _with_played(memory: bytes, played: int) -> bytes:
    """What a journal remembers, and the last round that was reported, which it did not keep."""
    if not memory and not played:
        return memory
    held: list[Any] = msgspec.json.decode(memory) if memory else [[], 0, 0, "", None]
    return msgspec.json.encode([*held[:5], played])


def check_sums(query: reading.Query, place: str) -> int:
    stored: dict[Key, list[int]] = {}
    for row in query(f"SELECT {t.listed('sums')} FROM sums"):
        stored[row[0], row[1], row[2], row[3]] = list(row[4:])
    made, none = recount(query).sums, [0] * len(PLACES)
    findings: list[str] = []
    for key in sorted(made.keys() | stored.keys()):
        found, wanted = stored.get(key, none), made.get(key, none)
        at_ms, *names = key
        where = "/".join(filter(None, names))
        findings += [
            f"sums of {where} from {at_ms}: {name} is {has}, the rows say {due}"
            for name, has, due in zip(PLACES, found, wanted, strict=True)
            if has != due
        ]
    if findings:
        raise Broken(place, *findings[:MOST_FINDINGS])
    return len(stored)
