"""A manufacturer's batch, or a list of UIDs, as people hand them in; page section 5. Pure.

Lists every problem with line, field and value; nothing of a batch with a problem is taken.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Final

from controller.registers.chips.layout import (
    KINDS,
    MAX_CENTS,
    MAX_CHIPS,
    MAX_UID_BYTES,
    SERIES_NAME,
    Kind,
    uid_text,
)
from controller.registers.errors import BatchError, Problem

HEADER: Final = ["uid", "value", "class", "series"]
ISO_15693_BYTES: Final = 8
ISO_15693_FIRST: Final = 0xE0
_HEX: Final = re.compile(r"(?:[0-9A-Fa-f]{2})+", re.ASCII)
_DIGITS: Final = re.compile(r"[0-9]{1,14}", re.ASCII)
_UID_EXPECTED: Final = f"expected a UID, 1 to {MAX_UID_BYTES} bytes in pairs of hex digits"


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A chip of a batch, not yet in a register."""

    uid: bytes
    cents: int
    kind: Kind
    series: str


KnownIn = Callable[[bytes], int]
"""The version in which a UID was imported, or 0."""


def parse_uid(text: str) -> bytes | None:
    """As people write it: either case; None if it is no UID."""
    if _HEX.fullmatch(text) is None or len(text) > 2 * MAX_UID_BYTES:
        return None
    return bytes.fromhex(text)


def read_batch(content: bytes, name: str, known_in: KnownIn) -> list[BatchRow]:
    """All rows, or ``BatchError`` with all problems."""
    problems: list[Problem] = []
    rows: list[BatchRow] = []
    first_line: dict[bytes, int] = {}
    lines = _lines(content, name)
    for number, fields in lines:
        if len(fields) != len(HEADER):
            said = f"{len(fields)} fields; expected {len(HEADER)}: {','.join(HEADER)}"
            problems.append(Problem("E-CHIP-020", said, name, number))
            continue
        uid, found = _row(fields, name, number)
        if uid is not None:
            at = first_line.setdefault(uid, number)
            if at != number:
                said = f"already on line {at}"
                found.append(Problem("E-CHIP-022", said, name, number, "uid", fields[0]))
            elif version := known_in(uid):
                said = f"already in the register since version {version}"
                found.append(Problem("E-CHIP-023", said, name, number, "uid", fields[0]))
        problems += found
        if uid is not None and not found:
            kind: Kind = "promo" if fields[2] == "promo" else "cash"
            rows.append(BatchRow(uid, int(fields[1]), kind, fields[3]))
    problems += _whole_batch(first_line, name)
    if not first_line and not problems:
        problems.append(Problem("E-CHIP-020", "no chips below the header", name))
    if problems:
        raise BatchError(*problems)
    return rows


def _lines(content: bytes, name: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields; blank lines are skipped, a wrong header stops it all."""
    reader = csv.reader(StringIO(_text(content, name), newline=""), strict=True)
    try:
        header = next(reader, [])
        if header != HEADER:
            said = f"expected the header {','.join(HEADER)}"
            raise BatchError(Problem("E-CHIP-020", said, name, 1, value=",".join(header)))
        for fields in reader:
            if fields:
                yield reader.line_num, fields
    except csv.Error as error:
        raise BatchError(
            Problem("E-CHIP-020", f"not CSV: {error}", name, reader.line_num)
        ) from None


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BatchError(
            Problem("E-CHIP-020", f"byte {error.start} is not UTF-8", name, line)
        ) from None


def _row(fields: list[str], name: str, number: int) -> tuple[bytes | None, list[Problem]]:
    uid_field, value, kind, series = fields
    found = []

    def wrong(code: str, field: str, shown: str, text: str) -> None:
        found.append(Problem(code, text, name, number, field, shown))

    uid = parse_uid(uid_field)
    if uid is None:
        wrong("E-CHIP-021", "uid", uid_field, _UID_EXPECTED)
    if _DIGITS.fullmatch(value) is None or not 1 <= int(value) <= MAX_CENTS:
        expected = f"expected whole minor units (cents), digits only, 1 to {MAX_CENTS}"
        wrong("E-CHIP-024", "value", value, expected)
    if kind not in KINDS:
        wrong("E-CHIP-025", "class", kind, f"expected {' or '.join(KINDS)}")
    if SERIES_NAME.fullmatch(series) is None:
        wrong("E-CHIP-026", "series", series, "expected 1 to 32 of A-Z a-z 0-9 . _ -")
    return uid, found


def _whole_batch(uids: Iterable[bytes], name: str) -> Iterator[Problem]:
    iso = [uid for uid in uids if len(uid) == ISO_15693_BYTES]
    if iso and all(uid[-1] == ISO_15693_FIRST != uid[0] for uid in iso):
        said = "every 8-byte UID ends with E0: written backwards? The first byte must be E0"
        yield Problem("E-CHIP-027", said, name, field="uid", value=uid_text(iso[0]))


def read_uid_list(content: bytes, name: str) -> list[bytes]:
    """One UID a line; blank lines and lines from ``#`` are skipped; a UID twice is one."""
    problems = []
    uids: dict[bytes, None] = {}
    for number, line in enumerate(_text(content, name).split("\n"), 1):
        text = line.split("#")[0].strip()
        if not text:
            continue
        uid = parse_uid(text)
        if uid is None:
            problems.append(Problem("E-CHIP-021", _UID_EXPECTED, name, number, "uid", text))
        else:
            uids[uid] = None
    if len(uids) > MAX_CHIPS:
        problems.append(Problem("E-CHIP-013", f"more than {MAX_CHIPS} UIDs", name))
    if not uids and not problems:
        problems.append(Problem("E-CHIP-020", "no UID in the list", name))
    if problems:
        raise BatchError(*problems)
    return list(uids)
