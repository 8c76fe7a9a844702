"""The shuffler: packets, deck checks, meters (docs/protocols/card-devices.md sections 6.3 and 9).

Pure. A packet with an unreadable card is a misread as a whole; an order of cards that were not
delivered is never asked for and has no place in the protocol.
"""

from __future__ import annotations

from typing import ClassVar, Final

from drivers.base import SECOND
from drivers.cards import messages as m
from drivers.cards.framing import SHUFFLER
from drivers.cards.link import CardDriver
from drivers.cards.messages import Event, Type
from drivers.cards.sender import InFlight
from drivers.machines import LineAction
from drivers.orders import Kinds, Order, RequestDeckCheck
from drivers.readings import CardEvent, PacketRead, Reading, SealedCard

METERS_US: Final = 60 * SECOND
_UNREADABLE: Final = SealedCard(m.UNREADABLE)
_DECK_IDS: Final = {name: deck_id for deck_id, name in m.DECKS.items()}


class ShufflerDriver(CardDriver):
    dev: ClassVar[int] = SHUFFLER
    meters_every_us: ClassVar[int | None] = METERS_US
    takes: ClassVar[Kinds] = frozenset((*CardDriver.takes, RequestDeckCheck))

    def order(self, order: Order, now_us: int) -> list[LineAction]:
        if isinstance(order, RequestDeckCheck):
            if order.deck in _DECK_IDS:
                self._sender.want(Type.DECK_VERIFY, bytes((_DECK_IDS[order.deck],)))
            else:
                self.counters["unknown decks"] += 1
        return super().order(order, now_us)

    def _reading(self, event: Event, key: int, now_us: int) -> Reading:
        me = self.name
        match event:
            case m.ShuffleStart(shuffle_id=number, deck_id=deck):
                return CardEvent(
                    me, "shuffle started", number, expected=event.expected, deck=m.DECKS[deck],
                    at_us=now_us, key=key,
                )  # fmt: skip
            case m.ShuffleEnd(shuffle_id=number, deck_id=deck):
                return CardEvent(
                    me, "shuffle ended", number, count=event.cards, expected=event.expected,
                    result=m.RESULTS[event.result], deck=m.DECKS[deck], at_us=now_us, key=key,
                )  # fmt: skip
            case m.DeckVerified(verify_id=number, deck_id=deck):
                return CardEvent(
                    me, "deck verified", number, count=event.cards, expected=event.expected,
                    result=m.RESULTS[event.result], deck=m.DECKS[deck], at_us=now_us, key=key,
                )  # fmt: skip
            case m.Packet(packet_no=number, deck_id=deck, cards=cards):
                if _UNREADABLE in cards:
                    return CardEvent(
                        me, "misread", number, count=len(cards), deck=m.DECKS[deck],
                        at_us=now_us, key=key,
                    )  # fmt: skip
                return PacketRead(me, number, m.DECKS[deck], cards, now_us, key)
            case m.PacketRemoved(packet_no=number):
                return CardEvent(me, "packet removed", number, at_us=now_us, key=key)
        return super()._reading(event, key, now_us)

    def _undelivered(self, command: InFlight, now_us: int) -> list[LineAction]:
        """A deck check that will not come is told at once: somebody waits for it."""
        if command.kind is not Type.DECK_VERIFY:
            return []
        deck = m.DECKS[command.payload[0]]
        return [CardEvent(self.name, "deck verified", 0, result="refused", deck=deck, at_us=now_us)]
