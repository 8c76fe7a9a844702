"""Progressive sensors, credit lines and credit acceptors: two boards that share them.

The drivers poll and write; what a level means for a credit is decided in ``handshakes.py``. Source:
docs/protocols/mcp23017.md sections 6 and 8.
"""

from __future__ import annotations

from typing import ClassVar, Final

from drivers.base import BusDone, BusFailed, BusOp, DeviceState, Fault
from drivers.mcp23017.codec import OUTPUTS
from drivers.mcp23017.driver import (
    INPUT_PERIOD_US,
    OUTPUT_PERIOD_US,
    ExpanderDriver,
    InputsDriver,
    Phase,
    Polled,
)
from drivers.mcp23017.handshakes import CreditHandshakes
from drivers.orders import AcknowledgeCredit, EnableAcceptors, Kinds, Order, ReleaseCredit
from drivers.readings import Reading, SwitchRead

FIRST_LINE: Final = 8
"""B0 is seat 1's credit line; A0 its progressive sensor."""


class SensorsDriver(InputsDriver):
    def __init__(self, name: str, address: int, handshakes: CreditHandshakes) -> None:
        super().__init__(name, address)
        self._handshakes = handshakes

    def _take(self, polled: Polled, now_us: int) -> list[Reading]:
        if polled.forgot:
            self._levels.forget()
            self._handshakes.lines_lost()
        readings = self._board.health(now_us)
        if polled.block is None:
            return readings
        for level in self._sample(polled.block, now_us):
            if level.pin >= FIRST_LINE:
                readings += self._handshakes.line(level.pin - FIRST_LINE + 1, level.on, now_us)
            else:
                name = f"progressive seat {level.pin + 1}"
                readings.append(SwitchRead(self.name, name, level.on, now_us))
        return readings + self._handshakes.settle(now_us)


class AcceptorsDriver(ExpanderDriver):
    linked_to = "sensors"
    """Their lines change what the handshakes want here."""
    takes: ClassVar[Kinds] = frozenset((EnableAcceptors, AcknowledgeCredit, ReleaseCredit))

    def __init__(self, name: str, address: int, handshakes: CreditHandshakes) -> None:
        super().__init__(name, address, OUTPUTS, INPUT_PERIOD_US, handshakes.counters)
        self._handshakes = handshakes
        self._note: Fault | None = None
        """Said beside the first READY."""
        self._said_ready = False

    @property
    def wake_us(self) -> int:
        # What is wanted here changes with the other board's lines: then it is due at once.
        if self._board.calm and self._handshakes.latch != self._board.wanted:
            return 0
        return self._board.due_us

    def plan(self, now_us: int) -> tuple[BusOp, ...]:
        if self._board.phase is not Phase.SEARCH:
            self._board.want(self._handshakes.latch, now_us)
            self._handshakes.sent()
        return self._board.plan()

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> list[Reading]:
        busy = self._handshakes.busy
        self._board.period_us = INPUT_PERIOD_US if busy else OUTPUT_PERIOD_US
        return super().finish(outcome, now_us)

    def order(self, order: Order, now_us: int) -> list[Reading]:
        match order:
            case EnableAcceptors(seats):
                self._handshakes.enable(seats, now_us)
            case AcknowledgeCredit(seat, number):
                self._handshakes.acknowledge(seat, number, now_us)
            case ReleaseCredit(seat, number):
                return self._handshakes.release(seat, number, now_us)
            case _:
                pass
        return []

    def _take(self, polled: Polled, now_us: int) -> list[Reading]:
        if polled.lost:
            self._handshakes.registers_lost(now_us)
        if polled.found is not None:
            if not self._handshakes.adopted and not polled.found.kept:
                self._note = Fault("E-ACC-003", "registers lost before this start")
            self._handshakes.adopt(polled.found.olat, kept=polled.found.kept)
        readings: list[Reading] = []
        if polled.block is not None:
            readings += self._handshakes.settle(now_us)
            readings += self._handshakes.held(polled.block.olat, now_us)
        return readings + self._health(now_us)

    def _health(self, now_us: int) -> list[Reading]:
        trouble = self._handshakes.trouble(now_us)
        well = self._board.known and self._board.fault is None and trouble is None
        if well and self._handshakes.settled:
            self._said_ready = True
            return self._board.reporter.report(DeviceState.READY, self._note, now_us)
        if self._said_ready:
            self._note = None
        return self._board.health(now_us, trouble, ready=False)
