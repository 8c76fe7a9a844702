"""The card shoe: a card at a time (docs/protocols/card-devices.md sections 6.2 and 9).

Pure. A card it is not sure of is a misread; it never guesses one, and never shows one.
"""

from __future__ import annotations

from typing import ClassVar, Final

from drivers.cards import messages as m
from drivers.cards.framing import SHOE
from drivers.cards.link import CardDriver
from drivers.cards.messages import Event
from drivers.readings import CardEvent, CardRead, Reading, SealedCard

CONFIDENCE_MIN: Final = 60
_UNREADABLE: Final = SealedCard(m.UNREADABLE)


class ShoeDriver(CardDriver):
    dev: ClassVar[int] = SHOE

    def _reading(self, event: Event, key: int, now_us: int) -> Reading:
        me = self.name
        match event:
            case m.Card():
                return self._card(event, key, now_us)
            case m.Burn(draw_no=number):
                return CardEvent(me, "burn", number, at_us=now_us, key=key)
            case m.CutCard(draw_no=number, cards_left=left):
                return CardEvent(me, "cut card", number, count=left, at_us=now_us, key=key)
            case m.Returned(draw_no=number):
                return CardEvent(me, "returned", number, at_us=now_us, key=key)
            case m.Misread(draw_no=number):
                return CardEvent(me, "misread", number, at_us=now_us, key=key)
            case m.DoubleFeed(draw_no=number, cards=cards):
                return CardEvent(me, "double feed", number, count=cards, at_us=now_us, key=key)
            case m.ShoeLoaded(shoe_id=number, decks=decks):
                return CardEvent(me, "loaded", number, count=decks, at_us=now_us, key=key)
            case m.ShoeEmpty(shoe_id=number, decks=decks):
                return CardEvent(me, "empty", number, count=decks, at_us=now_us, key=key)
        return super()._reading(event, key, now_us)

    def _card(self, card: m.Card, key: int, now_us: int) -> Reading:
        unsure = card.read_err != 0 or card.confidence < CONFIDENCE_MIN
        if unsure or card.card == _UNREADABLE:
            return CardEvent(self.name, "misread", card.draw_no, at_us=now_us, key=key)
        return CardRead(self.name, card.draw_no, card.card, now_us, key)
