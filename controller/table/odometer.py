"""A count-up of the jackpot meter: one run from a value to a higher one, a function of time.

What it shows is never above the value it runs to, which the link has committed. A run is one record
in the journal (design: what is not money does not wear the card), its steps are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

STEP_US: Final = 100_000
"""The meter changes ten times a second at most: three chips share the bus with keys and lamps."""
SIGN_STEP_US: Final = 1_000_000
"""A sign needs half a second for a text, and its reading back as long again."""


@dataclass(frozen=True, slots=True)
class CountUp:
    """From one value to a higher one in ``over_us``, beginning at ``start_us``."""

    from_cents: int
    to_cents: int
    start_us: int
    over_us: int

    @property
    def end_us(self) -> int:
        return self.start_us + self.over_us

    def at(self, now_us: int, step_us: int = STEP_US) -> int:
        """What stands there at this time, if it changes every ``step_us``."""
        gone_us = max(0, now_us - self.start_us)
        if gone_us >= self.over_us:
            return self.to_cents
        gone_us -= gone_us % step_us
        return self.from_cents + (self.to_cents - self.from_cents) * gone_us // self.over_us

    def next_us(self, now_us: int) -> int:
        """When the meter shows another value than now; the end at the latest."""
        more = self.at(now_us) + 1 - self.from_cents
        gone_us = -(-more * self.over_us // (self.to_cents - self.from_cents))
        return min(self.start_us - (-gone_us // STEP_US) * STEP_US, self.end_us)
