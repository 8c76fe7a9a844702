"""The next version of a register: chips imported, chips marked. Pure but for the signature.

Every change is one version and one line of history; nothing is ever taken out. The time is the
caller's. Writing the file is ``files.write_atomically``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from controller.registers.chips.batch import BatchRow
from controller.registers.chips.history import (
    MAX_TIME,
    ChipEntry,
    ChipStamp,
    Imported,
    Marked,
    check_stamp,
    line_of,
    time_text,
)
from controller.registers.chips.layout import (
    CHIP_BYTES,
    HOUSE_NAME,
    MARKED_AT,
    MAX_CHIPS,
    MAX_HISTORY_BYTES,
    MAX_SERIES,
    MAX_VERSION,
    STATUS_AT,
    STATUSES,
    ChipRecord,
    Head,
    Series,
    Status,
    key_of,
    offset_of,
    pack_chip,
    pack_head,
    pack_series,
    uid_text,
    unpack_chip,
)
from controller.registers.chips.load import LoadedChips
from controller.registers.errors import BatchError, Problem
from controller.registers.keys import SigningSecret


@dataclass(frozen=True, slots=True)
class Content:
    """A version of a register before it is signed."""

    version: int
    house: str
    issued_at: int
    series: tuple[Series, ...]
    chips: bytes
    history: bytes


@dataclass(frozen=True, slots=True)
class Source:
    """The batch file: its name and the hash of its bytes, for the history."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class MarkResult:
    """``content`` is None if every chip already had the status."""

    content: Content | None
    changed: tuple[str, ...]
    already: tuple[str, ...]


def start(house: str) -> Content:
    """An empty register, version 0: not a file yet, the first import makes it one."""
    if HOUSE_NAME.fullmatch(house) is None:
        raise _no_house(house)
    return Content(0, house, 0, (), b"", b"")


def of(loaded: LoadedChips) -> Content:
    head = loaded.head
    return Content(
        head.version, head.house, head.issued_at, loaded.series, loaded.chips, loaded.history
    )


def known_in(content: Content, uid: bytes) -> int:
    """The version in which a UID was imported, or 0."""
    offset = offset_of(content.chips, key_of(uid))
    return 0 if offset < 0 else unpack_chip(content.chips, offset).added_in


def import_chips(
    old: Content, rows: Sequence[BatchRow], house: str, source: Source, stamp: ChipStamp
) -> Content:
    """``rows`` come from ``read_batch``, which has looked for duplicates."""
    check_stamp(stamp, why_needed=False)
    if HOUSE_NAME.fullmatch(house) is None:
        raise _no_house(house)
    version = old.version + 1
    places = {one: place for place, one in enumerate(old.series)}
    chips = [old.chips[at : at + CHIP_BYTES] for at in range(0, len(old.chips), CHIP_BYTES)]
    for row in rows:
        place = places.setdefault(Series(row.series, house), len(places))
        record = ChipRecord(row.uid, row.cents, row.kind, "in play", place, version)
        chips.append(pack_chip(record))
    chips.sort()  # a chip's bytes begin with what it is ordered by
    entry = Imported(version, stamp, house, len(rows), source.name, source.sha256)
    return _next(old, entry, tuple(places), b"".join(chips))


def mark_chips(old: Content, uids: Iterable[bytes], status: Status, stamp: ChipStamp) -> MarkResult:
    """Refuses the whole list if one of its chips is not in the register."""
    check_stamp(stamp, why_needed=True)
    chips = bytearray(old.chips)
    version = old.version + 1
    code = STATUSES.index(status) + 1
    unknown: list[Problem] = []
    changed: list[str] = []
    already: list[str] = []
    for key in sorted({key_of(uid) for uid in uids}):
        uid = uid_text(key[1 : 1 + key[0]])
        offset = offset_of(chips, key)
        if offset < 0:
            unknown.append(Problem("E-CHIP-028", "not in the register", field="uid", value=uid))
        elif chips[offset + STATUS_AT] == code:
            already.append(uid)
        else:
            chips[offset + STATUS_AT] = code
            chips[offset + MARKED_AT : offset + CHIP_BYTES] = version.to_bytes(4, "big")
            changed.append(uid)
    if unknown:
        raise BatchError(*unknown)
    if not changed:
        return MarkResult(None, (), tuple(already))
    entry = Marked(version, stamp, status, tuple(changed))
    return MarkResult(_next(old, entry, old.series, bytes(chips)), tuple(changed), tuple(already))


def _no_house(house: str) -> BatchError:
    said = "expected a house, 1 to 16 of A-Z 0-9 -"
    return BatchError(Problem("E-CHIP-029", said, field="house", value=house))


def _next(old: Content, entry: ChipEntry, series: tuple[Series, ...], chips: bytes) -> Content:
    at = entry.stamp.at
    if not old.issued_at <= at <= MAX_TIME:
        said = f"the register's last entry is of {time_text(old.issued_at)}; set the clock"
        raise BatchError(Problem("E-CHIP-030", said, field="time", value=str(at)))
    history = old.history + line_of(entry)
    for what, count, limit in (
        ("chips", len(chips) // CHIP_BYTES, MAX_CHIPS),
        ("series", len(series), MAX_SERIES),
        ("bytes of history", len(history), MAX_HISTORY_BYTES),
        ("versions", entry.version, MAX_VERSION),
    ):
        if count > limit:
            raise BatchError(Problem("E-CHIP-013", f"{count} {what}; at most {limit}"))
    return Content(entry.version, old.house, at, series, chips, history)


def seal(content: Content, key: SigningSecret) -> bytes:
    """The signed file. Ed25519 draws no chance: the same content gives the same bytes."""
    table = b"".join(map(pack_series, content.series))
    head = pack_head(
        Head(
            version=content.version,
            chip_count=len(content.chips) // CHIP_BYTES,
            issued_at=content.issued_at,
            house=content.house,
            series_count=len(content.series),
            history_bytes=len(content.history),
            chips_sha256=sha256(table + content.chips).digest(),
            history_sha256=sha256(content.history).digest(),
            public_key=key.public,
        )
    )
    return b"".join((head, key.sign(head), table, content.chips, content.history))
