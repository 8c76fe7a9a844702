#!/usr/bin/env python3
"""Verify an Underfelt journal with nothing but Python: python verify_journal.py FOLDER [--json]

One file, standard library only, written from docs/protocols/journal.md and sharing no code with
the program that writes journals. Reads the folder, changes nothing.

  --json               the answer as one JSON object
  --expect SEQ:HASH    a record's hash that somebody else kept (a link server, a printed report);
                       may be given several times

Exit 0: every check holds. Exit 1: one does not, and the answer says where. Exit 2: usage.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SECTOR = 512
HEAD = struct.Struct(">4sIQQQ32sII")
SEGMENT = struct.Struct(">7sBIIQ32s16sQI")
CARDS = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]


class Broken(Exception):
    """A check that does not hold."""

    def __init__(self, code: str, file: str, offset: int, what: str) -> None:
        super().__init__(what)
        self.row = {"code": code, "file": file, "offset": offset, "what": what}


def u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big")


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


class Segment:
    """Header of one file, with its bytes."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.data = path.read_bytes()
        head = self.data[:SECTOR]
        if head[:7] != b"UFJOURN" or len(head) < SECTOR:
            raise Broken("E-JRN-001", self.name, 0, "this is no journal segment")
        if head[7] > 1:
            raise Broken("E-JRN-002", self.name, 7, f"version {head[7]}; this verifier knows 1")
        fields = SEGMENT.unpack_from(head)
        self.number, self.first_seq, self.previous, self.journal_id = fields[3:7]
        self.size = fields[8]
        length = head[84]
        self.table = head[85 : 85 + length]
        spare = head[85 + length : 508]
        if zlib.crc32(head[:508]) != u32(head, 508) or (head[7], fields[2]) != (1, 512):
            raise Broken("E-JRN-001", self.name, 0, "the segment header is damaged")
        if any(spare) or length > 64:
            raise Broken("E-JRN-001", self.name, 85, "the segment header is not as specified")
        if self.number != int(path.stem):
            raise Broken("E-JRN-003", self.name, 12, f"this is segment {self.number}, renamed")
        self.used = len(self.data.rstrip(b"\0"))


class Commitments:
    """Sealed cards and their openings: SHA-256(nonce || card) must be what was journalled."""

    def __init__(self) -> None:
        self.first_seq = 1
        self.sealed = self.opened = self.unchecked = 0
        self.waiting: dict[tuple[int, int], str] = {}

    def take(self, file: str, at: int, seq: int, kind: str, body: bytes) -> None:
        if kind != "revealed" and b'"commit"' not in body:
            return
        try:
            value = json.loads(body)
        except ValueError:
            return  # a body need not be JSON; then it seals nothing that could be checked here
        if kind != "revealed":
            for index, commit in enumerate(sealed_in(value)):
                self.sealed += 1
                self.waiting[seq, index] = commit
            return
        try:
            rows = [
                (row["seq"], row["index"], bytes.fromhex(row["nonce"]), CARDS.index(row["card"]))
                for row in value["cards"]
            ]
        except (KeyError, TypeError, ValueError) as error:
            what = f"record {seq}: a reveal that cannot be read: {error!r}"
            raise Broken("E-JRN-050", file, at, what) from None
        for sealed_at, index, nonce, card in rows:
            self.open(Place(file, at, seq), (sealed_at, index), sha(nonce, bytes([card])).hex())

    def open(self, place: Place, which: tuple[int, int], made: str) -> None:
        said = f"record {place.seq} opens card {which[1] + 1} of record {which[0]}"
        commit = self.waiting.pop(which, None)
        if commit == made:
            self.opened += 1
        elif commit is not None:
            what = f"{said}, and it is another card than was sealed"
            raise Broken("E-JRN-052", place.file, place.at, what)
        elif which[0] < self.first_seq:
            self.unchecked += 1  # sealed in a segment that retention removed
        else:
            what = f"{said}, which was never sealed or has been opened before"
            raise Broken("E-JRN-051", place.file, place.at, what)


class Outbox:
    """Events for the link server are numbered 1, 2, 3, ...: one that is missing was removed."""

    def __init__(self) -> None:
        self.cut = False
        self.last = 0
        self.count = 0

    def take(self, file: str, at: int, seq: int, kind: str, body: bytes) -> None:
        if kind != "outbox":
            return
        try:
            number = int(json.loads(body)["n"])
        except (KeyError, TypeError, ValueError) as error:
            what = f"record {seq}: an outbox record that cannot be read: {error!r}"
            raise Broken("E-JRN-054", file, at, what) from None
        begins = self.cut and not self.count
        if number != self.last + 1 and not begins:
            what = f"record {seq} is event {number}, expected {self.last + 1}"
            raise Broken("E-JRN-054", file, at, what)
        self.last, self.count = number, self.count + 1


class Place(NamedTuple):
    file: str
    at: int
    seq: int


def sealed_in(value: Any) -> Iterator[str]:
    """The commitments of the sealed cards in a body, in the order in which they stand there."""
    if isinstance(value, dict):
        if set(value) == {"commit", "box"}:
            yield str(value["commit"])
        else:
            for part in value.values():
                yield from sealed_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from sealed_in(part)


class Verifier:
    """Walks the chain from the oldest file to the open end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seq = 0
        self.hash = b""
        self.hashes: dict[int, str] = {}
        self.kept: set[int] = set()
        self.records = 0
        self.repairs: list[int] = []
        self.removed: dict[int, tuple[int, str]] = {}
        self.leftover: tuple[str, int, bytes] | None = None
        self.torn = 0
        self.commitments = Commitments()
        self.outbox = Outbox()

    def run(self, expected: dict[int, str]) -> dict[str, Any]:
        self.kept = set(expected)
        paths = sorted(p for p in self.folder.iterdir() if re.fullmatch(r"\d{8}\.ufj", p.name))
        if not paths:
            raise Broken("E-JRN-021", str(self.folder), -1, "no journal here")
        first: Segment | None = None
        number = int(paths[0].stem)
        size = 0
        for path in paths:
            if int(path.stem) != number:
                raise Broken("E-JRN-003", f"{number:08}.ufj", -1, "this segment is missing")
            segment = Segment(path)
            size += len(segment.data)
            first = first or segment
            self.seam(first, segment)
            self.segment(segment, last=path == paths[-1])
            number += 1
        assert first is not None
        self.beginning(first)
        self.witnesses(expected)
        return {
            "ok": True,
            "journal_id": first.journal_id.hex(),
            "table": first.table.decode(errors="replace"),
            "segments": len(paths),
            "bytes": size,
            "records": self.records,
            "first_seq": first.first_seq,
            "last_seq": self.seq - 1,
            "head": self.hash.hex(),
            "repairs": self.repairs,
            "torn_bytes": self.torn,
            "sealed": self.commitments.sealed,
            "opened": self.commitments.opened,
            "opened_unchecked": self.commitments.unchecked,
            "witnessed": len(expected),
        }

    def seam(self, first: Segment, segment: Segment) -> None:
        """A segment must begin exactly where the one before ended."""
        if segment is first:
            self.seq, self.hash = segment.first_seq, segment.previous
            self.commitments.first_seq = segment.first_seq
            self.outbox.cut = segment.first_seq > 1
        if self.leftover and self.leftover[2] and self.seq < segment.first_seq:
            file, at, _ = self.leftover
            raise Broken("E-JRN-004", file, at, f"record {self.seq} is damaged")
        same = (segment.journal_id, segment.table) == (first.journal_id, first.table)
        if not same or (segment.first_seq, segment.previous) != (self.seq, self.hash):
            what = f"the segment does not follow record {self.seq - 1}"
            raise Broken("E-JRN-003", segment.name, 16, what)

    def segment(self, segment: Segment, *, last: bool) -> None:
        at = SECTOR
        while at < segment.used:
            record = self.whole(segment.data, at)
            if record is None:
                break
            self.record(segment, at, record)
            at += len(record)
        if segment.first_seq == self.seq and self.seq > 1:
            raise Broken("E-JRN-004", segment.name, SECTOR, "the first record is damaged")
        left = segment.data[at : segment.used]
        if not last:
            self.leftover = (segment.name, at, left)
        elif left:
            self.open_end(segment, at, left)

    @staticmethod
    def whole(data: bytes, at: int) -> bytes | None:
        """The record at this offset if it is as it was written, whatever it says."""
        if data[at : at + 4] != b"UFRC" or len(data) < at + 84:
            return None
        if zlib.crc32(data[at : at + 72]) != u32(data, at + 72):
            return None
        length, body, kind = u32(data, at + 4), u32(data, at + 64), u32(data, at + 68)
        record = data[at : at + length]
        if length != (84 + kind + body + 7) // 8 * 8 or len(record) < length or length > 1 << 20:
            return None
        sound = zlib.crc32(record[:-8]) == u32(record, length - 8) and record[-4:] == b"CRFU"
        return record if sound else None

    def record(self, segment: Segment, at: int, record: bytes) -> None:
        _, _, seq, durable, _, previous, body_size, kind_size = HEAD.unpack_from(record)
        if seq != self.seq:
            what = f"record {seq} stands where {self.seq} is expected"
            raise Broken("E-JRN-006", segment.name, at, what)
        if previous != self.hash:
            what = f"record {seq} does not continue the hash chain"
            raise Broken("E-JRN-005", segment.name, at, what)
        if durable >= seq:
            raise Broken("E-JRN-004", segment.name, at, f"record {seq} claims to be synced")
        kind = record[76 : 76 + kind_size].decode("ascii", "replace")
        body = record[76 + kind_size : 76 + kind_size + body_size]
        self.about_itself(segment, at, seq, kind, body)
        self.commitments.take(segment.name, at, seq, kind, body)
        self.outbox.take(segment.name, at, seq, kind, body)
        self.hash = sha(self.hash, record)
        self.seq, self.records = seq + 1, self.records + 1
        if seq in self.kept:
            self.hashes[seq] = self.hash.hex()

    def about_itself(self, segment: Segment, at: int, seq: int, kind: str, body: bytes) -> None:
        left = self.leftover if seq == segment.first_seq else None
        if kind == "repair":
            if seq != segment.first_seq:
                raise Broken("E-JRN-009", segment.name, at, "a repair inside a segment")
            if left is not None and not names(body, segment.number - 1, left):
                what = f"repair record {seq} does not name what was cut before it"
                raise Broken("E-JRN-009", segment.name, at, what)
            self.repairs.append(seq)
        elif left is not None and left[2]:
            what = f"{len(left[2])} bytes after the last record that no repair record explains"
            raise Broken("E-JRN-007", left[0], left[1], what)
        if kind == "checkpoint":
            try:
                for row in json.loads(body)["removed"]:
                    self.removed[row["segment"]] = (row["through_seq"], row["hash"])
            except (ValueError, KeyError, TypeError):
                what = f"checkpoint record {seq} cannot be read"
                raise Broken("E-JRN-011", segment.name, at, what) from None

    def open_end(self, segment: Segment, at: int, left: bytes) -> None:
        """Behind the last record: only what a write that was cut off can leave."""
        data, behind = segment.data, at
        while (behind := data.find(b"UFRC", behind + 1)) != -1:
            record = self.whole(data, behind)
            if record and HEAD.unpack_from(record)[3] >= self.seq:
                what = f"record {self.seq} is damaged, and one behind proves it was synced"
                raise Broken("E-JRN-008", segment.name, at, what)
        if not self.cut_off(segment, at, left) and not self.sector_lost(segment, at, left):
            if left[:4] == b"UFRC":
                raise Broken("E-JRN-004", segment.name, at, f"record {self.seq} is damaged")
            what = f"{len(left)} bytes after the last record that no torn write explains"
            raise Broken("E-JRN-007", segment.name, at, what)
        self.torn = len(left)

    def expected_length(self, segment: Segment, at: int, left: bytes) -> int:
        """The length that the head of the expected record gives; 0 if there is no such head."""
        if len(left) < 76 or left[:4] != b"UFRC" or zlib.crc32(left[:72]) != u32(left, 72):
            return 0
        _, length, seq, _, _, previous, body, kind = HEAD.unpack_from(left)
        agrees = length == (84 + kind + body + 7) // 8 * 8 and length <= 1 << 20
        follows = (seq, previous) == (self.seq, self.hash) and at + length <= segment.size
        return int(length) if agrees and follows else 0

    def cut_off(self, segment: Segment, at: int, left: bytes) -> bool:
        if len(left) >= 76:
            return self.expected_length(segment, at, left) > len(left)
        known = {0: b"UFRC", 8: self.seq.to_bytes(8, "big"), 32: self.hash}
        return all(
            left[start : start + len(part)] == part[: max(0, len(left) - start)]
            for start, part in known.items()
        )

    def sector_lost(self, segment: Segment, at: int, left: bytes) -> bool:
        need = at + (self.expected_length(segment, at, left) or 76)
        lost = False
        start, end = at, at + len(left)
        while start < end:
            stop = min(start - start % SECTOR + SECTOR, end)
            set_bytes = sum(1 for byte in segment.data[start:stop] if byte)
            if 1 <= set_bytes <= 3:
                return False
            lost |= not set_bytes and start < need
            start = stop
        return lost

    def beginning(self, first: Segment) -> None:
        """Record 1, or a checkpoint inside the journal, vouches for the first hash."""
        if first.number == 1:
            origin = sha(b"underfelt journal 1\n", first.journal_id, first.table)
            sound = first.first_seq == 1 and first.previous == origin
        else:
            carried = self.removed.get(first.number - 1)
            sound = carried == (first.first_seq - 1, first.previous.hex())
        if not sound:
            what = f"nothing vouches for what came before record {first.first_seq}"
            raise Broken("E-JRN-010", first.name, 24, what)

    def witnesses(self, expected: dict[int, str]) -> None:
        for seq, kept in expected.items():
            if self.hashes.get(seq) != kept:
                here = self.hashes.get(seq, "not in this journal")
                what = f"record {seq} was witnessed as {kept}; here it is {here}"
                raise Broken("E-JRN-053", str(self.folder), -1, what)


def names(body: bytes, number: int, left: tuple[str, int, bytes]) -> bool:
    """Does a repair record say exactly what lies at the end of the segment before it?"""
    _, at, data = left
    try:
        row = json.loads(body)
        said = (row["segment"], row["offset"], row["bytes"])
        return said == (number, at, len(data)) and (not data or row["sha256"] == sha(data).hex())
    except (ValueError, KeyError, TypeError):
        return False


def verify(folder: Path, expected: dict[int, str] | None = None) -> dict[str, Any]:
    try:
        return Verifier(folder).run(expected or {})
    except Broken as broken:
        return {"ok": False, **broken.row}
    except OSError as error:
        file = str(error.filename or folder)
        what = error.strerror or str(error)
        return {"ok": False, "code": "E-JRN-021", "file": file, "offset": -1, "what": what}


def say(row: dict[str, Any]) -> str:
    if not row["ok"]:
        place = f" byte {row['offset']}" if row["offset"] >= 0 else ""
        return f"NOT SOUND: {row['file']}{place}: {row['what']} ({row['code']})"
    span = f"{row['first_seq']} to {row['last_seq']}, in {row['segments']} segments"
    lines = [
        f"sound: journal {row['journal_id']} of table {row['table']}",
        f"  {row['records']} records, {span}",
        f"  head {row['head']}",
        f"  sealed cards {row['sealed']}, opened and checked {row['opened']}",
    ]
    if row["opened_unchecked"]:
        lines.append(f"  opened, but sealed before this beginning: {row['opened_unchecked']}")
    if row["repairs"]:
        lines.append(f"  torn writes cut off at: {', '.join(map(str, row['repairs']))}")
    if row["torn_bytes"]:
        lines.append(f"  {row['torn_bytes']} bytes of a torn or running write behind the end")
    if row["witnessed"]:
        lines.append(f"  {row['witnessed']} witnessed hashes agree")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    folders: list[str] = []
    expected: dict[int, str] = {}
    words = iter(argv)
    for word in words:
        if word == "--expect":
            match = re.fullmatch("([0-9]+):([0-9a-f]{64})", next(words, ""))
            if match is None:
                print("--expect SEQ:HASH, the hash as 64 hex digits", file=sys.stderr)
                return 2
            expected[int(match[1])] = match[2]
        elif word in ("-h", "--help"):
            print(__doc__)
            return 0
        elif word != "--json":
            folders.append(word)
    if len(folders) != 1 or folders[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    row = verify(Path(folders[0]), expected)
    for line in (json.dumps(row, indent=2) if "--json" in argv else say(row)).split("\n"):
        print("".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in line))
    return 0 if row["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
