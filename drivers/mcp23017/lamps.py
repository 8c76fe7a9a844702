"""Seat lamps, beacon and buzzer: one latch per board, written, read back, said to be shown.

The board blinks by itself, so what is shown is a steady register value. Source:
docs/protocols/mcp23017.md section 7 and docs/protocols/console.md section 3.
"""

from __future__ import annotations

from typing import ClassVar, Final

from drivers.mcp23017.codec import OUTPUTS
from drivers.mcp23017.driver import OUTPUT_PERIOD_US, ExpanderDriver, Polled
from drivers.orders import SEATS, Kinds, Lamp, Order, ShowLamps
from drivers.readings import Reading, Shown

NIBBLES: Final[dict[Lamp, int]] = {
    "off": 0x0,
    "void": 0x1,
    "live": 0x2,
    "pay": 0x4,
    "collect": 0x5,
    "open": 0x7,
    "fault": 0x9,
    "your turn": 0xB,
    "lucky": 0xF,
}
"""Red, green, blue, blink: bits 0 to 3."""
BEACON: Final = 1 << 12
BUZZER: Final = 1 << 13
LAMPS_1: Final = (1, 2, 3, 4)
LAMPS_2: Final = (5, 6, 7)


def latch_of(order: ShowLamps, seats: tuple[int, ...], *, signals: bool) -> int:
    latch = 0
    for place, seat in enumerate(seats):
        latch |= NIBBLES[order.seats[seat - 1]] << 4 * place
    if signals:
        latch |= BEACON * order.beacon | BUZZER * order.buzzer
    return latch


def content_of(order: ShowLamps, seats: tuple[int, ...], *, signals: bool) -> str:
    words = [f"{seat} {order.seats[seat - 1]}" for seat in seats]
    if signals:
        words.append(f"beacon {'on' if order.beacon else 'off'}")
        words.append(f"buzzer {'on' if order.buzzer else 'off'}")
    return ", ".join(words)


class LampsDriver(ExpanderDriver):
    """``seats`` in the order of their nibbles; ``signals``: beacon and buzzer are here too."""

    takes: ClassVar[Kinds] = frozenset((ShowLamps,))

    def __init__(
        self, name: str, address: int, seats: tuple[int, ...], *, signals: bool = False
    ) -> None:
        super().__init__(name, address, OUTPUTS, OUTPUT_PERIOD_US)
        self._seats = seats
        self._signals = signals
        self._content: str | None = None
        self._shown: str | None = None

    def order(self, order: Order, now_us: int) -> list[Reading]:
        if not isinstance(order, ShowLamps):
            return []
        if len(order.seats) != SEATS or any(lamp not in NIBBLES for lamp in order.seats):
            self.counters["orders refused"] += 1
            return []
        self._content = content_of(order, self._seats, signals=self._signals)
        self._board.want(latch_of(order, self._seats, signals=self._signals), now_us)
        if self._content != self._shown:
            self._board.hurry(now_us)
        return []

    def _take(self, polled: Polled, now_us: int) -> list[Reading]:
        if polled.found is not None and self._content is None:
            # Nobody ordered anything yet: the lamps stay as the run before left them.
            self._board.wanted = polled.found.olat
        if polled.forgot or polled.lost:
            self._shown = None
        readings = self._board.health(now_us)
        if polled.block is not None and self._board.settled and self._content != self._shown:
            self._shown = self._content
            if self._content is not None:
                readings.append(Shown(self.name, self._content, now_us))
        return readings
