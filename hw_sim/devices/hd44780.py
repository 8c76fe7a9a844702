"""The dealer prompt: HD44780 in front, PCF8574A on the bus (docs/protocols/hd44780.md).

The controller is always fast enough here: it is never busy. At 100 kHz only a host that does not
wait after clear and home could tell.
"""

from __future__ import annotations

import random
from typing import Final

from hw_sim.devices.fonts import GLYPHS

RS: Final = 0x01
RW: Final = 0x02
E: Final = 0x04
BACKLIGHT: Final = 0x08
COLUMNS: Final = 20
ROW_LENGTH: Final = 40
"""Cells of memory per controller line; the glass shows each in two halves."""
SECOND_ROW: Final = 0x40
BLANK: Final = 0x20


class Controller:
    """The HD44780: memory, address counter and modes, without its pins."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.frozen = False
        """Memory does not change any more."""
        self.power_up()

    def power_up(self) -> None:
        self.ddram = dict.fromkeys((*range(0x28), *range(0x40, 0x68)), BLANK)
        self.cgram = bytearray(self._rng.getrandbits(5) for _ in range(0x40))
        self.counter = 0
        self.in_cgram = False
        self.eight_bit = True
        self.two_lines = False
        self.large_font = False
        self.on = False
        self.cursor = False
        self.cursor_blink = False
        self.step = 1
        self.shift_on_write = False
        self.shift = 0
        """The cell of memory at the left edge of the glass."""

    # --- bytes ---------------------------------------------------------------------------------

    def command(self, byte: int) -> None:
        """The highest bit that is set says which command it is."""
        if byte & 0x80:
            self.counter, self.in_cgram = byte & 0x7F, False
        elif byte & 0x40:
            self.counter, self.in_cgram = byte & 0x3F, True
        elif byte & 0x20:
            self.eight_bit = bool(byte & 0x10)
            self.two_lines = bool(byte & 0x08)
            self.large_font = bool(byte & 0x04)
        elif byte & 0x10:
            self._shift(bool(byte & 0x08), 1 if byte & 0x04 else -1)
        elif byte & 0x08:
            self.on = bool(byte & 0x04)
            self.cursor = bool(byte & 0x02)
            self.cursor_blink = bool(byte & 0x01)
        elif byte & 0x04:
            self.step = 1 if byte & 0x02 else -1
            self.shift_on_write = bool(byte & 0x01)
        elif byte & 0x02:
            self._home()
        elif byte & 0x01:
            self._home()
            self.step = 1
            if not self.frozen:
                self.ddram = dict.fromkeys(self.ddram, BLANK)

    def write_data(self, byte: int) -> None:
        if not self.frozen:
            if self.in_cgram:
                self.cgram[self.counter] = byte & 0x1F
            elif self.counter in self.ddram:
                self.ddram[self.counter] = byte
        self.advance()
        if self.shift_on_write and not self.in_cgram:
            self._shift(True, -self.step)

    def data(self) -> int:
        """The byte at the address counter; a glyph's upper three bits are not kept."""
        if self.in_cgram:
            return self.cgram[self.counter] | self._rng.getrandbits(3) << 5
        return self.ddram.get(self.counter, BLANK)

    def status(self) -> int:
        return self.counter

    def advance(self, step: int | None = None) -> None:
        step = self.step if step is None else step
        if self.in_cgram:
            self.counter = (self.counter + step) & 0x3F
            return
        jumps = {0x27: 0x40, 0x67: 0x00} if step > 0 else {0x40: 0x27, 0x00: 0x67}
        self.counter = jumps.get(self.counter, (self.counter + step) & 0x7F)

    def _home(self) -> None:
        self.counter, self.in_cgram, self.shift = 0, False, 0

    def _shift(self, display: bool, direction: int) -> None:
        if display:  # text that moves to the right brings cells from the left into view
            self.shift = (self.shift - direction) % ROW_LENGTH
        else:
            self.advance(direction)

    # --- glass ---------------------------------------------------------------------------------

    def text(self) -> list[str]:
        starts = ((0, 0), (SECOND_ROW, 0), (0, COLUMNS), (SECOND_ROW, COLUMNS))
        return [self._row(base, first) for base, first in starts]

    def _row(self, base: int, first: int) -> str:
        if not self.on or (base == SECOND_ROW and not self.two_lines):
            return " " * COLUMNS
        cells = ((self.shift + first + column) % ROW_LENGTH for column in range(COLUMNS))
        return "".join(self._character(self.ddram[base + cell]) for cell in cells)

    def _character(self, code: int) -> str:
        if code < 0x10:
            first = 8 * (code & 7)
            return GLYPHS.get(bytes(self.cgram[first : first + 8]), "?")
        # ROM A00 is ASCII here except 5C; what it shows elsewhere no prompt uses.
        return chr(code) if BLANK <= code <= 0x7D and code != 0x5C else "?"


class Hd44780:
    """The display with its backpack, as the bus sees it.

    ``dead``: it takes everything, its memory does not change and a person sees nothing.
    ``dark``: its memory is right, and a person sees nothing.
    ``fitted`` False: the backpack is alone, the display's plug has come off.
    """

    def __init__(self, rng: random.Random) -> None:
        self.controller = Controller(rng)
        self.fitted = True
        self.dark = False
        self.power_cycle()

    def power_cycle(self) -> None:
        self.port = 0xFF
        self.pending: int | None = None
        """The high nibble taken, in 4-bit mode between the halves of a byte."""
        self.controller.power_up()

    @property
    def dead(self) -> bool:
        return self.controller.frozen

    @dead.setter
    def dead(self, on: bool) -> None:
        self.controller.frozen = on

    @property
    def backlight(self) -> bool:
        return bool(self.port & BACKLIGHT)

    def lines(self) -> list[str]:
        """Four texts of twenty as a person reads them."""
        return self.controller.text() if self.visible else [" " * COLUMNS] * 4

    @property
    def visible(self) -> bool:
        """The glass is there and works."""
        return self.fitted and not (self.dead or self.dark)

    @property
    def lit(self) -> bool:
        """A person can see what the memory says."""
        return self.visible and self.controller.on and self.controller.two_lines

    # --- the bus -------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        for byte in data:
            before, self.port = self.port, byte
            # What counts is what stood on the pins before E fell.
            if before & E and not byte & E and self.fitted:
                self._pulse(before)

    def read(self, length: int) -> bytes:
        return bytes(self._pins() for _ in range(length))

    def _pins(self) -> int:
        """A pin written 1 is weak: the display pulls its zeros down through it."""
        if self.fitted and self.port & E and self.port & RW:
            return self.port & (self._driven() << 4 | 0x0F)
        return self.port

    def _driven(self) -> int:
        byte = self.controller.data() if self.port & RS else self.controller.status()
        return byte & 0x0F if self.pending is not None else byte >> 4

    def _pulse(self, pins: int) -> None:
        nibble = pins >> 4
        if self.controller.eight_bit:
            self._byte(pins, nibble << 4 | 0x0F)  # D0-D3 hang in the air and read as 1
        elif self.pending is None:
            self.pending = nibble
        else:
            high, self.pending = self.pending, None
            self._byte(pins, high << 4 | nibble)

    def _byte(self, pins: int, byte: int) -> None:
        if not pins & RW:
            if pins & RS:
                self.controller.write_data(byte)
            else:
                self.controller.command(byte)
        elif pins & RS:
            self.controller.advance()
