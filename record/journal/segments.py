"""Segment files in a folder: their names, their headers, and how a new one comes into being.

A segment appears whole or not at all: it is filled under another name, synced, renamed, and the
folder is synced. The reserve is such a file kept ready, so that a full disk cannot stop a round.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from record.journal.disk import Disk
from record.journal.errors import JournalCorrupt, JournalMissing, JournalTooNew
from record.journal.format import (
    HEADER_BYTES,
    SECTOR,
    VERSION,
    SegmentHeader,
    decode_header,
    encode_header,
    header_version,
)

NEW: Final = "new.tmp"
SPARE: Final = "spare.tmp"
RESERVE: Final = "reserve"
NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_name = re.compile(r"([0-9]{8})\.ufj")


def segment_name(number: int) -> str:
    return f"{number:08}.ufj"


def segment_numbers(names: Iterable[str]) -> list[int]:
    return sorted(int(match[1]) for name in names if (match := _name.fullmatch(name)))


def list_segments(disk: Disk, folder: Path) -> list[int]:
    """Segment numbers in order, none missing between them; none at all if there is no folder."""
    try:
        numbers = segment_numbers(disk.names(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except PermissionError as error:
        raise JournalMissing("E-JRN-021", str(folder), -1, f"{error.strerror}") from None
    for before, after in pairwise(numbers):
        if after != before + 1:
            file = str(folder / segment_name(before + 1))
            raise JournalCorrupt("E-JRN-003", file, -1, "this segment is missing")
    return numbers


def parse_header(data: bytes, file: str, number: int) -> SegmentHeader:
    """The header of a segment file, or the reason why not; the version is asked first."""
    version = header_version(data)
    if version is not None and version > VERSION:
        what = (
            f"version {version}, this program knows {VERSION}; run the program that wrote it."
            " Nothing was changed"
        )
        raise JournalTooNew("E-JRN-002", file, 7, what)
    header = decode_header(data)
    if header is None:
        raise JournalCorrupt("E-JRN-001", file, 0, "the segment header is damaged")
    if header.number != number:
        what = f"this is segment {header.number}, renamed"
        raise JournalCorrupt("E-JRN-003", file, 12, what)
    return header


def read_segment(disk: Disk, path: Path, *, settled: bool = False, limit: int = -1) -> bytes:
    try:
        return disk.read_settled(path) if settled else disk.read(path, limit)
    except (FileNotFoundError, PermissionError) as error:
        raise JournalMissing("E-JRN-021", str(path), -1, f"{error.strerror}") from None


@dataclass(frozen=True, slots=True)
class SegmentInfo:
    """What is known of a segment once it has been read."""

    number: int
    first_seq: int
    last_seq: int
    last_hash: bytes
    last_ms: int
    newest_ms: int
    end: int
    file_bytes: int


@dataclass(slots=True)
class OpenSegment:
    """The one that is written to. ``capacity`` is what the file really holds; the rest is what is
    durable in it, for the header of the next one and for retention."""

    header: SegmentHeader
    path: Path
    handle: int
    end: int
    capacity: int
    last_seq: int
    last_hash: bytes
    last_ms: int = 0
    newest_ms: int = 0

    def wrote(self, size: int, seq: int, digest: bytes, last_ms: int, newest_ms: int) -> None:
        self.end += size
        self.last_seq, self.last_hash, self.last_ms = seq, digest, last_ms
        self.newest_ms = max(self.newest_ms, newest_ms)

    def info(self) -> SegmentInfo:
        return SegmentInfo(
            self.header.number,
            self.header.first_seq,
            self.last_seq,
            self.last_hash,
            self.last_ms,
            self.newest_ms,
            self.end,
            self.capacity,
        )


class Workshop:
    """Makes segment files in one folder; knows the usual size and the reserve."""

    def __init__(self, disk: Disk, folder: Path, segment_bytes: int, reserve_bytes: int) -> None:
        self.disk, self.folder = disk, folder
        self.segment_bytes, self.reserve_bytes = segment_bytes, reserve_bytes
        self.reserve_spent = False

    def clear_leftovers(self) -> None:
        """Half-made files of a run that was cut off; they never were part of the journal."""
        left = {NEW, SPARE} & set(self.disk.names(self.folder))
        for name in sorted(left):
            self.disk.unlink(self.folder / name)
        if left:
            self.disk.sync_folder(self.folder)

    def keep_reserve(self) -> None:
        """See that the reserve is there, whole and empty; ``reserve_spent`` if it cannot be."""
        path = self.folder / RESERVE
        if RESERVE in self.disk.names(self.folder):
            if self.disk.read(path) == bytes(self.reserve_bytes):
                self.reserve_spent = False
                return
            self.disk.unlink(path)
            self.disk.sync_folder(self.folder)
        self.reserve_spent = not self._make(NEW, RESERVE, self.reserve_bytes)

    def make_spare(self) -> None:
        """Fill the next segment ahead of time; without room there simply is none."""
        if SPARE not in self.disk.names(self.folder):
            self._make(NEW, SPARE, self.segment_bytes)

    def _make(self, under: str, name: str, size: int) -> bool:
        try:
            handle = self.disk.create(self.folder / under, size)
        except OSError as error:
            if error.errno in NO_ROOM:
                return False
            raise
        self.disk.sync(handle)
        self.disk.close(handle)
        self.disk.rename(self.folder / under, self.folder / name)
        self.disk.sync_folder(self.folder)
        return True

    def resume(self, header: SegmentHeader, info: SegmentInfo) -> OpenSegment:
        """Go on writing where the last run ended."""
        path = self.folder / segment_name(info.number)
        return OpenSegment(
            header,
            path,
            self.disk.open(path),
            info.end,
            min(info.file_bytes, header.size),
            info.last_seq,
            info.last_hash,
            info.last_ms,
            info.newest_ms,
        )

    def begin(self, header: SegmentHeader, first: bytes) -> OpenSegment:
        """A new durable segment that begins with these records, which the caller notes with
        ``wrote``. ENOSPC if even the reserve is spent or too small. The size is set here."""
        file, size = self._blank(HEADER_BYTES + len(first))
        final = replace(header, size=size)
        path = self.folder / segment_name(header.number)
        handle = self.disk.open(self.folder / file)
        self.disk.write(handle, encode_header(final) + first, 0)
        self.disk.sync(handle)
        self.disk.rename(self.folder / file, path)
        self.disk.sync_folder(self.folder)
        before = header.first_seq - 1
        return OpenSegment(final, path, handle, HEADER_BYTES, size, before, header.previous)

    def _blank(self, need: int) -> tuple[str, int]:
        """A file of zeros: the spare, else a new one, else the reserve."""
        names = self.disk.names(self.folder)
        if SPARE in names and need <= self.segment_bytes:
            return SPARE, self.segment_bytes
        size = max(-(-need // SECTOR) * SECTOR, self.segment_bytes)
        if self._make(NEW, SPARE, size):
            return SPARE, size
        if RESERVE not in names or need > self.reserve_bytes:
            raise OSError(errno.ENOSPC, "no room, and the reserve is spent")
        self.reserve_spent = True
        return RESERVE, self.reserve_bytes
