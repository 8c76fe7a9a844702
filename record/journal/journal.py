"""The journal that one writer owns: append to a buffer, sync the group, then act on it.

Not for two threads: the writer thread owns it. After JournalFailed nothing works any more, because
nobody knows what the disk has; only a new start, which reads the disk again, may continue.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from record.journal.disk import Disk, RealDisk
from record.journal.errors import (
    JournalFailed,
    JournalLocked,
    JournalMismatch,
    JournalMissing,
    NotAppendable,
)
from record.journal.format import (
    CHECKPOINT,
    MAX_TABLE_BYTES,
    REPAIR,
    SECTOR,
    Position,
    Record,
    SegmentHeader,
    chained,
    encode_record,
    genesis,
    refuse_unwritable,
)
from record.journal.retention import segments_to_remove
from record.journal.segments import (
    NO_ROOM,
    OpenSegment,
    SegmentInfo,
    Workshop,
    list_segments,
    segment_name,
)
from record.journal.walk import (
    ChainWalk,
    Removed,
    checkpoint_body,
    read_headers,
    repair_body,
)

SEGMENT_BYTES: Final = 4 << 20
RESERVE_BYTES: Final = 256 << 10
LEAST_BYTES: Final = 4096
DAY_MS: Final = 86_400_000


class Journal:
    """Made by ``Journal.open``. ``next_seq`` and ``head`` count what is appended, synced or not."""

    journal_id: str
    table: str
    next_seq: int
    head: bytes
    repaired: int
    """Bytes of a torn write that were cut off at this opening."""
    keep_from_seq: int | None
    """Retention never removes this record or a later one: set by its reader."""

    def __init__(self, workshop: Workshop, lock: int, retention_days: int | None) -> None:
        self._workshop, self._lock = workshop, lock
        self._disk, self._folder = workshop.disk, workshop.folder
        self._retention_days = retention_days
        self._buffer: list[bytes] = []
        self._dead = ""
        self._closed: list[SegmentInfo] = []
        self._unchecked: list[SegmentHeader] = []
        self._removed: dict[int, Removed] = {}
        self._segment: OpenSegment | None = None
        self._last_ms = self._newest_ms = 0
        self.durable_seq = 0
        self.repaired = 0
        self.keep_from_seq = None

    # --- opening ---------------------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        table: str,
        create: bool = True,
        disk: Disk | None = None,
        segment_bytes: int = SEGMENT_BYTES,
        reserve_bytes: int = RESERVE_BYTES,
        retention_days: int | None = None,
        keep_from_seq: int | None = None,
        now_ms: int,
        check_segments: int | None = None,
    ) -> Journal:
        """Lock, verify, repair a torn tail, and be ready to append.

        ``keep_from_seq``: retention removes nothing from this record on, not at this start either.
        ``check_segments``: check only so many segments at the end, and the headers of all;
        ``check_older`` then checks the rest. None: all of it now.
        """
        _refuse_settings(path, table, segment_bytes, reserve_bytes)
        disk = disk or RealDisk()
        numbers = list_segments(disk, path)
        if not numbers and not create:
            raise JournalMissing("E-JRN-021", str(path), -1, "no journal here")
        try:
            disk.make_folder(path)
            lock = disk.lock(path)
        except BlockingIOError:
            what = "another process has this journal open; stop it first"
            raise JournalLocked("E-JRN-020", str(path), -1, what) from None
        except OSError as error:
            raise JournalMissing("E-JRN-021", str(path), -1, f"{error.strerror}") from None
        workshop = Workshop(disk, path, segment_bytes, reserve_bytes)
        journal = cls(workshop, lock, retention_days)
        journal.keep_from_seq = keep_from_seq
        opened = False
        try:
            journal._start(table, now_ms, check_segments)
            opened = True
        except OSError as error:
            raise journal._failed(error) from error
        finally:
            if not opened:
                journal.close()
        return journal

    def _start(self, table: str, now_ms: int, check_segments: int | None) -> None:
        # A killed run may have left names and bytes in memory only; what is read must be durable.
        self._disk.sync_folder(self._folder)
        numbers = list_segments(self._disk, self._folder)
        headers = read_headers(self._disk, self._folder, numbers)
        if not headers:
            self._begin_journal(table, now_ms)
            return
        self.table, self.journal_id = headers[-1].table, headers[-1].journal_id.hex()
        if self.table != table:
            what = f"the journal of table {self.table!r}, not of {table!r}"
            raise JournalMismatch("E-JRN-022", str(self._folder), -1, what)
        cut = 0 if check_segments is None else max(0, len(headers) - max(1, check_segments))
        walk = ChainWalk(self._disk, self._folder, headers[cut:], settled=True)
        for _ in walk.records():
            pass
        if cut == 0:
            walk.refuse_missing_start()
        # Everything is sound: only from here on may anything be written.
        self._unchecked, self._removed = list(headers[:cut]), walk.removed
        self._closed = walk.infos[:-1]
        self.next_seq, self.head = walk.next_seq, walk.head
        self.durable_seq = walk.next_seq - 1
        self._workshop.clear_leftovers()
        if walk.tail.torn:
            self._repair(walk, now_ms)
        else:
            self._segment = self._workshop.resume(headers[-1], walk.infos[-1])
        self._workshop.keep_reserve()
        self._retain(now_ms)

    def _begin_journal(self, table: str, now_ms: int) -> None:
        journal_id = secrets.token_bytes(16)
        self.table, self.journal_id = table, journal_id.hex()
        self.next_seq, self.head = 1, genesis(journal_id, table)
        self._workshop.clear_leftovers()
        self._workshop.keep_reserve()
        header = SegmentHeader(1, 1, self.head, journal_id, now_ms, 0, table)
        self._segment = self._workshop.begin(header, b"")

    def _repair(self, walk: ChainWalk, now_ms: int) -> None:
        """The torn bytes stay as evidence; a new segment begins with the record that names them.

        So there is no moment at which the tail is cut and nothing says so.
        """
        last, tail = walk.infos[-1], walk.tail
        self._closed.append(last)
        record = self._made(REPAIR, repair_body(last.number, tail), now_ms)
        header = self._next_header(last, now_ms)
        self._adopt(record, now_ms)
        self._segment = self._workshop.begin(header, record)
        self._wrote(self._segment, len(record))
        self.repaired = tail.size
        self._disk.truncate(self._folder / segment_name(last.number), tail.offset + tail.size)

    def check_older(self) -> Iterator[int]:
        """Check what opening left out, a segment at a time; raises JournalCorrupt."""
        self._alive()
        if not self._unchecked:
            return
        numbers = [header.number for header in self._unchecked]
        beyond = self._closed[0].number if self._closed else self._current().header.number
        headers = read_headers(self._disk, self._folder, [*numbers, beyond])
        walk = ChainWalk(self._disk, self._folder, headers, open_end=False)
        done = 0
        for _ in walk.records():
            if len(walk.infos) > done:
                yield walk.infos[done].number
                done += 1
        walk.removed |= self._removed
        walk.refuse_missing_start()
        self._closed = walk.infos[:-1] + self._closed
        self._unchecked = []

    # --- writing ---------------------------------------------------------------------------------

    def append(self, kind: str, body: bytes, at_ms: int) -> Position:
        """Take a record into the group; nothing is on the disk, so nothing may be shown yet."""
        self._alive()
        refuse_unwritable(kind, body, at_ms, str(self._folder))
        record = self._made(kind, body, at_ms)
        self._buffer.append(record)
        return self._adopt(record, at_ms)

    def _made(self, kind: str, body: bytes, at_ms: int) -> bytes:
        return encode_record(
            kind, body, seq=self.next_seq, durable=self.durable_seq, at_ms=at_ms, previous=self.head
        )

    def _adopt(self, record: bytes, at_ms: int) -> Position:
        seq = self.next_seq
        self.head = chained(self.head, record)
        self.next_seq = seq + 1
        self._last_ms = at_ms
        self._newest_ms = max(self._newest_ms, at_ms)
        return Position(seq, self.head)

    def sync(self) -> None:
        """Write the group with one write and make it durable. When this returns, act on it."""
        self._alive()
        if not self._buffer:
            return
        # Whatever leaves here by an exception, an interrupt included, leaves doubt behind.
        self._dead = "a sync did not come to its end"
        try:
            if self._write_group():
                self._retain(self._last_ms)
        except OSError as error:
            raise self._failed(error) from error
        self._dead = ""

    def _write_group(self) -> bool:
        """True if a new segment was begun for it: a group is never spread over two."""
        group = b"".join(self._buffer)
        segment = self._current()
        rotate = segment.end + len(group) > segment.capacity
        if rotate:
            segment = self._rotate(segment, group)
        else:
            self._disk.write(segment.handle, group, segment.end)
            self._disk.sync(segment.handle)
        self._buffer.clear()
        self._wrote(segment, len(group))
        return rotate

    def _wrote(self, segment: OpenSegment, size: int) -> None:
        self.durable_seq = self.next_seq - 1
        segment.wrote(size, self.durable_seq, self.head, self._last_ms, self._newest_ms)
        self._newest_ms = 0

    def _rotate(self, full: OpenSegment, group: bytes) -> OpenSegment:
        closed = full.info()
        fresh = self._workshop.begin(self._next_header(closed, self._last_ms), group)
        self._disk.close(full.handle)
        self._segment = fresh
        self._closed.append(closed)
        self._disk.truncate(full.path, closed.end)
        return fresh

    def _next_header(self, closed: SegmentInfo, now_ms: int) -> SegmentHeader:
        journal_id = bytes.fromhex(self.journal_id)
        return SegmentHeader(
            closed.number + 1,
            closed.last_seq + 1,
            closed.last_hash,
            journal_id,
            now_ms,
            0,
            self.table,
        )

    def _retain(self, now_ms: int) -> None:
        """Take out segments that are older than anybody must keep; the checkpoint goes first."""
        if self._retention_days is None or self._unchecked:
            return
        old = segments_to_remove(
            self._closed, now_ms, self._retention_days * DAY_MS, self.keep_from_seq
        )
        if not old:
            return
        removed = [Removed(info.number, info.last_seq, info.last_hash.hex()) for info in old]
        record = self._made(CHECKPOINT, checkpoint_body(removed), now_ms)
        self._buffer.append(record)
        self._adopt(record, now_ms)
        self._write_group()
        for info in old:
            self._disk.unlink(self._folder / segment_name(info.number))
            self._closed.remove(info)
        self._disk.sync_folder(self._folder)

    def prepare(self) -> None:
        """Between rounds, when there is time: fill the next segment ahead, renew the reserve."""
        self._alive()
        self._dead = "a sync did not come to its end"
        try:
            if self._workshop.reserve_spent:
                self._workshop.keep_reserve()
            segment = self._current()
            if segment.capacity - segment.end < segment.capacity // 2:
                self._workshop.make_spare()
        except OSError as error:
            raise self._failed(error) from error
        self._dead = ""

    # --- reading and state -----------------------------------------------------------------------

    def records(self, from_seq: int = 1) -> Iterator[Record]:
        """What is durable now, from a record on; every record is checked again on the way.

        Records that retention removed are not given: the first may be later than asked for.
        """
        self._alive()
        through = self.durable_seq
        headers = read_headers(self._disk, self._folder, list_segments(self._disk, self._folder))
        start = max((i for i, h in enumerate(headers) if h.first_seq <= from_seq), default=0)
        walk = ChainWalk(self._disk, self._folder, headers[start:])
        for record in walk.records(from_seq):
            if record.seq > through:
                return
            yield record

    @property
    def full(self) -> bool:
        """The reserve is in use or cannot be had: finish the round, open no new one."""
        return self._workshop.reserve_spent

    @property
    def free_bytes(self) -> int:
        """Free on the file system, the reserve not counted."""
        self._alive()
        return self._disk.free_bytes(self._folder)

    @property
    def unchecked(self) -> int:
        """Segments that opening left to ``check_older``."""
        return len(self._unchecked)

    def close(self) -> None:
        """Let go of the files. What was appended and not synced is given up: nobody acted on it."""
        if self._segment is not None:
            self._disk.close(self._segment.handle)
            self._segment = None
        if self._lock >= 0:
            self._disk.close(self._lock)
            self._lock = -1
        self._dead = self._dead or "the journal is closed"

    def _current(self) -> OpenSegment:
        assert self._segment is not None
        return self._segment

    def _alive(self) -> None:
        if self._dead:
            what = f"{self._dead}; nothing more can be done with it in this process"
            raise JournalFailed("E-JRN-032", str(self._folder), -1, what)

    def _failed(self, error: OSError) -> JournalFailed:
        if error.errno in NO_ROOM:
            self._dead = "the disk is full and the reserve is spent"
            return JournalFailed("E-JRN-031", str(self._folder), -1, self._dead)
        self._dead = f"the disk failed: {error.strerror or error}"
        return JournalFailed("E-JRN-030", str(self._folder), -1, self._dead)


def _refuse_settings(path: Path, table: str, segment_bytes: int, reserve_bytes: int) -> None:
    if not 1 <= len(table.encode()) <= MAX_TABLE_BYTES or "\0" in table:
        what = f"table {table!r}: expected 1 to {MAX_TABLE_BYTES} bytes"
    elif not LEAST_BYTES <= segment_bytes < 1 << 31 or segment_bytes % SECTOR:
        what = f"segment_bytes {segment_bytes}: expected at least {LEAST_BYTES}, by {SECTOR}"
    elif not LEAST_BYTES <= reserve_bytes < 1 << 31 or reserve_bytes % SECTOR:
        what = f"reserve_bytes {reserve_bytes}: expected at least {LEAST_BYTES}, by {SECTOR}"
    else:
        return
    raise NotAppendable("E-JRN-041", str(path), -1, what)
