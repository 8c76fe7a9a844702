"""HT16K33: from an ordered text or card to sixteen bytes of memory, and the board's batches.

Pure. Knows no time and no retries; the machine is in ``driver.py``. Source:
docs/protocols/ht16k33.md, sections 1 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from drivers.base import BusOp, Fault, ReadBlock, WriteBlock, WriteByte
from drivers.ht16k33.glyphs import DOT, RANKS, SEGMENTS, SUITS

RAM_SIZE: Final = 16
OSCILLATOR_ON: Final = 0x21
DISPLAY_OFF: Final = 0x80
DISPLAY_ON: Final = 0x81
DISPLAY_BLINK: Final = 0x83
BRIGHTNESS: Final = 0xE0
BRIGHTEST: Final = 15

CELLS: Final = 12
MODULE_CELLS: Final = 4

TOO_WIDE: Final = "E-DSP-004"
NO_SUCH_CARD: Final = "E-DSP-005"

_BY_SEGMENTS: Final = {segments: character for character, segments in SEGMENTS.items()}


@dataclass(frozen=True, slots=True)
class Frame:
    """What one board is to show, as memory and as text; ``fault`` if the order could not be met."""

    ram: bytes
    content: str
    blink: bool = False
    fault: Fault | None = None


DARK: Final = Frame(bytes(RAM_SIZE), "")


# --- the meter ---------------------------------------------------------------------------------


def cells_of(text: str) -> list[int]:
    """A text as segment words, one per cell; a full stop or comma joins the cell before it."""
    cells: list[int] = []
    for character in text:
        if character in ".,":
            if cells and not cells[-1] & DOT:
                cells[-1] |= DOT
            else:
                cells.append(DOT)
        else:
            cells.append(SEGMENTS.get(character.upper(), SEGMENTS["?"]))
    return cells


def split_meter(text: str) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] | None:
    """The cells of the three modules, left to right; None if they are more than twelve."""
    cells = cells_of(text)
    if len(cells) > CELLS:
        return None
    row = (*[SEGMENTS[" "]] * (CELLS - len(cells)), *cells)
    return row[:4], row[4:8], row[8:]


def module_text(cells: tuple[int, ...]) -> str:
    """Cells as text, a lit dot as a full stop; what is in no font is a question mark."""
    parts = []
    for cell in cells:
        parts.append(_BY_SEGMENTS.get(cell & ~DOT, "?"))
        if cell & DOT:
            parts.append(".")
    return "".join(parts)


def module_ram(cells: tuple[int, ...]) -> bytes:
    return b"".join(cell.to_bytes(2, "little") for cell in cells).ljust(RAM_SIZE, b"\0")


def meter_frame(text: str, index: int, *, blink: bool) -> Frame:
    """The part of a meter's text that the module at ``index`` (0 is the left one) shows."""
    modules = split_meter(text)
    if modules is None:
        dashes = (SEGMENTS["-"],) * MODULE_CELLS
        fault = Fault(TOO_WIDE, f"{len(cells_of(text))} cells, the meter has {CELLS}")
        return Frame(module_ram(dashes), module_text(dashes), blink, fault)
    cells = modules[index]
    return Frame(module_ram(cells), module_text(cells), blink)


# --- the matrix --------------------------------------------------------------------------------


def _columns(picture: tuple[str, ...]) -> list[int]:
    """Eight lines of eight as a byte per column, bit 0 the top line."""
    return [sum((picture[line][column] == "#") << line for line in range(8)) for column in range(8)]


def card_frame(card: str | None) -> Frame:
    """Rank above suit; dark for no card, and dark with a fault for a text that is not a card."""
    if card is None or card == "":
        return DARK
    rank, suit = RANKS.get(card[:1]), SUITS.get(card[1:])
    if rank is None or suit is None:
        return Frame(DARK.ram, "", fault=Fault(NO_SUCH_CARD, "the ordered card does not exist"))
    pairs = zip(_columns(rank), _columns(suit), strict=True)
    return Frame(bytes(value for pair in pairs for value in pair), card)


# --- batches -----------------------------------------------------------------------------------


def write_batch(ram: bytes, brightness: int) -> tuple[BusOp, ...]:
    return (
        WriteByte(OSCILLATOR_ON),
        WriteBlock(0, ram),
        WriteByte(BRIGHTNESS | brightness),
        ReadBlock(0, RAM_SIZE),
    )


@lru_cache(maxsize=64)
def verify_batch(brightness: int) -> tuple[BusOp, ...]:
    return (
        WriteByte(OSCILLATOR_ON),
        WriteByte(BRIGHTNESS | brightness),
        ReadBlock(0, RAM_SIZE),
    )


@lru_cache(maxsize=64)
def light_batch(*, blink: bool) -> tuple[BusOp, ...]:
    return (WriteByte(DISPLAY_BLINK if blink else DISPLAY_ON),)


def blank_batch() -> tuple[BusOp, ...]:
    return (WriteByte(OSCILLATOR_ON), WriteByte(DISPLAY_OFF))
