"""Amounts as people read them: one formatter for prompt, meter and sign.

Records and settlements do not pass through here; they are whole minor units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CELLS: Final = 12
"""Digits of the jackpot meter."""
DOTS: Final = ".,"
"""On the meter they light the dot of the cell before them and take none."""


def cells(text: str) -> int:
    """Cells of the meter that a text takes."""
    return len(text) - sum([text.count(dot) for dot in DOTS])


@dataclass(frozen=True, slots=True)
class Amounts:
    """How the table's currency is written. ``decimals`` says how many minor units make one."""

    currency: str = "$"
    decimals: int = 2
    point: str = "."
    thousands: str = ","

    def plain(self, minor: int) -> str:
        """Without grouping: ``1234.50``."""
        return self._written(minor, "")

    def grouped(self, minor: int) -> str:
        """``12,345.67``."""
        return self._written(minor, self.thousands)

    def short(self, minor: int) -> str:
        """Without what says nothing: ``175`` for 175.00, ``2.50`` as it is."""
        whole, rest = divmod(minor, 10**self.decimals)
        return str(whole) if rest == 0 else self.plain(minor)

    def on_sign(self, minor: int) -> str:
        return f"{self.currency}{self._gap}{self.grouped(minor)}"

    def on_meter(self, minor: int) -> str:
        """At most twelve cells, right-aligned. What does not fit gives way, never a digit: first
        the space after the symbol, then the symbol, then spaces between thousands."""
        grouped = self._written(minor, self._meter_thousands)
        offered = (
            f"{self.currency}{self._gap}{grouped}",
            f"{self.currency}{grouped}",
            grouped,
            self.plain(minor),
        )
        text = next((t for t in offered if cells(t) <= CELLS), offered[-1])
        return " " * (CELLS - cells(text)) + text

    @property
    def _gap(self) -> str:
        """``EUR 5.00``, but ``$5.00``."""
        return " " if self.currency[-1:].isalpha() else ""

    @property
    def _meter_thousands(self) -> str:
        """The meter has no apostrophe; its dot groups as well."""
        return "," if self.thousands == "'" else self.thousands

    def _written(self, minor: int, thousands: str) -> str:
        whole, rest = divmod(abs(minor), 10**self.decimals)
        text = f"{whole:,}".replace(",", thousands)
        if self.decimals:
            text += f"{self.point}{rest:0{self.decimals}}"
        return f"-{text}" if minor < 0 else text


DOLLARS: Final = Amounts()
