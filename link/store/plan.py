"""PURE: a group checked against what is stored, and laid out as rows of the tables.

Nothing is asked of the database here: ``Known`` is what the owner of the store remembers of it. The
transaction compares watermarks and balances again, so a memory that is wrong cannot commit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec
from msgspec.structs import astuple

from link.rows import EventRow, Group, JournalRow
from link.store import tables as t
from link.store.errors import Broken, Conflict, NotStorable
from link.store.tables import MARK_EVERY, ORDERS, Row

BalanceKey = tuple[str, str, str]
Identity = tuple[str, str, str, tuple[str, ...]]

MOVE: Final = (
    "UPDATE watermarks SET n = ?, event = ?, seq = ?, hash = ?, head_seq = ?, head_hash = ?,"
    " received_ms = ?, rounds = ?, seal = ? WHERE id = ? AND n = ? AND event = ?"
)
RESTATE: Final = (
    "UPDATE journals SET table_id = ?, state = ?, why = ?, accepted_by = ?, seal = ? WHERE id = ?"
)
PAY: Final = (
    "UPDATE balances SET units = ? WHERE pool = ? AND level = ? AND account = ? AND units = ?"
)


class StoredJournal(msgspec.Struct, frozen=True, gc=False):
    """A journal as it is stored: the part that seldom changes, and its last event."""

    id: int
    identity: Identity
    """Table, state, why, accepted by."""
    n: int
    event: int


_NEW: Final = StoredJournal(-1, ("", "", "", ()), 0, 0)
"""Of a journal that is not stored yet."""


@dataclass(slots=True)
class Known:
    event: int
    entry: int
    alarm: int
    staff: int
    journals: dict[str, StoredJournal]
    balances: set[BalanceKey]

    def adopt(self, plan: CommitPlan) -> None:
        """The plan is committed."""
        self.event, self.entry, self.alarm = plan.event, plan.entry, plan.alarm
        self.staff = plan.staff
        self.journals.update(plan.held)
        self.balances.update((row[0], row[1], row[2]) for row in plan.rows["balances"])


@dataclass(slots=True)
class CommitPlan:
    """``rows`` are new rows by table; ``replaced`` may be there already; the rest must change
    exactly the rows that they name."""

    event: int
    entry: int
    alarm: int
    staff: int = 0
    held: dict[str, StoredJournal] = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=dict)
    replaced: dict[str, list[Row]] = field(default_factory=dict)
    moved: list[Row] = field(default_factory=list)
    restated: list[Row] = field(default_factory=list)
    paid: list[Row] = field(default_factory=list)


def plan(place: str, group: Group, known: Known) -> CommitPlan:
    """Raises ``Conflict``, ``Broken`` or ``NotStorable``; then nothing was asked or changed."""
    made = CommitPlan(
        _follows(place, "event", known.event, [r.id for r in group.events]),
        _follows(place, "entry", known.entry, [r.id for r in group.entries]),
        _follows(place, "alarm", known.alarm, [r.id for r in group.alarms]),
    )
    try:
        _events(place, group, known, made)
        _journals(place, group, known, made)
        _balances(place, group, known, made)
        _others(group, made)
    except NotStorable:
        raise
    except ValueError as error:  # half a character, or a hash that is not hexadecimal
        raise NotStorable(place, str(error)) from None
    _texts(place, made)
    return made


def _others(group: Group, made: CommitPlan) -> None:
    made.rows["entries"] = [t.from_row(r) for r in group.entries]
    made.rows["steps"] = [t.from_row(r) for r in group.steps]
    made.rows["sums"] = [astuple(r) for r in group.sums]
    made.rows["alarms"] = [t.from_row(r) for r in group.alarms]
    made.replaced["levels"] = [t.from_row(r) for r in group.levels.values()]
    made.replaced["awards"] = [t.from_row(r) for r in group.awards.values()]
    made.replaced["keys"] = [t.from_row(r) for r in group.keys.values()]
    made.replaced["accounts"] = [t.from_row(r) for r in group.accounts.values()]


def _follows(place: str, what: str, last: int, ids: list[int]) -> int:
    if ids and (ids[0] != last + 1 or ids != list(range(last + 1, last + 1 + len(ids)))):
        raise Conflict(place, f"{what} {ids[0]} to {ids[-1]} of the group; stored up to {last}")
    return ids[-1] if ids else last


def _events(place: str, group: Group, known: Known, made: CommitPlan) -> None:
    """Rows of events and marks; and every journal one step at a time."""
    rows: list[Row] = []
    marks: list[Row] = []
    staff: list[Row] = []
    number_of = known.staff
    held = made.held
    for r in group.events:
        here = held.get(r.journal) or known.journals.get(r.journal)
        if here is None:
            here = _new_journal(place, r, group, known, made)
        number, n = here.id, r.n
        if n != here.n + 1 or r.table != here.identity[0]:
            raise Conflict(
                place,
                f"event {n} of journal {r.journal or '(orders)'} of {r.table or 'the server'};"
                f" stored up to {here.n} of {here.identity[0] or 'the server'}",
            )
        hash_, chain = bytes.fromhex(r.hash), bytes.fromhex(r.chain)
        at_ms, received_ms, body = r.at_ms, r.received_ms, r.body
        rows.append((r.id, number, n, here.event, r.seq, hash_, at_ms, received_ms, body, chain))
        if n % MARK_EVERY == 0:
            marks.append((number, n, r.id))
        if number == ORDERS and r.seq != number_of:
            if r.seq != number_of + 1:
                raise Conflict(place, f"staff order {r.seq}; stored up to {number_of}")
            number_of = r.seq
            staff.append((number_of, r.id, hash_))
        held[r.journal] = StoredJournal(number, here.identity, n, r.id)
    made.rows["events"], made.rows["marks"], made.rows["staff"] = rows, marks, staff
    made.staff = number_of


def _new_journal(
    place: str, event: EventRow, group: Group, known: Known, made: CommitPlan
) -> StoredJournal:
    row = group.journals.get(event.journal)
    if row is None:
        raise NotStorable(place, f"event {event.id} is of a journal that has no row")
    return _add(row, known, made)


def _add(row: JournalRow, known: Known, made: CommitPlan) -> StoredJournal:
    """A journal that the store has not seen. Numbers 1, 2, 3 follow 0, that of the orders."""
    fresh = made.rows.setdefault("journals", [])
    number = len(known.journals) + len(fresh)
    identity = (row.table, row.state, row.why, row.accepted_by)
    fresh.append(_told(number, row.journal, identity))
    made.rows.setdefault("watermarks", []).append(t.sealed((number, 0, 0, 0, b"", 0, b"", 0, b"")))
    made.held[row.journal] = held = StoredJournal(number, identity, 0, 0)
    return held


def _told(number: int, journal: str, identity: Identity) -> Row:
    table, state, why, accepted_by = identity
    return t.sealed((number, journal, table, state, why, json.dumps(accepted_by)))


def _moved(row: Row, before: StoredJournal) -> Row:
    """New values of a watermark, then which row it is and what it must have been."""
    return (*row[1:], t.seal(row), row[0], before.n, before.event)


def _journals(place: str, group: Group, known: Known, made: CommitPlan) -> None:
    rows = group.journals
    if made.held.keys() - rows.keys() - {""}:
        missing = next(iter(made.held.keys() - rows.keys() - {""}))
        raise NotStorable(place, f"journal {missing} has new events and no row")
    made.rows.setdefault("journals", [])
    made.rows.setdefault("watermarks", [])
    stored_of, held_of, before_of = known.journals.get, made.held.get, group.journals_before.get
    moved, fromhex, seal = made.moved.append, bytes.fromhex, t.seal
    for journal, row in rows.items():
        stored = stored_of(journal)
        before = stored or _NEW
        n = row.n
        if before_of(journal, n) != before.n:
            raise Conflict(
                place,
                f"journal {journal} is at {before.n}; the group was built on"
                f" {group.journals_before.get(journal, row.n)}",
            )
        after = held_of(journal) or stored or _add(row, known, made)
        if n != after.n:
            raise NotStorable(
                place, f"journal {journal}: its row says {n}, its events end at {after.n}"
            )
        identity = (row.table, row.state, row.why, row.accepted_by)
        number, event = after.id, after.event
        if identity != after.identity:
            if n and row.table != after.identity[0]:
                raise NotStorable(
                    place,
                    f"journal {journal} has events of {after.identity[0]}; not of {row.table}",
                )
            made.held[journal] = StoredJournal(number, identity, n, event)
        if stored is not None and identity != stored.identity:
            made.restated.append((*_told(number, journal, identity)[2:], number))
        hash_, head = fromhex(row.hash), fromhex(row.head_hash)
        seq, head_seq, received_ms, rounds = row.seq, row.head_seq, row.received_ms, row.rounds
        values = (n, event, seq, hash_, head_seq, head, received_ms, rounds)
        moved((*values, seal((number, *values)), number, before.n, before.event))
    if "" in made.held:
        last = next(r for r in reversed(group.events) if not r.journal)
        before = known.journals[""]
        hash_ = bytes.fromhex(last.hash)
        made.moved.append(
            _moved(
                (ORDERS, last.n, last.id, last.seq, hash_, 0, b"", last.received_ms, b""), before
            )
        )


def _balances(place: str, group: Group, known: Known, made: CommitPlan) -> None:
    """Each new balance is the stored one and the entries; the stored one is compared later."""
    change: dict[BalanceKey, int] = {}
    for e in group.entries:
        if e.through > made.event:
            raise NotStorable(place, f"entry {e.id} names event {e.through}, which is not there")
        debit, credit = (e.pool, e.level, e.debit), (e.pool, e.level, e.credit)
        change[debit] = change.get(debit, 0) - e.units
        change[credit] = change.get(credit, 0) + e.units
    if change.keys() - group.balances.keys():
        names = ", ".join("/".join(key) for key in sorted(change.keys() - group.balances.keys()))
        raise Broken(place, f"entries change {names}; the group has no new balance for it")
    fresh: list[Row] = []
    for key, row in group.balances.items():
        before = row.units - change.get(key, 0)
        if key in known.balances:
            made.paid.append((row.units, *key, before))
        elif before == 0:
            fresh.append((*key, row.units))
        else:
            raise Broken(
                place, f"{'/'.join(key)} begins with {before} units that no entry explains"
            )
    made.rows["balances"] = fresh


def _texts(place: str, made: CommitPlan) -> None:
    """PostgreSQL keeps no NUL in a text."""
    for name in ("journals", "entries", "balances", "steps", "alarms", "sums"):
        _check_texts(place, name, made.rows[name])
    for name, rows in made.replaced.items():
        _check_texts(place, name, rows)
    _check_texts(place, "journals", made.restated)


def _check_texts(place: str, table: str, rows: Iterable[Row]) -> None:
    for row in rows:
        for value in row:
            if isinstance(value, str) and "\0" in value:
                raise NotStorable(place, f"{table}: {value!r} holds a NUL")
