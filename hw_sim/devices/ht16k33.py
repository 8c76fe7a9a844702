"""HT16K33 LED controller, and what a person reads off it (docs/protocols/ht16k33.md).

Four of them: three modules of the jackpot meter and the matrix of the magic card.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from hw_sim.devices.fonts import RANKS, SEGMENTS, SUITS

MEMORY: Final = 16
DOT: Final = 0x4000
LETTER: Final = 0x3FFF
"""The fourteen segments; bit 15 is not connected."""
DIGITS: Final = 4


class Ht16k33:
    """The board. ``dead``: it acknowledges, its memory does not change and nothing is lit.
    ``dark``: its memory is right, and nothing is lit."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.dead = self.dark = False
        self.power_cycle()

    def power_cycle(self) -> None:
        self.memory = bytearray(self._rng.randbytes(MEMORY))
        self.oscillator = False
        self.display = False
        self.blink = 0
        """0 steady, 1 2 Hz, 2 1 Hz, 3 0.5 Hz."""
        self.brightness = 15
        self.row_pin = 0
        """0 a row, 1 INT active low, 3 INT active high."""
        self._address = 0
        self._keys = False

    # --- the bus -------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        if not data:
            return
        first = data[0]
        if first < MEMORY:
            self._address, self._keys = first, False
            for byte in data[1:]:
                # The address counts on even where the byte is lost.
                if self.oscillator and not self.dead:
                    self.memory[self._address] = byte
                self._address = (self._address + 1) % MEMORY
        elif 0x40 <= first <= 0x45 or first == 0x60:
            self._keys = True
        else:
            self._command(first)

    def read(self, length: int) -> bytes:
        if self._keys:
            return bytes(length)  # no keys hang on these boards: none is down, no INT flag
        out = bytearray()
        for _ in range(length):
            out.append(self.memory[self._address])
            self._address = (self._address + 1) % MEMORY
        return bytes(out)

    def _command(self, command: int) -> None:
        if command == 0x21:
            self.oscillator = True
        elif not self.oscillator:
            return  # in standby nothing else has an effect
        elif command == 0x20:
            self.oscillator = False
        elif 0x80 <= command <= 0x87:
            self.display = bool(command & 1)
            self.blink = command >> 1 & 3
        elif command in (0xA0, 0xA1, 0xA3):
            self.row_pin = command & 3
        elif 0xE0 <= command <= 0xEF:
            self.brightness = command & 0x0F

    # --- the light -----------------------------------------------------------------------------

    def visible(self) -> bytes:
        """The memory as it is lit; a blinking display counts as lit, so that a person can read."""
        return bytes(self.memory) if self.lit else bytes(MEMORY)

    @property
    def lit(self) -> bool:
        """A person can see what the memory says."""
        return self.oscillator and self.display and not (self.dead or self.dark)


def segments_text(modules: Sequence[Ht16k33]) -> str:
    """What a person reads on modules side by side: a dot after its cell, dark cells as spaces."""
    text = ""
    for module in modules:
        lit = module.visible()
        for digit in range(DIGITS):
            pattern = int.from_bytes(lit[2 * digit : 2 * digit + 2], "little")
            text += SEGMENTS.get(pattern & LETTER, "?")
            text += "." if pattern & DOT else ""
    return text


def matrix_rows(module: Ht16k33) -> list[str]:
    """The sixteen lines of the matrix from the top: COM c is column c, ROW r is line r."""
    lit = module.visible()
    columns = [int.from_bytes(lit[2 * c : 2 * c + 2], "little") for c in range(8)]
    return ["".join("#" if col >> line & 1 else "." for col in columns) for line in range(16)]


def matrix_card(module: Ht16k33) -> str | None:
    """The card that a person sees, ``7h``; None dark, ``?`` anything else."""
    rows = tuple(matrix_rows(module))
    if not any("#" in row for row in rows):
        return None
    rank, suit = RANKS.get(rows[:8]), SUITS.get(rows[8:])
    return "?" if rank is None or suit is None else rank + suit
