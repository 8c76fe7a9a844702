"""Why a serial device is not known: its port, garbage on the line, or its own silence.

A driver sees bytes and the time alone. Whether its port opens at all, and whether the bytes that
came were frames, is put together here, so that "no such port", "in use" and "garbage" never read
as "the device does not answer". Source: docs/protocols/serial.md.
"""

from __future__ import annotations

from typing import Final

from drivers.base import Counters, DeviceState, Fault, StateReported
from drivers.readings import Reading

MISSING: Final = "E-SER-001"
NOT_A_TERMINAL: Final = "E-SER-002"
IN_USE: Final = "E-SER-003"
SETTINGS: Final = "E-SER-004"
FORBIDDEN: Final = "E-SER-005"
HANGS: Final = "E-SER-006"
OTHER: Final = "E-SER-007"
NO_ANSWER: Final = "E-SER-009"
GARBAGE: Final = "E-SER-010"
PORT_FAULTS: Final = (
    MISSING, NOT_A_TERMINAL, IN_USE, SETTINGS, FORBIDDEN, HANGS, OTHER
)  # fmt: skip

FRAMES: Final = ("frames received", "frames", "answers")
"""Counters under which line drivers count what they understood."""
DRIVER: Final = "E-DRV-"
"""A driver that failed: what the line holds is nobody's to judge."""
SOME_NOISE: Final = 8
"""Bytes without a frame: more than a cable that is plugged in makes."""
MUCH_NOISE: Final = 64
"""Enough to say so of a device that was silent before."""


class LineHealth:
    """One line: it takes what happens to the line and returns what to report."""

    def __init__(self, name: str, counters: Counters) -> None:
        self._name = name
        self._counters = counters
        self._state: DeviceState | None = None
        """As the driver told it last; None before it said anything."""
        self._code = ""
        """The reason reported last, by the driver or by this watch."""
        self._noise = 0
        """Bytes since the last frame, or since the port was opened."""
        self._frames = 0

    def said(self, report: StateReported) -> StateReported:
        """The driver's own report; silence with bytes in it is garbage."""
        self._state = report.state
        if self._frames_now() != self._frames:
            self._noise = 0  # it speaks of a frame that the bytes before it belong to
        failed = report.reason is not None and report.reason.code.startswith(DRIVER)
        if report.state is DeviceState.UNKNOWN and self._noise >= SOME_NOISE and not failed:
            report = StateReported(self._name, report.state, self._garbage(), report.at_us)
        self._code = report.reason.code if report.reason is not None else ""
        return report

    def failed(self, fault: Fault, now_us: int) -> list[Reading]:
        """The port cannot be opened."""
        self._counters[fault.code] += 1
        return self._tell(fault, now_us)

    def opened(self, now_us: int) -> list[Reading]:
        quiet = self._code == GARBAGE and not self._noise
        self._noise = 0
        if self._code not in PORT_FAULTS and not quiet:
            return []
        fault = Fault(NO_ANSWER, "the port is open; the device has not answered yet")
        return self._tell(fault, now_us)

    def received(self, size: int, now_us: int) -> list[Reading]:
        """So many bytes came, and the driver has looked at them."""
        frames = self._frames_now()
        known = self._state not in (None, DeviceState.UNKNOWN)
        self._noise = 0 if frames != self._frames else self._noise + size
        self._frames = frames
        if known or self._noise < MUCH_NOISE or self._code.startswith(DRIVER):
            return []
        return self._tell(self._garbage(), now_us)

    def _frames_now(self) -> int:
        return sum(self._counters[name] for name in FRAMES)

    def _garbage(self) -> Fault:
        return Fault(GARBAGE, f"{self._noise} bytes and no frame among them")

    def _tell(self, fault: Fault, now_us: int) -> list[Reading]:
        if fault.code == self._code:
            return []
        self._code = fault.code
        return [StateReported(self._name, DeviceState.UNKNOWN, fault, now_us)]
