"""The shapes of the machines, and how each reports its state.

A driver is pure. Bytes, results and the time go in; actions come out. Two shapes exist: a
``LineDriver`` talks over a serial line, a ``BoardDriver`` over transactions on an I2C bus. Both
report readings (``drivers.readings``); neither knows a game, a seat's wager or a rule.
"""

from __future__ import annotations

from typing import Protocol

from drivers.base import (
    BusDone,
    BusFailed,
    BusOp,
    Counters,
    DeviceState,
    Fault,
    LineSettings,
    Reopen,
    StateReported,
    Write,
)
from drivers.orders import Order
from drivers.readings import Reading

LineAction = Write | Reopen | Reading
"""What a device on a line comes to: the first two are for its port, a reading is for the table."""


class LineDriver(Protocol):
    """A device on a serial line, as a machine. Each call returns what to do, in order."""

    name: str
    counters: Counters

    @property
    def settings(self) -> LineSettings: ...

    @property
    def wake_us(self) -> int | None:
        """When ``advance`` wants to be called next; None while only bytes can wake it."""

    def opened(self, now_us: int) -> list[LineAction]: ...

    def closed(self, why: str, now_us: int) -> list[LineAction]: ...

    def received(self, data: bytes, now_us: int) -> list[LineAction]: ...

    def order(self, order: Order, now_us: int) -> list[LineAction]:
        """Take an order. One of our devices gets what it names in ``takes``; a vendor's gets every
        order but acknowledgements of other devices' readings, and ignores what it does not know."""

    def advance(self, now_us: int) -> list[LineAction]: ...


class BoardDriver(Protocol):
    """A board on the I2C bus, as a machine. The bus runs one batch of one board at a time."""

    name: str
    address: int
    counters: Counters

    @property
    def wake_us(self) -> int:
        """When the next batch is due; in the past means now."""

    def plan(self, now_us: int) -> tuple[BusOp, ...]:
        """The batch to run now; ``finish`` is called with its outcome before the next plan."""

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> list[Reading]: ...

    def bus_lost(self, why: str, now_us: int) -> list[Reading]:
        """The whole bus is gone (stuck, or its adapter): the board's state is unknown."""


class Reporter:
    """The state of a device, reported once per change of the state or of its reason's code."""

    def __init__(self, device: str, counters: Counters | None = None) -> None:
        """With ``counters`` every reason that is reported is counted there by its code."""
        self._device = device
        self._counters = counters
        self._reported: tuple[DeviceState, str] | None = None

    @property
    def state(self) -> DeviceState:
        return DeviceState.UNKNOWN if self._reported is None else self._reported[0]

    def report(self, state: DeviceState, reason: Fault | None, now_us: int) -> list[Reading]:
        news = (state, reason.code if reason is not None else "")
        if news == self._reported:
            return []
        self._reported = news
        if reason is not None and self._counters is not None:
            self._counters[reason.code] += 1
        return [StateReported(self._device, state, reason, now_us)]
