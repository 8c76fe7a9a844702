"""PURE: which CURVE key speaks for whom, from when until when.

A key never changes hands: once enrolled for a table it is that table's for ever, also when it is
revoked. A table has at most two valid keys, so that a new one can take over while the old one still
works.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, get_args

from msgspec.structs import replace

from link.rows import KeyRole, KeyRow
from record.link.keys import fingerprint, is_key

MOST_KEYS: Final = 2
ROLES: Final = get_args(KeyRole)
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""A table's, sign's or server's name; as the layout file and the journal have it."""

Rows = Mapping[str, KeyRow]
"""By public key."""


class KeyRefused(ValueError):
    """The registry stays as it is: ``text (E-KEY-111)``."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code, self.text = code, text


@dataclass(frozen=True, slots=True)
class Wanted:
    """A key to be enrolled; times of the server's wall clock, ``until_ms`` 0 for no end."""

    public: str
    table: str
    role: KeyRole = "table"
    from_ms: int = 0
    until_ms: int = 0


@dataclass(frozen=True, slots=True)
class Stamp:
    by: str
    at_ms: int


def is_valid(row: KeyRow, now_ms: int) -> bool:
    begun = row.from_ms <= now_ms
    return begun and not row.revoked_ms and (not row.until_ms or now_ms < row.until_ms)


def enrol(rows: Rows, wanted: Iterable[Wanted], stamp: Stamp) -> list[KeyRow]:
    """The new rows of all of them, or ``KeyRefused`` and none."""
    known = dict(rows)
    made = []
    for one in wanted:
        row = _enrolled(known, one, stamp)
        known[row.public] = row
        made.append(row)
    return made


def rotate(rows: Rows, wanted: Wanted, overlap_ms: int, stamp: Stamp) -> list[KeyRow]:
    """The new key at once; every other key of its holder ends after the overlap."""
    ended = []
    for row in _standing(rows, wanted.table, wanted.role, stamp.at_ms):
        end = stamp.at_ms + overlap_ms
        if not row.until_ms or row.until_ms > end:
            ended.append(replace(row, until_ms=end, by=stamp.by, at_ms=stamp.at_ms))
    if not _standing(rows, wanted.table, wanted.role, stamp.at_ms):
        said = f"{wanted.role} {wanted.table} has no key to take over from; enrol one"
        raise KeyRefused("E-KEY-110", said)
    if len(_standing(rows, wanted.table, wanted.role, stamp.at_ms)) >= MOST_KEYS:
        said = f"{wanted.table} is being rotated; revoke one of its {MOST_KEYS} keys first"
        raise KeyRefused("E-KEY-112", said)
    return [_enrolled({**rows, **{row.public: row for row in ended}}, wanted, stamp), *ended]


def revoke(rows: Rows, which: str, stamp: Stamp) -> list[KeyRow]:
    """``which``: a public key, a fingerprint, or the name of a holder: all of its keys."""
    found = [
        row
        for row in rows.values()
        if which in (row.public, row.table, fingerprint(row.public)) and not row.revoked_ms
    ]
    if not found:
        said = f"{which!r}: no key that is not revoked; expected a key, a fingerprint or a name"
        raise KeyRefused("E-KEY-110", said)
    return [replace(row, revoked_ms=stamp.at_ms, by=stamp.by, at_ms=stamp.at_ms) for row in found]


def read_csv(text: str) -> Iterator[Wanted]:
    """Lines of ``name,key`` or ``name,key,role``; a head line and empty lines are left out."""
    for number, cells in enumerate(_cells(text), 1):
        row = [cell.strip() for cell in cells]
        if not any(row) or row[:2] == ["name", "key"]:
            continue
        if len(row) not in (2, 3):
            said = f"line {number}: {len(row)} columns; expected name,key or name,key,role"
            raise KeyRefused("E-KEY-113", said)
        role = row[2] if len(row) == 3 and row[2] else "table"
        try:
            wanted = Wanted(row[1], row[0], as_role(role))
            _check(wanted)
        except KeyRefused as error:
            raise KeyRefused(error.code, f"line {number}: {error.text}") from None
        yield wanted


def _cells(text: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(text))
    except csv.Error as error:
        raise KeyRefused("E-KEY-113", f"no CSV: {error}") from None


def as_role(text: str) -> KeyRole:
    for role in ROLES:
        if text == role:
            known: KeyRole = role
            return known
    raise KeyRefused("E-KEY-114", f"role {text!r}: expected {', '.join(ROLES)}")


def _standing(rows: Rows, table: str, role: KeyRole, now_ms: int) -> list[KeyRow]:
    """Keys of a holder that are valid or will be."""
    return [
        row
        for row in rows.values()
        if (row.table, row.role) == (table, role)
        and not row.revoked_ms
        and (not row.until_ms or now_ms < row.until_ms)
    ]


def _enrolled(rows: Rows, wanted: Wanted, stamp: Stamp) -> KeyRow:
    _check(wanted)
    known = rows.get(wanted.public)
    if known is not None:
        state = "revoked" if known.revoked_ms else "enrolled"
        said = f"{fingerprint(wanted.public)} is {state} for {known.table}; make a new key"
        raise KeyRefused("E-KEY-111", said)
    holders = {row.role for row in rows.values() if row.table == wanted.table}
    if holders - {wanted.role}:
        said = f"{wanted.table} is the name of a {holders.pop()} already; expected another name"
        raise KeyRefused("E-KEY-114", said)
    if len(_standing(rows, wanted.table, wanted.role, stamp.at_ms)) >= MOST_KEYS:
        said = f"{wanted.table} has {MOST_KEYS} keys; revoke one first"
        raise KeyRefused("E-KEY-112", said)
    begin = wanted.from_ms or stamp.at_ms
    if wanted.until_ms and wanted.until_ms <= begin:
        raise KeyRefused("E-KEY-115", f"{wanted.table}: ends before it begins")
    return KeyRow(
        wanted.public,
        wanted.table,
        wanted.role,
        begin,
        wanted.until_ms,
        0,
        stamp.by,
        stamp.at_ms,
    )


def _check(wanted: Wanted) -> None:
    if NAME.fullmatch(wanted.table) is None:
        said = f"name {wanted.table!r}: expected 1 to 64 letters, digits, . _ -"
        raise KeyRefused("E-KEY-114", said)
    if not is_key(wanted.public):
        # It may be a secret in the wrong column: it is not repeated.
        said = f"{wanted.table}: expected a public key, 40 characters of Z85"
        raise KeyRefused("E-KEY-113", said)
