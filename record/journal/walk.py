"""The chain from the first segment that is kept to the open end, checked record by record.

Reads only. Opening a journal, ``underfelt journal`` and the replay all walk this one way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from record.journal.disk import Disk
from record.journal.errors import JournalCorrupt
from record.journal.format import (
    CHECKPOINT,
    HEADER_BYTES,
    REPAIR,
    Record,
    SegmentHeader,
    genesis,
)
from record.journal.scan import SegmentScan, Tail
from record.journal.segments import SegmentInfo, parse_header, read_segment, segment_name


@dataclass(frozen=True, slots=True)
class Removed:
    """One segment that retention took out, as a checkpoint record names it."""

    segment: int
    through_seq: int
    hash: str


def repair_body(segment: int, tail: Tail) -> bytes:
    row = {
        "segment": segment,
        "offset": tail.offset,
        "bytes": tail.size,
        "sha256": tail.sha256,
        "why": tail.why,
    }
    return json.dumps(row, separators=(",", ":")).encode()


def checkpoint_body(removed: Sequence[Removed]) -> bytes:
    rows = [{"segment": r.segment, "through_seq": r.through_seq, "hash": r.hash} for r in removed]
    return json.dumps({"removed": rows}, separators=(",", ":")).encode()


def read_headers(disk: Disk, folder: Path, numbers: Sequence[int]) -> list[SegmentHeader]:
    """All headers, before anything else is believed: versions, numbers, identity, order."""
    paths = [(number, folder / segment_name(number)) for number in numbers]
    headers = [
        parse_header(read_segment(disk, path, limit=HEADER_BYTES), str(path), number)
        for number, path in paths
    ]
    for before, after in pairwise(headers):
        same = (before.journal_id, before.table) == (after.journal_id, after.table)
        if not same or after.first_seq < before.first_seq:
            file = str(folder / segment_name(after.number))
            raise JournalCorrupt("E-JRN-003", file, 0, "a segment of another journal")
    return headers


class ChainWalk:
    """Iterate over the records of some neighbouring segments; what was learnt stays here."""

    def __init__(
        self,
        disk: Disk,
        folder: Path,
        headers: Sequence[SegmentHeader],
        *,
        open_end: bool = True,
        settled: bool = False,
    ) -> None:
        self._disk, self._folder, self._headers = disk, folder, headers
        self._open_end, self._settled = open_end, settled
        self.infos: list[SegmentInfo] = []
        self.removed: dict[int, Removed] = {}
        self.repairs: list[int] = []
        """Sequence numbers of the repair records."""
        self.tail = Tail(HEADER_BYTES)
        self.next_seq = headers[0].first_seq
        self.head = headers[0].previous

    def records(self, from_seq: int = 1) -> Iterator[Record]:
        """Every record is checked; those from ``from_seq`` on are given."""
        before: Tail | None = None
        for index, header in enumerate(self._headers):
            last = self._open_end and index == len(self._headers) - 1
            path = self._folder / segment_name(header.number)
            data = read_segment(self._disk, path, settled=last and self._settled)
            file = str(path)
            self._refuse_break(parse_header(data, file, header.number), file)
            scan = SegmentScan(data, header, file)
            for record in scan:
                if record.seq == header.first_seq:
                    self._refuse_bad_seam(record, header.number, before)
                self._note(record, first=record.seq == header.first_seq, file=file)
                self.next_seq, self.head = scan.seq, scan.head
                if record.seq >= from_seq:
                    yield record
            if header.first_seq > 1 and scan.seq == header.first_seq:
                raise JournalCorrupt("E-JRN-004", file, HEADER_BYTES, "the first record is damaged")
            self.tail = before = scan.tail() if last else scan.rest()
            self._refuse_early_end(index, before)
            self.infos.append(
                SegmentInfo(
                    header.number,
                    header.first_seq,
                    scan.seq - 1,
                    scan.head,
                    scan.last_ms,
                    scan.newest_ms,
                    scan.end,
                    len(data),
                )
            )

    def _refuse_break(self, header: SegmentHeader, file: str) -> None:
        if (header.first_seq, header.previous) != (self.next_seq, self.head):
            what = (
                f"the segment begins with record {header.first_seq} and a hash that do not follow"
                f" record {self.next_seq - 1}, the last whole one before"
            )
            raise JournalCorrupt("E-JRN-003", file, 16, what)

    def _refuse_early_end(self, index: int, left: Tail) -> None:
        """A closed segment must hold every record up to the first of the next one."""
        after = self._headers[index + 1] if index + 1 < len(self._headers) else None
        if after is not None and left.torn and self.next_seq < after.first_seq:
            what = f"record {self.next_seq} is damaged"
            raise self._corrupt("E-JRN-004", self._headers[index].number, left.offset, what)

    def _refuse_bad_seam(self, first: Record, number: int, before: Tail | None) -> None:
        """What was left over at the end of a segment must be named by a repair record, exactly."""
        if before is None:
            return  # nothing was read before: retention took it, or the walk begins here
        if first.kind == REPAIR:
            if not _same_repair(first.body, repair_body(number - 1, before)):
                what = f"repair record {first.seq} does not name what was cut before it"
                raise self._corrupt("E-JRN-009", number, HEADER_BYTES, what)
        elif before.torn:
            what = f"{before.size} bytes after the last record that no repair record explains"
            raise self._corrupt("E-JRN-007", number - 1, before.offset, what)

    def _corrupt(self, code: str, number: int, offset: int, what: str) -> JournalCorrupt:
        return JournalCorrupt(code, str(self._folder / segment_name(number)), offset, what)

    def _note(self, record: Record, *, first: bool, file: str) -> None:
        """Records that the journal wrote about itself."""
        if record.kind == REPAIR:
            if not first:
                what = f"repair record {record.seq} is not the first of its segment"
                raise JournalCorrupt("E-JRN-009", file, -1, what)
            self.repairs.append(record.seq)
        elif record.kind == CHECKPOINT:
            self.removed |= {row.segment: row for row in _parse_checkpoint(record, file)}

    def refuse_missing_start(self) -> None:
        """After the walk: the first hash must be the beginning, or what a checkpoint carries."""
        first = self._headers[0]
        file = str(self._folder / segment_name(first.number))
        if first.number == 1:
            sound = first.first_seq == 1 and first.previous == genesis(
                first.journal_id, first.table
            )
        else:
            known = Removed(first.number - 1, first.first_seq - 1, first.previous.hex())
            sound = self.removed.get(first.number - 1) == known
        if not sound:
            what = f"nothing vouches for what came before record {first.first_seq}"
            raise JournalCorrupt("E-JRN-010", file, 24, what)


def _same_repair(body: bytes, named: bytes) -> bool:
    """``why`` is the writer's opinion and cannot be checked afterwards; the rest must agree."""
    try:
        said, seen = json.loads(body), json.loads(named)
        return all(said[key] == seen[key] for key in ("segment", "offset", "bytes")) and (
            said["bytes"] == 0 or said["sha256"] == seen["sha256"]
        )
    except (ValueError, KeyError, TypeError):
        return False


def _parse_checkpoint(record: Record, file: str) -> list[Removed]:
    try:
        rows = json.loads(record.body)["removed"]
        return [Removed(int(r["segment"]), int(r["through_seq"]), str(r["hash"])) for r in rows]
    except (ValueError, KeyError, TypeError) as error:
        what = f"checkpoint record {record.seq} cannot be read: {error!r}"
        raise JournalCorrupt("E-JRN-011", file, -1, what) from None
