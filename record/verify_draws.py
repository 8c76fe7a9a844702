#!/usr/bin/env python3
"""Reproduce every random selection of a table's journal, with the Python standard library alone.

    python3 verify_draws.py JOURNAL_DIR [--json]

One file, nothing to install: an auditor may copy it anywhere. It shares no code with the table;
both follow docs/rules/selections.md and docs/protocols/journal.md. It opens files for reading only.

Exit 0: every draw follows from what was committed before the first card. 65: something does not.
66: there is no journal to read. 64: wrong arguments.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

CARDS = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
SEEN = {"card drawn", "packet dispensed"}
"""Facts that say that a card is out."""


# --- the draw ------------------------------------------------------------------------------------


def commitment(seed: bytes, salt: bytes, journal_id: str, round_no: int) -> str:
    round_id = journal_id.encode() + b"\0" + struct.pack(">Q", round_no)
    return hashlib.sha256(seed + salt + round_id).hexdigest()


def below(limit: int, seed: bytes, domain: str, journal_id: str, round_no: int) -> int:
    """The first try that is below the limit; a try is the leading bits of one HMAC."""
    bits, counter = len(f"{limit - 1:b}") if limit > 1 else 0, 0
    while True:
        message = b"\0".join([b"underfelt draw 1", domain.encode(), journal_id.encode(), b""])
        message += struct.pack(">QI", round_no, counter)
        block = hmac.new(seed, message, hashlib.sha256).hexdigest()
        value = int(f"{int(block, 16):0256b}"[:bits] or "0", 2)
        if value < limit:
            return value
        counter += 1


def picks(
    seed: bytes,
    journal_id: str,
    round_no: int,
    seats: Sequence[int],
    rates: tuple[Fraction, Fraction],
) -> tuple[str | None, int | None]:
    place = (journal_id, round_no)
    magic_rate, lucky_rate = rates
    magic, lucky = None, None
    if below(magic_rate.denominator, seed, "has magic card", *place) < magic_rate.numerator:
        magic = CARDS[below(52, seed, "magic card", *place)]
    has = below(lucky_rate.denominator, seed, "has lucky player", *place) < lucky_rate.numerator
    if seats and has:
        lucky = seats[below(len(seats), seed, "lucky player", *place)]
    return magic, lucky


# --- the check -----------------------------------------------------------------------------------


@dataclass
class Problem:
    code: str
    seq: int
    round: int | None
    text: str


@dataclass
class Report:
    journal_id: str
    table: str = ""
    committed: int = 0
    revealed: int = 0
    withdrawn: int = 0
    lost: int = 0
    open_round: int | None = None
    draws: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems


class Checker:
    """Takes the records one by one, in order."""

    def __init__(self, journal_id: str, *, cut: bool = False) -> None:
        self.report = Report(journal_id)
        self._blind = cut
        """The journal's beginning is past its retention: up to its first commitment there may be
        the rest of a round whose commitment is gone."""
        self._open: dict[str, Any] | None = None
        self._last: dict[str, Any] = {}
        self._drawn: tuple[str | None, int | None] | None = None
        self._last_round = 0
        self._cards_out = False
        self._told = False

    def take(self, seq: int, kind: str, body: bytes) -> None:
        if kind not in ("selection", "fact"):
            return
        try:
            found = json.loads(body)
            if kind == "fact":
                self._fact(seq, found)
            else:
                self._selection(seq, found)
        except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
            what = f"{kind} record cannot be read: {type(error).__name__}: {error}"
            self._problem("E-DRW-001", seq, None, what)

    def end(self) -> Report:
        self.report.open_round = self._open["round"] if self._open else None
        return self.report

    def _problem(self, code: str, seq: int, round_no: int | None, text: str) -> None:
        self.report.problems.append(Problem(code, seq, round_no, text))

    def _selection(self, seq: int, found: dict[str, Any]) -> None:
        if found["v"] != 1:
            raise ValueError(f"version {found['v']!r}; this verifier reads 1")
        round_no, what = int(found["round"]), found["what"]
        if what in ("committed", "server committed"):
            self._committed(seq, round_no, found)
        elif self._open is None or self._open["round"] != round_no:
            if self._blind:
                self.report.notes.append(f"round {round_no}: its commitment is past the retention")
            else:
                self._problem("E-DRW-004", seq, round_no, f"{what} without an open commitment")
        else:
            self._ended(seq, round_no, what, found)

    def _committed(self, seq: int, round_no: int, found: dict[str, Any]) -> None:
        if self._open is not None and self._open["what"] == "server committed":
            left = self._open["round"]
            self.report.notes.append(f"round {left}: the server committed and never revealed")
        elif self._open is not None:
            left = self._open["round"]
            self._problem("E-DRW-005", seq, left, "committed and never revealed")
        if round_no <= self._last_round:
            self._problem("E-DRW-006", seq, round_no, "committed a second time")
        self.report.committed += 1
        self._blind = False
        self._open, self._last, self._last_round, self._drawn = found, found, round_no, None
        self._told = False

    def _ended(self, seq: int, round_no: int, what: str, found: dict[str, Any]) -> None:
        commit, self._open, self._drawn = self._open, None, (None, None)
        assert commit is not None
        if what == "lost":
            self.report.lost += 1
            text = f"the seed was lost, nothing can be reproduced: {found['why']}"
            self._problem("E-DRW-007", seq, round_no, text)
            return
        if what == "server revealed":
            commit, what = {**found, "committed": commit["committed"]}, "revealed"
        if what not in ("revealed", "withdrawn"):
            raise ValueError(f"unknown record {what!r}")
        seed, salt = bytes.fromhex(found["seed"]), bytes.fromhex(commit["salt"])
        if (len(seed), len(salt)) != (32, 16):
            raise ValueError("a seed has 32 bytes and a salt 16")
        again = commitment(seed, salt, self.report.journal_id, round_no)
        if again != commit["committed"]:
            self._problem("E-DRW-002", seq, round_no, "the seed is not the one committed to")
            return
        if what == "withdrawn":
            self.report.withdrawn += 1
            return
        rates = Fraction(commit["magic_rate"]), Fraction(commit["lucky_rate"])
        drawn = picks(seed, self.report.journal_id, round_no, commit["seats"], rates)
        self.report.revealed += 1
        self._drawn = found["magic_card"], found["lucky_seat"]
        row = {"round": round_no, "seq": seq, "magic_card": drawn[0], "lucky_seat": drawn[1]}
        self.report.draws.append(row)
        if drawn != self._drawn:
            self._problem("E-DRW-003", seq, round_no, f"recorded {self._drawn}, drawn is {drawn}")

    def _fact(self, seq: int, found: dict[str, Any]) -> None:
        what = found["what"]
        if what == "bets opened":
            self._cards_out = False
        elif what in SEEN:
            self._cards_out = True
        elif self._blind:
            return
        elif what == "selection committed":
            self._told_commitment(seq, found["of"]["digest"])
        elif what == "selection revealed":
            of = found["of"]
            if (of["magic_card"], of["lucky_seat"]) != self._drawn:
                text = f"the table used {of['magic_card']}, {of['lucky_seat']}; drawn was"
                self._problem("E-DRW-008", seq, self._last_round, f"{text} {self._drawn}")

    def _told_commitment(self, seq: int, digest: str) -> None:
        if self._last.get("committed") != digest or self._told:
            text = "the table took a commitment that this journal does not hold"
            self._problem("E-DRW-009", seq, self._last_round, text)
        if self._cards_out:
            text = "a card was out before the commitment"
            self._problem("E-DRW-010", seq, self._last_round, text)
        self._told = True


def check(journal_id: str, bodies: Iterable[tuple[int, bytes]]) -> Report:
    """Selection bodies with their sequence numbers, where there is no journal around them."""
    checker = Checker(journal_id)
    for seq, body in bodies:
        checker.take(seq, "selection", body)
    return checker.end()


# --- the journal's files -------------------------------------------------------------------------


class Unreadable(Exception):
    """There is no journal here: exit 66."""


class Damaged(Exception):
    """The journal's chain does not hold: exit 65; verify_journal.py says more."""


HEADER = struct.Struct(">7sBIIQ32s16sQI")
HEAD = struct.Struct(">4sIQQQ32sIII")
HEADER_BYTES = 512
MOST_BYTES = 1 << 20


@dataclass
class Segment:
    path: Path
    number: int
    first_seq: int
    previous: bytes
    journal_id: str
    table: str
    size: int
    data: bytes


def read_segment(path: Path) -> Segment:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from None
    if len(data) < HEADER_BYTES or data[:7] != b"UFJOURN":
        raise Damaged(f"{path}: not a journal segment (E-DRW-020)")
    _, version, _, number, first, previous, journal_id, _, size = HEADER.unpack_from(data)
    if version != 1:
        raise Damaged(f"{path}: version {version}; this verifier reads 1 (E-DRW-020)")
    if zlib.crc32(data[:508]) != int.from_bytes(data[508:512], "big"):
        raise Damaged(f"{path}: the segment header is damaged (E-DRW-020)")
    if path.name != f"{number:08}.ufj":
        raise Damaged(f"{path}: this is segment {number}, renamed (E-DRW-020)")
    length = data[HEADER.size]
    table = data[HEADER.size + 1 : HEADER.size + 1 + length].decode("utf-8", "backslashreplace")
    return Segment(path, number, first, previous, journal_id.hex(), table, size, data)


def segments(directory: Path) -> Iterator[Segment]:
    try:
        names = sorted(p.name for p in directory.iterdir())
    except OSError as error:
        raise Unreadable(f"{directory}: {error.strerror}; give a journal's directory") from None
    names = [name for name in names if re.fullmatch(r"[0-9]{8}\.ufj", name)]
    if not names:
        raise Unreadable(f"{directory}: no journal segment (00000001.ufj) in this directory")
    for name in names:
        yield read_segment(directory / name)


Whole = tuple[int, bytes, str, bytes, bytes]
"""Number, hash before, kind, body and all bytes of a record."""
Left = tuple[bytes | None, int]
"""What lies behind the last record of a segment, and where; None before the first segment."""


class Walk:
    """The records of a journal, each checked against its check sum and the hash chain.

    What lies behind the last whole record is read too: only the traces of a write that was cut off
    may lie there (docs/protocols/journal.md, section 5). Anything else is damage.
    """

    def __init__(self, directory: Path) -> None:
        self._segments = segments(directory)
        self.first = next(self._segments)
        self.unread = 0
        """Bytes after the last whole record; a torn write of a table that is down."""
        self._at, self._head = self.first.first_seq, self.first.previous

    def __iter__(self) -> Iterator[tuple[int, str, bytes]]:
        if self._at == 1:
            start = b"underfelt journal 1\n" + bytes.fromhex(self.first.journal_id)
            if hashlib.sha256(start + self.first.table.encode()).digest() != self._head:
                raise Damaged(f"{self.first.path}: the chain does not begin here (E-DRW-020)")
        segment, number, offset = self.first, self.first.number, 0
        left: bytes | None = None
        while True:
            place = (segment.number, segment.first_seq, segment.previous)
            if place != (number, self._at, self._head) or not _same(segment, self.first):
                raise Damaged(f"{segment.path}: does not continue the one before (E-DRW-020)")
            before, offset = (left, offset), HEADER_BYTES
            while (record := _record(segment.data, offset)) is not None:
                seq, previous, kind, body, whole = record
                if (seq, previous) != (self._at, self._head):
                    raise _damaged(segment, offset, f"record {seq} does not continue the chain")
                first = seq == segment.first_seq
                repairs = kind == "repair" and (not first or before[0] is not None)
                if repairs or (first and before[0]):
                    self._explained(segment, offset, record, before)
                self._head = hashlib.sha256(self._head + whole).digest()
                self._at, offset = self._at + 1, offset + len(whole)
                yield seq, kind, body
            left = segment.data[offset:].rstrip(b"\0")
            following = next(self._segments, None)
            if following is None:
                break
            number, segment = number + 1, following
        if left and not self._torn(segment, offset, left):
            raise _damaged(segment, offset, f"record {self._at} is damaged")
        self.unread = len(left)

    @staticmethod
    def _explained(segment: Segment, offset: int, record: Whole, before: Left) -> None:
        """A repair record begins a segment, and names what lies at the end of the one before."""
        seq, _, kind, body, _ = record
        named = kind == "repair" and _names(body, segment.number - 1, before)
        if seq != segment.first_seq or not named:
            raise _damaged(segment, offset, "no repair record explains the end of the one before")

    def _torn(self, segment: Segment, offset: int, left: bytes) -> bool:
        """Can a write of the expected record that was cut off have left this?"""
        data, behind = segment.data, offset
        while (behind := data.find(b"UFRC", behind + 1)) != -1:
            if _record(data, behind) is not None and _durable(data, behind) >= self._at:
                return False  # a later record says that this one had been written whole
        known = b"UFRC", struct.pack(">Q", self._at), self._head
        parts = zip((0, 8, 32), known, strict=True)
        begins = all(
            left[at : at + len(part)] == part[: max(0, len(left) - at)] for at, part in parts
        )
        length = _length(left) if begins and len(left) >= HEAD.size else 0
        length = length if offset + length <= segment.size else 0
        if begins and (length > len(left) or len(left) < HEAD.size):
            return True
        hole, start, end = False, offset, offset + len(left)
        while start < end:
            stop = min(start - start % HEADER_BYTES + HEADER_BYTES, end)
            used = stop - start - data[start:stop].count(0)
            if 1 <= used <= 3:
                return False
            hole |= not used and start < offset + (length or HEAD.size)
            start = stop
        return hole


def _damaged(segment: Segment, offset: int, what: str) -> Damaged:
    return Damaged(f"{segment.path}: byte {offset}: {what} (E-DRW-020)")


def _same(one: Segment, other: Segment) -> bool:
    return (one.journal_id, one.table) == (other.journal_id, other.table)


def _durable(data: bytes, at: int) -> int:
    return int(HEAD.unpack_from(data, at)[3])


def _length(data: bytes, at: int = 0) -> int:
    """What the head of a record says; 0 if the head is damaged."""
    _, length, _, _, _, _, body_bytes, kind_bytes, crc = HEAD.unpack_from(data, at)
    agrees = length == (HEAD.size + 8 + kind_bytes + body_bytes + 7) // 8 * 8
    whole = zlib.crc32(data[at : at + HEAD.size - 4]) == crc
    return int(length) if agrees and whole and length <= MOST_BYTES else 0


def _record(data: bytes, at: int) -> Whole | None:
    """The record that begins here, if it is as it was written."""
    if len(data) - at < HEAD.size or data[at : at + 4] != b"UFRC":
        return None
    length = _length(data, at)
    whole = data[at : at + length]
    if not length or len(whole) < length or whole[-4:] != b"CRFU":
        return None
    if zlib.crc32(whole[:-8]) != int.from_bytes(whole[-8:-4], "big"):
        return None
    _, _, seq, durable, _, previous, body_bytes, kind_bytes, _ = HEAD.unpack_from(data, at)
    start = HEAD.size + kind_bytes
    kind = whole[HEAD.size : start].decode("ascii", "backslashreplace")
    return (
        None if durable >= seq else (seq, previous, kind, whole[start : start + body_bytes], whole)
    )


def _names(body: bytes, number: int, left: Left) -> bool:
    """Does a repair record say exactly what lies at the end of the segment before it?"""
    data, offset = left[0] or b"", left[1]
    try:
        row = json.loads(body)
        said = (row["segment"], row["offset"], row["bytes"])
        digest = row["sha256"] if data else ""
    except (ValueError, KeyError, TypeError):
        return False
    return said == (number, offset, len(data)) and digest == (
        hashlib.sha256(data).hexdigest() if data else ""
    )


def verify(directory: Path) -> Report:
    """Every draw of a journal. Raises Unreadable or Damaged."""
    walk = Walk(directory)
    checker = Checker(walk.first.journal_id, cut=walk.first.first_seq > 1)
    checker.report.table = walk.first.table
    for seq, kind, body in walk:
        checker.take(seq, kind, body)
    report = checker.end()
    if walk.unread > 0:
        report.notes.append(f"{walk.unread} bytes after the last whole record were not read")
    return report


# --- the command ---------------------------------------------------------------------------------


def as_json(report: Report) -> str:
    return json.dumps({**asdict(report), "ok": report.ok}, separators=(",", ":"))


def as_text(report: Report) -> str:
    told = f"{report.committed} committed, {report.revealed} revealed"
    told += f", {report.withdrawn} withdrawn, {report.lost} lost"
    lines = [f"journal {report.journal_id}, table {report.table}: {told}"]
    if report.open_round is not None:
        lines.append(f"round {report.open_round} is committed and not yet revealed")
    lines += report.notes
    for p in report.problems:
        where = f"record {p.seq}" if p.round is None else f"round {p.round}, record {p.seq}"
        lines.append(f"{where}: {p.text} ({p.code})")
    if report.ok:
        lines.append("every revealed draw follows from its commitment")
    else:
        lines.append(f"{len(report.problems)} problems: keep this journal and call an auditor")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    paths = [a for a in argv if not a.startswith("-")]
    if len(paths) != 1 or set(argv) - set(paths) - {"--json"}:
        print("usage: verify_draws.py JOURNAL_DIR [--json]", file=sys.stderr)
        return 64
    try:
        report = verify(Path(paths[0]))
    except Unreadable as error:
        print(f"verify_draws: {error}", file=sys.stderr)
        return 66
    except Damaged as error:
        print(f"verify_draws: {error}", file=sys.stderr)
        return 65
    for line in (as_json(report) if "--json" in argv else as_text(report)).split("\n"):
        print("".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in line))
    return 0 if report.ok else 65


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
