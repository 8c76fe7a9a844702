"""The tables of a store, and the way from a row of the ledger to a row of a table and back.

Column names are the same in both databases; where a name of ``link.rows`` is a word of SQL, the
column is called otherwise. Hashes are bytes in the tables and hexadecimal in the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, TypeVar
from zlib import crc32

import msgspec
from msgspec.structs import astuple

from link.rows import EventRow, JournalRow, Stored

Row = tuple[Any, ...]
S = TypeVar("S", bound=Stored)

_encode: Final = msgspec.json.Encoder().encode


def _columns(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "leader": _columns("id epoch holder lease_ms renewed_ms"),
    "epochs": _columns("epoch holder since_ms after_event"),
    "journals": _columns("id journal table_id state why accepted_by seal"),
    "watermarks": _columns("id n event seq hash head_seq head_hash received_ms rounds seal"),
    "events": _columns("id journal n previous seq hash at_ms received_ms body chain"),
    "marks": _columns("journal n event"),
    "entries": _columns(
        "id pool level generation debit credit units why first_event through_event award seal"
    ),
    "balances": _columns("pool level account units"),
    "levels": _columns("pool level generation parameters next_parameters hits state seal"),
    "awards": _columns(
        "award pool level generation place table_id journal round_no seat hand "
        "percent cents state policy event jackpot_cents reset_cents seed_units "
        "seal"
    ),
    "steps": _columns("award step_no state by_whom role at_ms note event seal"),
    "alarms": _columns("id code table_id said at_ms event seal"),
    "keys": _columns("public_key table_id role from_ms until_ms revoked_ms by_whom at_ms seal"),
    "accounts": _columns("name role credential failures until_ms by_whom at_ms seal"),
    "staff": _columns("number event head"),
    "sums": _columns(
        "at_ms pool level table_id wagers wagered_cents rounds hands in_units hits win_units"
    ),
}
"""Every table but ``migrations``, in an order in which they can be filled."""

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "marks": ("journal", "n"),
    "balances": ("pool", "level", "account"),
    "levels": ("pool", "level"),
    "steps": ("award", "step_no"),
    "sums": ("at_ms", "pool", "level", "table_id"),
} | {
    name: COLUMNS[name][:1]
    for name in COLUMNS
    if name not in ("marks", "balances", "levels", "steps", "sums")
}

SEALED: Final = tuple(name for name in COLUMNS if COLUMNS[name][-1] == "seal")

BYTES: Final[dict[str, tuple[str, ...]]] = {
    "watermarks": ("hash", "head_hash", "rounds"),
    "events": ("hash", "body", "chain"),
    "levels": ("parameters", "next_parameters", "state"),
    "staff": ("head",),
}
"""Columns that hold bytes; the others hold numbers or text."""

RESTORE: Final = "restore"
"""Holder of the epoch in which a backup was put back."""
MARK_EVERY: Final = 256
ORDERS: Final = 0
"""The number of the journal of the orders."""


def seal(row: Row) -> int:
    """CRC-32 over its values as a JSON array, bytes in base64."""
    return crc32(_encode(row))


def sealed(row: Row) -> Row:
    return (*row, crc32(_encode(row)))


def insert(table: str) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * len(COLUMNS[table]))})"


def upsert(table: str) -> str:
    key = KEYS[table]
    changed = ", ".join(f"{c} = excluded.{c}" for c in COLUMNS[table] if c not in key)
    return f"{insert(table)} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changed}"


def add(table: str) -> str:
    """New rows, or more of what is there."""
    key = KEYS[table]
    more = ", ".join(f"{c} = {table}.{c} + excluded.{c}" for c in COLUMNS[table] if c not in key)
    return f"{insert(table)} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {more}"


def listed(table: str, alias: str = "") -> str:
    return ", ".join(f"{alias}.{c}" if alias else c for c in COLUMNS[table])


# --- from a row of the ledger and back ------------------------------------------------------------


def from_row(row: Stored) -> Row:
    """The fields of these rows are in the order of the columns."""
    return sealed(astuple(row))


def to_rows(kind: type[S], found: Iterable[Row]) -> list[S]:
    """The reverse; ``found`` has every column."""
    return [kind(*row[:-1]) for row in found]


JOURNAL: Final = (
    "SELECT j.journal, j.table_id, j.state, w.n, w.seq, w.hash, w.head_seq, w.head_hash,"
    " w.received_ms, j.why, j.accepted_by, w.rounds"
    " FROM journals j JOIN watermarks w ON w.id = j.id"
)


def to_event(r: Row) -> EventRow:
    id_, table, journal, n, seq, hash_, at_ms, received_ms, body, chain = r
    return EventRow(id_, table, journal, n, seq, hash_.hex(), at_ms, received_ms, body, chain.hex())


def to_names(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def to_journal(r: Row) -> JournalRow:
    journal, table, state, n, seq, hash_, head_seq, head_hash, received_ms, why, by, rounds = r
    return JournalRow(
        *(journal, table, state, n, seq, hash_.hex(), head_seq, head_hash.hex()),
        *(received_ms, why, to_names(by), rounds),
    )
