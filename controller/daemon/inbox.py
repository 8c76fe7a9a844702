"""Inputs that wait for the writer: bounded, and none of them is lost without a trace."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from controller.daemon.changing import Reloaded
from controller.daemon.inputs import Input, KeepFrom, Noted, Overrun, Told
from controller.link.hearing import Heard
from drivers.base import StateReported
from drivers.readings import AntennaFailed, AntennaRead

QUEUE: Final = 4096
"""Readings that wait at most; a table makes some fifty a second."""
SAID_ONCE: Final = Heard | KeepFrom | Told | Noted | Reloaded
"""Never left out: it comes once, and slowly. Devices are read again instead."""


class Inbox:
    """Belongs to the event loop; the writer's thread gets a group at a time."""

    def __init__(self) -> None:
        self.overflows = 0
        self._queue: deque[Input] = deque()
        self._states: dict[str, StateReported] = {}
        self._lost = False
        self._waiting = asyncio.Event()

    @property
    def depth(self) -> int:
        return len(self._queue)

    def put(self, one: Input) -> None:
        """Too many at once hold the round and have every spot read again."""
        if isinstance(one, AntennaRead | AntennaFailed):
            return  # single inventories: the chip field has made of them what counts
        if len(self._queue) >= QUEUE and not isinstance(one, SAID_ONCE):
            if isinstance(one, StateReported):
                self._states[one.device] = one  # the last report of each device is never lost
            else:
                self._lost = True
                self.overflows += 1
            return
        self._queue.append(one)
        self._waiting.set()

    def wake(self) -> None:
        self._waiting.set()

    async def wait(self) -> None:
        await self._waiting.wait()
        self._waiting.clear()

    def take(self) -> tuple[list[Input], bool]:
        """All that waits, and whether readings were lost since the last time."""
        group = [*self._queue, *self._states.values()]
        self._queue.clear()
        self._states.clear()
        lost, self._lost = self._lost, False
        if lost:
            group.append(Overrun(self.overflows))
        return group, lost
