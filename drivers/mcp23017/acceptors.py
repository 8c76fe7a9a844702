"""Progressive sensors, credit lines and credit acceptors: two boards, one desk.

The drivers poll and write; what a level means for a credit is decided in ``desk.py``. Source:
docs/protocols/mcp23017.md sections 6 and 8.
"""

from __future__ import annotations

from typing import ClassVar, Final

from drivers.base import BusDone, BusFailed, BusOp, DeviceState, Fault
from drivers.debounce import Debouncer
from drivers.mcp23017.codec import INPUTS, OUTPUTS
from drivers.mcp23017.desk import CreditDesk
from drivers.mcp23017.driver import (
    CONFIRM_US,
    INPUT_PERIOD_US,
    OUTPUT_PERIOD_US,
    Expander,
    Phase,
    Polled,
)
from drivers.orders import AcknowledgeCredit, EnableAcceptors, Kinds, Order, ReleaseCredit
from drivers.readings import Reading, SwitchRead

FIRST_LINE: Final = 8
"""B0 is seat 1's credit line; A0 its progressive sensor."""


def credit_boards(
    sensors: tuple[str, int], acceptors: tuple[str, int]
) -> tuple[SensorsDriver, AcceptorsDriver]:
    """Both drivers over one desk; each board as (name, address)."""
    desk = CreditDesk(acceptors[0])
    return SensorsDriver(*sensors, desk), AcceptorsDriver(*acceptors, desk)


class SensorsDriver:
    def __init__(self, name: str, address: int, desk: CreditDesk) -> None:
        self.name = name
        self.address = address
        self._desk = desk
        self._board = Expander(name, address, INPUTS, INPUT_PERIOD_US)
        self._levels = Debouncer(INPUTS.inputs)
        self.counters = self._board.counters

    @property
    def wake_us(self) -> int:
        return self._board.due_us

    def plan(self, now_us: int) -> tuple[BusOp, ...]:  # noqa: ARG002 (one shape for all boards)
        return self._board.plan()

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> list[Reading]:
        return self._take(self._board.finish(outcome, now_us), now_us)

    def bus_lost(self, why: str, now_us: int) -> list[Reading]:
        return self._take(self._board.lose(why, now_us), now_us)

    def nudge(self, now_us: int) -> None:
        self._board.nudge(now_us)

    def _take(self, polled: Polled, now_us: int) -> list[Reading]:
        if polled.forgot:
            self._levels.forget()
            self._desk.lines_lost()
        readings = self._board.health(now_us)
        if polled.block is None:
            return readings
        for level in self._levels.sample(polled.block.gpio, now_us):
            if level.pin >= FIRST_LINE:
                readings += self._desk.line(level.pin - FIRST_LINE + 1, level.on, now_us)
            else:
                name = f"progressive seat {level.pin + 1}"
                readings.append(SwitchRead(self.name, name, level.on, now_us))
        if self._levels.pending:
            self._board.hurry(now_us + CONFIRM_US)
        return readings + self._desk.settle(now_us)


class AcceptorsDriver:
    linked_to = "sensors"
    """Their lines change what the desk wants here."""
    takes: ClassVar[Kinds] = frozenset((EnableAcceptors, AcknowledgeCredit, ReleaseCredit))

    def __init__(self, name: str, address: int, desk: CreditDesk) -> None:
        self.name = name
        self.address = address
        self._desk = desk
        self._board = Expander(name, address, OUTPUTS, INPUT_PERIOD_US, desk.counters)
        self._note: Fault | None = None
        """Said beside the first READY."""
        self._said_ready = False
        self.counters = self._board.counters

    @property
    def wake_us(self) -> int:
        # What the desk wants changes with the other board's lines: then it is due at once.
        if self._board.calm and self._desk.latch != self._board.wanted:
            return 0
        return self._board.due_us

    def plan(self, now_us: int) -> tuple[BusOp, ...]:
        if self._board.phase is not Phase.SEARCH:
            self._board.want(self._desk.latch, now_us)
            self._desk.sent()
        return self._board.plan()

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> list[Reading]:
        busy = self._desk.busy
        self._board.period_us = INPUT_PERIOD_US if busy else OUTPUT_PERIOD_US
        return self._take(self._board.finish(outcome, now_us), now_us)

    def order(self, order: Order, now_us: int) -> list[Reading]:
        match order:
            case EnableAcceptors(seats):
                self._desk.enable(seats, now_us)
            case AcknowledgeCredit(seat, number):
                self._desk.acknowledge(seat, number, now_us)
            case ReleaseCredit(seat, number):
                return self._desk.release(seat, number, now_us)
            case _:
                pass
        return []

    def bus_lost(self, why: str, now_us: int) -> list[Reading]:
        return self._take(self._board.lose(why, now_us), now_us)

    def _take(self, polled: Polled, now_us: int) -> list[Reading]:
        if polled.lost:
            self._desk.registers_lost(now_us)
        if polled.found is not None:
            if not self._desk.adopted and not polled.found.kept:
                self._note = Fault("E-ACC-003", "registers lost before this start")
            self._desk.adopt(polled.found.olat, kept=polled.found.kept)
        readings: list[Reading] = []
        if polled.block is not None:
            readings += self._desk.settle(now_us)
            readings += self._desk.held(polled.block.olat, now_us)
        return readings + self._health(now_us)

    def _health(self, now_us: int) -> list[Reading]:
        trouble = self._desk.trouble(now_us)
        well = self._board.known and self._board.fault is None and trouble is None
        if well and self._desk.settled:
            self._said_ready = True
            return self._board.reporter.report(DeviceState.READY, self._note, now_us)
        if self._said_ready:
            self._note = None
        return self._board.health(now_us, trouble, ready=False)
