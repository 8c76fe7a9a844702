"""Events on their way to the disk: one at a time, none twice, none out of order (section 4).

Pure. It decides what an event frame is - new, a copy, too early, out of sequence - and remembers
what was acknowledged; the link writes the answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from drivers.cards.continuity import Break, Continuity, Durable
from drivers.cards.framing import SENT_BEFORE, Frame
from drivers.cards.messages import Event, Status

SEQ_MOD: Final = 1 << 16


class Verdict(Enum):
    COPY_OF_DURABLE = "copy of durable"
    """Acknowledge it again."""
    COPY_OF_PENDING = "copy of pending"
    """Not yet on disk: say nothing, it comes again."""
    TOO_EARLY = "too early"
    """Another event still waits for the disk: say nothing, it comes again."""
    OUT_OF_SEQUENCE = "out of sequence"


@dataclass(frozen=True, slots=True)
class Taken:
    """A new event, and what is wrong with its number."""

    key: int
    breaks: tuple[Break, ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """The one event that was reported and is not yet on disk."""

    key: int
    kind: int
    seq: int
    payload: bytes = field(repr=False)


class Inbox:
    __slots__ = ("_continuity", "_pending", "_seq", "_session")

    def __init__(self, durable: Iterable[int]) -> None:
        self._continuity = Continuity(durable)
        self._session = 0
        self._seq: int | None = None
        self._pending: Pending | None = None

    def start_session(self, status: Status) -> list[Break]:
        """The device numbers its frames from the beginning again, but not its cards."""
        self._session += 1
        self._seq = None
        return self._continuity.at_status(status)

    def take(self, frame: Frame, event: Event) -> Taken | Verdict:
        key = self._continuity.key(frame.type, event)
        pending = self._pending
        if pending is not None:
            if pending.key == key and pending.payload == frame.payload:
                # After a restart the same event comes under another seq; that one is answered.
                self._pending = replace(pending, seq=frame.seq)
                self._seq = frame.seq
                return Verdict.COPY_OF_PENDING
            return Verdict.TOO_EARLY
        known = self._continuity.durable(key)
        if known is not None and self._is_copy(frame, known):
            self._continuity.follow(frame.type, event)
            if self._seq is None or frame.seq == (self._seq + 1) % SEQ_MOD:
                self._seq = frame.seq
            return Verdict.COPY_OF_DURABLE
        if self._seq is not None and frame.seq != (self._seq + 1) % SEQ_MOD:
            return Verdict.OUT_OF_SEQUENCE
        self._seq = frame.seq
        breaks = self._continuity.take(frame.type, event, reused=known is not None)
        key = self._continuity.key(frame.type, event)
        self._pending = Pending(key, frame.type, frame.seq, frame.payload)
        return Taken(key, tuple(breaks))

    def _is_copy(self, frame: Frame, known: Durable) -> bool:
        """The same name and contents, and a reason to come again.

        An event with a used name that is fresh by its frame is no copy: a counter that stands still
        or went back would otherwise make a card disappear.
        """
        if known.payload is not None and known.payload != frame.payload:
            return False
        first = self._seq is None
        same_frame = (known.session, known.seq) == (self._session, frame.seq)
        return first or same_frame or bool(frame.flags & SENT_BEFORE)

    def acknowledge(self, key: int) -> Pending | None:
        """The event is on disk; what to answer, or None if no such event waits."""
        pending = self._pending
        if pending is None or pending.key != key:
            return None
        self._pending = None
        how = Durable(pending.payload, self._session, pending.seq)
        self._continuity.made_durable(key, how)
        return pending
