"""Reading a journal that somebody else may be writing: no lock, no change, no repair.

A live journal can show half a group for a moment. That looks like a torn tail, is reported as one
and never as damage; a follower simply asks again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from record.journal.disk import Disk, RealDisk
from record.journal.errors import JournalCorrupt, JournalMissing
from record.journal.format import HEADER_BYTES, Record
from record.journal.scan import SegmentScan, Tail
from record.journal.segments import list_segments, parse_header, read_segment, segment_name
from record.journal.walk import ChainWalk, read_headers


@dataclass(frozen=True, slots=True)
class Report:
    """What a verification found; only made if everything holds."""

    journal_id: str
    table: str
    segments: int
    file_bytes: int
    first_seq: int
    last_seq: int
    head: bytes
    repairs: tuple[int, ...]
    tail: Tail

    @property
    def records(self) -> int:
        return self.last_seq - self.first_seq + 1


class JournalReader:
    """One pass over a folder: iterate ``records()``, then ask for the ``report()``.

    ``last``: only the segments that surely hold so many records at the end.
    """

    def __init__(self, folder: Path, disk: Disk | None = None, *, last: int | None = None) -> None:
        disk = disk or RealDisk()
        headers = read_headers(disk, folder, list_segments(disk, folder))
        if not headers:
            what = "no journal here; give the folder that holds 00000001.ufj and later"
            raise JournalMissing("E-JRN-021", str(folder), -1, what)
        if last is not None:
            end = headers[-1].first_seq
            start = max((i for i, h in enumerate(headers) if end - h.first_seq >= last), default=0)
            headers = headers[start:]
        self._whole = last is None
        self._first = headers[0]
        self._walk = ChainWalk(disk, folder, headers)

    def records(self, from_seq: int = 1) -> Iterator[Record]:
        """Checked from the first to the last; if all are read, the beginning too."""
        yield from self._walk.records(from_seq)
        if self._whole:
            self._walk.refuse_missing_start()

    def report(self) -> Report:
        walk = self._walk
        return Report(
            self._first.journal_id.hex(),
            self._first.table,
            len(walk.infos),
            sum(info.file_bytes for info in walk.infos),
            self._first.first_seq,
            walk.next_seq - 1,
            walk.head,
            tuple(walk.repairs),
            walk.tail,
        )


def records_from(folder: Path, seq: int, disk: Disk | None = None) -> Iterator[Record]:
    """From a record on, beside a writer; what stands in segments before it is not read.

    The first may be later than asked for, if retention has removed it.
    """
    disk = disk or RealDisk()
    headers = read_headers(disk, folder, list_segments(disk, folder))
    start = max((i for i, h in enumerate(headers) if h.first_seq <= seq), default=0)
    yield from ChainWalk(disk, folder, headers[start:]).records(seq)


def verify(folder: Path, disk: Disk | None = None) -> Report:
    """Read everything; a Report, or the JournalError that says what does not hold.

    Damage is looked at twice: within a sector that is being written just now anything may be seen.
    """
    try:
        return _verify(folder, disk)
    except JournalCorrupt:
        return _verify(folder, disk)


def _verify(folder: Path, disk: Disk | None) -> Report:
    reader = JournalReader(folder, disk)
    for _ in reader.records():
        pass
    return reader.report()


class Follower:
    """New records each time it is asked, across rotations and repairs."""

    PATIENCE = 5
    """Polls for which a damage may still be a group that is just being written."""

    def __init__(self, folder: Path, after: Report, disk: Disk | None = None) -> None:
        self._folder, self._disk = folder, disk or RealDisk()
        self._seq, self._head = after.last_seq + 1, after.head
        self._doubts = 0

    def poll(self) -> list[Record]:
        fresh: list[Record] = []
        try:
            for number in list_segments(self._disk, self._folder):
                fresh += self._from_segment(number)
        except JournalCorrupt:
            self._doubts += 1
            if self._doubts >= self.PATIENCE:
                raise
            return fresh
        self._doubts = 0
        return fresh

    def _from_segment(self, number: int) -> list[Record]:
        path = self._folder / segment_name(number)
        if not self._may_have_news(number):
            return []
        data = read_segment(self._disk, path)
        header = parse_header(data, str(path), number)
        scan = SegmentScan(data, header, str(path))
        if header.first_seq > self._seq:
            raise JournalCorrupt("E-JRN-003", str(path), 16, "records were removed before this")
        fresh: list[Record] = []
        for record in scan:
            if record.seq == self._seq - 1 and record.hash != self._head:
                what = f"record {record.seq} is another one than was read before"
                raise JournalCorrupt("E-JRN-005", str(path), -1, what)
            if record.seq >= self._seq:
                fresh.append(record)
                self._seq, self._head = record.seq + 1, record.hash
        return fresh

    def _may_have_news(self, number: int) -> bool:
        """Only the last segment that begins at or before the next record, and later ones."""
        after = self._folder / segment_name(number + 1)
        try:
            data = self._disk.read(after, HEADER_BYTES)
        except FileNotFoundError:
            return True
        return parse_header(data, str(after), number + 1).first_seq > self._seq
