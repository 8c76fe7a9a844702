"""``underfelt journal day``: a gaming day's report, recomputed from the records it is made of."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.history.gamingday import fold, report
from controller.history.gamingday.sheet import Day
from record.journal import Record
from record.journal.reader import JournalReader

NO_DAY: Final = "E-JRN-062"
UNREADABLE: Final = "E-JRN-063"
DIFFERS: Final = "E-JRN-064"
LAST: Final = "last"
NOW: Final = "now"
RECENT: Final = 300_000
"""Records that are read first; the last days are among them."""


class NoDay(Exception):
    def __init__(self, code: str, what: str, exit_code: int) -> None:
        super().__init__(what)
        self.code, self.exit_code = code, exit_code


@dataclass(frozen=True, slots=True)
class FoundDay:
    """A day, and what its records make of it again."""

    day: Day
    seq: int | None
    """Its record; None for the day under way."""
    made: Day | None
    """None: its records or the day before are past their retention."""

    @property
    def differences(self) -> list[str]:
        """Figure by figure, what the record says otherwise than its records make."""
        if self.made is None:
            return []
        told, made = dict(report.figures(self.day)), dict(report.figures(self.made))
        names = dict.fromkeys([*told, *made])
        return [
            f"{name}: the record says {told.get(name, 'nothing')}, its records make "
            f"{made.get(name, 'nothing')}"
            for name in names
            if told.get(name) != made.get(name)
        ]


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "day", metavar="N|last|now", nargs="?", default=LAST, type=_which,
        help="its number, the last one closed (default), or the one under way",
    )  # fmt: skip
    parser.add_argument("--csv", action="store_true", help="every figure as a line: figure,value")


def _which(text: str) -> str:
    if text not in (LAST, NOW) and not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a day's number, last or now")
    return text


def days(records: Iterator[Record], *, whole: bool) -> Iterator[FoundDay]:
    """Every closed day that can be read, then the one under way."""
    day: Day | None = Day() if whole else None
    for record in records:
        if record.kind == fold.DAY:
            told = _read(record)
            made = None
            if day is not None and day.closing is not None:
                made = fold.read(fold.closed(day))
            yield FoundDay(told, record.seq, made)
            day = fold.following(told if day is None else day, record.seq)
        elif day is not None:
            day = fold.take(day, record)
    if day is not None:
        day.total, day.date = fold.total(day), fold.date_of(day)
        yield FoundDay(day, None, None)


def _read(record: Record) -> Day:
    try:
        return fold.read(record.body)
    except msgspec.DecodeError as error:
        what = f"record {record.seq}: kind day, but {error}"
        raise NoDay(UNREADABLE, what, os.EX_DATAERR) from None


def find(folder: Path, which: str) -> tuple[FoundDay, str]:
    """The day asked for, and the table's name."""
    for last in (RECENT, None):
        reader = JournalReader(folder, last=last)
        whole = reader.report().first_seq == 1
        found = list(days(reader.records(), whole=whole))
        chosen = _choose(found, which)
        if chosen is not None and (last is None or chosen.made is not None or which == NOW):
            return chosen, reader.report().table
    if chosen is not None:
        return chosen, reader.report().table
    closed = [one.day.number for one in found if one.seq is not None]
    held = f"it has {closed[0]} to {closed[-1]}" if closed else "none is closed; now shows today"
    raise NoDay(NO_DAY, f"no gaming day {which} in this journal; {held}", os.EX_NOINPUT)


def _choose(found: list[FoundDay], which: str) -> FoundDay | None:
    if which == NOW:
        return found[-1] if found and found[-1].seq is None else None
    closed = [one for one in found if one.seq is not None]
    if which == LAST:
        return closed[-1] if closed else None
    return next((one for one in closed if one.day.number == int(which)), None)


def said(found: FoundDay, table: str) -> str:
    text = report.page(found.day, table)
    if found.seq is None:
        return text
    if found.made is None:
        return f"{text}\n\nNot recomputed: its records are past their retention."
    if wrong := found.differences:
        listed = "\n".join(f"  {one}" for one in wrong)
        return f"{text}\n\nRECOMPUTED AND DIFFERENT ({DIFFERS}); keep the disk:\n{listed}"
    return f"{text}\n\nRecomputed from these records: the same, to the cent."


def answer(arguments: argparse.Namespace) -> tuple[int, dict[str, Any], str]:
    found, table = find(arguments.folder, arguments.day)
    code = os.EX_DATAERR if found.differences else os.EX_OK
    if arguments.csv:
        return code, {}, report.as_csv(found.day).rstrip("\n")
    row = {
        "table": table,
        "seq": found.seq,
        "recomputed": found.made is not None,
        "differences": found.differences,
        "day": msgspec.to_builtins(found.day, str_keys=True),
    }
    return code, row, said(found, table)
