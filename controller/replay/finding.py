"""Where a round is among the records of a journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from controller.history.errors import BodyError
from controller.history.snapshot import ROUND, SNAPSHOT, round_number
from controller.rules.engine.settlement import KEPT_ROUNDS
from record.journal.format import Record

NO_ROUND: Final = "E-RPY-001"
NO_START: Final = "E-RPY-002"
OPENED: Final = b'{"v":1,"what":"bets opened",'


class NotThere(Exception):
    """The round cannot be played: the text says what there is."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(f"{said} ({code})")
        self.code = code


@dataclass(frozen=True, slots=True)
class RoundSpan:
    """Places in the list of records."""

    start: int
    """The snapshot that stepping begins at."""
    before: int
    """The first record after the end of the round before, or ``start``."""
    opened: int
    closed: int | None
    """Its first ``round`` record; None while the round is under way."""
    following: int
    """Where the next round is opened, or the end of the list."""
    stop: int
    """Where the round can no longer be corrected: nothing is stepped from there on."""


class _State(msgspec.Struct):
    round_no: int = 0


class _Standing(msgspec.Struct):
    state: _State


@dataclass(slots=True)
class _Index:
    opens: list[tuple[int, int]]
    """(place, round) of every opening whose number is known."""
    closes: dict[int, int]
    """Round to the place of its first ``round`` record."""
    snapshots: list[int]


def _index(records: Iterable[Record]) -> _Index:
    found = _Index([], {}, [])
    number: int | None = None
    for place, record in enumerate(records):
        if record.kind == SNAPSHOT:
            found.snapshots.append(place)
            try:
                number = msgspec.json.decode(record.body, type=_Standing).state.round_no
            except msgspec.DecodeError:
                number = None  # stepping says what is wrong with it
        elif record.kind == ROUND:
            try:
                found.closes.setdefault(round_number(record.body), place)
            except BodyError:
                continue
        elif number is not None and record.body.startswith(OPENED):
            number += 1
            found.opens.append((place, number))
    return found


def rounds_in(records: Iterable[Record]) -> list[int]:
    """The rounds that can be played from these records."""
    return [number for _, number in _index(records).opens]


def find_round(records: Sequence[Record], number: int) -> RoundSpan:
    index = _index(records)
    at = next((i for i, (_, one) in enumerate(index.opens) if one == number), None)
    if at is None:
        raise _missing(number, index)
    opened = index.opens[at][0]
    start = max(place for place in index.snapshots if place < opened)
    following = index.opens[at + 1][0] if at + 1 < len(index.opens) else len(records)
    last = at + KEPT_ROUNDS + 1
    stop = index.opens[last][0] if last < len(index.opens) else len(records)
    before = index.closes.get(number - 1, start)
    while before < opened and records[before].kind in (ROUND, "outbox"):
        before += 1
    return RoundSpan(start, before, opened, index.closes.get(number), following, stop)


def _missing(number: int, index: _Index) -> NotThere:
    held = spoken([one for _, one in index.opens])
    if number in index.closes:
        said = f"round {number} was closed here, but its beginning is past its retention; "
        return NotThere(NO_START, said + f"to be played: {held}")
    return NotThere(NO_ROUND, f"no round {number} in this journal; it has {held}")


def spoken(numbers: Sequence[int]) -> str:
    """``3 to 7, 9``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    told = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return ", ".join(told) or "none"
