"""The dealer's keys: fourteen per board, each press reported once.

Levels only: a key counts when two polls in a row say so. Which keys mean what is for the table.
Source: docs/protocols/mcp23017.md section 6 and docs/protocols/console.md section 2.
"""

from __future__ import annotations

from typing import Final

from drivers.base import Fault
from drivers.debounce import Level
from drivers.mcp23017.driver import InputsDriver, Polled
from drivers.readings import KeyPressed, Reading

KEYS_1: Final = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "ENTER", "CLEAR", "MENU", "UNDO")
KEYS_2: Final = (
    "OPEN", "CLOSE", "COMM1", "COMM2", "RIDE", "BACK", "FOLD",
    "PLAY", "HANDLED", "SHOW", "PAID", "END", "VOID", "CALL",
)  # fmt: skip
PINS: Final = (*range(7), *range(8, 15))
"""A0 to A6, B0 to B6 as bits of a port pair."""
AT_ONCE: Final = 2
"""More keys than this are not fingers."""


class KeysDriver(InputsDriver):
    def __init__(self, name: str, address: int, caps: tuple[str, ...]) -> None:
        if len(caps) != len(PINS):
            raise ValueError(f"{name}: {len(caps)} key caps, a board has {len(PINS)}")
        super().__init__(name, address)
        self._caps = dict(zip(PINS, caps, strict=True))
        self._stuck = False

    def _take(self, polled: Polled, now_us: int) -> list[Reading]:
        presses: list[Reading] = []
        if polled.forgot:
            self._levels.forget()
            self._stuck = False
        if polled.block is not None:
            presses = self._pressed(self._sample(polled.block, now_us), now_us)
        trouble = None
        if self._stuck:
            down = [cap for pin, cap in self._caps.items() if self._levels.on >> pin & 1]
            trouble = Fault("E-KEY-001", f"keys down at once: {' '.join(down)}")
        return [*self._board.health(now_us, trouble), *presses]

    def _pressed(self, levels: list[Level], now_us: int) -> list[Reading]:
        self._stuck = self._levels.on.bit_count() > AT_ONCE
        down = [level.pin for level in levels if level.on and not level.first]
        if self._stuck:
            self.counters["presses refused"] += len(down)
            return []
        self.counters["presses"] += len(down)
        return [KeyPressed(self.name, self._caps[pin], now_us) for pin in down]
