"""The lock that the table wants and the lock that the device shows, by level, not by command."""

from __future__ import annotations

from typing import Final

from drivers.base import SECOND, Fault

AGAIN_US: Final = 1 * SECOND
STRIKES_MAX: Final = 5
STUCK: Final = Fault("E-CDP-016", "the lock does not follow the order")


class Lock:
    __slots__ = ("_again_us", "_strikes", "seen", "wanted")

    def __init__(self) -> None:
        self.wanted = True
        """Locked until the table says otherwise."""
        self.seen: bool | None = None
        self._strikes = 0
        self._again_us = 0

    @property
    def stuck(self) -> bool:
        return self._strikes > STRIKES_MAX

    def want(self, locked: bool) -> bool:
        """Take the order; True if the command has to be sent."""
        changed = locked != self.wanted
        if changed:
            self._strikes = 0
        self.wanted = locked
        return changed or self.seen is not locked

    def session_over(self) -> None:
        self.seen = None
        self._strikes = 0

    def acknowledged(self, locked: bool) -> bool:
        """The device acknowledged the command; True if that is news. Only its level proves it."""
        news = self.seen is not locked
        self.seen = locked
        return news

    def shows(self, locked: bool) -> bool:
        """The device shows this level; True if that is news."""
        if locked == self.wanted:
            self._strikes = 0
        return self.acknowledged(locked)

    def tell_again(self, now_us: int) -> bool:
        """The device shows the wrong level: send the command again, at most once a second."""
        if self.seen == self.wanted or now_us < self._again_us:
            return False
        self._again_us = now_us + AGAIN_US
        self._strikes += 1
        return True
