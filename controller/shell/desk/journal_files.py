"""The journal's files beside their writer: its end checked, a round looked up. In a thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from controller.history.entries import load
from controller.history.snapshot import ROUND, round_number
from controller.shell.answers import JournalEnd
from record.journal import JournalError, RealDisk, Record
from record.journal.errors import JournalCorrupt
from record.journal.reader import JournalReader, Report, records_from
from record.journal.segments import list_segments, segment_name
from record.journal.walk import read_headers

SEGMENTS: Final = 16
"""How far back a round is looked for: the table plays meanwhile."""


def checked(folder: Path) -> JournalEnd:
    """The segments, and whether the last of them holds."""
    numbers = list_segments(RealDisk(), folder)
    sizes = [(folder / segment_name(number)).stat().st_size for number in numbers]
    found = JournalEnd(segments=len(numbers), bytes=sum(sizes), verified=False, why="")
    try:
        try:
            records, report = _end(folder)
        except JournalCorrupt:
            records, report = _end(folder)  # a group that was just being written
    except JournalError as error:
        found["why"] = str(error)
        return found
    found["verified"], found["records_checked"] = True, records
    found["last_seq"], found["last_hash"] = report.last_seq, report.head.hex()
    return found


def _end(folder: Path) -> tuple[int, Report]:
    reader = JournalReader(folder, last=1)
    return sum(1 for _ in reader.records()), reader.report()


def past_round(folder: Path, number: int) -> dict[str, Any] | None:
    """The last record of a round, from the newest segment backwards."""
    headers = read_headers(RealDisk(), folder, list_segments(RealDisk(), folder))
    ends = [header.first_seq for header in headers[1:]]
    for header in list(reversed(headers))[:SEGMENTS]:
        end = next((seq for seq in ends if seq > header.first_seq), None)
        found: Record | None = None
        for record in _segment(folder, header.first_seq, end):
            if record.kind == ROUND and round_number(record.body) == number:
                found = record
        if found is not None:
            return load(found.body)
    return None


def _segment(folder: Path, first: int, end: int | None) -> Iterator[Record]:
    for record in records_from(folder, first):
        if end is not None and record.seq >= end:
            return
        yield record
