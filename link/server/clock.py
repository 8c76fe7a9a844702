"""The server's clocks: wall time for the record, monotonic time for waits."""

from __future__ import annotations

import time
from typing import Final, Protocol


class Clock(Protocol):
    def now_ms(self) -> int: ...
    def mono_ms(self) -> int: ...


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def mono_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000


SYSTEM_CLOCK: Final = SystemClock()


class SteadyClock:
    """A wall clock that never goes back, not even behind the last record of the store. Whether a
    key is valid, or a wait is over, must not depend on a clock that was set back."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._from_ms = self._at_mono_ms = 0

    def not_before(self, at_ms: int) -> None:
        """The store proves that it was this late already."""
        if at_ms > self.now_ms():
            self._from_ms, self._at_mono_ms = at_ms, self._clock.mono_ms()

    def now_ms(self) -> int:
        wall_ms, mono_ms = self._clock.now_ms(), self._clock.mono_ms()
        counted_ms = self._from_ms + mono_ms - self._at_mono_ms
        if wall_ms < counted_ms:
            return counted_ms
        self._from_ms, self._at_mono_ms = wall_ms, mono_ms
        return wall_ms

    def mono_ms(self) -> int:
        return self._clock.mono_ms()

    def behind_ms(self) -> int:
        """How far the system's clock is behind this one."""
        return self.now_ms() - self._clock.now_ms()
