"""What a card device's event is to the table (docs/protocols/card-devices.md section 9).

Pure. A card that the shoe is not sure of is a misread, and a packet with an unreadable card is one
as a whole: no card is ever guessed, and none is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from drivers.cards import messages as m
from drivers.cards.continuity import Break
from drivers.cards.messages import Event
from drivers.machines import LineAction
from drivers.readings import CardEvent, CardRead, MetersRead, PacketRead, Reading, SealedCard

CONFIDENCE_MIN: Final = 60
_UNREADABLE: Final = SealedCard(m.UNREADABLE)


def reading_of(device: str, event: Event, key: int, at_us: int) -> Reading:
    """The reading of an event; which device may send which event is the codec's."""
    said = partial(CardEvent, device, at_us=at_us, key=key)
    match event:
        case m.Card(draw_no=number, card=card):
            unsure = event.read_err != 0 or event.confidence < CONFIDENCE_MIN
            if unsure or card == _UNREADABLE:
                return said("misread", number)
            return CardRead(device, number, card, at_us, key)
        case m.Burn(draw_no=number):
            return said("burn", number)
        case m.CutCard(draw_no=number, cards_left=left):
            return said("cut card", number, count=left)
        case m.Returned(draw_no=number):
            return said("returned", number)
        case m.Misread(draw_no=number):
            return said("misread", number)
        case m.DoubleFeed(draw_no=number, cards=count):
            return said("double feed", number, count=count)
        case m.ShoeLoaded(shoe_id=number, decks=decks):
            return said("loaded", number, count=decks)
        case m.ShoeEmpty(shoe_id=number, decks=decks):
            return said("empty", number, count=decks)
        case m.Jam(jam_no=number, place=place):
            return said("jam", number, result=m.PLACES[place])
        case m.JamCleared(jam_no=number):
            return said("jam cleared", number)
        case m.Door(door_no=number, door=door):
            return said(
                "door opened" if event.open else "door closed", number, result=m.DOORS[door]
            )
        case m.Packet(packet_no=number, deck_id=deck, cards=cards):
            if _UNREADABLE in cards:
                return said("misread", number, count=len(cards), deck=m.DECKS[deck])
            return PacketRead(device, number, m.DECKS[deck], cards, at_us, key)
        case m.PacketRemoved(packet_no=number):
            return said("packet removed", number)
        case m.ShuffleStart(shuffle_id=number, expected=expected, deck_id=deck):
            return said("shuffle started", number, expected=expected, deck=m.DECKS[deck])
        case m.ShuffleEnd(shuffle_id=number) | m.DeckVerified(verify_id=number):
            return said(
                "shuffle ended" if isinstance(event, m.ShuffleEnd) else "deck verified",
                number,
                count=event.cards,
                expected=event.expected,
                result=m.RESULTS[event.result],
                deck=m.DECKS[event.deck_id],
            )


def break_readings(device: str, breaks: Iterable[Break], at_us: int) -> list[LineAction]:
    out: list[LineAction] = []
    for it in breaks:
        if it.kind == "gap":
            out.append(CardEvent(device, "gap", it.number, count=it.count, at_us=at_us))
        else:
            out.append(epoch_reading(device, it.number, it.expected, "backwards", at_us))
    return out


def epoch_reading(device: str, number: int, expected: int, why: str, at_us: int) -> CardEvent:
    return CardEvent(device, "new epoch", number, expected=expected, result=why, at_us=at_us)


def meters_reading(device: str, meters: m.Meters, at_us: int) -> MetersRead:
    counts = (
        ("shuffles ok", meters.shuffles_ok),
        ("shuffles failed", meters.shuffles_failed),
        ("cards", meters.cards),
        ("door openings", meters.door_openings),
    )
    return MetersRead(device, counts, at_us)
