"""The table's half: journal records around a round, whole, so that anybody can chain them again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from controller.evidence.errors import EvidenceError
from record.journal.disk import RealDisk
from record.journal.errors import JournalCorrupt
from record.journal.format import (
    HEADER_BYTES,
    Record,
    chained,
    decode_head,
    open_record,
    whole_record,
)
from record.journal.reader import verify
from record.journal.segments import list_segments, parse_header, read_segment, segment_name

LINKED: Final = 20_000
"""A start this many records before the round is still linked to it record by record."""
TAIL: Final = 5_000
"""Records kept behind the round, up to the next one."""

Row = dict[str, Any]


class Raw(NamedTuple):
    record: Record
    durable: int
    previous: bytes


@dataclass
class TableHalf:
    head: Row
    rows: list[Row]
    first_ms: int
    """The round, by the table's own clock; what its frames are found by."""
    last_ms: int
    first_seq: int = 0
    """The round's first record: its bets were opened."""

    @property
    def own(self) -> list[Row]:
        """Records of the round itself, without those that link it to the start before it."""
        return [row for row in self.rows if row["seq"] >= self.first_seq]


def raw_records(folder: Path) -> Iterator[tuple[Raw, str, str]]:
    """With journal id and table. A record that is damaged ends it, as the journal's reader says."""
    disk = RealDisk()
    head, numbers = None, list_segments(disk, folder)
    if not numbers:
        said = f"{folder}: no journal here; give the folder that holds 00000001.ufj and later"
        raise EvidenceError("E-EVD-004", said, os.EX_NOINPUT)
    for number in numbers:
        path = folder / segment_name(number)
        data = read_segment(disk, path)
        header = parse_header(data, str(path), number)
        if head is not None and header.previous != head:
            verify(folder)  # says what is wrong, with its code
            raise JournalCorrupt("E-JRN-003", str(path), 16, "the segment does not follow")
        head, at = header.previous, HEADER_BYTES
        while (found := decode_head(data, at)) is not None:
            whole = whole_record(data, at, found)
            if whole is None or found.previous != head:
                verify(folder)
                break
            before, head = head, chained(head, whole)
            record = open_record(whole, found, head)
            yield Raw(record, found.durable, before), header.journal_id.hex(), header.table
            at += found.length
        if data[at:].strip(b"\0"):
            verify(folder)  # passes for a torn write, which nobody acted upon


class _Span(NamedTuple):
    opened: int
    first: int
    last: int


def _body(record: Record) -> Row:
    try:
        found = json.loads(record.body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _about(record: Record) -> int | None:
    if record.kind == "outbox":
        number = _body(record).get("event", {}).get("round")
    elif record.kind == "round":
        number = _body(record).get("round")
    else:
        return None
    return number if isinstance(number, int) else None


def _find(folder: Path, number: int) -> _Span:
    opened = start = first = last = 0
    rounds: list[int] = []
    for (record, _, _), _, _ in raw_records(folder):
        if record.kind == "opened" and not first:
            opened = record.seq
        elif record.kind == "fact" and b'"what":"bets opened"' in record.body:
            start = record.seq
            if first and last < record.seq <= last + TAIL and _over(rounds, number):
                last = max(last, record.seq - 1)
                break
        elif (about := _about(record)) is not None:
            rounds.append(about)
            if about == number:
                first, last = first or start or record.seq, record.seq
        if first and record.seq > last + TAIL:
            break
    else:
        last = max(last, record.seq) if first else last
    if not first:
        known = f"rounds {min(rounds)} to {max(rounds)}" if rounds else "no round at all"
        said = f"{folder}: round {number} is not in this journal; it tells of {known}"
        raise EvidenceError("E-EVD-005", said, os.EX_NOINPUT)
    return _Span(opened, first, last)


def _over(rounds: list[int], number: int) -> bool:
    return bool(rounds) and rounds[-1] >= number


def table_half(folder: Path, number: int, journal: str | None, table: str | None) -> TableHalf:
    """The records of one round with what surrounds them."""
    span = _find(folder, number)
    linked = span.opened if span.opened and span.first - span.opened <= LINKED else span.first
    head: Row = {}
    rows: list[Row] = []
    clock: list[int] = []
    for (record, durable, previous), journal_id, name in raw_records(folder):
        if journal not in (None, journal_id) or table not in (None, name):
            said = f"{folder}: journal {journal_id} of {name}; the award is in {journal}"
            raise EvidenceError("E-EVD-006", f"{said} of {table}", os.EX_NOINPUT)
        if record.seq > span.last:
            break
        if record.seq < linked and record.seq != span.opened:
            continue
        row = row_of(record, durable)
        if record.seq < linked:
            row["apart"] = previous.hex()
        elif not head:
            head = {"journal": journal_id, "table": name, "first_seq": record.seq,
                    "previous": previous.hex()}  # fmt: skip
        rows.append(row)
        if record.kind == "fact" and record.seq >= span.first:
            clock.append(_body(record).get("at_ms", 0))
    return TableHalf(head, rows, min(clock, default=0), max(clock, default=0), span.first)


def row_of(record: Record, durable: int) -> Row:
    row: Row = {"seq": record.seq, "kind": record.kind, "at_ms": record.at_ms, "durable": durable}
    try:
        row["body"] = record.body.decode()
    except UnicodeDecodeError:
        row["body_hex"] = record.body.hex()
    return row | {"hash": record.hash.hex()}


def claim_in(half: TableHalf, number: int, seat: int | None, award: str) -> Row:
    """What the table itself claimed, or heard that it had won, where the server is not at hand."""
    for row in half.own:
        if row["kind"] == "fact" and '"what":"mystery won"' in row.get("body", ""):
            won = json.loads(row["body"])["of"]
            if (won["round_no"], won["award"]) == (number, award) and seat in (None, won["seat"]):
                return {"seat": won["seat"], "hand": "mystery", "percent": 0}
    for row in reversed(half.rows):
        if row["kind"] != "outbox":
            continue
        event = json.loads(row["body"])["event"]
        if event["what"] == "claimed" and event["round"] == number:
            for place, hand, percent in event["claims"]:
                if seat in (None, place):
                    return {"seat": place, "hand": hand, "percent": percent}
    whose = "any seat" if seat is None else f"seat {seat}"
    said = f"round {number}: the table claimed nothing for {whose}, and heard of no {award}"
    raise EvidenceError("E-EVD-005", said, os.EX_NOINPUT)
