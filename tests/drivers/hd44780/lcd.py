"""A small HD44780 behind a PCF8574A for these tests, written from the page and not from the driver.

It keeps time: a port byte takes 90 us, and a pulse of E while the controller is busy is lost.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drivers.base import (
    BusDone,
    BusFailed,
    BusOp,
    ReadByte,
    WriteBlock,
    WriteByte,
)
from drivers.hd44780.driver import PromptDriver
from drivers.readings import Shown

VECTORS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[2] / "vectors" / "hd44780.toml").read_text("utf-8")
)
PORT_BYTE_US = 90
LINE_STARTS = (0x00, 0x40, 0x14, 0x54)


def transactions(ops: tuple[BusOp, ...]) -> list[str]:
    """Operations in the notation of the vectors."""
    out = []
    for op in ops:
        match op:
            case WriteByte(value):
                out.append(f"w {value:02X}")
            case WriteBlock(register, data):
                assert 1 <= len(data) <= 31
                out.append(f"w {register:02X} {data.hex(' ').upper()}")
            case ReadByte():
                out.append("r")
            case _:
                raise AssertionError(op)
    return out


@dataclass
class Lcd:
    mode: int = 8
    pending: int | None = None
    second: bool = False
    lines: int = 1
    on: bool = False
    counter: int = 0
    in_cgram: bool = False
    ddram: dict[int, int] = field(default_factory=dict)
    cgram: bytearray = field(default_factory=lambda: bytearray(b"\x15\x0a" * 32))
    port: int = 0xFF
    busy_until_us: float = 0
    lost_pulses: int = 0
    connected: bool = True
    errno: int = 0
    errno_after: int | None = None
    """Fail once, after so many operations."""
    now_us: int = 0

    def power_glitch(self) -> None:
        self.mode, self.pending, self.second = 8, None, False
        self.lines, self.on, self.counter, self.in_cgram = 1, False, 0, False
        self.ddram.clear()
        self.cgram[:] = b"\x15\x0a" * 32
        self.busy_until_us = self.now_us + 10_000

    def text(self, line: int) -> bytes:
        return bytes(self.ddram.get(LINE_STARTS[line] + n, 0x20) for n in range(20))

    @property
    def visible(self) -> list[bytes]:
        if not self.on or self.lines != 2:
            return [b" " * 20] * 4
        return [self.text(n) for n in range(4)]

    # --- the bus -------------------------------------------------------------------------------

    def run(self, ops: tuple[BusOp, ...], now_us: int) -> BusDone | BusFailed:
        self.now_us = now_us
        results = []
        for index, op in enumerate(ops):
            if self.errno or index == self.errno_after:
                self.errno_after = None
                return BusFailed(index, self.errno or 121)
            self.now_us += PORT_BYTE_US  # the address
            match op:
                case WriteByte(value):
                    self.write(value)
                    results.append(b"")
                case WriteBlock(register, data):
                    for value in (register, *data):
                        self.write(value)
                    results.append(b"")
                case ReadByte():
                    self.now_us += PORT_BYTE_US
                    results.append(bytes((self.pins(),)))
                case _:
                    raise AssertionError(op)
        return BusDone(tuple(results))

    def write(self, value: int) -> None:
        self.now_us += PORT_BYTE_US
        before, self.port = self.port, value
        if self.connected and before & 4 and not value & 4:
            self.pulse(before)

    def pins(self) -> int:
        if not self.connected or self.port & 0x06 != 0x06:
            return self.port
        value = self.memory() if self.port & 1 else self.status()
        nibble = value & 0x0F if self.mode == 4 and self.second else value >> 4
        return (nibble << 4 & self.port) | self.port & 0x0F

    # --- the controller ------------------------------------------------------------------------

    def status(self) -> int:
        return (self.now_us < self.busy_until_us) << 7 | self.counter

    def memory(self) -> int:
        if self.in_cgram:
            return self.cgram[self.counter & 0x3F] | 0xE0  # bits 7-5 mean nothing
        return self.ddram.get(self.counter, 0x20)

    def pulse(self, port: int) -> None:
        """E fell: the nibble (or, in 8-bit mode, the byte) on the pins counts."""
        reading_status = port & 3 == 2
        if self.now_us < self.busy_until_us and not reading_status:
            self.lost_pulses += 1
            return
        if port & 2:
            if self.mode == 4:
                self.second = not self.second
            if not self.second and port & 1:
                self.count()
            return
        nibble = port >> 4
        if self.mode == 8:
            self.take(nibble << 4 | 0x0F, data=bool(port & 1))
        elif self.pending is None:
            self.pending, self.second = nibble, True
        else:
            value, self.pending, self.second = self.pending << 4 | nibble, None, False
            self.take(value, data=bool(port & 1))

    def take(self, value: int, *, data: bool) -> None:
        self.busy_until_us = self.now_us + 53
        if data:
            if self.in_cgram:
                self.cgram[self.counter & 0x3F] = value
            else:
                self.ddram[self.counter] = value
            self.count()
        elif value & 0x80:
            self.counter, self.in_cgram = value & 0x7F, False
        elif value & 0x40:
            self.counter, self.in_cgram = value & 0x3F, True
        elif value & 0x20:
            self.mode = 8 if value & 0x10 else 4
            self.lines = 2 if value & 0x08 else 1
        elif value & 0x08:
            self.on = bool(value & 0x04)
        elif value in (1, 2, 3):
            self.busy_until_us = self.now_us + 2_200
            self.counter, self.in_cgram = 0, False
            if value == 1:
                self.ddram.clear()

    def count(self) -> None:
        if self.in_cgram:
            self.counter = (self.counter + 1) & 0x3F
        else:
            self.counter = {0x27: 0x40, 0x67: 0x00}.get(self.counter, self.counter + 1)


class Bench:
    """One driver and one display in virtual time."""

    def __init__(self, lcd: Lcd | None = None) -> None:
        self.driver = PromptDriver("prompt", 0x3F)
        self.lcd = lcd or Lcd()
        self.now_us = 1_000_000
        self.batches: list[tuple[int, list[str]]] = []
        self.seen: list[tuple[str, list[bytes]]] = []
        self.longest_us = 0

    def one(self) -> Sequence[object]:
        self.now_us = max(self.driver.wake_us, self.now_us)
        ops = self.driver.plan(self.now_us)
        self.batches.append((self.now_us, transactions(ops)))
        outcome = self.lcd.run(ops, self.now_us)
        self.longest_us = max(self.longest_us, self.lcd.now_us - self.now_us)
        self.now_us = max(self.lcd.now_us, self.now_us + 100)
        out = self.driver.finish(outcome, self.now_us)
        self.seen += [(o.content, self.lcd.visible) for o in out if isinstance(o, Shown)]
        return out

    def run_for(self, duration_us: int) -> Sequence[object]:
        end_us = self.now_us + duration_us
        out: list[object] = []
        for _ in range(10_000):
            if max(self.driver.wake_us, self.now_us) > end_us:
                self.now_us = end_us
                return out
            out += self.one()
        raise AssertionError("the driver never rests")
