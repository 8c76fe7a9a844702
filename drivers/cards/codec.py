"""CDP v1 payloads: strict decoding of what a device says, the host's own frames, event keys.

Sans-I/O; a payload that is not exactly what the page allows becomes a typed fault. A fault names
type and field, never a value: it could be a card (docs/protocols/card-devices.md sections 3, 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from typing import Final

from drivers.base import Fault
from drivers.cards import messages as m
from drivers.cards.framing import (
    ACK_WANTED,
    HOST,
    SHOE,
    SHUFFLER,
    Decoder,
    Frame,
    encode_frame,
)
from drivers.cards.messages import Event, Message, Type
from drivers.readings import SealedCard

__all__ = ["Decoder", "Frame", "decode_message", "encode_frame", "host_frame", "key_of"]

UNKNOWN_TYPE: Final = "E-CDP-006"
BAD_LENGTH: Final = "E-CDP-007"
BAD_VALUE: Final = "E-CDP-008"

CARD_CODES: Final = frozenset(
    {suit << 4 | rank for suit in range(4) for rank in range(1, 14)} | {m.JOKER, m.UNREADABLE}
)
PACKET_CARDS_MAX: Final = 52
DECKS_MAX: Final = 8
OUTLETS: Final = 16


class _BadValue(Exception):
    """A field's value is not allowed; never leaves this file."""


def _check(ok: bool, field: str) -> None:
    if not ok:
        raise _BadValue(field)


def _text(raw: bytes, field: str) -> str:
    text = raw.rstrip(b"\0")
    _check(all(0x20 <= byte <= 0x7E for byte in text), field)
    return text.decode("ascii")


def _hello_r(vendor: bytes, model: bytes, serial: bytes, firmware: bytes, *rest: int) -> Message:
    boot_id, proto = rest
    _check(any(serial) and boot_id > 0, "serial or boot_id")
    return m.HelloR(
        _text(vendor, "vendor"),
        _text(model, "model"),
        _text(serial, "serial"),
        firmware.hex().upper(),
        boot_id,
        proto,
    )


def _status(*fields: int) -> Message:
    status = m.Status(*fields)
    _check(status.state < m.STATES, "state")
    _check(status.lid <= 1 and status.cut_card <= 1, "lid or cut_card")
    _check(not status.err & ~m.ERR_BITS, "err")
    return status


def _heartbeat(boot_id: int, state: int, switches: int, err: int) -> Message:
    _check(boot_id > 0, "boot_id")
    _check(state < m.STATES, "state")
    _check(not switches & ~m.SWITCH_BITS, "switches")
    _check(not err & ~m.ERR_BITS, "err")
    return m.Heartbeat(boot_id, state, switches, err)


def _card(draw_no: int, card: int, read_err: int, confidence: int, dest: int) -> Message:
    _check(card in CARD_CODES, "card")
    _check(confidence <= 100, "confidence")
    _check(dest < OUTLETS, "dest")
    return m.Card(draw_no, SealedCard(card), read_err, confidence, dest)


def _misread(draw_no: int, read_err: int, confidence: int) -> Message:
    _check(confidence <= 100, "confidence")
    return m.Misread(draw_no, read_err, confidence)


def _double_feed(draw_no: int, cards: int) -> Message:
    _check(cards >= 2, "cards")
    return m.DoubleFeed(draw_no, cards)


def _shoe(make: Callable[[int, int], Message]) -> Callable[[int, int], Message]:
    def checked(shoe_id: int, decks: int) -> Message:
        _check(1 <= decks <= DECKS_MAX, "decks")
        return make(shoe_id, decks)

    return checked


def _jam(jam_no: int, place: int) -> Message:
    _check(place in m.PLACES, "place")
    return m.Jam(jam_no, place)


def _door(door_no: int, door: int, open_: int) -> Message:
    _check(door in m.DOORS and open_ <= 1, "door or open")
    return m.Door(door_no, door, open_)


def _count(
    make: Callable[[int, int, int, int, int], Message], worst: int
) -> Callable[[int, int, int, int, int], Message]:
    def checked(number: int, cards: int, expected: int, result: int, deck_id: int) -> Message:
        _check(result <= worst, "result")
        _check(deck_id in m.DECKS, "deck_id")
        return make(number, cards, expected, result, deck_id)

    return checked


def _shuffle_start(number: int, cards: int, expected: int, result: int, deck_id: int) -> Message:
    _check(cards == 0, "cards")
    return _count(m.ShuffleStart, 0)(number, cards, expected, result, deck_id)


def _nak(code: int) -> Message:
    _check(1 <= code <= max(m.Refusal), "code")
    return m.Nak(code)


def _packet(payload: bytes) -> Message | Fault:
    """The one payload whose length is in one of its fields."""
    if len(payload) < 3 or len(payload) != 3 + payload[2]:
        return Fault(BAD_LENGTH, f"type 42: {len(payload)} bytes")
    packet_no, deck_id, count = payload[:3]
    cards = payload[3:]
    _check(packet_no > 0, "packet_no")
    _check(deck_id in m.DECKS, "deck_id")
    _check(1 <= count <= PACKET_CARDS_MAX, "n")
    _check(CARD_CODES.issuperset(cards), "card")
    return m.Packet(packet_no, deck_id, tuple(SealedCard(code) for code in cards))


@dataclass(frozen=True, slots=True)
class _Layout:
    fields: Struct
    make: Callable[..., Message]
    number: str = ""
    """Of an event: the field that counts its kind from 1, always the first."""
    senders: frozenset[int] = frozenset({SHOE, SHUFFLER})


def _event(fields: str, make: Callable[..., Message], number: str, *senders: int) -> _Layout:
    return _Layout(Struct(fields), make, number, frozenset(senders or (SHOE, SHUFFLER)))


_LAYOUTS: Final[dict[int, _Layout]] = {
    Type.HELLO_R: _Layout(Struct("<8s8s12s8sIB"), _hello_r),
    Type.STATUS: _Layout(Struct("<BBHBHIIIB"), _status),
    Type.HEARTBEAT: _Layout(Struct("<IBBH"), _heartbeat),
    Type.RESPONSE: _Layout(Struct("<16s"), lambda raw: m.Response(raw.hex().upper())),
    Type.CARD: _event("<IBBBB", _card, "draw_no", SHOE),
    Type.BURN: _event("<I", m.Burn, "draw_no", SHOE),
    Type.CUT_CARD: _event("<IH", m.CutCard, "draw_no", SHOE),
    Type.RETURNED: _event("<I", m.Returned, "draw_no", SHOE),
    Type.MISREAD: _event("<IBB", _misread, "draw_no", SHOE),
    Type.DOUBLE_FEED: _event("<IB", _double_feed, "draw_no", SHOE),
    Type.SHOE_LOADED: _event("<IB", _shoe(m.ShoeLoaded), "shoe_id", SHOE),
    Type.SHOE_EMPTY: _event("<IB", _shoe(m.ShoeEmpty), "shoe_id", SHOE),
    Type.JAM: _event("<IB", _jam, "jam_no"),
    Type.JAM_CLEARED: _event("<I", m.JamCleared, "jam_no"),
    Type.DOOR: _event("<IBB", _door, "door_no"),
    Type.SHUFFLE_START: _event("<IHHBB", _shuffle_start, "shuffle_id", SHUFFLER),
    Type.SHUFFLE_END: _event(
        "<IHHBB", _count(m.ShuffleEnd, m.WRONG_CARDS - 1), "shuffle_id", SHUFFLER
    ),
    Type.PACKET_REMOVED: _event("<B", m.PacketRemoved, "packet_no", SHUFFLER),
    Type.DECK_VERIFIED: _event(
        "<IHHBB", _count(m.DeckVerified, m.WRONG_CARDS), "verify_id", SHUFFLER
    ),
    Type.METERS: _Layout(Struct("<IIII"), m.Meters, senders=frozenset({SHUFFLER})),
    Type.ACK: _Layout(Struct("<"), m.Ack),
    Type.NAK: _Layout(Struct("<B"), _nak),
}


def decode_message(frame: Frame) -> Message | Fault:
    """What a device's frame says. A frame of the host itself is of no type a device may send."""
    layout = _LAYOUTS.get(frame.type)
    is_packet = frame.type == Type.PACKET and frame.dev == SHUFFLER
    if not is_packet and (layout is None or frame.dev not in layout.senders):
        return Fault(UNKNOWN_TYPE, f"type {frame.type:02X} from {frame.dev:02X}")
    try:
        if layout is None:
            message = _packet(frame.payload)
        elif len(frame.payload) == layout.fields.size:
            values = layout.fields.unpack(frame.payload)
            _check(not layout.number or values[0] > 0, layout.number)
            message = layout.make(*values)
        else:
            return Fault(BAD_LENGTH, f"type {frame.type:02X}: {len(frame.payload)} bytes")
        is_event = layout is None or layout.number != ""
        _check(frame.wants_ack == is_event, "bit 0")
    except _BadValue as refused:
        return Fault(BAD_VALUE, f"type {frame.type:02X}: {refused}")
    return message


# --- the host's side ----------------------------------------------------------------------------

COMMANDS: Final = frozenset({Type.CHALLENGE, Type.DECK_VERIFY, Type.LOCK, Type.UNLOCK})


def host_frame(kind: Type, seq: int = 0, payload: bytes = b"") -> Frame:
    return Frame(HOST, kind, ACK_WANTED if kind in COMMANDS else 0, seq, payload)


# --- names of events ----------------------------------------------------------------------------

_PART_BITS: Final = 28
_PART: Final = (1 << _PART_BITS) - 1
_IN_LOAD: Final = frozenset(
    {
        Type.CARD,
        Type.BURN,
        Type.CUT_CARD,
        Type.RETURNED,
        Type.MISREAD,
        Type.DOUBLE_FEED,
        Type.PACKET,
        Type.PACKET_REMOVED,
    }
)


def number_of(event: Event) -> int:
    """The number that names an event among those of its type (and load)."""
    match event:
        case m.ShoeLoaded() | m.ShoeEmpty():
            return event.shoe_id
        case m.Jam() | m.JamCleared():
            return event.jam_no
        case m.Door():
            return event.door_no
        case m.ShuffleStart() | m.ShuffleEnd():
            return event.shuffle_id
        case m.DeckVerified():
            return event.verify_id
        case m.Packet() | m.PacketRemoved():
            return event.packet_no
        case _:
            return event.draw_no


def key_of(kind: int, event: Event, load_id: int) -> int:
    """The event's name for ever, above 0 and below 2**63 (section 4)."""
    group = load_id if kind in _IN_LOAD else 0
    return kind << 2 * _PART_BITS | (group & _PART) << _PART_BITS | number_of(event) & _PART


def parts_of(key: int) -> tuple[int, int, int]:
    """Type, group and number of a key."""
    return key >> 2 * _PART_BITS, key >> _PART_BITS & _PART, key & _PART
