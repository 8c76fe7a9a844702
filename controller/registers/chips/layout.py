"""The register's bytes: head, series, chips. Pure; docs/protocols/chip-register.md, section 2.

Knows nothing of files, keys or people. What it packs it does not judge; the ``faults`` judge, whole
columns at a time: 200,000 chips in a few hundredths of a second, which a table affords at a start.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

MAGIC: Final = b"UFCHIPS"
FORMAT: Final = 1
MAX_CHIPS: Final = 1_000_000
MAX_SERIES: Final = 10_000
MAX_HISTORY_BYTES: Final = 32 * 1024 * 1024
MAX_VERSION: Final = 2**32 - 1
MAX_CENTS: Final = 10**13
MAX_UID_BYTES: Final = 16

Kind = Literal["cash", "promo"]
Status = Literal["in play", "stolen", "retired"]
KINDS: Final[tuple[Kind, ...]] = ("cash", "promo")
STATUSES: Final[tuple[Status, ...]] = ("in play", "stolen", "retired")
"""Codes on disk are places in these lists, from 1."""

HOUSE_NAME: Final = re.compile(r"[A-Z0-9-]{1,16}", re.ASCII)
SERIES_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,32}", re.ASCII)

_SIGNED: Final = struct.Struct(">7sBIIQ16sII32s32s32s")
_SERIES: Final = struct.Struct(">32s16s")
_CHIP: Final = struct.Struct(">B16sBBxIQII")
SIGNED_BYTES: Final = _SIGNED.size
SIGNATURE_BYTES: Final = 64
HEAD_BYTES: Final = SIGNED_BYTES + SIGNATURE_BYTES
SERIES_BYTES: Final = _SERIES.size
CHIP_BYTES: Final = _CHIP.size
KEY_BYTES: Final = 17
"""A chip's first bytes, length and UID: what chips are ordered and found by."""
STATUS_AT: Final = 18
MARKED_AT: Final = 36


@dataclass(frozen=True, slots=True)
class Head:
    """The signed part of the head."""

    version: int
    chip_count: int
    issued_at: int
    house: str
    series_count: int
    history_bytes: int
    chips_sha256: bytes
    history_sha256: bytes
    public_key: bytes

    @property
    def body_bytes(self) -> int:
        return self.series_count * SERIES_BYTES + self.chip_count * CHIP_BYTES

    @property
    def file_bytes(self) -> int:
        return HEAD_BYTES + self.body_bytes + self.history_bytes

    @property
    def digest(self) -> str:
        return sha256(pack_head(self)).hexdigest()


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    house: str


@dataclass(frozen=True, slots=True)
class ChipRecord:
    """A chip as it is stored; ``series`` is a place in the series table."""

    uid: bytes
    cents: int
    kind: Kind
    status: Status
    series: int
    added_in: int
    marked_in: int = 0


def pack_head(head: Head) -> bytes:
    return _SIGNED.pack(
        MAGIC,
        FORMAT,
        head.version,
        head.chip_count,
        head.issued_at,
        head.house.encode("ascii"),
        head.series_count,
        head.history_bytes,
        head.chips_sha256,
        head.history_sha256,
        head.public_key,
    )


def unpack_head(signed: bytes) -> Head:
    """The fields as they stand. To be called after the signature was verified."""
    _, _, version, chips, issued_at, house, *rest = _SIGNED.unpack(signed)
    return Head(version, chips, issued_at, _text(house), *rest)


def pack_series(series: Series) -> bytes:
    return _SERIES.pack(series.name.encode("ascii"), series.house.encode("ascii"))


def unpack_series(table: bytes) -> tuple[Series, ...]:
    return tuple(Series(_text(name), _text(house)) for name, house in _SERIES.iter_unpack(table))


def _text(field: bytes) -> str:
    """Latin-1 cannot fail; what is not a name is found by ``head_faults`` and ``series_faults``."""
    return field.rstrip(b"\0").decode("latin-1")


def pack_chip(record: ChipRecord) -> bytes:
    return _CHIP.pack(
        len(record.uid),
        record.uid,
        KINDS.index(record.kind) + 1,
        STATUSES.index(record.status) + 1,
        record.series,
        record.cents,
        record.added_in,
        record.marked_in,
    )


def unpack_chip(chips: bytes, offset: int) -> ChipRecord:
    length, uid, kind, status, series, cents, added, marked = _CHIP.unpack_from(chips, offset)
    return ChipRecord(
        uid[:length], cents, KINDS[kind - 1], STATUSES[status - 1], series, added, marked
    )


def unpack_chips(chips: bytes) -> Iterator[ChipRecord]:
    return (unpack_chip(chips, offset) for offset in range(0, len(chips), CHIP_BYTES))


def key_of(uid: bytes) -> bytes:
    return bytes((len(uid),)) + uid.ljust(MAX_UID_BYTES, b"\0")


def offset_of(chips: bytes | bytearray, key: bytes) -> int:
    """Where the chip with this key begins, or -1: a search by halves."""
    low, high = 0, len(chips) // CHIP_BYTES
    while low < high:
        middle = (low + high) // 2
        start = middle * CHIP_BYTES
        if chips[start : start + KEY_BYTES] < key:
            low = middle + 1
        else:
            high = middle
    start = low * CHIP_BYTES
    return start if chips[start : start + KEY_BYTES] == key else -1


def uid_text(uid: bytes) -> str:
    return uid.hex().upper()


def uid_bytes(text: str) -> bytes | None:
    """The UID of upper-case hex, the one spelling that readers report; None for all else."""
    try:
        uid = bytes.fromhex(text)
    except ValueError:
        return None
    return uid if 1 <= len(uid) <= MAX_UID_BYTES and uid_text(uid) == text else None


# --- is a signed register well-formed? ------------------------------------------------------------


def head_faults(head: Head, signed: bytes) -> Iterator[str]:
    if not head.version:
        yield "version 0"
    if not HOUSE_NAME.fullmatch(head.house) or pack_head(head) != signed:
        yield "the house in the head is no name"
    if head.chip_count > MAX_CHIPS:
        yield f"{head.chip_count} chips, more than {MAX_CHIPS}"
    if head.series_count > MAX_SERIES:
        yield f"{head.series_count} series, more than {MAX_SERIES}"
    if head.history_bytes > MAX_HISTORY_BYTES:
        yield f"{head.history_bytes} bytes of history, more than {MAX_HISTORY_BYTES}"


def series_faults(series: tuple[Series, ...], table: bytes) -> Iterator[str]:
    for number, one in enumerate(series):
        if not SERIES_NAME.fullmatch(one.name) or not HOUSE_NAME.fullmatch(one.house):
            yield f"series {number} has no proper name or house"
            return
    if b"".join(map(pack_series, series)) != table:
        yield "a series is not filled with zero bytes"
    if len(set(series)) != len(series):
        yield "a series appears twice"


def chip_faults(chips: bytes, head: Head) -> Iterator[str]:
    """What is wrong with the chips; stops early where the rest would mean nothing."""
    lengths = _column(chips, 0)
    if not set(lengths) <= set(range(1, MAX_UID_BYTES + 1)):
        yield f"a UID is not 1 to {MAX_UID_BYTES} bytes long"
        return
    if not _padded(chips, lengths):
        yield "a UID is not filled with zero bytes"
    yield from _order_faults(chips)
    if not set(_column(chips, 17)) <= set(range(1, len(KINDS) + 1)):
        yield "a chip has no known class"
    if not set(_column(chips, 18)) <= set(range(1, len(STATUSES) + 1)):
        yield "a chip has no known status"
    if any(_column(chips, 19)):
        yield "byte 19 of a chip is not zero"
    if any(number >= head.series_count for number in _numbers(chips, 20, 4)):
        yield "a chip's series is not in the table"
    if not all(1 <= cents <= MAX_CENTS for cents in _numbers(chips, 24, 8)):
        yield f"a chip's value is not 1 to {MAX_CENTS}"
    if not all(1 <= added <= head.version for added in _numbers(chips, 32, 4)):
        yield "a chip was added in a version that does not exist"
    if any(marked > head.version for marked in _numbers(chips, 36, 4)):
        yield "a chip was marked in a version that does not exist"


def _column(chips: bytes, offset: int) -> bytes:
    return chips[offset::CHIP_BYTES]


def _numbers(chips: bytes, offset: int, size: int) -> set[int]:
    """The different numbers in a column of several bytes: few, however many the chips."""
    columns = (_column(chips, offset + byte) for byte in range(size))
    return {int.from_bytes(bytes(number), "big") for number in set(zip(*columns, strict=True))}


def _padded(chips: bytes, lengths: bytes) -> bool:
    shortest, longest = min(lengths, default=0), max(lengths, default=0)
    for place in range(shortest, MAX_UID_BYTES):
        column = _column(chips, 1 + place)
        if place >= longest:
            if any(column):
                return False
        elif any(byte and length <= place for byte, length in zip(column, lengths, strict=True)):
            return False
    return True


def _order_faults(chips: bytes) -> Iterator[str]:
    previous = b""
    for start in range(0, len(chips), CHIP_BYTES):
        key = chips[start : start + KEY_BYTES]
        if key <= previous:
            what = "appears twice" if key == previous else "is out of order"
            yield f"chip {uid_text(key[1 : 1 + key[0]])} {what}"
            return
        previous = key
