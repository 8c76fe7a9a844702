"""CDP v1 at the wire: frames, COBS, CRC-32C and payloads (docs/protocols/card-devices.md)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

VERSION: Final = 0x01
HOST, SHOE, SHUFFLER = 0x00, 0x10, 0x11
SENDERS: Final = (HOST, SHOE, SHUFFLER)

WANTS_ACK, AGAIN = 0x01, 0x02
KNOWN_FLAGS: Final = 0x07

HELLO, HELLO_R, STATUS, HEARTBEAT, CHALLENGE, RESPONSE = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
CARD, BURN, CUT_CARD, RETURNED, MISREAD, DOUBLE_FEED = 0x20, 0x21, 0x22, 0x23, 0x24, 0x25
SHOE_LOADED, SHOE_EMPTY, JAM, JAM_CLEARED, DOOR = 0x30, 0x31, 0x32, 0x33, 0x34
SHUFFLE_START, SHUFFLE_END, PACKET, PACKET_REMOVED = 0x40, 0x41, 0x42, 0x43
DECK_VERIFY, DECK_VERIFIED, METERS = 0x44, 0x45, 0x50
LOCK, UNLOCK, ACK, NAK = 0x60, 0x61, 0x7E, 0x7F

CARD_EVENTS: Final = (CARD, BURN, CUT_CARD, RETURNED, MISREAD, DOUBLE_FEED, PACKET)

UNKNOWN_TYPE, WRONG_PAYLOAD, WRONG_STATE, BUSY, NO_SESSION, OUT_OF_SEQUENCE = 1, 2, 3, 4, 5, 6

JOKER, CUT, UNREADABLE = 0xF0, 0xF1, 0xFF
FULL_DECK: Final = tuple(suit << 4 | rank for suit in range(4) for rank in range(1, 14))

BODY_MIN: Final = 10
BODY_MAX: Final = 250
CHUNK_MAX: Final = BODY_MAX + 1
HEAD: Final = struct.Struct("<BBBBH")
CHECK: Final = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Frame:
    dev: int
    kind: int
    flags: int
    seq: int
    payload: bytes = b""


# --- bytes -------------------------------------------------------------------------------------


def _crc_table() -> Iterator[int]:
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


CRC_TABLE: Final = tuple(_crc_table())


def crc32c(data: bytes) -> int:
    rest = 0xFFFFFFFF
    for byte in data:
        rest = rest >> 8 ^ CRC_TABLE[(rest ^ byte) & 0xFF]
    return rest ^ 0xFFFFFFFF


def cobs(body: bytes) -> bytes:
    """Stuff a body of at most 250 bytes; runs are too short for the code FF."""
    return b"".join(bytes((len(run) + 1,)) + run for run in body.split(b"\0"))


def uncobs(chunk: bytes) -> bytes | None:
    """The body, or None if the distances do not end exactly at the end."""
    runs: list[bytes] = []
    at = 0
    while at < len(chunk):
        code = chunk[at]
        if code in (0x00, 0xFF) or at + code > len(chunk):
            return None
        runs.append(chunk[at + 1 : at + code])
        at += code
    return b"\0".join(runs)


def encode(frame: Frame) -> bytes:
    """The frame as it goes out, delimiter included."""
    body = HEAD.pack(VERSION, frame.dev, frame.kind, frame.flags, frame.seq) + frame.payload
    return cobs(body + CHECK.pack(crc32c(body))) + b"\0"


def decode(chunk: bytes) -> Frame | None:
    """A chunk without its delimiter; None for anything that is no valid frame."""
    body = uncobs(chunk)
    if body is None or not BODY_MIN <= len(body) <= BODY_MAX:
        return None
    version, dev, kind, flags, seq = HEAD.unpack_from(body)
    if version != VERSION or dev not in SENDERS or flags & ~KNOWN_FLAGS:
        return None
    if CHECK.unpack(body[-CHECK.size :])[0] != crc32c(body[: -CHECK.size]):
        return None
    return Frame(dev, kind, flags, seq, body[HEAD.size : -CHECK.size])


class Receiver:
    """Cuts a stream at its delimiters and finds the frames, damaged chunks included."""

    def __init__(self) -> None:
        self.faults = 0
        self._chunk = bytearray()
        self._overflow = False

    def feed(self, data: bytes) -> list[Frame]:
        found: list[Frame] = []
        for byte in data:
            if byte:
                self._chunk.append(byte)
                if len(self._chunk) > CHUNK_MAX:
                    self._overflow = True
                    del self._chunk[0]
                continue
            if self._chunk:
                frame = self._read(bytes(self._chunk))
                if frame is not None:
                    found.append(frame)
            self._chunk.clear()
            self._overflow = False
        return found

    def _read(self, chunk: bytes) -> Frame | None:
        frame = decode(chunk)
        if frame is not None and not self._overflow:
            return frame
        self.faults += 1
        # A destroyed delimiter glues two frames: the second is a suffix and must not be lost.
        for first in range(len(chunk) - BODY_MIN):
            frame = decode(chunk[first:])
            if frame is not None:
                return frame
        return None


# --- payloads that a device sends --------------------------------------------------------------

LAYOUTS: Final[dict[int, tuple[str, tuple[str, ...]]]] = {
    HELLO_R: ("<8s8s12s8sIB", ("vendor", "model", "serial", "firmware", "boot_id", "proto")),
    STATUS: (
        "<BBHBHIIIB",
        ("state", "lid", "cards_left", "cut_card", "err", "uptime", "load_id", "number", "waiting"),
    ),
    HEARTBEAT: ("<IBBH", ("boot_id", "state", "switches", "err")),
    RESPONSE: ("<16s", ("digest",)),
    CARD: ("<IBBBB", ("draw_no", "card", "read_err", "confidence", "dest")),
    BURN: ("<I", ("draw_no",)),
    CUT_CARD: ("<IH", ("draw_no", "cards_left")),
    RETURNED: ("<I", ("draw_no",)),
    MISREAD: ("<IBB", ("draw_no", "read_err", "confidence")),
    DOUBLE_FEED: ("<IB", ("draw_no", "cards")),
    SHOE_LOADED: ("<IB", ("shoe_id", "decks")),
    SHOE_EMPTY: ("<IB", ("shoe_id", "decks")),
    JAM: ("<IB", ("jam_no", "place")),
    JAM_CLEARED: ("<I", ("jam_no",)),
    DOOR: ("<IBB", ("door_no", "door", "open")),
    SHUFFLE_START: ("<IHHBB", ("shuffle_id", "cards", "expected", "result", "deck_id")),
    SHUFFLE_END: ("<IHHBB", ("shuffle_id", "cards", "expected", "result", "deck_id")),
    PACKET_REMOVED: ("<B", ("packet_no",)),
    DECK_VERIFIED: ("<IHHBB", ("verify_id", "cards", "expected", "result", "deck_id")),
    METERS: ("<IIII", ("shuffles_ok", "shuffles_failed", "cards", "door_openings")),
    ACK: ("<", ()),
    NAK: ("<B", ("code",)),
}
"""Type to layout and names of the fields, in the order of the page; PACKET is of no fixed size."""


def payload(kind: int, **fields: int | bytes) -> bytes:
    """The payload of a message that a device sends; texts come as bytes and are padded."""
    layout, names = LAYOUTS[kind]
    if set(fields) != set(names):
        raise ValueError(f"type {kind:02X} has {', '.join(names)}, not {', '.join(fields)}")
    return struct.pack(layout, *(fields[name] for name in names))


def packet_payload(packet_no: int, deck_id: int, cards: list[int]) -> bytes:
    """PACKET: the cards lie from the bottom up."""
    return bytes((packet_no, deck_id, len(cards), *cards))


# --- payloads that a device hears --------------------------------------------------------------

FROM_HOST: Final[dict[int, tuple[bool, int]]] = {
    HELLO: (False, 0),
    STATUS: (False, 0),
    HEARTBEAT: (False, 0),
    CHALLENGE: (True, 16),
    DECK_VERIFY: (True, 1),
    METERS: (False, 0),
    LOCK: (True, 1),
    UNLOCK: (True, 1),
    ACK: (False, 0),
    NAK: (False, 1),
}
"""Type to (wants an ACK, length of the payload)."""
VALUES: Final = {DECK_VERIFY: (1, 2), LOCK: (0, 1, 2, 3), UNLOCK: (0,), NAK: (1, 2, 3, 4, 5, 6)}
"""What the single byte of these may be."""


def well_formed(frame: Frame) -> bool:
    """Whether a known type from the host has the right length, bit 0 and value."""
    wants_ack, length = FROM_HOST[frame.kind]
    if bool(frame.flags & WANTS_ACK) != wants_ack or len(frame.payload) != length:
        return False
    allowed = VALUES.get(frame.kind)
    return allowed is None or frame.payload[0] in allowed
