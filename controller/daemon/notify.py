"""Whether the table deserves to be called alive; ``record.kit.notify`` tells systemd.

``Watchdog`` decides without a clock or a socket of its own.
"""

from __future__ import annotations

from collections.abc import Mapping


class Watchdog:
    """Is anybody late? Pure: the time is passed in, in microseconds.

    Every loop is judged by its own rhythm: ``due_us`` says when each wants to run next. A loop is
    late once that moment passed a third of the period ago. A sign that is read every ten seconds is
    never late in between, and a key pad that is read every 50 ms is late after two seconds. Loops
    that have given their device up are left out by the caller.
    """

    def __init__(self, period_us: int, now_us: int) -> None:
        """``period_us``: systemd's; it is fed at a third of it, so one late pass is no death."""
        self._interval_us = period_us // 3
        self._wrote = False
        self.wake_us = now_us + self._interval_us
        """When ``feed_now`` wants to be asked next."""

    def writer_passed(self) -> None:
        """The writer finished a group, or found that there was nothing to write."""
        self._wrote = True

    def waiting_for(self, due_us: Mapping[str, int], now_us: int) -> tuple[str, ...]:
        """Who keeps it from being fed: what to log before systemd ends the process."""
        writer = () if self._wrote else ("writer",)
        limit_us = now_us - self._interval_us
        return (*writer, *sorted(loop for loop, due in due_us.items() if due < limit_us))

    def feed_now(self, due_us: Mapping[str, int], now_us: int) -> bool:
        """Send WATCHDOG=1? If somebody is late it is asked again soon, and not fed."""
        if now_us < self.wake_us:
            return False
        if self.waiting_for(due_us, now_us):
            self.wake_us = now_us + self._interval_us // 4
            return False
        self._wrote = False
        self.wake_us = now_us + self._interval_us
        return True
