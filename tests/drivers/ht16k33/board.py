"""A small HT16K33 for these tests, written from the page and not from the driver."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drivers.base import (
    BusDone,
    BusFailed,
    BusOp,
    ReadBlock,
    WriteBlock,
    WriteByte,
)
from drivers.ht16k33.driver import MagicCardDriver, MeterDriver
from drivers.readings import Shown

VECTORS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[2] / "vectors" / "ht16k33.toml").read_text("utf-8")
)
RUBBISH = bytes.fromhex("A55A00FF1337800 1FE7F42249966C33C".replace(" ", ""))


def transactions(ops: tuple[BusOp, ...]) -> list[str]:
    """Operations in the notation of the vectors."""
    out = []
    for op in ops:
        match op:
            case WriteByte(value):
                out.append(f"w {value:02X}")
            case WriteBlock(register, data):
                out.append(f"w {register:02X} {data.hex(' ').upper()}")
            case ReadBlock(register, length):
                out.append(f"r {register:02X} {length}")
            case _:
                raise AssertionError(op)
    return out


@dataclass
class Board:
    ram: bytearray = field(default_factory=lambda: bytearray(RUBBISH))
    oscillator: bool = False
    on: bool = False
    blink: int = 0
    brightness: int = 15
    errno: int = 0
    spoil: Callable[[bytes], bytes] = bytes
    lit_history: list[bytes] = field(default_factory=list)

    def brown_out(self) -> None:
        self.ram[:] = RUBBISH
        self.oscillator, self.on, self.blink, self.brightness = False, False, 0, 15

    @property
    def lit(self) -> bytes:
        """What a person sees: nothing unless oscillator and display are both on."""
        return bytes(self.ram) if self.oscillator and self.on else bytes(16)

    def run(self, ops: tuple[BusOp, ...]) -> BusDone | BusFailed:
        results = []
        for index, op in enumerate(ops):
            if self.errno:
                return BusFailed(index, self.errno)
            results.append(self._one(op))
            self.lit_history.append(self.lit)
        return BusDone(tuple(results))

    def _one(self, op: BusOp) -> bytes:
        match op:
            case WriteByte(value) if value in (0x20, 0x21):
                self.oscillator = value == 0x21
            case WriteByte(value) if self.oscillator and value & 0xF8 == 0x80:
                self.on, self.blink = bool(value & 1), value >> 1 & 3
            case WriteByte(value) if self.oscillator and value & 0xF0 == 0xE0:
                self.brightness = value & 15
            case WriteBlock(register, data) if self.oscillator:
                for offset, value in enumerate(data):
                    self.ram[(register + offset) % 16] = value
            case ReadBlock(register, length):
                return self.spoil(bytes(self.ram[(register + n) % 16] for n in range(length)))
        return b""


class Bench:
    """One driver and one board in virtual time."""

    def __init__(self, driver: MeterDriver | MagicCardDriver, board: Board | None = None) -> None:
        self.driver = driver
        self.board = board or Board()
        self.now_us = 1_000_000
        self.batches: list[tuple[int, list[str]]] = []
        self.seen: list[tuple[str, bytes]] = []
        """Each content called shown, and what the board lit at that moment."""

    def run_for(self, duration_us: int) -> list[object]:
        end_us = self.now_us + duration_us
        out: list[object] = []
        for _ in range(10_000):
            due_us = max(self.driver.wake_us, self.now_us)
            if due_us > end_us:
                self.now_us = end_us
                return out
            self.now_us = due_us
            ops = self.driver.plan(self.now_us)
            self.batches.append((self.now_us, transactions(ops)))
            news = self.driver.finish(self.board.run(ops), self.now_us)
            self.seen += [(o.content, self.board.lit) for o in news if isinstance(o, Shown)]
            out += news
            self.now_us += 100
        raise AssertionError("the driver never rests")
