"""HD44780 behind a PCF8574A: characters, port bytes, initialisation and reading back.

Pure. Knows no time and no retries; the machine is in ``driver.py``. The bus must not be faster than
100 kHz: the time of a port byte is what the display needs between two. Source:
docs/protocols/hd44780.md, sections 1 to 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from drivers.base import MS, BusOp, Fault, ReadByte, WriteBlock

COLUMNS: Final = 20
LINES: Final = 4
LINE_START: Final = (0x00, 0x40, 0x14, 0x54)
PIECE: Final = 5
"""Characters read back in one batch: keys on the same bus wait no longer than that."""
PIECES: Final = COLUMNS // PIECE

RS: Final = 0x01
RW: Final = 0x02
E: Final = 0x04
BACKLIGHT: Final = 0x08
AT_REST: Final = BACKLIGHT
READ_STATUS: Final = 0xF0 | BACKLIGHT | RW
READ_DATA: Final = READ_STATUS | RS

CLEAR: Final = 0x01
ENTRY_INCREMENT: Final = 0x06
DISPLAY_OFF: Final = 0x08
DISPLAY_ON: Final = 0x0C
FUNCTION_4_BIT_2_LINES: Final = 0x28
SET_CGRAM: Final = 0x40
SET_DDRAM: Final = 0x80

BUSY: Final = 0x80
GLYPH_ROWS: Final = 8
GLYPH_MASK: Final = 0x1F

TRANSACTION: Final = 32
BATCH_TRANSACTIONS: Final = 3

LINE_TOO_LONG: Final = "E-DSP-014"

GLYPHS: Final[tuple[tuple[str, bytes], ...]] = (
    ("♣", bytes.fromhex("0E0E041B1F1B040E")),
    ("♦", bytes.fromhex("040E0E1F1F0E0E04")),
    ("♥", bytes.fromhex("000A1F1F1F0E0400")),
    ("♠", bytes.fromhex("040E1F1F1F15040E")),
    ("€", bytes.fromhex("06091C081C090600")),
    ("£", bytes.fromhex("0609081C08091600")),
    ("\\", bytes.fromhex("0010080402010000")),
    ("~", bytes.fromhex("0000081502000000")),
)
GLYPH_MEMORY: Final = b"".join(rows for _, rows in GLYPHS)
"""All of the character generator's own memory."""
UNKNOWN_CODE: Final = ord("?")

_CODES: Final[dict[str, int]] = {
    # ROM A00 has a yen sign for the backslash and an arrow for the tilde: those are own glyphs.
    **{chr(code): code for code in range(0x20, 0x7E) if code != ord("\\")},
    **{character: code for code, (character, _) in enumerate(GLYPHS)},
    "♧": 0,
    "♢": 1,
    "♡": 2,
    "♤": 3,
}
_CHARACTERS: Final[dict[int, str]] = {
    **{code: chr(code) for code in range(0x20, 0x7E) if code != ord("\\")},
    **{code: character for code, (character, _) in enumerate(GLYPHS)},
}


# --- characters --------------------------------------------------------------------------------


def code_of(character: str) -> int | None:
    """The display's code, None if it has no such character."""
    return _CODES.get(character)


def encode_line(text: str) -> tuple[bytes, Fault | None]:
    """A line as twenty codes; a longer one is cut and marked, and says so."""
    fault = None
    if len(text) > COLUMNS:
        fault = Fault(LINE_TOO_LONG, f"{len(text)} characters, the line has {COLUMNS}")
        text = text[: COLUMNS - 1] + ">"
    codes = bytes(_CODES.get(character, UNKNOWN_CODE) for character in text.ljust(COLUMNS))
    return codes, fault


def decode_line(codes: bytes) -> str:
    return "".join(_CHARACTERS.get(code, "?") for code in codes)


def cell_address(line: int, column: int) -> int:
    return LINE_START[line] + column


def address_after(address: int, count: int) -> int:
    """Where the address counter stands after so many reads or writes in DDRAM."""
    for _ in range(count):
        address = {0x27: 0x40, 0x67: 0x00}.get(address, address + 1)
    return address


# --- writing -----------------------------------------------------------------------------------


def nibble_out(nibble: int, flags: int = 0) -> bytes:
    port = nibble << 4 | BACKLIGHT | flags
    return bytes((port | E, port))


def byte_out(value: int, flags: int = 0) -> bytes:
    return nibble_out(value >> 4, flags) + nibble_out(value & 0x0F, flags)


def port_ops(port: bytes) -> tuple[BusOp, ...]:
    """Port bytes in as few transactions as smbus2 takes; its "register" is the first byte."""
    chunks = [port[n : n + TRANSACTION] for n in range(0, len(port), TRANSACTION)]
    return tuple(WriteBlock(chunk[0], chunk[1:]) for chunk in chunks)


def data_out(command: int, data: bytes) -> bytes:
    """A command (an address) and the data bytes after it, as port bytes."""
    return byte_out(command) + b"".join(byte_out(value, RS) for value in data)


def write_ops(address: int, codes: bytes) -> tuple[BusOp, ...]:
    return port_ops(data_out(SET_DDRAM | address, codes))


# --- initialisation ----------------------------------------------------------------------------

INIT_WAIT_US: Final = 50 * MS


@dataclass(frozen=True, slots=True)
class InitStep:
    ops: tuple[BusOp, ...]
    wait_us: int


def _init_steps() -> tuple[InitStep, ...]:
    three = nibble_out(3)
    commands = b"".join(map(byte_out, (FUNCTION_4_BIT_2_LINES, DISPLAY_OFF, CLEAR)))
    glyphs = port_ops(data_out(SET_CGRAM, GLYPH_MEMORY))
    return (
        InitStep(port_ops(three), 5 * MS),
        InitStep(port_ops(three), 1 * MS),
        InitStep(port_ops(three + nibble_out(2) + commands), 3 * MS),
        InitStep(port_ops(byte_out(ENTRY_INCREMENT) + byte_out(DISPLAY_ON)), 0),
        *(
            InitStep(glyphs[n : n + BATCH_TRANSACTIONS], 0)
            for n in range(0, len(glyphs), BATCH_TRANSACTIONS)
        ),
    )


INIT_STEPS: Final = _init_steps()


# --- reading back ------------------------------------------------------------------------------


def _data_in(count: int) -> list[BusOp]:
    nibble: list[BusOp] = [WriteBlock(READ_DATA, bytes((READ_DATA | E,))), ReadByte()]
    return nibble * (2 * count)


@lru_cache(maxsize=64)
def read_text_ops(address: int, count: int) -> tuple[BusOp, ...]:
    """Characters, then the status: the counter tells whether every pulse was taken once."""
    return (
        *port_ops(byte_out(SET_DDRAM | address)),
        *_data_in(count),
        WriteBlock(READ_DATA, bytes((READ_STATUS, READ_STATUS | E))),
        ReadByte(),
        WriteBlock(READ_STATUS, bytes((READ_STATUS | E,))),
        ReadByte(),
        WriteBlock(READ_STATUS, bytes((AT_REST,))),
    )


@lru_cache(maxsize=64)
def read_glyph_ops(code: int) -> tuple[BusOp, ...]:
    return (
        *port_ops(byte_out(SET_CGRAM | code * GLYPH_ROWS)),
        *_data_in(GLYPH_ROWS),
        WriteBlock(READ_DATA, bytes((AT_REST,))),
    )


def bytes_read(data: tuple[bytes, ...]) -> bytes:
    """The display bytes in the port bytes that a batch read; an odd nibble is dropped."""
    nibbles = [entry[0] >> 4 for entry in data if len(entry) == 1]
    pairs = zip(nibbles[::2], nibbles[1::2], strict=False)
    return bytes(high << 4 | low for high, low in pairs)


def text_matches(data: tuple[bytes, ...], address: int, codes: bytes) -> bool:
    """Right characters, not busy, and the counter where it belongs."""
    return bytes_read(data) == codes + bytes((address_after(address, len(codes)),))


def glyph_matches(data: tuple[bytes, ...], code: int) -> bool:
    return bytes(row & GLYPH_MASK for row in bytes_read(data)) == GLYPHS[code][1]
