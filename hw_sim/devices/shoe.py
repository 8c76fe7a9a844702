"""The card shoe: a dealer pulls card after card through a gate that reads them
(docs/protocols/card-devices.md, section 6.2).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Final

from hw_sim.clock import MS, SECOND
from hw_sim.devices import cdp
from hw_sim.devices.card_device import CardDevice

READ_US: Final = 15 * MS
"""From the card in the gate to its event."""
PUSH_US: Final = 20 * MS
PATIENCE_US: Final = 3 * SECOND
"""How long a person holds a card against a shut gate."""


class Shoe(CardDevice):
    DEV = cdp.SHOE
    MODEL = b"SHOE-1"
    JAM_PLACE = 2

    def __init__(self, serial: str, rng: random.Random) -> None:
        super().__init__(serial, rng)
        self.remaining: list[int] = []
        """Cards inside, the next one first; F1 is the cut card, FF one that cannot be read."""
        self.came_out: list[int] = []
        """What the last pull brought: one card, or more after a double feed."""
        self._came_no = 0
        self._dealt: list[int] = []
        self._decks = 1
        self._shoe_id = 0
        self._draw_no = 0
        self._cut_out = False

    def _cards_left(self) -> int:
        return sum(card != cdp.CUT for card in self.remaining)

    def _idle(self) -> bool:
        return not self.remaining

    def _cut_card_out(self) -> bool:
        return self._cut_out

    def lose_memory(self) -> None:
        self._shoe_id = self._draw_no = 0
        super().lose_memory()

    def counter_back(self, count: int) -> None:
        """The shoe forgets its last pulls, as after a worn memory cell."""
        self._draw_no = max(0, self._draw_no - count)
        self._outbox.number = max(0, self._outbox.number - count)

    # --- hands ---------------------------------------------------------------------------------

    def load(self, cards: list[int], decks: int = 1) -> bool:
        """Lid open, cards in, lid closed, load key; what was inside is taken out first.

        False if it takes no cards: the queue has no place for SHOE_LOADED.
        """
        self.lid(True)
        self.remaining = []
        self.came_out = []
        self.lid(False)
        if not self._outbox.has_room():
            return False
        self.remaining = list(cards)
        self._dealt = []
        self._cut_out = False
        self._decks = decks
        self._shoe_id += 1
        self._draw_no = 0
        fields = cdp.payload(cdp.SHOE_LOADED, shoe_id=self._shoe_id, decks=decks)
        self._report(cdp.SHOE_LOADED, fields, load=self._shoe_id, number=0)
        return True

    def draw(self) -> int | None:
        """A person pulls: the card that came out, None if the gate is shut."""
        if not self.gate_open:
            return None
        fault, self.next_read = self.next_read, None
        if fault == "duplicate" and not self._dealt:
            self.next_read, fault = fault, None  # nothing to double yet: at the next card
        card = self.remaining.pop(0)
        if fault == "double feed" and self.remaining:
            self._pull([card, self.remaining.pop(0)], partial(self._say_double_feed, 2))
            return card
        if fault == "foreign":
            card = cdp.JOKER
        elif fault == "duplicate":
            card = self._rng.choice(self._dealt)
        if fault == "misread" or card == cdp.UNREADABLE:
            self._pull([card], self._unsure(card))
        elif card == cdp.CUT:
            self._cut_out = True
            self._pull([card], self._say_cut_card)
        else:
            confidence = self._rng.randint(90, 100)
            self._pull([card], partial(self._say_card, card, 0, confidence))
        return card

    def burn(self) -> int | None:
        """The same with the burn key held."""
        if not self.gate_open:
            return None
        card = self.remaining.pop(0)
        self._pull([card], self._say_burn)
        return card

    def push_back(self) -> bool:
        """A person pushes the last card back as soon as the gate lets it in; False: none is out."""
        if not self.came_out:
            return False
        self._push(self.came_out, self._now_us + PATIENCE_US)
        return True

    def _push(self, cards: list[int], until_us: int) -> None:
        if cards is not self.came_out:
            return  # another card was pulled
        if self.gate_open:
            self.came_out = []
            self.remaining[:0] = cards
            for card in cards:
                if card in self._dealt:
                    self._dealt.remove(card)
            self._passing = True
            self._later(READ_US, self._say_returned)
        elif self._now_us < until_us:
            self._clock.after(PUSH_US, partial(self._push, cards, until_us))

    # --- the gate ------------------------------------------------------------------------------

    def _pull(self, cards: list[int], say: Callable[[int], None]) -> None:
        """Cards go through the gate, which shuts behind them."""
        self.came_out = cards
        self._passing = True
        self._later(READ_US, partial(self._passed, cards, say))

    def _passed(self, cards: list[int], say: Callable[[int], None]) -> None:
        self._passing = False
        self._draw_no += 1
        self._came_no = self._draw_no
        self._dealt += [card for card in cards if card != cdp.CUT]
        say(self._draw_no)
        if not self.remaining:
            fields = cdp.payload(cdp.SHOE_EMPTY, shoe_id=self._shoe_id, decks=self._decks)
            self._report(cdp.SHOE_EMPTY, fields)

    def _unsure(self, card: int) -> Callable[[int], None]:
        """The ways in which a reader says that it does not know."""
        way = self._rng.randrange(3)
        if way == 0:
            return self._say_misread
        if way == 1 or card in (cdp.UNREADABLE, cdp.CUT):
            return partial(self._say_card, cdp.UNREADABLE, 3, 0)
        return partial(self._say_card, card, 2, self._rng.randint(30, 59))

    def _jam_struck(self) -> None:
        self.came_out = []  # the person who clears the jam takes the cards away

    # --- events --------------------------------------------------------------------------------

    def _say(self, kind: int, draw_no: int, **fields: int | bytes) -> None:
        self._report(kind, cdp.payload(kind, draw_no=draw_no, **fields), number=draw_no)

    def _say_card(self, card: int, read_err: int, confidence: int, draw_no: int) -> None:
        read = self.mistaken.get(card, card)
        self._say(cdp.CARD, draw_no, card=read, read_err=read_err, confidence=confidence, dest=0)

    def _say_burn(self, draw_no: int) -> None:
        self._say(cdp.BURN, draw_no)

    def _say_cut_card(self, draw_no: int) -> None:
        self._say(cdp.CUT_CARD, draw_no, cards_left=self._cards_left())

    def _say_misread(self, draw_no: int) -> None:
        self._say(cdp.MISREAD, draw_no, read_err=1, confidence=0)

    def _say_double_feed(self, cards: int, draw_no: int) -> None:
        self._say(cdp.DOUBLE_FEED, draw_no, cards=cards)

    def _say_returned(self) -> None:
        self._passing = False
        self._report(cdp.RETURNED, cdp.payload(cdp.RETURNED, draw_no=self._came_no))
