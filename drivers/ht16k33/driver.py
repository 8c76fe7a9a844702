"""The jackpot meter's modules and the magic card, each a board of its own on the bus.

They only choose what to show; ``display.py`` shows it. Source: docs/protocols/ht16k33.md.
"""

from __future__ import annotations

from typing import ClassVar, Final

from drivers.ht16k33.codec import BRIGHTEST, card_frame, meter_frame
from drivers.ht16k33.display import Ht16k33Display
from drivers.orders import Kinds, Order, ShowMagicCard, ShowMeter
from drivers.readings import Reading

MODULES: Final = 3


class MeterDriver(Ht16k33Display):
    """One of the meter's three modules; ``index`` is its place from the left, 0 to 2."""

    takes: ClassVar[Kinds] = frozenset((ShowMeter,))

    def __init__(self, name: str, address: int, index: int, *, brightness: int = BRIGHTEST) -> None:
        if not 0 <= index < MODULES:
            raise ValueError(f"{name}: module {index}, expected 0 to {MODULES - 1}")
        super().__init__(name, address, brightness=brightness)
        self.index = index

    def order(self, order: Order, now_us: int) -> list[Reading]:
        if not isinstance(order, ShowMeter):
            return []
        # Right to left: while an amount rises, what stands there in between is never above it.
        due_us = now_us + MODULES - 1 - self.index
        return self.show(meter_frame(order.text, self.index, blink=order.blink), due_us)


class MagicCardDriver(Ht16k33Display):
    """The matrix of 8 columns and 16 lines."""

    takes: ClassVar[Kinds] = frozenset((ShowMagicCard,))

    def order(self, order: Order, now_us: int) -> list[Reading]:
        if not isinstance(order, ShowMagicCard):
            return []
        return self.show(card_frame(order.card), now_us)
