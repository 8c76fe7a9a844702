"""A FEIG reader with its antenna multiplexers (docs/protocols/feig.md, sections 3 and 4).

It comes from the factory with ONT on: a host that leaves it on sees a chip once and never again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from hw_sim.clock import MS, SECOND, Timer
from hw_sim.devices.feig_frames import Request, answer, claimed, request
from hw_sim.line import Line

ANY: Final = 0xFF
GAP_US: Final = 12 * MS
BOOT_US: Final = 1_500 * MS
OK, NO_TAG, GENERAL, RANGE, UNKNOWN, LENGTH, RF_WARNING, MORE = (
    0x00, 0x01, 0x0E, 0x11, 0x80, 0x81, 0x84, 0x94,
)  # fmt: skip
EEPROM: Final = 0x80
BLOCKS: Final = 64
BLOCK_SIZE: Final = 14
CFG5: Final = 5
MODE_BYTE: Final = 11
ONT: Final = 0x01
ANTCOL: Final = 0x04
MUXES: Final = 16
MOST_SETS: Final = 24
LIMIT_US: Final = 300 * MS
BASE_US: Final = 15 * MS

Field = Callable[[int, int], Sequence[bytes]]
"""(multiplexer, output) to the identifiers that lie over this antenna now."""


class FeigReader:
    baud = 38400
    bits_per_char = 11

    def __init__(
        self,
        address: int,
        device_id: bytes,
        field: Field,
        broken: Callable[[int, int], bool],
        tags_per_second: int = 30,
    ) -> None:
        self.address = address
        self.device_id = device_id
        self.firmware = bytes.fromhex("03030044530D30")
        self.muted = False
        self.outputs = [0] * MUXES
        self.eeprom = [bytearray(BLOCK_SIZE) for _ in range(BLOCKS)]
        self.eeprom[CFG5][MODE_BYTE] = ONT | ANTCOL
        self._field = field
        self._broken = broken
        self._tag_us = SECOND // tags_per_second
        self._line: Line
        self._buffer = bytearray()
        self._gap: Timer | None = None
        self._job: Timer | None = None
        self._selected: tuple[int, int] | None = None
        self._start()

    # --- the line ------------------------------------------------------------------------------

    def attach(self, line: Line) -> None:
        self._line = line

    def plugged(self, on: bool) -> None:
        if not on:
            self._buffer.clear()

    def receive(self, data: bytes) -> None:
        if self._gap is not None:
            self._gap.cancel()
        self._gap = self._line.clock.after(GAP_US, self._buffer.clear)
        self._buffer += data
        while self._buffer and (length := claimed(bytes(self._buffer[:3]))) is not None:
            if length == 0:
                self._buffer.clear()
                return
            if len(self._buffer) < length:
                return
            wanted = request(bytes(self._buffer[:length]))
            del self._buffer[:length]
            if wanted is not None:
                self._take(wanted)

    # --- power ---------------------------------------------------------------------------------

    def reboot(self) -> None:
        """Power off and on; the multiplexers lose theirs with it."""
        self.outputs = [0] * MUXES
        self._selected = None
        self._restart()

    def _restart(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self._job = None
        self._buffer.clear()
        self._start()
        self._booting = True
        self._line.clock.after(BOOT_US, self._booted)

    def _start(self) -> None:
        self.ram = [bytearray(block) for block in self.eeprom]
        self.rf_on = True
        self._booting = False
        self._told: dict[tuple[int, int], set[bytes]] = {}
        self._left: list[bytes] = []

    def _booted(self) -> None:
        self._booting = False

    # --- requests ------------------------------------------------------------------------------

    def _take(self, wanted: Request) -> None:
        if wanted.address not in (self.address, ANY) or self._booting or self._job is not None:
            return
        if wanted.command == 0xB0:
            status, data, took_us = self._host_command(wanted.data)
        else:
            status, data, took_us = self._plain(wanted.command, wanted.data)
        frame = answer(wanted, self.address, status, data)
        self._job = self._line.clock.after(took_us, partial(self._answer, frame, wanted.command))

    def _answer(self, frame: bytes, command: int) -> None:
        self._job = None
        if not self.muted:
            self._line.send(frame)
        if command == 0x63:
            self._restart()

    def _plain(self, command: int, data: bytes) -> tuple[int, bytes, int]:
        """(status, data, time) of everything but host commands."""
        match command, len(data):
            case 0x52, 1:
                return (OK if data[0] == 0 else RANGE), b"", 2 * MS
            case 0x63, 0:
                return OK, b"", 2 * MS
            case 0x65, 0:
                return OK, self.firmware, 2 * MS
            case 0x66, 1:
                return (OK, self.device_id, 2 * MS) if data[0] == 0x80 else (RANGE, b"", 2 * MS)
            case 0x69, 0:
                self.rf_on = True
                self._told.clear()
                self._left.clear()
                return OK, b"", 17 * MS
            case 0x6A, 1:
                if data[0] > 1:
                    return RANGE, b"", 2 * MS
                self.rf_on = data[0] == 1
                return OK, b"", 2 * MS
            case 0x80, 1:
                return OK, bytes(self._block(data[0])), 2 * MS
            case 0x81, 15:
                self._block(data[0])[:] = data[1:]
                return OK, b"", (80 if data[0] & EEPROM else 2) * MS
            case (0xDC | 0xDE | 0xDF, 1) | (0xDD, 3):
                return self._multiplexer(command, data)
            case (0x52 | 0x63 | 0x65 | 0x66 | 0x69 | 0x6A | 0x80 | 0x81
                  | 0xDC | 0xDD | 0xDE | 0xDF), _:  # fmt: skip
                return LENGTH, b"", 2 * MS
            case _:
                return UNKNOWN, b"", 2 * MS

    def _block(self, address: int) -> bytearray:
        blocks = self.eeprom if address & EEPROM else self.ram
        return blocks[address & (BLOCKS - 1)]

    def _multiplexer(self, command: int, data: bytes) -> tuple[int, bytes, int]:
        mux = data[0]
        if mux >= MUXES:
            return RANGE, b"", 4 * MS
        if command == 0xDD:
            first, second = data[1], data[2]
            if first > 8 or second > 8 or (first and first == second):
                return RANGE, b"", 4 * MS
            self.outputs[mux] = first
            self._selected = (mux, first) if first else None
        elif command == 0xDE:
            self.outputs[mux] = 0
            if self._selected is not None and self._selected[0] == mux:
                self._selected = None
        elif command == 0xDF:
            return OK, bytes.fromhex("01000001000100"), 4 * MS
        return OK, b"", 4 * MS

    # --- inventory -----------------------------------------------------------------------------

    def _host_command(self, data: bytes) -> tuple[int, bytes, int]:
        if len(data) != 2:
            return LENGTH, b"", 2 * MS
        if data[0] != 0x01:
            return UNKNOWN, b"", 2 * MS
        if data[1] not in (0x00, 0x80):
            return RANGE, b"", 2 * MS
        if self._selected is None or not self.rf_on:
            return NO_TAG, b"", BASE_US
        if self._broken(*self._selected):
            return RF_WARNING, b"", BASE_US
        if data[1] == 0x00:
            self._left = self._answering(self._selected)
        fitting = min((LIMIT_US - BASE_US) // self._tag_us + 1, MOST_SETS)
        now, self._left = self._left[:fitting], self._left[fitting:]
        took_us = min(BASE_US + len(now) * self._tag_us, LIMIT_US)
        if not now:
            return NO_TAG, b"", took_us
        sets = b"".join(_set(tag) for tag in now)
        return (MORE if self._left else OK), bytes((len(now),)) + sets, took_us

    def _answering(self, antenna: tuple[int, int]) -> list[bytes]:
        """The tags that answer: all, or with ONT those that have not answered before."""
        there = list(self._field(*antenna))
        if not self.ram[CFG5][MODE_BYTE] & ONT:
            return there
        told = self._told.setdefault(antenna, set())
        told &= set(there)
        fresh = [tag for tag in there if tag not in told]
        told.update(fresh)
        return fresh


def _set(tag: bytes) -> bytes:
    """ISO 15693 for eight bytes, ISO 18000-3M3 for any other length."""
    if len(tag) == 8:
        return b"\x03\x00" + tag
    return bytes((0x09, 0x00, len(tag))) + tag
