"""The host's side of stop-and-wait: one frame unanswered, bounded retries (section 4).

Pure: it says what to write and when to be asked again, and what could not be delivered.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Final

from drivers.base import MS, Counters, Write
from drivers.cards.codec import encode_frame, host_frame
from drivers.cards.framing import SENT_BEFORE
from drivers.cards.messages import Type
from drivers.machines import LineAction

ANSWER_US: Final = 100 * MS
RETRIES: Final = 5
BUSY_US: Final = 250 * MS
SEQ_MOD: Final = 1 << 16

_ORDER: Final = (
    Type.STATUS,
    Type.LOCK,
    Type.UNLOCK,
    Type.CHALLENGE,
    Type.DECK_VERIFY,
    Type.METERS,
)
"""What goes first when several wait: a lock never waits for a meter."""


@dataclass(frozen=True, slots=True)
class InFlight:
    kind: Type
    seq: int
    payload: bytes
    due_us: int
    tries: int = 1
    busy: int = 0


class Sender:
    """At most one frame of each kind waits, at most one is under way."""

    __slots__ = ("_counters", "_in_flight", "_seq", "_waiting")

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._seq = 0
        self._waiting: dict[Type, bytes] = {}
        self._in_flight: InFlight | None = None

    @property
    def wake_us(self) -> int | None:
        """When ``pump`` has something to do; -1 is now, None is never."""
        if self._in_flight is not None:
            return self._in_flight.due_us
        return -1 if self._waiting else None

    def has(self, *kinds: Type) -> bool:
        under_way = self._in_flight is not None and self._in_flight.kind in kinds
        return under_way or any(kind in self._waiting for kind in kinds)

    def want(self, kind: Type, payload: bytes = b"") -> None:
        self._waiting[kind] = payload

    def drop(self, *kinds: Type) -> None:
        """Send these no more; an answer that still comes fits nothing."""
        for kind in kinds:
            self._waiting.pop(kind, None)
        if self._in_flight is not None and self._in_flight.kind in kinds:
            self._in_flight = None

    def interrupt(self) -> None:
        """The session is over. A deck check without an answer is asked for again in the next."""
        under_way = self._in_flight
        self._in_flight = None
        self.drop(Type.STATUS, Type.LOCK, Type.UNLOCK, Type.CHALLENGE, Type.METERS)
        if under_way is not None and under_way.kind is Type.DECK_VERIFY:
            self._waiting.setdefault(under_way.kind, under_way.payload)

    def pump(self, now_us: int) -> tuple[list[LineAction], InFlight | None]:
        """What to write now, and the frame that all retries could not deliver, if any."""
        flying = self._in_flight
        if flying is None:
            return self._send_next(now_us), None
        if now_us < flying.due_us:
            return [], None
        if flying.tries > RETRIES:
            self._in_flight = None
            return [], flying
        self._counters["retries"] += 1
        self._in_flight = replace(flying, tries=flying.tries + 1, due_us=now_us + ANSWER_US)
        frame = host_frame(flying.kind, flying.seq, flying.payload)
        return [Write(encode_frame(replace(frame, flags=frame.flags | SENT_BEFORE)))], None

    def answered(self, seq: int, kinds: Container[Type]) -> InFlight | None:
        """The frame of one of these kinds that an answer with this seq belongs to; it is done."""
        flying = self._in_flight
        if flying is None or flying.seq != seq or flying.kind not in kinds:
            return None
        self._in_flight = None
        return flying

    def busy(self, seq: int, now_us: int) -> InFlight | None:
        """The device is busy: try again later. Returns the frame if it was busy too often."""
        flying = self._in_flight
        if flying is None or flying.seq != seq:
            return None
        if flying.busy >= RETRIES:
            self._in_flight = None
            return flying
        self._in_flight = replace(flying, busy=flying.busy + 1, tries=1, due_us=now_us + BUSY_US)
        return None

    def _send_next(self, now_us: int) -> list[LineAction]:
        for kind in _ORDER:
            if kind in self._waiting:
                payload = self._waiting.pop(kind)
                self._seq = (self._seq + 1) % SEQ_MOD
                self._in_flight = InFlight(kind, self._seq, payload, now_us + ANSWER_US)
                return [Write(encode_frame(host_frame(kind, self._seq, payload)))]
        return []
