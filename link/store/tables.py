"""The tables of a store, and the way from a row of the ledger to a row of a table and back.

Column names are the same in both databases; where a name of ``link.rows`` is a word of SQL, the
column is called otherwise. Hashes are bytes in the tables and hexadecimal in the rows.
"""

from __future__ import annotations

import json
from typing import Any, Final
from zlib import crc32

import msgspec

from link.rows import (
    AccountRow,
    AlarmRow,
    AwardRow,
    AwardStep,
    BalanceRow,
    Entry,
    EventRow,
    JournalRow,
    KeyRow,
    LevelRow,
)

Row = tuple[Any, ...]

_encode: Final = msgspec.json.Encoder().encode

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "leader": ("id", "epoch", "holder", "lease_ms", "renewed_ms"),
    "epochs": ("epoch", "holder", "since_ms", "after_event"),
    "journals": ("id", "journal", "table_id", "state", "why", "accepted_by", "seal"),
    "watermarks": (
        "id",
        "n",
        "event",
        "seq",
        "hash",
        "head_seq",
        "head_hash",
        "received_ms",
        "rounds",
        "seal",
    ),
    "events": (
        "id",
        "journal",
        "n",
        "previous",
        "seq",
        "hash",
        "at_ms",
        "received_ms",
        "body",
        "chain",
    ),
    "marks": ("journal", "n", "event"),
    "entries": (
        "id",
        "pool",
        "level",
        "generation",
        "debit",
        "credit",
        "units",
        "why",
        "first_event",
        "through_event",
        "award",
        "seal",
    ),
    "balances": ("pool", "level", "account", "units"),
    "levels": (
        "pool",
        "level",
        "generation",
        "parameters",
        "next_parameters",
        "hits",
        "state",
        "seal",
    ),
    "awards": (
        "award",
        "pool",
        "level",
        "generation",
        "place",
        "table_id",
        "journal",
        "round_no",
        "seat",
        "hand",
        "percent",
        "cents",
        "state",
        "policy",
        "event",
        "jackpot_cents",
        "reset_cents",
        "seed_units",
        "seal",
    ),
    "steps": ("award", "step_no", "state", "by_whom", "role", "at_ms", "note", "event", "seal"),
    "alarms": ("id", "code", "table_id", "said", "at_ms", "event", "seal"),
    "keys": (
        "public_key",
        "table_id",
        "role",
        "from_ms",
        "until_ms",
        "revoked_ms",
        "by_whom",
        "at_ms",
        "seal",
    ),
    "accounts": ("name", "role", "credential", "failures", "until_ms", "by_whom", "at_ms", "seal"),
    "staff": ("number", "event", "head"),
}
"""Every table but ``migrations``, in an order in which they can be filled."""

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "marks": ("journal", "n"),
    "balances": ("pool", "level", "account"),
    "levels": ("pool", "level"),
    "steps": ("award", "step_no"),
} | {
    name: COLUMNS[name][:1]
    for name in COLUMNS
    if name not in ("marks", "balances", "levels", "steps")
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


def listed(table: str, alias: str = "") -> str:
    return ", ".join(f"{alias}.{c}" if alias else c for c in COLUMNS[table])


# --- into the tables --------------------------------------------------------------------------


def from_entry(r: Entry) -> Row:
    return sealed(
        (
            *(r.id, r.pool, r.level, r.generation, r.debit, r.credit),
            *(r.units, r.why, r.first, r.through, r.award),
        )
    )


def from_balance(r: BalanceRow) -> Row:
    return (r.pool, r.level, r.account, r.units)


def from_level(r: LevelRow) -> Row:
    return sealed((r.pool, r.level, r.generation, r.parameters, r.next_parameters, r.hits, r.state))


def from_award(r: AwardRow) -> Row:
    return sealed(
        (
            *(r.award, r.pool, r.level, r.generation, r.order, r.table, r.journal, r.round, r.seat),
            *(r.hand, r.percent, r.cents, r.state, r.policy, r.event),
            *(r.jackpot_cents, r.reset_cents, r.seed_units),
        )
    )


def from_step(r: AwardStep) -> Row:
    return sealed((r.award, r.step, r.state, r.by, r.role, r.at_ms, r.note, r.event))


def from_alarm(r: AlarmRow) -> Row:
    return sealed((r.id, r.code, r.table, r.text, r.at_ms, r.event))


def from_key(r: KeyRow) -> Row:
    return sealed(
        (
            *(r.public, r.table, r.role, r.from_ms, r.until_ms, r.revoked_ms),
            *(r.by, r.at_ms),
        )
    )


def from_account(r: AccountRow) -> Row:
    return sealed((r.name, r.role, r.credential, r.failures, r.until_ms, r.by, r.at_ms))


# --- and back ---------------------------------------------------------------------------------

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
    (
        journal,
        table,
        state,
        n,
        seq,
        hash_,
        head_seq,
        head_hash,
        received_ms,
        why,
        accepted,
        rounds,
    ) = r
    return JournalRow(
        journal=journal,
        table=table,
        state=state,
        n=n,
        seq=seq,
        hash=hash_.hex(),
        head_seq=head_seq,
        head_hash=head_hash.hex(),
        received_ms=received_ms,
        why=why,
        accepted_by=to_names(accepted),
        rounds=rounds,
    )


def to_entry(r: Row) -> Entry:
    return Entry(*r[:-1])


def to_balance(r: Row) -> BalanceRow:
    return BalanceRow(*r)


def to_level(r: Row) -> LevelRow:
    return LevelRow(*r[:-1])


def to_award(r: Row) -> AwardRow:
    return AwardRow(*r[:-1])


def to_step(r: Row) -> AwardStep:
    return AwardStep(*r[:-1])


def to_alarm(r: Row) -> AlarmRow:
    return AlarmRow(*r[:-1])


def to_key(r: Row) -> KeyRow:
    return KeyRow(*r[:-1])


def to_account(r: Row) -> AccountRow:
    return AccountRow(*r[:-1])
