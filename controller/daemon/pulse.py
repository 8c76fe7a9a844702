"""Feeds systemd's watchdog: only while the writer passes and every device's polling goes on.

A device that has been given up (its state is unknown or locked) is not waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from controller.daemon.notify import Notifier, Watchdog
from controller.daemon.runtime import Runtime
from drivers.rig import Rig
from drivers.transport.clock import now_us

GIVEN_UP: Final = ("unknown", "locked")
DEFAULT_US: Final = 5_000_000


class Pulse:
    def __init__(self, runtime: Runtime, rig: Rig, notifier: Notifier) -> None:
        self._runtime = runtime
        self._rig = rig
        self._notifier = notifier
        names = [name for name in rig.counters() if name != "bus"]
        period_us = notifier.watchdog_us or DEFAULT_US
        self.watchdog = Watchdog(names, period_us, now_us())
        self._interval_s = period_us / 12_000_000
        self._seen: dict[str, int] = {}
        self._groups = -1
        self.fed = 0

    async def run(self) -> None:
        while True:
            self.look(self._runtime.status)
            await asyncio.sleep(self._interval_s)

    def look(self, status: Mapping[str, Any]) -> None:
        """One look at everybody's counters; feed if all have moved."""
        for name, counters in self._rig.counters().items():
            total = sum(counters.values())
            if name != "bus" and self._seen.get(name) != total:
                self._seen[name] = total
                self.watchdog.iterated(name)
        devices = status.get("devices", {})
        for name in self._seen:
            told = devices.get(name)  # None: a port that never opened has never said anything
            if told is None or told["state"] in GIVEN_UP:
                self.watchdog.declared_failed(name)
        if self._runtime.groups != self._groups or self._runtime.is_idle:
            self._groups = self._runtime.groups
            self.watchdog.writer_passed()
        if self.watchdog.feed_now(now_us()):
            self.fed += 1
            self._notifier.feed()
            self._notifier.status(status_line(status))


def status_line(status: Mapping[str, Any]) -> str:
    """What ``systemctl status`` shows: ``round 1841, dealing, link up, 17 of 17 devices``."""
    devices = status.get("devices", {})
    ready = sum(told["state"] == "ready" for told in devices.values())
    link = "link up" if status.get("link_up") else "no link"
    return (
        f"round {status.get('round', 0)}, {status.get('phase', 'starting')}, {link}, "
        f"{ready} of {len(devices)} devices"
    )
