"""Simulated time: a queue of things to happen. Only the shell around it reads a real clock.

In a test the clock jumps from one event to the next; in a process of its own the shell lets it
follow the machine's monotonic clock. Device models cannot tell the difference.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Final

MS: Final = 1_000
SECOND: Final = 1_000_000


class Timer:
    """Something that will happen once, unless it is cancelled."""

    __slots__ = ("action", "at_us")

    def __init__(self, at_us: int, action: Callable[[], None] | None) -> None:
        self.at_us = at_us
        self.action = action

    def cancel(self) -> None:
        self.action = None


class Clock:
    def __init__(self) -> None:
        self.now_us = 0
        self._queue: list[tuple[int, int, Timer]] = []
        """By time and the order of asking: tuples, because Python compares those by itself."""
        self._count = 0

    def at(self, at_us: int, action: Callable[[], None]) -> Timer:
        """Do this at a time; what is due at the same time happens in the order it was asked for."""
        self._count += 1
        timer = Timer(max(at_us, self.now_us), action)
        heapq.heappush(self._queue, (timer.at_us, self._count, timer))
        return timer

    def after(self, delay_us: int, action: Callable[[], None]) -> Timer:
        return self.at(self.now_us + delay_us, action)

    @property
    def next_us(self) -> int | None:
        """When the next thing happens; None if nothing ever will."""
        while self._queue and self._queue[0][2].action is None:
            heapq.heappop(self._queue)
        return self._queue[0][0] if self._queue else None

    def run_until(self, until_us: int) -> None:
        """Let everything happen that is due by then, and move the time there."""
        while (due := self.next_us) is not None and due <= until_us:
            *_, timer = heapq.heappop(self._queue)
            self.now_us = max(self.now_us, timer.at_us)
            if timer.action is not None:
                timer.action()
        self.now_us = max(self.now_us, until_us)
