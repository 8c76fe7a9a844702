"""What the displays share: a content counts as shown once it was read back, and until it is not.

A display acknowledges nothing that proves what it shows. Every display therefore reads back what it
wrote, reports ``Shown`` once for each content, and doubts the content after every failure.
"""

from __future__ import annotations

from typing import ClassVar, Final

from drivers.base import MS, BusFailed, Counters, DeviceState, Fault
from drivers.machines import Reporter
from drivers.readings import Reading, Shown

ABSENT_RETRY_US: Final = 500 * MS
BUS_TRIES: Final = 3


class Display:
    def __init__(self, name: str) -> None:
        self.name = name
        self.counters = Counters()
        self._reporter = Reporter(name, self.counters)
        self._confirmed: str | None = None
        """The content that was read back last; None after any doubt."""
        self._mismatches = 0
        """In a row."""

    @property
    def state(self) -> DeviceState:
        return self._reporter.state

    def _confirm(
        self,
        content: str,
        fault: Fault | None,
        now_us: int,
        *,
        ordered: bool = True,
        memory: bytes = b"",
    ) -> list[Reading]:
        """The display holds this content; ``fault`` is what is wrong with the order for it."""
        self._mismatches = 0
        state = DeviceState.READY if fault is None else DeviceState.DEGRADED
        out = self._reporter.report(state, fault, now_us)
        if content != self._confirmed:
            self._confirmed = content
            if ordered:
                self.counters["confirmed"] += 1
                out.append(Shown(self.name, content, now_us, memory))
        return out

    def _doubt(self) -> None:
        """Whatever the display holds now is not known."""
        if self._confirmed is not None:
            self.counters["repairs"] += 1
        self._confirmed = None

    def _mismatch(self) -> None:
        self.counters["mismatches"] += 1
        self._mismatches += 1
        self._doubt()


class BoardDisplay(Display):
    """A display on the I2C bus; it starts over after every failure of its board or of the bus."""

    no_answer: ClassVar[str]
    lost_with_bus: ClassVar[str]
    """Codes of its faults."""
    retry_us: ClassVar[int]
    """After a failure that is not yet the third in a row."""

    def __init__(self, name: str, address: int) -> None:
        super().__init__(name)
        self.address = address
        self._due_us = 0
        self._bus_failures = 0
        """In a row."""
        self._ordered = False

    @property
    def wake_us(self) -> int:
        return self._due_us

    def bus_lost(self, why: str, now_us: int) -> list[Reading]:
        self._start_over(now_us + ABSENT_RETRY_US)
        return self._reporter.report(DeviceState.UNKNOWN, Fault(self.lost_with_bus, why), now_us)

    def _start_over(self, due_us: int) -> None:
        """Begin again at this time with whatever makes the display known."""
        self._doubt()
        self._due_us = due_us

    def _bus_failed(self, outcome: BusFailed, now_us: int) -> list[Reading]:
        self.counters["bus_errors"] += 1
        self._bus_failures += 1
        if self._bus_failures < BUS_TRIES:
            self._start_over(now_us + self.retry_us)
            return []
        self._start_over(now_us + ABSENT_RETRY_US)
        fault = Fault(self.no_answer, f"address {self.address:#04x}, errno {outcome.errno}")
        return self._reporter.report(DeviceState.UNKNOWN, fault, now_us)
