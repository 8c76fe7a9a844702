"""Events of a card device on their way to the host: one at a time, kept until acknowledged
(docs/protocols/card-devices.md, sections 4 and 6.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hw_sim.clock import MS, SECOND, Timer
from hw_sim.devices import cdp

RETRY_US: Final = 100 * MS
RETRIES: Final = 5
SLOW_RETRY_US: Final = SECOND
BUSY_RETRY_US: Final = 250 * MS
SESSION_US: Final = 20 * MS
"""From the STATUS that opens a session to the first event."""
PLACES: Final = 7
"""Places in the queue for events that are no card."""

Send = Callable[[int, int, int, bytes], None]
"""Type, flags, seq and payload onto the line."""
Later = Callable[[int, Callable[[], None]], Timer]


@dataclass(slots=True)
class Event:
    kind: int
    payload: bytes
    load: int | None = None
    number: int | None = None
    """Where the device stands once this is acknowledged, if that changes."""
    seq: int | None = None
    """None until it is sent for the first time since power-on."""
    sent: bool = False


class Outbox:
    def __init__(self, send: Send, later: Later) -> None:
        self.queue: list[Event] = []
        self.load_id = 0
        self.number = 0
        """Load and number as of the last acknowledged event."""
        self._send = send
        self._later = later
        self.power_on()

    def power_on(self) -> None:
        """Queue and position are kept; numbers on the wire begin again."""
        self._open = False
        self._awaiting = False
        self._refused = False
        self._copies = 0
        self._next_seq = 1
        self._timer: Timer | None = None
        for event in self.queue:
            event.seq = None

    def has_room(self) -> bool:
        """Whether there is a place left that is not for a card."""
        return sum(event.kind not in cdp.CARD_EVENTS for event in self.queue) < PLACES

    def add(self, event: Event) -> None:
        self.queue.append(event)
        self._pump()

    # --- session -------------------------------------------------------------------------------

    def close_session(self) -> None:
        """HELLO: nothing is sent, and what was refused is tried again in the next session."""
        self._stop_timer()
        self._open = self._awaiting = self._refused = False

    def open_session(self) -> None:
        """STATUS was answered: events may follow in a moment."""
        self._timer = self._later(SESSION_US, self._begin)

    def _begin(self) -> None:
        self._open = True
        self._pump()

    # --- sending -------------------------------------------------------------------------------

    def _pump(self) -> None:
        if self._open and self.queue and not self._awaiting and not self._refused:
            self._copies = 0
            self._send_first()

    def _send_first(self) -> None:
        event = self.queue[0]
        if event.seq is None:
            event.seq = self._next_seq
            self._next_seq = (self._next_seq + 1) & 0xFFFF
        flags = cdp.WANTS_ACK | (cdp.AGAIN if event.sent else 0)
        self._send(event.kind, flags, event.seq, event.payload)
        event.sent = self._awaiting = True
        self._copies += 1
        wait_us = RETRY_US if self._copies <= RETRIES else SLOW_RETRY_US
        self._timer = self._later(wait_us, self._send_first)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- answers -------------------------------------------------------------------------------

    def fits(self, seq: int) -> bool:
        """Whether an answer with this number is one to the event that is out."""
        return self._awaiting and self.queue[0].seq == seq

    def acknowledged(self) -> None:
        self._stop_timer()
        self._awaiting = False
        event = self.queue.pop(0)
        if event.load is not None:
            self.load_id = event.load
        if event.number is not None:
            self.number = event.number
        self._pump()

    def refused(self, code: int) -> bool:
        """NAK: True if the device must show that the host does not understand it."""
        if code == cdp.BUSY:
            self._stop_timer()
            self._timer = self._later(BUSY_RETRY_US, self._send_first)
            return False
        if code not in (cdp.UNKNOWN_TYPE, cdp.WRONG_PAYLOAD, cdp.OUT_OF_SEQUENCE):
            return False  # makes no sense for an event: as if nothing had come
        self._stop_timer()
        self._awaiting = False
        self._refused = True
        return code != cdp.OUT_OF_SEQUENCE
