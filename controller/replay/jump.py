"""To a moment by a wall time, a record number or the words of the trade."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from controller.replay.timeline import Moment

NOT_FOUND: Final = "E-RPY-003"
DAY_MS: Final = 86_400_000
_TIME: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?")
_RECORD: Final = re.compile(r"#?(\d+)")
_SEAT: Final = re.compile(r"(decision|settlement)?(?: of)?(?: the)? ?seat (\d+)")
_PLURAL: Final = {"card": "cards", "deal": "cards", "pay": "settlement", "payment": "settlement"}


class NoMoment(ValueError):
    """The text names no moment; it says what would."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} ({NOT_FOUND})")
        self.code = NOT_FOUND


def clock(at_ms: int, offset_min: int, form: str = "%H:%M:%S") -> str:
    """The table's own wall time."""
    zone = timezone(timedelta(minutes=offset_min))
    return datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(zone).strftime(form)


def exact(at_ms: int, offset_min: int) -> str:
    return f"{clock(at_ms, offset_min)}.{at_ms % 1000:03}"


def to_moment(moments: Sequence[Moment], text: str, offset_min: int, now: int = 0) -> int:
    """The place in the list; words are looked for after ``now``, then from the start."""
    said = " ".join(text.lower().replace("the decision", "decision").split())
    if not said:
        raise NoMoment("expected a time, a record number or a word; " + known(moments))
    if found := _TIME.fullmatch(said):
        return _at_time(moments, found, offset_min)
    if found := _RECORD.fullmatch(said):
        return _at_record(moments, int(found[1]))
    if found := _SEAT.fullmatch(said):
        return _at_seat(moments, found[1] or "", int(found[2]), now)
    mark = _PLURAL.get(said, said)
    for place in _from(now, len(moments)):
        if mark in moments[place].marks:
            return place
    raise NoMoment(f"{text!r} names no moment of this round; " + known(moments))


def _from(now: int, count: int) -> list[int]:
    """Every place once: those after ``now``, then from the start."""
    return [*range(now + 1, count), *range(min(now + 1, count))]


def known(moments: Sequence[Moment]) -> str:
    marks = sorted({mark for moment in moments for mark in moment.marks})
    plain = [m for m in marks if not re.search(r"\d", m)]
    return "a time (03:12:45), a record (#80), seat 3, or one of: " + ", ".join(plain)


def _at_time(moments: Sequence[Moment], found: re.Match[str], offset_min: int) -> int:
    """The first moment within that minute, second or thousandth; else the last before it, which is
    what the table showed then. Over midnight too."""
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if hour > 23 or minute > 59 or second > 59 or not moments:
        raise NoMoment(f"{found[0]!r} is no time of day; expected 03:12 or 03:12:45")
    wanted = (hour * 60 + minute) * 60_000 + second * 1000 + int((found[4] or "0").ljust(3, "0"))
    width = 1 if found[4] else 1000 if found[3] else 60_000
    start = moments[0].at_ms
    apart = (wanted - _of_day(start, offset_min)) % DAY_MS
    if apart > DAY_MS - width or apart > DAY_MS // 2:  # it began before the round did
        apart -= DAY_MS
    within = [i for i, m in enumerate(moments) if 0 <= m.at_ms - start - apart < width]
    before = [i for i, m in enumerate(moments) if m.at_ms - start < apart]
    return within[0] if within else before[-1] if before else 0


def _of_day(at_ms: int, offset_min: int) -> int:
    return (at_ms + offset_min * 60_000) % DAY_MS


def _at_record(moments: Sequence[Moment], seq: int) -> int:
    """The moment that the record belongs to."""
    before = [i for i, m in enumerate(moments) if m.seq <= seq]
    if not before or not moments:
        held = f"{moments[0].seq} to {moments[-1].seq}" if moments else "none"
        raise NoMoment(f"record {seq} is not in this round; its moments are {held}")
    return before[-1]


def _at_seat(moments: Sequence[Moment], mark: str, seat: int, now: int) -> int:
    for place in _from(now, len(moments)):
        moment = moments[place]
        if f"{mark} {seat}" in moment.marks if mark else seat in moment.seats:
            return place
    raise NoMoment(f"no {mark or 'moment'} of seat {seat} in this round")


def find_text(moments: Sequence[Moment], text: str, now: int) -> int | None:
    """The next moment that says this anywhere; None if no moment does."""
    wanted = text.lower()
    for place in _from(now, len(moments)):
        moment = moments[place]
        said = [moment.what, moment.by, moment.clause, *map(str, moment.followed)]
        said += [shown.content for shown in moment.shown]
        if any(wanted in one.lower() for one in said):
            return place
    return None
