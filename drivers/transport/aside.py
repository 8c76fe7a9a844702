"""A vendor's driver in a thread of its own, so that one that does not return stops nobody else.

The rig sees a driver that answers nothing at once; what the real one says comes later, on the
loop. A call that lasts longer than a second makes the device UNKNOWN with the driver's name and the
line it hangs in. Python cannot end a thread: if the call returns one day, the machine is thrown
away and a new one made; until then the device stays as it is, and everything else works.
"""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from collections.abc import Callable
from typing import Final

from drivers.base import Counters, LineSettings, Reopen, Write
from drivers.contained import Contained
from drivers.machines import LineAction
from drivers.orders import Order
from drivers.transport.clock import now_us
from drivers.transport.loop import on_loop

BLOCKED_S: Final = 1.0
LOOK_S: Final = 0.25
WAITING: Final = 1_024
"""Calls that wait for a driver; more than any device makes in a second."""
LONGEST_S: Final = 3_600.0
_Call = tuple[int, str, tuple[object, ...]]
"""The port's opening that it belongs to, the method, and its arguments without the time."""


class Aside:
    """A LineDriver for the rig. ``said(actions)`` and ``made(settings)`` are called on the loop."""

    def __init__(
        self,
        driver: Contained,
        said: Callable[[list[LineAction]], None],
        made: Callable[[LineSettings], None],
    ) -> None:
        self.name = driver.name
        self.counters: Counters = driver.counters
        self._driver = driver
        self._said = said
        self._made = made
        self._loop = asyncio.get_running_loop()
        self._calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
        self._opening = 0
        """Counts openings and losses of the port: bytes for an earlier one are not written."""
        self._since_us: int | None = None
        """When the call that is under way began."""
        self._is_blocked = False
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=f"driver {self.name}", daemon=True)
        self._thread.start()
        self._look()

    # --- what the rig calls, on the loop ---------------------------------------------------------

    @property
    def settings(self) -> LineSettings:
        return self._driver.settings

    @property
    def wake_us(self) -> int | None:
        """The thread wakes itself."""
        return None

    def opened(self, _now_us: int) -> list[LineAction]:
        self._opening += 1
        return self._later("opened")

    def closed(self, why: str, _now_us: int) -> list[LineAction]:
        self._opening += 1
        return self._later("closed", why)

    def received(self, data: bytes, _now_us: int) -> list[LineAction]:
        return self._later("received", data)

    def order(self, order: Order, _now_us: int) -> list[LineAction]:
        return self._later("order", order)

    def advance(self, _now_us: int) -> list[LineAction]:
        return []

    def close(self) -> None:
        self._closed = True
        self._calls.put((0, "advance", ()))

    def _later(self, method: str, *arguments: object) -> list[LineAction]:
        if self._calls.qsize() < WAITING:
            self._calls.put((self._opening, method, arguments))
            return []
        self.counters["calls lost"] += 1
        if self._is_blocked:
            return []
        self._is_blocked = True  # what it missed may have been a card: it must start again
        return self._driver.blocked(f"{WAITING} calls wait, and {self._where()}", now_us())

    def _look(self) -> None:
        """Does the driver still return?"""
        if self._closed:
            return
        since_us = self._since_us
        hangs = since_us is not None and now_us() - since_us >= BLOCKED_S * 1_000_000
        if hangs and not self._is_blocked:
            self._is_blocked = True
            self._said(self._driver.blocked(self._where(), now_us()))
        self._loop.call_later(LOOK_S, self._look)

    def _where(self) -> str:
        method = self._driver.calling or "a call"
        frame = sys._current_frames().get(self._thread.ident or 0)
        if frame is None:
            return method
        file = frame.f_code.co_filename.rpartition("/")[2]
        return f"{method} at {file}:{frame.f_lineno}"

    # --- the thread ------------------------------------------------------------------------------

    def _work(self) -> None:
        self._since_us = now_us()
        settings = self._driver.settings
        self._since_us = None
        if not on_loop(self._loop, self._made, settings):
            return
        while not self._closed:
            try:
                opening, method, arguments = self._calls.get(timeout=self._pause_s())
            except queue.Empty:
                opening, method, arguments = self._opening, "advance", ()
            self._since_us = at_us = now_us()
            actions = getattr(self._driver, method)(*arguments, at_us)
            self._since_us, self._is_blocked = None, False
            if actions and not on_loop(self._loop, self._hand_on, (opening, actions)):
                return

    def _pause_s(self) -> float:
        due_us = self._driver.wake_us
        return LONGEST_S if due_us is None else max(0, due_us - now_us()) / 1_000_000

    def _hand_on(self, said: tuple[int, list[LineAction]]) -> None:
        opening, actions = said
        if opening != self._opening:  # the port it spoke to is gone
            actions = [one for one in actions if not isinstance(one, Write | Reopen)]
        if not self._closed:
            self._said(actions)
