"""Feeds systemd's watchdog: only while the writer passes and no device's loop is late.

A device that has been given up (its state is unknown or locked) is not waited for.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final, Protocol

from controller.daemon.logbook import Entry, say
from controller.daemon.notify import Watchdog
from controller.faults.status import Status
from drivers.rig import Rig
from drivers.transport.clock import now_us
from record.kit.notify import Notifier
from record.kit.words import counted

GIVEN_UP: Final = ("unknown", "locked")
DEFAULT_US: Final = 5_000_000


class Working(Protocol):
    """What the pulse must know of the daemon's event loop."""

    groups: int

    @property
    def status(self) -> Status: ...

    @property
    def is_idle(self) -> bool: ...


class Pulse:
    """``at_us``: the time on the devices' clock; by default now."""

    def __init__(
        self, runtime: Working, rig: Rig, notifier: Notifier, at_us: int | None = None
    ) -> None:
        self._runtime = runtime
        self._rig = rig
        self._notifier = notifier
        period_us = notifier.watchdog_us or DEFAULT_US
        self._fed_us = now_us() if at_us is None else at_us
        self.watchdog = Watchdog(period_us, self._fed_us)
        self.interval_us = period_us // 12
        """How often to look."""
        self._hungry_us = period_us // 2
        self._groups = -1
        self.fed = 0

    async def run(self) -> None:
        while True:
            self.look(now_us())
            await asyncio.sleep(self.interval_us / 1_000_000)

    def look(self, at_us: int) -> None:
        """One look at everybody; feed if the writer has passed and no loop is late."""
        status = self._runtime.status
        if self._runtime.groups != self._groups or self._runtime.is_idle:
            self._groups = self._runtime.groups
            self.watchdog.writer_passed()
        due_us = self.due_us(status)
        if self.watchdog.feed_now(due_us, at_us):
            self.fed += 1
            self._fed_us = at_us
            self._notifier.feed()
            self._notifier.status(status_line(status))
        elif at_us - self._fed_us > self._hungry_us:
            late = ", ".join(self.watchdog.waiting_for(due_us, at_us)) or "this loop"
            text = f"not fed for {(at_us - self._fed_us) // 1000} ms: waiting for {late}"
            say(Entry("watchdog starving", logging.ERROR, text))

    def due_us(self, status: Status) -> dict[str, int]:
        """When each loop wants to run next, without the devices that have been given up."""
        devices = status.get("devices", {})
        return {
            name: due_us
            for name, due_us in self._rig.due_us().items()
            if name in devices and devices[name]["state"] not in GIVEN_UP
        }


def status_line(status: Status) -> str:
    """What ``systemctl status`` shows: ``round 1841, dealing, link up, 17 of 17 devices``."""
    devices = status.get("devices", {})
    ready = sum(told["state"] == "ready" for told in devices.values())
    link = "link up" if status.get("link_up") else "no link"
    return (
        f"round {status.get('round', 0)}, {status.get('phase', 'starting')}, {link}, "
        f"{ready} of {counted(len(devices), 'device')}"
    )
