"""A table that nobody plays at, and systemd's watchdog as the unit sets it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from controller.daemon.pulse import Pulse
from controller.faults.status import Status
from hw_sim.scenario import find, load
from record.kit.notify import Notifier
from tests.e2e.keeper import Listening
from tests.sim.table import VirtualTable

ROOT: Final = Path(__file__).resolve().parents[2]
UNIT: Final = ROOT / "systemd" / "system" / "underfelt-table@.service"
TABLES: Final = {"full": "mbs3-plain", "nsw-shuffler": "nsw-shuffler-plain"}
"""Layouts, and a scenario with the settings to open each. Together they have every kind of
device."""
SECOND: Final = 1_000_000


def watchdog_us() -> int:
    """WatchdogSec of the unit."""
    (seconds,) = re.findall(r"(?m)^WatchdogSec=(\d+)$", UNIT.read_text("utf-8"))
    return int(seconds) * SECOND


class IdleTable(VirtualTable):
    """In virtual time. Nobody plays; the watchdog's meals are timed."""

    groups = 0
    is_idle = True
    """Between two events of virtual time the writer has nothing to do."""

    def __init__(self, layout: str, notify: Path) -> None:
        super().__init__(replace(load(find(TABLES[layout])), table=layout))
        self.listening = Listening(notify)
        self.gaps_us: list[int] = []
        """Times between two meals."""
        self._fed_us = 0

    @property
    def status(self) -> Status:
        return self.writer.status()

    @property
    def hungry_us(self) -> int:
        """How long ago the last meal was."""
        return self.bench.now_us - self._fed_us

    def start(self) -> None:
        self._boot()
        self.bench.begin()
        self._notifier = Notifier(str(self.listening.path), watchdog_us())
        self.pulse = Pulse(self, self.bench.rig, self._notifier, self.bench.now_us)
        self._look()

    def close(self) -> None:
        self._notifier.close()
        self.listening.close()

    def _look(self) -> None:
        self.pulse.look(self.bench.now_us)
        if self.listening.look():
            self.gaps_us.append(self.hungry_us)
            self._fed_us = self.bench.now_us
        self.bench.clock.after(self.pulse.interval_us, self._look)
