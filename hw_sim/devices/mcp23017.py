"""MCP23017: sixteen pins behind 22 registers (docs/protocols/mcp23017.md), IOCON.BANK = 0.

Power-on: every pin an input, everything else zero. A brown-out brings that state back while the
board keeps acknowledging, which is why hosts must verify it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

A, B = 0, 1
IODIR, IPOL, GPINTEN, DEFVAL, INTCON, IOCON = 0x00, 0x02, 0x04, 0x06, 0x08, 0x0A
INTF, INTCAP, GPIO, OLAT = 0x0E, 0x10, 0x12, 0x14
REGISTERS: Final = 0x16
SEQOP: Final = 0x20


class Mcp23017:
    def __init__(self) -> None:
        self.on_change: Callable[[], None] | None = None
        self.on_interrupt: Callable[[], None] | None = None
        self.reads = [0, 0]
        """Readings of each port's pins."""
        self._driven: list[dict[int, bool]] = [{}, {}]
        self._registers = bytearray(REGISTERS)
        self._pointer = 0
        self.power_cycle()

    # --- the outside world ---------------------------------------------------------------------

    @property
    def interrupt(self) -> bool:
        return bool(self._registers[INTF] or self._registers[INTF + 1])

    def drive(self, port: int, bit: int, level: bool) -> None:
        """Something outside puts this level on a pin; it only shows where the pin is an input."""
        before = self._inputs(port)
        self._driven[port][bit] = level
        self._interrupts(port, before)

    def release(self, port: int, bit: int) -> None:
        """Nothing drives the pin any more: the board's pull-up does."""
        before = self._inputs(port)
        self._driven[port].pop(bit, None)
        self._interrupts(port, before)

    def pins(self, port: int) -> int:
        """The levels on the pins: outputs as latched, inputs as driven or pulled."""
        direction = self._registers[IODIR + port]
        return (self._registers[OLAT + port] & ~direction | self._levels(port) & direction) & 0xFF

    def peek(self, register: int) -> int:
        """A register's value without the side effects of reading it over the bus."""
        return self._registers[register]

    def power_cycle(self) -> None:
        self._registers[:] = bytes(REGISTERS)
        self._registers[IODIR] = self._registers[IODIR + 1] = 0xFF
        self._pointer = 0
        self._changed()

    # --- the bus -------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        self._pointer = data[0] % 0x20
        for value in data[1:]:
            self._store(self._pointer, value)
            self._advance()

    def read(self, length: int) -> bytes:
        out = bytearray()
        for _ in range(length):
            out.append(self._load(self._pointer))
            self._advance()
        return bytes(out)

    # --- registers -----------------------------------------------------------------------------

    def _advance(self) -> None:
        if self._registers[IOCON] & SEQOP:
            self._pointer ^= 1  # byte mode toggles within the pair
        else:
            self._pointer = (self._pointer + 1) % REGISTERS

    def _store(self, register: int, value: int) -> None:
        if register >= REGISTERS or register & 0x1E in (INTF, INTCAP):
            return  # no such register, or one that only the board writes
        port = register & 1
        before = self._inputs(port)
        match register & 0x1E:
            case 0x0A:  # one register under two addresses
                self._registers[IOCON] = self._registers[IOCON + 1] = value & 0xFE
            case 0x12:  # writing the port writes the latch
                self._registers[OLAT + port] = value
            case _:
                self._registers[register] = value
        if register & 0x1E == GPINTEN:
            return  # enabling is no change of a pin
        self._interrupts(port, before)
        self._changed()

    def _load(self, register: int) -> int:
        if register >= REGISTERS:
            return 0
        port = register & 1
        self.reads[port] += register & 0x1E == GPIO
        value = self._inputs(port) if register & 0x1E == GPIO else self._registers[register]
        if register & 0x1E in (GPIO, INTCAP) and self._registers[INTF + port]:
            self._registers[INTF + port] = 0
            self._interrupt_changed()
        return value

    def _levels(self, port: int) -> int:
        """The boards behind the pins pull them up, so what nobody drives is high."""
        levels = 0xFF
        for bit, level in self._driven[port].items():
            levels = levels & ~(1 << bit) | (level << bit)
        return levels

    def _inputs(self, port: int) -> int:
        """What a read of GPIO gives: pins, with the polarity turned where IPOL says so."""
        inverted = self._registers[IPOL + port] & self._registers[IODIR + port]
        return (self.pins(port) ^ inverted) & 0xFF

    def _interrupts(self, port: int, before: int) -> None:
        now = self._inputs(port)
        enabled = self._registers[GPINTEN + port] & self._registers[IODIR + port]
        against = self._registers[DEFVAL + port]
        by_value = self._registers[INTCON + port]
        changed = ((now ^ against) & by_value | (now ^ before) & ~by_value) & enabled
        if changed and not self._registers[INTF + port]:
            self._registers[INTF + port] = changed
            self._registers[INTCAP + port] = now
            self._interrupt_changed()

    def _interrupt_changed(self) -> None:
        if self.on_interrupt is not None:
            self.on_interrupt()

    def _changed(self) -> None:
        if self.on_change is not None:
            self.on_change()
