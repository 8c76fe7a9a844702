"""The dealer's 28 keys on two expanders (docs/protocols/console.md, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hw_sim.clock import MS, Clock
from hw_sim.devices.mcp23017 import A, B, Mcp23017

_ROWS: Final = (
    (0, A, ("1", "2", "3", "4", "5", "6", "7")),
    (0, B, ("8", "9", "0", "ENTER", "CLEAR", "MENU", "UNDO")),
    (1, A, ("OPEN", "CLOSE", "COMM1", "COMM2", "RIDE", "BACK", "FOLD")),
    (1, B, ("PLAY", "HANDLED", "SHOW", "PAID", "END", "VOID", "CALL")),
)
KEYS: Final = {
    key: (board, port, bit) for board, port, caps in _ROWS for bit, key in enumerate(caps)
}
"""Key cap to (expander, port, bit)."""


SEEN: Final = 2
"""Readings of a port that make a key count: the second one confirms the first."""
LONGEST_US: Final = 5_000 * MS
"""A finger waits no longer for a table that does not look."""


class Keyboard:
    def __init__(self, keys1: Mcp23017, keys2: Mcp23017, clock: Clock) -> None:
        self._boards = (keys1, keys2)
        self._clock = clock
        self.on_down: Callable[[str], None] = lambda _key: None

    def down(self, key: str) -> None:
        """The contact closes to ground."""
        self.on_down(key)
        board, port, bit = KEYS[key]
        self._boards[board].drive(port, bit, False)

    def up(self, key: str) -> None:
        board, port, bit = KEYS[key]
        self._boards[board].release(port, bit)

    def press(self, key: str, held_us: int = 120 * MS) -> None:
        """Down now, up after a while; on a busy machine, once the table has had time to read it."""
        board, port, _ = KEYS[key]
        seen = self._boards[board].reads[port] + SEEN
        latest_us = self._clock.now_us + max(held_us, LONGEST_US)

        def let_go() -> None:
            if self._boards[board].reads[port] < seen and self._clock.now_us < latest_us:
                self._clock.after(20 * MS, let_go)
            else:
                self.up(key)

        self.down(key)
        self._clock.after(held_us, let_go)
