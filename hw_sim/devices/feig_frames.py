"""FEIG frames, the reader's side (docs/protocols/feig.md, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

STX: Final = 0x02
LONGEST: Final = 1024
LONGEST_STANDARD: Final = 255


def crc16(data: bytes) -> int:
    """CRC-16/MCRF4XX, bit by bit: slow, short, and nothing like a table."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return crc


@dataclass(frozen=True, slots=True)
class Request:
    address: int
    command: int
    data: bytes
    advanced: bool


def frame(address: int, command: int, rest: bytes, *, advanced: bool) -> bytes:
    """A frame of either side: ``rest`` is DATA, for an answer with STATUS before it."""
    if advanced:
        length = len(rest) + 7
        head = bytes((STX, length >> 8, length & 0xFF, address, command))
    else:
        head = bytes((len(rest) + 5, address, command))
    body = head + rest
    crc = crc16(body)
    return body + bytes((crc & 0xFF, crc >> 8))


def answer(request: Request, address: int, status: int, data: bytes = b"") -> bytes:
    """An answer in the form of its request, advanced where standard is too short."""
    advanced = request.advanced or len(data) + 6 > LONGEST_STANDARD
    return frame(address, request.command, bytes((status,)) + data, advanced=advanced)


def claimed(buffer: bytes) -> int | None:
    """The length the buffer's first frame claims; None while unknown, 0 if impossible."""
    if not buffer:
        return None
    if buffer[0] == STX:
        if len(buffer) < 3:
            return None
        length = buffer[1] << 8 | buffer[2]
        return length if 7 <= length <= LONGEST else 0
    return buffer[0] if buffer[0] >= 5 else 0


def request(data: bytes) -> Request | None:
    """A whole frame as a request; None if anything about it is wrong."""
    if claimed(data) != len(data) or crc16(data[:-2]) != data[-2] | data[-1] << 8:
        return None
    if data[0] == STX:
        return Request(data[3], data[4], data[5:-2], True)
    return Request(data[1], data[2], data[3:-2], False)
