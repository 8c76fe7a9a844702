"""A board, an acceptor and a bench for the tests, written from the page and from nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from drivers.base import BusDone, BusFailed, BusOp, ReadBlock, WriteBlock
from drivers.machines import BoardDriver

T = TypeVar("T")
MS = 1_000
POWER_ON = bytes((0xFF, 0xFF)) + bytes(20)


@dataclass
class Board:
    """An MCP23017: 22 registers, pins of the world behind it."""

    regs: bytearray = field(default_factory=lambda: bytearray(POWER_ON))
    low: int = 0
    """Input pins that the world pulls to ground."""
    shorted: int = 0
    errno: int = 0
    """Every transfer fails with this number while it is not 0."""
    corrupt: Callable[[bytes], bytes] | None = None
    """Done to the next read, once."""
    corrupted: int = 0
    log: list[BusOp] = field(default_factory=list)

    def brown_out(self) -> None:
        self.regs[:] = POWER_ON

    def pair(self, register: int) -> int:
        return self.regs[register] | self.regs[register + 1] << 8

    def driven(self) -> int:
        """Output pins at 1; inputs count as 0, as a pull-down sees them."""
        return self.pair(0x14) & ~self.pair(0x00) & 0xFFFF & ~self.shorted

    def block(self) -> bytes:
        direction, invert = self.pair(0x00), self.pair(0x02)
        inputs = (~self.low ^ invert) & direction
        gpio = (inputs | self.driven()) & 0xFFFF
        return bytes(self.regs[:0x12]) + gpio.to_bytes(2, "little") + bytes(self.regs[0x14:])

    def run(self, ops: Sequence[BusOp]) -> BusDone | BusFailed:
        data: list[bytes] = []
        for index, op in enumerate(ops):
            if self.errno:
                return BusFailed(index, self.errno)
            self.log.append(op)
            match op:
                case WriteBlock(register, written):
                    for offset, value in enumerate(written):
                        self._write(register + offset, value)
                    data.append(b"")
                case ReadBlock(register, length):
                    read = self.block()[register : register + length]
                    if self.corrupt is not None:
                        read, self.corrupt = self.corrupt(read), None
                        self.corrupted += 1
                    data.append(read)
                case _:
                    raise AssertionError(f"the page knows no {op}")
        return BusDone(tuple(data))

    def _write(self, register: int, value: int) -> None:
        if register in (0x0A, 0x0B):
            self.regs[0x0A] = self.regs[0x0B] = value
        elif register not in range(0x0E, 0x14):
            self.regs[register] = value


@dataclass
class Acceptor:
    """One seat's acceptor as section 8 of the page describes it."""

    throat: bool = False
    box: int = 0
    returned: int = 0
    jammed: bool = False
    _ack_since: int | None = None
    _off_since: int | None = None
    _back_at: int | None = None
    _seen_enable: bool = True

    def insert(self, *, enable: bool, ack: bool) -> bool:
        if self.throat or not enable or ack:
            return False
        self.throat = True
        return True

    def power_cycle(self) -> None:
        self._ack_since = self._off_since = self._back_at = None
        self._seen_enable = False

    def step(self, now_us: int, *, enable: bool, ack: bool) -> None:
        self._seen_enable = self._seen_enable or enable
        if not self.throat or self.jammed:
            self._ack_since = self._off_since = self._back_at = None
            return
        if self._back_at is not None:
            if now_us >= self._back_at:
                self.throat, self._back_at, self.returned = False, None, self.returned + 1
            return
        self._ack_since = (
            (self._ack_since if self._ack_since is not None else now_us) if ack else None
        )
        off = self._seen_enable and not enable and not ack
        self._off_since = (
            (self._off_since if self._off_since is not None else now_us) if off else None
        )
        if self._ack_since is not None and now_us - self._ack_since >= 200 * MS:
            self.throat, self.box = False, self.box + 1
        elif self._off_since is not None and now_us - self._off_since >= 500 * MS:
            self._back_at = now_us + 800 * MS


@dataclass
class Bench:
    """Drivers and their boards in virtual time, a millisecond at a time."""

    parts: list[tuple[BoardDriver, Board]]
    now_us: int = 5_000_000
    said: list[object] = field(default_factory=list)

    def run(self, ms: int, each: Callable[[int], None] | None = None) -> list[object]:
        """What was said meanwhile. One batch per board and millisecond at most."""
        before = len(self.said)
        end_us = self.now_us + ms * MS
        while self.now_us < end_us:
            self.now_us += MS
            if each is not None:
                each(self.now_us)
            due_us = end_us
            for driver, board in self.parts:
                if driver.wake_us <= self.now_us:
                    outcome = board.run(driver.plan(self.now_us))
                    self.said += driver.finish(outcome, self.now_us)
                due_us = min(due_us, driver.wake_us)
            if each is None:  # nobody looks: on to the millisecond before the next batch
                self.now_us = max(self.now_us, min(end_us, due_us) - MS)
        return self.said[before:]


def of_kind(kind: type[T], readings: Sequence[object]) -> list[T]:
    return [reading for reading in readings if isinstance(reading, kind)]
