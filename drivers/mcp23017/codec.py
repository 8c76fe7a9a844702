"""MCP23017: configurations to transactions, register blocks to port values. No I/O, no state.

A port pair is one integer: port A in the low byte, port B in the high one. A block is taken whole
or refused whole with a typed fault. Source: docs/protocols/mcp23017.md sections 1 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from drivers.base import BusOp, Fault, ReadBlock, WriteBlock

IODIR: Final = 0x00
GPINTENB: Final = 0x05
DEFVAL: Final = 0x06
IOCON: Final = 0x0A
OLAT: Final = 0x14
REGISTERS: Final = 22
"""00 to 15: one block read holds the whole board."""

IOCON_VALUE: Final = 0x44
"""MIRROR and open drain; BANK and SEQOP at 0, or no block could be read."""
BANK_1_IOCON: Final = GPINTENB
"""Where IOCON is while BANK is 1."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the registers that never change must hold; inputs are pulled up and active low."""

    inputs: int
    outputs: int
    """Outputs with something wired to them: their pins must follow the latch."""


INPUTS: Final = Config(inputs=0x7F7F, outputs=0x0000)
"""Fourteen inputs; A7 and B7 are outputs: as inputs they can corrupt the bus."""
OUTPUTS: Final = Config(inputs=0x0000, outputs=0xFFFF)


@dataclass(frozen=True, slots=True)
class Block:
    """The 22 registers, as read."""

    data: bytes

    def pair(self, register: int) -> int:
        return self.data[register] | self.data[register + 1] << 8

    @property
    def gpio(self) -> int:
        return self.pair(0x12)

    @property
    def olat(self) -> int:
        return self.pair(OLAT)


def next_sequence(sequence: int) -> int:
    """1 to 255 and round again: 0 is what a board holds that nobody has spoken to."""
    return sequence % 255 + 1


def _mark(address: int, sequence: int) -> bytes:
    return bytes((sequence, sequence ^ address))


def _pair(value: int) -> bytes:
    return value.to_bytes(2, "little")


def constants(config: Config, address: int, sequence: int) -> bytes:
    """Registers 00 to 0D."""
    before, after = _fixed(config)
    return before + _mark(address, sequence) + after


@lru_cache(maxsize=8)
def _fixed(config: Config) -> tuple[bytes, bytes]:
    """What stands before and after the mark."""
    inputs = _pair(config.inputs)
    return (
        inputs  # IODIR
        + inputs  # IPOL
        + inputs,  # GPINTEN
        bytes((0, 0))  # INTCON
        + bytes((IOCON_VALUE, IOCON_VALUE))
        + inputs,  # GPPU
    )


def search() -> tuple[BusOp, ...]:
    """Twice, because a latch that is taken over decides about money."""
    return (ReadBlock(IODIR, REGISTERS), ReadBlock(IODIR, REGISTERS))


def configure(config: Config, address: int, sequence: int, latch: int) -> tuple[BusOp, ...]:
    return (
        WriteBlock(BANK_1_IOCON, b"\x00"),
        WriteBlock(IOCON, bytes((IOCON_VALUE,))),
        WriteBlock(OLAT, _pair(latch)),
        WriteBlock(IODIR, constants(config, address, sequence)),
        ReadBlock(IODIR, REGISTERS),
    )


def poll(address: int, sequence: int, latch: int | None) -> tuple[BusOp, ...]:
    """``latch``: what to write first, None while the board holds it already."""
    write = () if latch is None else (WriteBlock(OLAT, _pair(latch)),)
    return (
        *write,
        WriteBlock(DEFVAL, _mark(address, sequence)),
        ReadBlock(IODIR, REGISTERS),
    )


def parse(data: bytes) -> Block | Fault:
    if len(data) != REGISTERS:
        return Fault("E-EXP-002", f"block of {len(data)} bytes, expected {REGISTERS}")
    return Block(data)


def at_power_on(block: Block) -> bool:
    """All but DEFVAL, OLAT and the pins: those may have been written since, or never rest."""
    fixed = block.data[0x02:0x06] + block.data[0x08:0x0E]
    return block.data[:2] == b"\xff\xff" and not any(fixed)


def refusal(block: Block, config: Config, address: int, sequence: int, latch: int) -> Fault | None:
    """Why this block cannot be believed; None if it can."""
    if at_power_on(block):
        return Fault("E-EXP-003", "registers as at power-on")
    expected = constants(config, address, sequence)
    if block.data[: len(expected)] != expected:
        pairs = enumerate(zip(block.data, expected, strict=False))
        where = next(
            f"register {register:02X} is {found:02X}, expected {wanted:02X}"
            for register, (found, wanted) in pairs
            if found != wanted
        )
        return Fault("E-EXP-002", where)
    if block.olat != latch:
        return Fault("E-EXP-004", f"latch is {block.olat:04X}, expected {latch:04X}")
    wrong = (block.gpio ^ latch) & config.outputs
    if wrong:
        return Fault("E-EXP-005", f"pins {pin_names(wrong)} do not follow the latch")
    return None


def pin_names(pins: int) -> str:
    """``A0 B3``: for a technician."""
    return " ".join("AB"[bit // 8] + str(bit % 8) for bit in range(16) if pins >> bit & 1)


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: ``kept`` if the board still holds our configuration and its latch."""

    kept: bool
    olat: int


LOST: Final = Found(kept=False, olat=0)


def found(first: bytes, second: bytes, config: Config, address: int) -> Found | Fault:
    """What two blocks of a search say; a fault if they disagree or are neither kept nor lost."""
    one, two = parse(first), parse(second)
    if isinstance(one, Fault):
        return one
    if isinstance(two, Fault):
        return two
    if one.data[:0x0E] != two.data[:0x0E] or one.olat != two.olat:
        return Fault("E-EXP-002", "two reads of the same registers differ")
    sequence = one.data[DEFVAL]
    if sequence and one.data[:0x0E] == constants(config, address, sequence):
        return Found(kept=True, olat=one.olat)
    if at_power_on(one) and not one.pair(DEFVAL) and not one.olat:
        return LOST
    return Fault("E-EXP-002", f"neither configured nor at power-on: {one.data[:0x0E].hex(' ')}")
