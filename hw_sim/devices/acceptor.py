"""Seven progressive sensors and credit acceptors (docs/protocols/mcp23017.md, section 8).

An acceptor holds a chip in its throat with its line at 1 until the host acknowledges; it then drops
the chip and lets go. Disabled for half a second meanwhile, it gives the chip back.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Final

from hw_sim.clock import MS, Clock, Timer
from hw_sim.devices.mcp23017 import IODIR, A, B, Mcp23017

SEATS: Final = range(1, 8)
DRAW_IN_US: Final = 15 * MS
SEEN_US: Final = 20 * MS
"""An acknowledge counts when it has stood this long."""
DROP_US: Final = 200 * MS
DISABLED_US: Final = 500 * MS
OUT_US: Final = 600 * MS
READY_US: Final = 100 * MS


class Throat(Enum):
    EMPTY = "empty"
    HELD = "held"
    DROPPING = "dropping"
    RETURNING = "returning"


class _Acceptor:
    """One seat's acceptor."""

    def __init__(self) -> None:
        self.throat = Throat.EMPTY
        self.armed = True
        """Obeys enable 0; after power-up only once it has seen enable 1."""
        self.acknowledged = False
        self.enabled = False
        self.ready_us = 0
        self.timer: Timer | None = None

    def cancel(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Acceptors:
    def __init__(self, sensors: Mcp23017, acceptors: Mcp23017, clock: Clock) -> None:
        self._sensors = sensors
        self._acceptors = acceptors
        self._clock = clock
        self._each = {seat: _Acceptor() for seat in SEATS}
        self.boxes = dict.fromkeys(SEATS, 0)
        """Chips swallowed, by seat: what the hand count of the box will find."""
        self.returned = dict.fromkeys(SEATS, 0)
        self.jammed: set[int] = set()
        acceptors.on_change = self._look

    def wager(self, seat: int, on: bool) -> None:
        """A progressive wager is laid on, or taken off, the seat's sensor."""
        self._sensors.drive(A, seat - 1, not on)

    def enabled(self) -> dict[int, bool]:
        """By seat: the throat takes a chip."""
        return {seat: one.enabled for seat, one in self._each.items()}

    def insert(self, seat: int) -> bool:
        """A player offers a chip; False if the throat is shut or full."""
        one = self._each[seat]
        shut = not one.enabled or one.acknowledged or one.throat is not Throat.EMPTY
        if shut or self._clock.now_us < one.ready_us:
            return False
        one.throat = Throat.HELD
        self._clock.after(DRAW_IN_US, partial(self._line, seat, held=True))
        return True

    def holds(self, seat: int) -> bool:
        """A chip is in the throat: the player sees it there."""
        return self._each[seat].throat is not Throat.EMPTY

    def power_up(self) -> None:
        """They share a supply with their expander: all restart, chips stay where they are."""
        for seat, one in self._each.items():
            one.cancel()
            one.armed = one.acknowledged = one.enabled = False
            if one.throat is not Throat.EMPTY:
                one.throat = Throat.HELD
            self._line(seat, held=one.throat is Throat.HELD)
        self._acceptors.power_cycle()

    def _line(self, seat: int, *, held: bool) -> None:
        if seat not in self.jammed:
            self._sensors.drive(B, seat - 1, not held)

    def _output(self, port: int, seat: int) -> bool:
        """The boards pull both lines to 0: a pin that is still an input drives nothing."""
        is_input = self._acceptors.peek(IODIR + port) >> (seat - 1) & 1
        return not is_input and bool(self._acceptors.pins(port) >> (seat - 1) & 1)

    def _look(self) -> None:
        """The host changed a line: start or stop what follows from it after a while."""
        for seat, one in self._each.items():
            before = (one.acknowledged, one.enabled)
            one.acknowledged, one.enabled = self._output(A, seat), self._output(B, seat)
            one.armed = one.armed or one.enabled
            if before[0] and not one.acknowledged:
                one.ready_us = self._clock.now_us + READY_US
            if before == (one.acknowledged, one.enabled) or one.throat is not Throat.HELD:
                continue
            one.cancel()
            if one.acknowledged:
                one.timer = self._clock.after(SEEN_US, partial(self._drop, seat))
            elif not one.enabled and one.armed:
                one.timer = self._clock.after(DISABLED_US, partial(self._give_back, seat))

    def _drop(self, seat: int) -> None:
        if seat not in self.jammed:
            self._each[seat].throat = Throat.DROPPING
            self._clock.after(DROP_US, partial(self._done, seat, self.boxes))

    def _give_back(self, seat: int) -> None:
        if seat not in self.jammed:
            self._each[seat].throat = Throat.RETURNING
            self._clock.after(OUT_US, partial(self._done, seat, self.returned))

    def _done(self, seat: int, where: dict[int, int]) -> None:
        if self._each[seat].throat in (Throat.DROPPING, Throat.RETURNING):
            self._each[seat].throat = Throat.EMPTY
            where[seat] += 1
            self._line(seat, held=False)
