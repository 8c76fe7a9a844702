"""Supervisor key, door, power-fail and supply flags as machines: levels in, readings out.

Edges only say that a sample is worth taking; a level counts when two samples, 20 ms apart, agree.
Source: docs/protocols/gpio.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from drivers.base import MS, Counters, DeviceState, Fault, StateReported
from drivers.debounce import APART_US, Debouncer
from drivers.gpio.codec import parse_throttled
from drivers.machines import Reporter
from drivers.readings import Reading, SupplyRead, SwitchRead

SAMPLE_US: Final = 100 * MS
EDGE_US: Final = 5 * MS
"""A chattering contact gets no more than one sample per this time."""
SILENT_US: Final = 900 * MS
SUPPLY_SILENT_US: Final = 1_900 * MS

PINS: Final = {"supervisor_key": False, "door": True, "power_fail": False}
"""Name to the level at which it is on: the key and the rail's watch pull low, a broken loop floats
high."""


class PinsDriver:
    """``sampled`` takes electrical levels by name, True is high; other names are left alone."""

    def __init__(self, name: str = "pins", pins: Mapping[str, bool] = PINS) -> None:
        self.name = name
        self.counters: Counters = Counter()
        self._pins = dict(pins)
        self._names = tuple(pins)
        self._levels = Debouncer((1 << len(pins)) - 1)
        self._state: DeviceState | None = None
        self._sample_us: int | None = None
        self._silent_us = 0
        """0: not yet started, no time is known."""
        self._sample_due_us = 0

    @property
    def wake_us(self) -> int:
        """When ``advance`` wants to be called: a sample should have come before."""
        return self._silent_us

    @property
    def sample_due_us(self) -> int:
        """When the next sample should be taken; in the past means now."""
        return self._sample_due_us

    def edge(self, now_us: int) -> None:
        """Something moved: sample sooner. It changes nothing else."""
        self.counters["edges"] += 1
        earliest = now_us if self._sample_us is None else self._sample_us + EDGE_US
        self._sample_due_us = min(self._sample_due_us, max(now_us, earliest))

    def sampled(self, levels: Mapping[str, bool], now_us: int) -> list[Reading]:
        missing = [name for name in self._names if name not in levels]
        if missing:
            fault = Fault("E-PIN-002", f"no level for {', '.join(missing)}")
            self.counters[fault.code] += 1
            return self._silent(fault, now_us) if self._overdue(now_us) else []
        # A late sample after a silence is a new start, even if nobody came to say so.
        readings = self.advance(now_us)
        self.counters["samples"] += 1
        self._sample_us = now_us
        self._silent_us = now_us + SILENT_US
        bits = 0
        for pin, name in enumerate(self._names):
            bits |= (levels[name] == self._pins[name]) << pin
        for level in self._levels.sample(bits, now_us):
            readings.append(SwitchRead(self.name, self._names[level.pin], level.on, now_us))
        if self._levels.complete and self._state is not DeviceState.READY:
            self._state = DeviceState.READY
            readings.append(StateReported(self.name, DeviceState.READY, None, now_us))
        self._sample_due_us = now_us + (APART_US if self._levels.pending else SAMPLE_US)
        return readings

    def failed(self, why: str, now_us: int) -> list[Reading]:
        """Sampling itself failed."""
        self.counters["E-PIN-001"] += 1
        return self._silent(Fault("E-PIN-001", why), now_us)

    def advance(self, now_us: int) -> list[Reading]:
        if not self._overdue(now_us):
            return []
        return self._silent(Fault("E-PIN-001", "no sample"), now_us)

    def _overdue(self, now_us: int) -> bool:
        self._silent_us = self._silent_us or now_us + SILENT_US
        return now_us >= self._silent_us

    def _silent(self, fault: Fault, now_us: int) -> list[Reading]:
        self._levels.forget()
        self._silent_us = now_us + SILENT_US
        if self._state is DeviceState.UNKNOWN:
            return []
        self._state = DeviceState.UNKNOWN
        self.counters["silences"] += 1
        return [StateReported(self.name, DeviceState.UNKNOWN, fault, now_us)]


class SupplyDriver:
    """``read`` takes the text of the kernel's file, once a second."""

    def __init__(self, name: str = "supply") -> None:
        self.name = name
        self.counters: Counters = Counter()
        self._flags: int | None = None
        self._reporter = Reporter(name)
        self._silent_us = 0
        """0: not yet started, no time is known."""

    @property
    def wake_us(self) -> int:
        """When ``advance`` wants to be called: a text should have come before."""
        return self._silent_us

    def read(self, text: str, now_us: int) -> list[Reading]:
        self.counters["reads"] += 1
        flags = parse_throttled(text)
        if isinstance(flags, Fault):
            return self._unknown(flags, now_us)
        self._next(now_us)
        readings = self._reporter.report(DeviceState.READY, None, now_us)
        if flags != self._flags:
            self._flags = flags
            readings.append(SupplyRead(self.name, flags, now_us))
        return readings

    def failed(self, why: str, now_us: int) -> list[Reading]:
        return self._unknown(Fault("E-SUP-002", why), now_us)

    def advance(self, now_us: int) -> list[Reading]:
        self._silent_us = self._silent_us or now_us + SUPPLY_SILENT_US
        if now_us < self._silent_us:
            return []
        return self._unknown(Fault("E-SUP-002", "nothing was read"), now_us)

    def _next(self, now_us: int) -> None:
        self._silent_us = now_us + SUPPLY_SILENT_US

    def _unknown(self, fault: Fault, now_us: int) -> list[Reading]:
        self.counters[fault.code] += 1
        self._next(now_us)
        self._flags = None
        return self._reporter.report(DeviceState.UNKNOWN, fault, now_us)
