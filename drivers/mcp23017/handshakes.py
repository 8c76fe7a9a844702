"""Credit handshakes: one per seat between acceptor and host, by levels alone.

It ties two boards together: the credit lines come from ``sensors``, acknowledge and enable go to
``acceptors``. It never counts an edge, never acknowledges a chip whose line it does not know, and
says nothing rather than guess. Source: docs/protocols/mcp23017.md section 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from drivers.base import SECOND, Counters, Fault
from drivers.orders import SEATS
from drivers.readings import CreditOffered, CreditReturned, CreditTaken, Reading

RELEASE_US: Final = 2 * SECOND
"""An acceptor lets go of its line within this time, whichever way the chip goes."""
DOUBT_BIT: Final = 1 << 7
"""A7 of ``acceptors``, wired to nothing: an acknowledgement in this latch is no proof."""
ENABLE_SHIFT: Final = 8
ALL: Final = (1 << SEATS) - 1


class Step(Enum):
    IDLE = "idle"
    OFFERED = "offered"
    """The acceptor holds a chip."""
    ACKNOWLEDGED = "acknowledged"
    """The credit is on disk; the acceptor is to drop the chip."""
    DROPPED = "dropped"
    """The line fell; the next good block of the acceptors' board proves why."""
    TAKEN = "taken"
    """Reported; acknowledge stays until that is on disk."""
    DOUBT = "doubt"
    """The line fell and nobody can say why; acknowledge stays until a person has ruled."""


HOLDS_ACKNOWLEDGE: Final = (Step.ACKNOWLEDGED, Step.DROPPED, Step.TAKEN, Step.DOUBT)


@dataclass(slots=True)
class Seat:
    seat: int
    step: Step = Step.IDLE
    number: int = 0
    """Of the handshake on its way; 0 is one that a former run began."""
    offered: int = 0
    """How many were offered since the start."""
    line: bool | None = None
    approved: bool = False
    """The table wants this chip acknowledged."""
    returning: bool = False
    """This chip goes back to the player and must not be acknowledged any more."""
    sent: bool = False
    """The acknowledgement was put into a batch: the acceptor may have seen it."""
    held: bool = False
    """A good block showed the acknowledgement in the latch."""
    shaken: bool = False
    """The board lost its registers after that: the latch proves nothing for this handshake."""
    since_us: int = 0
    """When the acceptor was first bound to let go of its line."""
    not_before_us: int = 0
    """A chip that may be on its way back unseen is not acknowledged before this time."""
    bit: int = 0

    def __post_init__(self) -> None:
        self.bit = 1 << self.seat - 1

    def begin(self, step: Step, number: int) -> None:
        self.step = step
        self.number = number
        self.approved = self.returning = self.sent = self.held = self.shaken = False
        self.not_before_us = 0


class CreditHandshakes:
    def __init__(self, device: str) -> None:
        self._device = device
        self.counters: Counters = Counter()
        self._seats = tuple(Seat(n) for n in range(1, SEATS + 1))
        self._enabled = 0
        """Seats as ordered, or as found until the first order."""
        self._obeys = 0
        """Acceptors that have seen enable at 1 since their power-up, and so obey a 0."""
        self._ordered = False
        self.adopted = False
        self._was_settled = False
        self.kept = False
        """The acceptors' board still held its latch when the driver started."""
        self.settled = False
        """Every seat's step is known; READY may be said."""

    # --- what the acceptors' board should hold ---------------------------------------------------

    @property
    def latch(self) -> int:
        acknowledge = enable = 0
        for seat in self._seats:
            if seat.step in HOLDS_ACKNOWLEDGE:
                acknowledge |= seat.bit | (DOUBT_BIT if seat.shaken else 0)
                enable |= seat.bit
            elif not seat.returning:
                enable |= self._enabled & seat.bit
        return acknowledge | enable << ENABLE_SHIFT

    @property
    def busy(self) -> bool:
        """A handshake is on its way, or the start is: the boards are to be polled often."""
        return not self.settled or any(seat.step is not Step.IDLE for seat in self._seats)

    # --- what comes in --------------------------------------------------------------------------

    def adopt(self, olat: int, *, kept: bool) -> None:
        """What the acceptors' board held when the driver started; 0 if it lost its registers."""
        if self.adopted:
            return
        self.adopted = True
        self.kept = kept
        enabled = olat >> ENABLE_SHIFT & ALL
        self._obeys = ALL if kept else 0
        if not self._ordered:
            self._enabled = enabled
        for seat in self._seats:
            if olat & seat.bit:
                seat.begin(Step.ACKNOWLEDGED, 0)
                seat.sent = True
                seat.shaken = bool(olat & DOUBT_BIT)
            elif not enabled & seat.bit:
                # Whatever is ordered meanwhile: a chip found here may be on its way back.
                seat.returning = kept

    def lines_lost(self) -> None:
        self.settled = False
        for seat in self._seats:
            seat.line = None

    def line(self, number: int, on: bool, now_us: int) -> list[Reading]:
        """The line of this seat counts as this now."""
        seat = self._seats[number - 1]
        seat.line = on
        return list(self._moved(seat, now_us)) if self.settled else []

    def settle(self, now_us: int) -> list[Reading]:
        """Take the lines as they are, once all of them and the latch are known."""
        if self.settled or not self.adopted or any(seat.line is None for seat in self._seats):
            return []
        readings: list[Reading] = []
        for seat in self._seats:
            found_returning = seat.returning and seat.step is Step.IDLE
            readings += self._moved(seat, now_us)
            if seat.step is Step.IDLE:
                seat.returning = False
            elif found_returning:
                self._give_back(seat, now_us)
            elif seat.step is Step.OFFERED and not self._was_settled and not self.kept:
                seat.not_before_us = now_us + RELEASE_US
        self.settled = self._was_settled = True
        return readings

    def _moved(self, seat: Seat, now_us: int) -> Iterator[Reading]:
        """What the line's level means at this step; the same level twice means nothing new."""
        match seat.step, seat.line:
            case Step.IDLE, True:
                yield self._offer(seat, now_us)
            case Step.OFFERED, True:
                self._approve(seat, now_us)
            case (Step.OFFERED, False) | (Step.ACKNOWLEDGED, False) if not seat.sent:
                self.counters["credits returned"] += 1
                yield CreditReturned(self._device, seat.seat, seat.number, now_us)
                seat.begin(Step.IDLE, 0)
            case Step.ACKNOWLEDGED, False:
                # Verified before the fall, or found by the search: proven by the next good block.
                seat.shaken = seat.shaken or not (seat.held or seat.number == 0)
                seat.step = Step.DOUBT if seat.shaken else Step.DROPPED
                self.counters["credits in doubt"] += seat.shaken
            case Step.DROPPED, True:
                seat.step = Step.ACKNOWLEDGED

    def _offer(self, seat: Seat, now_us: int) -> CreditOffered:
        seat.offered += 1
        seat.begin(Step.OFFERED, seat.offered)
        if self._obeys & seat.bit and not self._enabled & seat.bit:
            # Drawn in at the very moment of being disabled: the acceptor will give it back.
            self._give_back(seat, now_us)
        self.counters["credits offered"] += 1
        return CreditOffered(self._device, seat.seat, seat.number, now_us)

    def _approve(self, seat: Seat, now_us: int) -> None:
        free = seat.line is True and not seat.returning and now_us >= seat.not_before_us
        if seat.step is Step.OFFERED and seat.approved and free:
            seat.step = Step.ACKNOWLEDGED

    def _give_back(self, seat: Seat, now_us: int) -> None:
        if not seat.returning:
            seat.returning = True
            seat.since_us = now_us

    def sent(self) -> None:
        """The latch goes into a batch: from here on an acceptor may see what it says."""
        for seat in self._seats:
            if seat.step is Step.ACKNOWLEDGED:
                seat.sent = True

    def held(self, olat: int, now_us: int) -> list[Reading]:
        """A good block of the acceptors' board: it holds this latch, and held it since the last."""
        self._obeys |= olat >> ENABLE_SHIFT & ALL
        readings: list[Reading] = []
        for seat in self._seats:
            self._approve(seat, now_us)
            if not olat & seat.bit:
                continue
            if seat.step is Step.ACKNOWLEDGED and not seat.held:
                seat.held = True
                seat.since_us = now_us
            elif seat.step is Step.DROPPED:
                seat.step = Step.TAKEN
                self.counters["credits taken"] += 1
                readings.append(CreditTaken(self._device, seat.seat, seat.number, now_us))
        return readings

    def registers_lost(self, now_us: int) -> None:
        """Acknowledge and enable were gone for a time that nobody knows."""
        for seat in self._seats:
            if seat.step is Step.OFFERED or (seat.step is Step.ACKNOWLEDGED and not seat.sent):
                seat.step = Step.OFFERED
                seat.not_before_us = now_us + RELEASE_US
            elif seat.step is Step.ACKNOWLEDGED:
                seat.shaken = True
            elif seat.step is Step.DROPPED:
                seat.shaken = True
                seat.step = Step.DOUBT
                self.counters["credits in doubt"] += 1

    # --- orders ---------------------------------------------------------------------------------

    def enable(self, seats: frozenset[int], now_us: int) -> None:
        self._ordered = True
        self._enabled = sum(seat.bit for seat in self._seats if seat.seat in seats)
        for seat in self._seats:
            disabled = self._obeys & seat.bit and not self._enabled & seat.bit
            if disabled and seat.step is Step.ACKNOWLEDGED and not seat.sent:
                seat.step = Step.OFFERED
            if disabled and seat.step is Step.OFFERED:
                self._give_back(seat, now_us)

    def acknowledge(self, number: int, credit: int, now_us: int) -> None:
        seat = self._seat(number)
        if seat is None or seat.number != credit or seat.step is Step.IDLE:
            self.counters["orders ignored"] += 1
        elif seat.step is Step.OFFERED:
            seat.approved = True
            self.counters["orders ignored"] += seat.returning
            self._approve(seat, now_us)

    def release(self, number: int, credit: int, now_us: int) -> list[Reading]:
        seat = self._seat(number)
        if seat is None or seat.number != credit or seat.step not in (Step.TAKEN, Step.DOUBT):
            self.counters["orders ignored"] += 1
            return []
        seat.begin(Step.IDLE, 0)
        return list(self._moved(seat, now_us))

    def _seat(self, number: int) -> Seat | None:
        return self._seats[number - 1] if 1 <= number <= SEATS else None

    # --- what is wrong --------------------------------------------------------------------------

    def trouble(self, now_us: int) -> Fault | None:
        doubt = [f"seat {s.seat} number {s.number}" for s in self._seats if s.step is Step.DOUBT]
        if doubt:
            return Fault("E-ACC-002", ", ".join(doubt))
        late = [f"seat {s.seat}" for s in self._seats if self._is_late(s, now_us)]
        if late:
            return Fault("E-ACC-001", ", ".join(late))
        if self._was_settled and not self.settled:
            return Fault("E-ACC-004", "the credit lines are not known")
        return None

    def _is_late(self, seat: Seat, now_us: int) -> bool:
        bound = seat.held if seat.step is Step.ACKNOWLEDGED else seat.returning
        return bound and seat.line is not False and now_us - seat.since_us > RELEASE_US
