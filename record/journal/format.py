"""The journal's bytes: segment header and record, encoded and decoded. No file is touched here.

docs/protocols/journal.md is the description that others write readers from; this is one
implementation of it, ``record/verify_journal.py`` another that shares nothing with this one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import Final
from zlib import crc32

from record.journal.errors import NotAppendable

VERSION: Final = 1
SECTOR: Final = 512
HEADER_BYTES: Final = SECTOR
SEGMENT_MAGIC: Final = b"UFJOURN"
RECORD_MAGIC: Final = b"UFRC"
END_MARK: Final = b"CRFU"
MAX_RECORD_BYTES: Final = 1 << 20
MAX_TABLE_BYTES: Final = 64
ZERO_RUN: Final = 64
"""A body never holds this many zero bytes in a row, so a lost sector differs from a written one."""

HEAD_BYTES: Final = 76
_TRAILER_BYTES: Final = 8
_head = Struct(">4sIQQQ32sII")
_u32 = Struct(">I")
_segment = Struct(">7sBIIQ32s16sQI")
_kind = re.compile(r"[a-z][a-z0-9-]{0,31}")
_zeros = bytes(ZERO_RUN)

REPAIR: Final = "repair"
CHECKPOINT: Final = "checkpoint"
OWN_KINDS: Final = frozenset({REPAIR, CHECKPOINT})
"""Kinds that the journal writes itself and nobody else may."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a record stands in the chain: what an acknowledgement or a link message names."""

    seq: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Record:
    seq: int
    kind: str
    body: bytes
    at_ms: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class SegmentHeader:
    number: int
    first_seq: int
    previous: bytes
    journal_id: bytes
    created_ms: int
    size: int
    table: str


@dataclass(frozen=True, slots=True)
class Head:
    """The fixed part of a record. ``durable``: every record up to this one had been synced when
    this one was made, so that whatever stands behind a damage can prove that it is no torn write.
    """

    length: int
    seq: int
    durable: int
    at_ms: int
    previous: bytes
    body_bytes: int
    kind_bytes: int


def genesis(journal_id: bytes, table: str) -> bytes:
    """The hash before record 1: it binds the chain to this journal and table."""
    return sha256(b"underfelt journal 1\n" + journal_id + table.encode()).digest()


# --- segment header ------------------------------------------------------------------------------


def encode_header(header: SegmentHeader) -> bytes:
    fixed = _segment.pack(
        SEGMENT_MAGIC,
        VERSION,
        HEADER_BYTES,
        header.number,
        header.first_seq,
        header.previous,
        header.journal_id,
        header.created_ms,
        header.size,
    )
    table = header.table.encode()
    filled = (fixed + bytes([len(table)]) + table).ljust(HEADER_BYTES - 4, b"\0")
    return filled + _u32.pack(crc32(filled))


def header_version(data: bytes) -> int | None:
    """The version, readable in every version to come; None if this is no segment at all."""
    return data[7] if len(data) > 7 and data[:7] == SEGMENT_MAGIC else None


def decode_header(data: bytes) -> SegmentHeader | None:
    """None if a bit of it is not as it was written."""
    if len(data) < HEADER_BYTES or data[:7] != SEGMENT_MAGIC:
        return None
    head = data[:HEADER_BYTES]
    if _u32.unpack_from(head, HEADER_BYTES - 4)[0] != crc32(head[:-4]):
        return None
    _, version, size_of_head, number, first, previous, journal_id, at, size = _segment.unpack_from(
        head
    )
    start = _segment.size
    count = head[start]
    table = head[start + 1 : start + 1 + count]
    rest = head[start + 1 + count : -4]
    if version != VERSION or size_of_head != HEADER_BYTES or count > MAX_TABLE_BYTES or any(rest):
        return None
    try:
        name = table.decode()
    except UnicodeDecodeError:
        return None
    return SegmentHeader(number, first, previous, journal_id, at, size, name)


# --- record --------------------------------------------------------------------------------------


def record_bytes(kind_bytes: int, body_bytes: int) -> int:
    """Length of the whole record: a multiple of eight, so that the trailer is in one sector."""
    return (HEAD_BYTES + kind_bytes + body_bytes + _TRAILER_BYTES + 7) & ~7


def encode_record(
    kind: str, body: bytes, *, seq: int, durable: int, at_ms: int, previous: bytes
) -> bytes:
    name = kind.encode()
    length = record_bytes(len(name), len(body))
    head = _head.pack(RECORD_MAGIC, length, seq, durable, at_ms, previous, len(body), len(name))
    pad = bytes(length - HEAD_BYTES - len(name) - len(body) - _TRAILER_BYTES)
    whole = b"".join((head, _u32.pack(crc32(head)), name, body, pad))
    return whole + _u32.pack(crc32(whole)) + END_MARK


def refuse_unwritable(kind: str, body: bytes, at_ms: int, file: str) -> None:
    """Raise NotAppendable for what the format cannot hold; before anything is changed."""
    if not _kind.fullmatch(kind) or kind in OWN_KINDS:
        what = f"kind {kind!r}: expected 1 to 32 of a-z 0-9 -, not {' or '.join(sorted(OWN_KINDS))}"
    elif record_bytes(len(kind), len(body)) > MAX_RECORD_BYTES:
        what = f"kind {kind}: {len(body)} bytes of body; a record takes {MAX_RECORD_BYTES} at most"
    elif _zeros in body:
        what = f"kind {kind}: the body has {ZERO_RUN} zero bytes in a row; encode it as text"
    elif not 0 <= at_ms < 1 << 63:
        what = f"kind {kind}: at_ms {at_ms}: expected milliseconds since 1970, not negative"
    else:
        return
    raise NotAppendable("E-JRN-040", file, -1, what)


def decode_head(data: bytes, at: int) -> Head | None:
    """The head at an offset, if its own check sum holds and its lengths agree; else None."""
    if len(data) - at < HEAD_BYTES:
        return None
    magic, length, seq, durable, at_ms, previous, body, kind = _head.unpack_from(data, at)
    if magic != RECORD_MAGIC or length > MAX_RECORD_BYTES or length != record_bytes(kind, body):
        return None
    if _u32.unpack_from(data, at + HEAD_BYTES - 4)[0] != crc32(data[at : at + HEAD_BYTES - 4]):
        return None
    return Head(length, seq, durable, at_ms, previous, body, kind)


def whole_record(data: bytes, at: int, head: Head) -> bytes | None:
    """The record's bytes if check sum, padding and end mark hold; else None."""
    record = data[at : at + head.length]
    if len(record) != head.length or record[-4:] != END_MARK:
        return None
    if _u32.unpack_from(record, head.length - 8)[0] != crc32(record[:-8]):
        return None
    return record


def chained(previous: bytes, record: bytes) -> bytes:
    """h[n] = SHA-256(h[n-1] || record n)."""
    return sha256(previous + record).digest()


def open_record(record: bytes, head: Head, digest: bytes) -> Record:
    start = HEAD_BYTES + head.kind_bytes
    kind = record[HEAD_BYTES:start].decode("ascii", "backslashreplace")
    return Record(head.seq, kind, record[start : start + head.body_bytes], head.at_ms, digest)
