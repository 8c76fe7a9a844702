"""What a card device says, as values (docs/protocols/card-devices.md section 3).

Field names are the page's. A card is sealed from here on; nothing in this file prints one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from drivers.readings import SealedCard

UNREADABLE: Final = 0xFF
JOKER: Final = 0xF0


class Type(IntEnum):
    HELLO = 0x01
    HELLO_R = 0x02
    STATUS = 0x03
    HEARTBEAT = 0x04
    CHALLENGE = 0x05
    RESPONSE = 0x06
    CARD = 0x20
    BURN = 0x21
    CUT_CARD = 0x22
    RETURNED = 0x23
    MISREAD = 0x24
    DOUBLE_FEED = 0x25
    SHOE_LOADED = 0x30
    SHOE_EMPTY = 0x31
    JAM = 0x32
    JAM_CLEARED = 0x33
    DOOR = 0x34
    SHUFFLE_START = 0x40
    SHUFFLE_END = 0x41
    PACKET = 0x42
    PACKET_REMOVED = 0x43
    DECK_VERIFY = 0x44
    DECK_VERIFIED = 0x45
    METERS = 0x50
    LOCK = 0x60
    UNLOCK = 0x61
    ACK = 0x7E
    NAK = 0x7F


class Refusal(IntEnum):
    """The codes of a NAK (section 7)."""

    UNKNOWN_TYPE = 1
    BAD_PAYLOAD = 2
    WRONG_STATE = 3
    BUSY = 4
    NO_SESSION = 5
    OUT_OF_SEQUENCE = 6


class Err(IntEnum):
    """Bits of ``err``."""

    JAM = 0x0001
    READER = 0x0002
    MEMORY = 0x0004
    MOTOR = 0x0008
    REFUSED = 0x0010
    QUEUE = 0x0020
    DECK = 0x0040


ERR_BITS: Final = 0x007F
STATE_FAULT: Final = 4
STATES: Final = 5
SWITCH_DOOR: Final = 0x01
SWITCH_JAM: Final = 0x02
SWITCH_LOCKED: Final = 0x04
SWITCH_BITS: Final = 0x0F
DECKS: Final = {1: "red", 2: "blue"}
PLACES: Final = {1: "feed", 2: "gate", 3: "elevator", 4: "output"}
DOORS: Final = {1: "lid", 2: "service"}
RESULTS: Final = {
    0: "ok",
    1: "short",
    2: "long",
    3: "jam",
    4: "unreadable",
    5: "aborted",
    6: "wrong cards",
}
WRONG_CARDS: Final = 6


@dataclass(frozen=True, slots=True)
class HelloR:
    vendor: str
    model: str
    serial: str
    firmware: str
    boot_id: int
    proto: int


@dataclass(frozen=True, slots=True)
class Status:
    state: int
    lid: int
    cards_left: int
    cut_card: int
    err: int
    uptime: int
    load_id: int
    number: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    boot_id: int
    state: int
    switches: int
    err: int


@dataclass(frozen=True, slots=True)
class Response:
    digest: str


@dataclass(frozen=True, slots=True)
class Card:
    draw_no: int
    card: SealedCard
    read_err: int
    confidence: int
    dest: int


@dataclass(frozen=True, slots=True)
class Burn:
    draw_no: int


@dataclass(frozen=True, slots=True)
class CutCard:
    draw_no: int
    cards_left: int


@dataclass(frozen=True, slots=True)
class Returned:
    draw_no: int


@dataclass(frozen=True, slots=True)
class Misread:
    draw_no: int
    read_err: int
    confidence: int


@dataclass(frozen=True, slots=True)
class DoubleFeed:
    draw_no: int
    cards: int


@dataclass(frozen=True, slots=True)
class ShoeLoaded:
    shoe_id: int
    decks: int


@dataclass(frozen=True, slots=True)
class ShoeEmpty:
    shoe_id: int
    decks: int


@dataclass(frozen=True, slots=True)
class Jam:
    jam_no: int
    place: int


@dataclass(frozen=True, slots=True)
class JamCleared:
    jam_no: int


@dataclass(frozen=True, slots=True)
class Door:
    door_no: int
    door: int
    open: int


@dataclass(frozen=True, slots=True)
class ShuffleStart:
    shuffle_id: int
    cards: int
    expected: int
    result: int
    deck_id: int


@dataclass(frozen=True, slots=True)
class ShuffleEnd:
    shuffle_id: int
    cards: int
    expected: int
    result: int
    deck_id: int


@dataclass(frozen=True, slots=True)
class Packet:
    packet_no: int
    deck_id: int
    cards: tuple[SealedCard, ...]


@dataclass(frozen=True, slots=True)
class PacketRemoved:
    packet_no: int


@dataclass(frozen=True, slots=True)
class DeckVerified:
    verify_id: int
    cards: int
    expected: int
    result: int
    deck_id: int


@dataclass(frozen=True, slots=True)
class Meters:
    shuffles_ok: int
    shuffles_failed: int
    cards: int
    door_openings: int


@dataclass(frozen=True, slots=True)
class Ack:
    pass


@dataclass(frozen=True, slots=True)
class Nak:
    code: int


Numbered = Card | Burn | CutCard | Misread | DoubleFeed | Packet
"""Events that take the next draw or packet number."""
Event = (
    Numbered
    | Returned
    | PacketRemoved
    | ShoeLoaded
    | ShoeEmpty
    | Jam
    | JamCleared
    | Door
    | ShuffleStart
    | ShuffleEnd
    | DeckVerified
)
Message = HelloR | Status | Heartbeat | Response | Meters | Ack | Nak | Event
