"""The dealer's keys: fourteen per board, each press reported once.

Levels only: a key counts when two polls in a row say so. Which keys mean what is for the table.
Source: docs/protocols/mcp23017.md section 6 and docs/protocols/console.md section 2.
"""

from __future__ import annotations

from typing import Final

from drivers.base import BusDone, BusFailed, BusOp, Fault
from drivers.debounce import Debouncer, Level
from drivers.mcp23017.codec import INPUTS
from drivers.mcp23017.driver import CONFIRM_US, INPUT_PERIOD_US, Expander, Polled
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


class KeysDriver:
    def __init__(self, name: str, address: int, caps: tuple[str, ...]) -> None:
        if len(caps) != len(PINS):
            raise ValueError(f"{name}: {len(caps)} key caps, a board has {len(PINS)}")
        self.name = name
        self.address = address
        self._caps = dict(zip(PINS, caps, strict=True))
        self._board = Expander(name, address, INPUTS, INPUT_PERIOD_US)
        self._levels = Debouncer(INPUTS.inputs)
        self._stuck = False
        self.counters = self._board.counters

    @property
    def wake_us(self) -> int:
        return self._board.due_us

    def plan(self, now_us: int) -> tuple[BusOp, ...]:  # noqa: ARG002 (one shape for all boards)
        return self._board.plan()

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> list[Reading]:
        return self._take(self._board.finish(outcome, now_us), now_us)

    def bus_lost(self, why: str, now_us: int) -> list[Reading]:
        return self._take(self._board.lose(why, now_us), now_us)

    def nudge(self, now_us: int) -> None:
        self._board.nudge(now_us)

    def _take(self, polled: Polled, now_us: int) -> list[Reading]:
        presses: list[Reading] = []
        if polled.forgot:
            self._levels.forget()
            self._stuck = False
        if polled.block is not None:
            presses = self._pressed(self._levels.sample(polled.block.gpio, now_us), now_us)
            if self._levels.pending:
                self._board.hurry(now_us + CONFIRM_US)
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
