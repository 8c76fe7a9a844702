"""Levels that count: an input is what two samples in a row, far enough apart, say it is.

Pure and small, shared by the expanders and the Pi's own pins. It never counts edges. Source:
docs/protocols/mcp23017.md section 6 and docs/protocols/gpio.md section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from drivers.base import MS

APART_US: Final = 20 * MS


@dataclass(frozen=True, slots=True)
class Level:
    """A level that counts from now on. ``first``: nothing counted before, so it is no change."""

    pin: int
    on: bool
    first: bool


class Debouncer:
    """Pins as bits of an integer; ``sample`` returns the levels that changed, lowest bit first."""

    def __init__(self, pins: int, apart_us: int = APART_US) -> None:
        self._pins = tuple(bit for bit in range(pins.bit_length()) if pins >> bit & 1)
        self._mask = pins
        self._apart_us = apart_us
        self.forget()

    def forget(self) -> None:
        """Nothing counts any more; the next levels are where the pins are, not changes."""
        self._known = 0
        self._stable = 0
        self._seen: int | None = None
        self._since_us = dict.fromkeys(self._pins, 0)

    @property
    def on(self) -> int:
        """The pins whose level counts and is on."""
        return self._stable

    @property
    def complete(self) -> bool:
        return self._known == self._mask

    @property
    def pending(self) -> bool:
        """A sample is waiting for another one that confirms it."""
        return self._seen is not None and (not self.complete or self._seen != self._stable)

    def sample(self, bits: int, now_us: int) -> list[Level]:
        bits &= self._mask
        changed = self._mask if self._seen is None else bits ^ self._seen
        self._seen = bits
        if not changed and not self.pending:
            return []
        levels: list[Level] = []
        for pin in self._pins:
            bit = 1 << pin
            if changed & bit:
                self._since_us[pin] = now_us
            elif now_us - self._since_us[pin] >= self._apart_us:
                levels += self._settle(pin, bits & bit)
        return levels

    def _settle(self, pin: int, level: int) -> list[Level]:
        bit = 1 << pin
        first = not self._known & bit
        if not first and level == self._stable & bit:
            return []
        self._known |= bit
        self._stable = self._stable & ~bit | level
        return [Level(pin, bool(level), first)]
