"""Shoe and shuffler: what each adds to the session they share (card-devices.md section 6)."""

from __future__ import annotations

from typing import ClassVar, Final

from drivers.base import SECOND
from drivers.cards import messages as m
from drivers.cards.driver import CardDriver
from drivers.cards.framing import SHOE, SHUFFLER
from drivers.cards.messages import Type
from drivers.cards.sender import InFlight
from drivers.machines import LineAction
from drivers.orders import Kinds, Order, RequestDeckCheck
from drivers.readings import CardEvent

METERS_US: Final = 60 * SECOND
_DECK_IDS: Final = {name: deck_id for deck_id, name in m.DECKS.items()}


class ShoeDriver(CardDriver):
    dev: ClassVar[int] = SHOE


class ShufflerDriver(CardDriver):
    """Deck checks and meters. The order of cards that were not delivered is never asked for."""

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

    def _undelivered(self, command: InFlight, now_us: int) -> list[LineAction]:
        """A deck check that will not come is reported at once: somebody waits for it."""
        if command.kind is not Type.DECK_VERIFY:
            return []
        deck = m.DECKS[command.payload[0]]
        return [CardEvent(self.name, "deck verified", 0, result="refused", deck=deck, at_us=now_us)]
