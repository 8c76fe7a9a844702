"""One segment's bytes read from front to back, and its tail judged: clean, torn or damaged.

Pure. The rules of the tail, and why no single flipped bit passes them while every torn write does,
are section 5 of docs/protocols/journal.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from record.journal.errors import JournalCorrupt
from record.journal.format import (
    HEAD_BYTES,
    HEADER_BYTES,
    RECORD_MAGIC,
    SECTOR,
    Head,
    Record,
    SegmentHeader,
    chained,
    decode_head,
    open_record,
    whole_record,
)

Why = Literal["", "cut", "hole", "short"]
_LEAST_WRITTEN: Final = 4
"""Bytes that are not zero in whatever part of a sector a record really reached."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What stands behind the last whole record: nothing, or ``size`` bytes of a torn write."""

    offset: int
    size: int = 0
    why: Why = ""
    sha256: str = ""

    @property
    def torn(self) -> bool:
        return bool(self.why)


class SegmentScan:
    """Iterate for the records; afterwards ``seq``, ``head`` and ``end`` say where they ended."""

    def __init__(self, data: bytes, header: SegmentHeader, file: str) -> None:
        self._data, self._header, self._file = data, header, file
        self.seq = header.first_seq
        """The number that the next record has."""
        self.head = header.previous
        self.end = HEADER_BYTES
        self.newest_ms = self.last_ms = 0
        self._used = len(data.rstrip(b"\0"))

    def __iter__(self) -> Iterator[Record]:
        data = self._data
        while self.end < self._used:
            head = decode_head(data, self.end)
            record = head and whole_record(data, self.end, head)
            if head is None or not record:
                return
            self._refuse_stranger(head)
            self.head = chained(self.head, record)
            self.last_ms = head.at_ms
            self.newest_ms = max(self.newest_ms, head.at_ms)
            self.seq += 1
            self.end += head.length
            yield open_record(record, head, self.head)

    def _refuse_stranger(self, head: Head) -> None:
        """Whole, but does it follow? Stale bytes and edited records end here."""
        if head.seq != self.seq:
            what = f"record {head.seq} stands where {self.seq} is expected"
            raise self._corrupt("E-JRN-006", what)
        if head.previous != self.head:
            what = f"record {head.seq} does not continue the hash chain: something before changed"
            raise self._corrupt("E-JRN-005", what)
        if head.durable >= head.seq:
            raise self._corrupt("E-JRN-004", f"record {head.seq} claims to be synced already")

    def _corrupt(self, code: str, what: str) -> JournalCorrupt:
        return JournalCorrupt(code, self._file, self.end, what)

    def rest(self) -> Tail:
        """What was not read, unjudged; a repair record of the next segment must name it exactly."""
        if self._used <= self.end:
            return Tail(self.end)
        left = self._data[self.end : self._used]
        return Tail(self.end, len(left), "cut", sha256(left).hexdigest())

    def tail(self) -> Tail:
        """The open end of the last segment: clean, torn, or JournalCorrupt."""
        left = self.rest()
        if not left.torn:
            if len(self._data) < self._header.size:
                return Tail(self.end, 0, "short", sha256(b"").hexdigest())
            return left
        proof = self._synced_behind()
        if proof is not None:
            what = f"record {self.seq} is damaged, but record {proof} proves that it was synced"
            raise self._corrupt("E-JRN-008", what)
        if self._cut():
            return left
        if self._hole():
            return Tail(left.offset, left.size, "hole", left.sha256)
        if self._data[self.end : self.end + 4] == RECORD_MAGIC:
            raise self._corrupt("E-JRN-004", f"record {self.seq} is damaged")
        what = f"{left.size} bytes after the last record that no torn write explains"
        raise self._corrupt("E-JRN-007", what)

    def _synced_behind(self) -> int | None:
        """A whole record behind the damage that was made when the damaged one had been synced."""
        at = self._data.find(RECORD_MAGIC, self.end + 1)
        while at != -1:
            head = decode_head(self._data, at)
            if head and head.durable >= self.seq and whole_record(self._data, at, head):
                return head.seq
            at = self._data.find(RECORD_MAGIC, at + 1)
        return None

    def _cut(self) -> bool:
        """The bytes are the beginning of the expected record, and its end is missing."""
        present = self._data[self.end : self._used]
        if len(present) >= HEAD_BYTES:
            head = self._expected_head()
            return head is not None and head.length > len(present)
        known = ((0, RECORD_MAGIC), (8, self.seq.to_bytes(8, "big")), (32, self.head))
        for at, field in known:
            seen = present[at : at + len(field)]
            if seen != field[: len(seen)]:
                return False
        return True

    def _expected_head(self) -> Head | None:
        head = decode_head(self._data, self.end)
        if head is None or (head.seq, head.previous) != (self.seq, self.head):
            return None
        return head if self.end + head.length <= self._header.size else None

    def _hole(self) -> bool:
        """A whole sector of the expected record is missing, and what else is there is written."""
        head = self._expected_head()
        need = self.end + (head.length if head else HEAD_BYTES)
        missing = False
        at = self.end
        while at < self._used:
            stop = min((at // SECTOR + 1) * SECTOR, self._used)
            written = stop - at - self._data.count(0, at, stop)
            if 0 < written < _LEAST_WRITTEN:
                return False
            missing = missing or (written == 0 and at < need)
            at = stop
        return missing
