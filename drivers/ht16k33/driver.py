"""The jackpot meter's modules and the magic card: boards written, read back, lit and repaired.

Pure: it takes frames from ``codec.py`` and does no I/O. A content counts as shown when the memory
was read back right and the display-on command after it was acknowledged. It never lights a memory
it has not read back. Source: docs/protocols/ht16k33.md, section 2.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, Final

from drivers.base import MS, BusDone, BusFailed, BusOp, DeviceState, Fault
from drivers.display import BoardDisplay
from drivers.ht16k33.codec import (
    BRIGHTEST,
    DARK,
    Frame,
    blank_batch,
    card_frame,
    light_batch,
    meter_frame,
    verify_batch,
    write_batch,
)
from drivers.orders import Kinds, Order, ShowMagicCard, ShowMeter
from drivers.readings import Reading

VERIFY_EVERY_US: Final = 800 * MS
"""Below a second by what three tries take, so that a lost board is UNKNOWN within one."""
RETRY_US: Final = 20 * MS
REWRITES: Final = 3
MODULES: Final = 3

NO_ANSWER: Final = "E-DSP-001"
MEMORY_WRONG: Final = "E-DSP-002"
BUS_LOST: Final = "E-DSP-003"


class _Batch(Enum):
    WRITE = "write"
    VERIFY = "verify"
    LIGHT = "light"
    BLANK = "blank"


class Ht16k33Display(BoardDisplay):
    """One board. Subclasses turn orders into frames and hand them to ``show``."""

    no_answer = NO_ANSWER
    lost_with_bus = BUS_LOST
    retry_us = RETRY_US

    def __init__(self, name: str, address: int, *, brightness: int = BRIGHTEST) -> None:
        if not 0 <= brightness <= BRIGHTEST:
            raise ValueError(f"{name}: brightness {brightness}, expected 0 to {BRIGHTEST}")
        super().__init__(name, address)
        self._brightness = brightness
        self._target = DARK
        self._next = _Batch.WRITE
        self._running: tuple[_Batch, Frame] | None = None

    def show(self, frame: Frame, now_us: int) -> list[Reading]:
        """Make this the content; nothing happens if it is already."""
        self.counters["orders"] += 1
        if self._ordered and frame == self._target:
            return []
        self._target = frame
        self._ordered = True
        self._confirmed = None
        if self._next is not _Batch.BLANK:
            self._next = _Batch.WRITE
        # A board that is absent or bad keeps its slower pace: its next try writes the new content.
        if self._bus_failures == 0 and self._mismatches == 0:
            self._due_us = now_us
        return []

    def plan(self, now_us: int) -> tuple[BusOp, ...]:  # noqa: ARG002 - the machine's shape
        self._running = (self._next, self._target)
        match self._next:
            case _Batch.WRITE:
                self.counters["writes"] += 1
                return write_batch(self._target.ram, self._brightness)
            case _Batch.VERIFY:
                self.counters["verifies"] += 1
                return verify_batch(self._brightness)
            case _Batch.LIGHT:
                return light_batch(blink=self._target.blink)
            case _Batch.BLANK:
                return blank_batch()

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> list[Reading]:
        if self._running is None:
            return []
        batch, frame = self._running
        self._running = None
        if isinstance(outcome, BusFailed):
            return self._bus_failed(outcome, now_us)
        if batch is _Batch.BLANK:
            self._bus_failures = 0
            self._schedule(_Batch.WRITE, now_us + VERIFY_EVERY_US)
            fault = Fault(MEMORY_WRONG, "read back wrong; dark")
            return self._reporter.report(DeviceState.DEGRADED, fault, now_us)
        if batch is not _Batch.LIGHT and (not outcome.data or outcome.data[-1] != frame.ram):
            self._mismatch()
            self._schedule(_Batch.BLANK if self._mismatches > REWRITES else _Batch.WRITE, now_us)
            return []
        if frame != self._target:  # another content was ordered while the batch ran
            self._schedule(_Batch.WRITE, now_us)
            return []
        if batch is not _Batch.LIGHT:
            self._schedule(_Batch.LIGHT, now_us)
            return []
        return self._lit(now_us)

    # --- inside --------------------------------------------------------------------------------

    def _schedule(self, batch: _Batch, due_us: int) -> None:
        self._next = batch
        self._due_us = due_us

    def _lit(self, now_us: int) -> list[Reading]:
        # Only here: a board that answers every other time must not look alive for ever.
        self._bus_failures = 0
        self._schedule(_Batch.VERIFY, now_us + VERIFY_EVERY_US)
        target = self._target
        return self._confirm(
            target.content, target.fault, now_us, ordered=self._ordered, memory=target.ram
        )

    def _start_over(self, due_us: int) -> None:
        super()._start_over(due_us)
        self._running = None
        self._next = _Batch.WRITE


class MeterDriver(Ht16k33Display):
    """One of the meter's three modules; ``index`` is its place from the left, 0 to 2."""

    takes: ClassVar[Kinds] = frozenset((ShowMeter,))

    def __init__(self, name: str, address: int, index: int, *, brightness: int = BRIGHTEST) -> None:
        if not 0 <= index < MODULES:
            raise ValueError(f"{name}: module {index}, expected 0 to {MODULES - 1}")
        super().__init__(name, address, brightness=brightness)
        self.index = index

    def order(self, order: Order, now_us: int) -> list[Reading]:
        if not isinstance(order, ShowMeter):
            return []
        # Right to left: while an amount rises, what stands there in between is never above it.
        due_us = now_us + MODULES - 1 - self.index
        return self.show(meter_frame(order.text, self.index, blink=order.blink), due_us)


class MagicCardDriver(Ht16k33Display):
    """The matrix of 8 columns and 16 lines."""

    takes: ClassVar[Kinds] = frozenset((ShowMagicCard,))

    def order(self, order: Order, now_us: int) -> list[Reading]:
        if not isinstance(order, ShowMagicCard):
            return []
        return self.show(card_frame(order.card), now_us)
