"""CDP v1 frames: COBS, CRC-32C and a decoder for bytes in any split (card-devices.md section 1).

Knows no payload, no clock and no device; never raises on what comes from the line and never keeps
more than one frame's bytes. A payload may hold a card nobody has seen: it is never printed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from drivers.base import Fault

VERSION: Final = 1
HOST: Final = 0x00
SHOE: Final = 0x10
SHUFFLER: Final = 0x11
SENDERS: Final = frozenset({HOST, SHOE, SHUFFLER})

ACK_WANTED: Final = 0x01
SENT_BEFORE: Final = 0x02
CLOCK_UNSET: Final = 0x04
FLAGS: Final = ACK_WANTED | SENT_BEFORE | CLOCK_UNSET

HEADER_BYTES: Final = 6
CRC_BYTES: Final = 4
PAYLOAD_MAX: Final = 240
BODY_MIN: Final = HEADER_BYTES + CRC_BYTES
BODY_MAX: Final = BODY_MIN + PAYLOAD_MAX
CHUNK_MIN: Final = BODY_MIN + 1
CHUNK_MAX: Final = BODY_MAX + 1
"""COBS adds exactly one byte to a body shorter than 254; the delimiter is not counted."""

BAD_CHUNK: Final = "E-CDP-001"
BAD_CRC: Final = "E-CDP-002"
BAD_HEADER: Final = "E-CDP-003"


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            # The polynomial 1EDC6F41 with its bits reversed.
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)


_CRC: Final = _crc_table()


def crc32c(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ _CRC[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame whose checksum and header hold; what its payload means is the codec's."""

    dev: int
    type: int
    flags: int
    seq: int
    payload: bytes = field(default=b"", repr=False)

    @property
    def wants_ack(self) -> bool:
        return bool(self.flags & ACK_WANTED)


def encode_frame(frame: Frame) -> bytes:
    """The bytes on the line, delimiter included. Refuses what is our own mistake."""
    if len(frame.payload) > PAYLOAD_MAX:
        raise ValueError(f"a payload has at most {PAYLOAD_MAX} bytes")
    head = bytes((VERSION, frame.dev, frame.type, frame.flags)) + frame.seq.to_bytes(2, "little")
    body = head + frame.payload
    body += crc32c(body).to_bytes(CRC_BYTES, "little")
    out = bytearray()
    for block in body.split(b"\0"):
        out.append(len(block) + 1)
        out += block
    out.append(0)
    return bytes(out)


def _uncobs(chunk: bytes) -> bytes | None:
    """The body of a chunk without zeros, or None if its code bytes do not end where it ends."""
    body = bytearray()
    at, size = 0, len(chunk)
    while at < size:
        step = chunk[at]
        body += chunk[at + 1 : at + step]
        at += step
        if at < size:
            body.append(0)
    return bytes(body) if at == size else None


def _frame_of(chunk: bytes) -> Frame | Fault:
    size = len(chunk)
    if not CHUNK_MIN <= size <= CHUNK_MAX:
        return Fault(BAD_CHUNK, f"{size} bytes")
    body = _uncobs(chunk)
    if body is None:
        return Fault(BAD_CHUNK, f"{size} bytes are no COBS")
    if crc32c(body[:-CRC_BYTES]) != int.from_bytes(body[-CRC_BYTES:], "little"):
        return Fault(BAD_CRC, f"{size} bytes")
    version, dev, kind, flags = body[:4]
    if version != VERSION or dev not in SENDERS or flags & ~FLAGS:
        return Fault(BAD_HEADER, f"version {version:02X} sender {dev:02X} flags {flags:02X}")
    return Frame(dev, kind, flags, body[4] | body[5] << 8, body[HEADER_BYTES:-CRC_BYTES])


def _rescued(chunk: bytes) -> Frame | None:
    """The longest proper suffix that is a whole frame: the second of two that were glued.

    A frame begins with a code byte of 2 or more, then the version, then the sender: behind a code
    of 2 the host's zero is not written, else the device's byte is. Of those places only the ones
    from which the code bytes lead exactly to the end are worth a checksum.
    """
    size = len(chunk)
    leads_out = bytearray(size + 1)
    leads_out[size] = 1
    for at in range(size - 1, -1, -1):
        after = at + chunk[at]
        leads_out[at] = after <= size and leads_out[after]
    at = chunk.find(VERSION, 2)
    while 0 <= at <= size - CHUNK_MIN + 1:
        start = at - 1
        step = chunk[start]
        sender = HOST if step == 2 else chunk[at + 1]
        if step >= 2 and leads_out[start] and sender in SENDERS:
            found = _frame_of(chunk[start:])
            if isinstance(found, Frame):
                return found
        at = chunk.find(VERSION, at + 1)
    return None


class Decoder:
    """Bytes in any split in; frames and faults out, in the order of the line.

    A chunk that is no frame gives exactly one fault, and after it the frame that was glued to its
    end, if there is one. At most ``CHUNK_MAX`` bytes are kept between two calls.
    """

    __slots__ = ("_kept", "_overlong")

    def __init__(self) -> None:
        self._kept = b""
        self._overlong = False

    @property
    def held(self) -> int:
        """Bytes kept for a frame that is not complete."""
        return len(self._kept)

    def reset(self) -> None:
        """The line was closed: what was half received never ends."""
        self._kept = b""
        self._overlong = False

    def feed(self, data: bytes) -> list[Frame | Fault]:
        found: list[Frame | Fault] = []
        *ended, rest = data.split(b"\0")
        for chunk in ended:
            self._keep(chunk)
            if self._kept:
                self._end_chunk(found)
            self.reset()
        self._keep(rest)
        return found

    def _keep(self, more: bytes) -> None:
        if len(self._kept) + len(more) > CHUNK_MAX:
            self._overlong = True
        self._kept = (self._kept + more[-CHUNK_MAX:])[-CHUNK_MAX:]

    def _end_chunk(self, found: list[Frame | Fault]) -> None:
        first: Frame | Fault
        if self._overlong:
            first = Fault(BAD_CHUNK, f"more than {CHUNK_MAX} bytes")
            # What is kept may begin exactly where the second frame does.
            whole = _frame_of(self._kept)
            rescued = whole if isinstance(whole, Frame) else _rescued(self._kept)
        else:
            first = _frame_of(self._kept)
            rescued = None if isinstance(first, Frame) else _rescued(self._kept)
        found.append(first)
        if rescued is not None:
            found.append(rescued)
