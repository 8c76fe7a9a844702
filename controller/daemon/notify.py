"""Whether the table deserves to be called alive; ``record.notify`` tells systemd.

``Watchdog`` decides without a clock or a socket of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from record.notify import Notifier

__all__ = ["Notifier", "Watchdog"]


class Watchdog:
    """Who has moved since the last feeding? Pure: the time is passed in, in microseconds.

    Fed only if the writer made a pass and every poll loop has iterated or declared its device
    failed. So a hung loop starves it, and a dead device does not: the loop that gives a device up
    says so and is not waited for until it iterates again.
    """

    def __init__(self, loops: Iterable[str], period_us: int, now_us: int) -> None:
        """``period_us``: systemd's; it is fed at a third of it, so one late pass is no death."""
        self._interval_us = period_us // 3
        self._loops = frozenset(loops)
        self._moved: set[str] = set()
        self._failed: set[str] = set()
        self._wrote = False
        self.wake_us = now_us + self._interval_us
        """When ``feed_now`` wants to be asked next."""

    def writer_passed(self) -> None:
        """The writer finished a group, or found that there was nothing to write."""
        self._wrote = True

    def iterated(self, loop: str) -> None:
        """A poll loop went round once. If its device was given up, it is back."""
        self._known(loop)
        self._moved.add(loop)
        self._failed.discard(loop)

    def declared_failed(self, loop: str) -> None:
        """Its device does not answer and everybody has been told."""
        self._known(loop)
        self._failed.add(loop)

    def waiting_for(self) -> tuple[str, ...]:
        """Who has not moved since the last feeding: what to say before the end comes."""
        writer = () if self._wrote else ("writer",)
        return (*writer, *sorted(self._loops - self._moved - self._failed))

    def feed_now(self, now_us: int) -> bool:
        """Send WATCHDOG=1? If somebody is missing it is asked again soon, and not fed."""
        if now_us < self.wake_us:
            return False
        if self.waiting_for():
            self.wake_us = now_us + self._interval_us // 4
            return False
        self._moved.clear()
        self._wrote = False
        self.wake_us = now_us + self._interval_us
        return True

    def _known(self, loop: str) -> None:
        if loop not in self._loops:
            raise KeyError(f"no poll loop {loop!r}; there are {', '.join(sorted(self._loops))}")
