"""The shuffler: shuffles a deck, hands it out in packets, checks a deck for the host
(docs/protocols/card-devices.md, section 6.3).
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Final

from hw_sim.clock import MS, SECOND, Timer
from hw_sim.devices import cdp
from hw_sim.devices.card_device import E_DECK, CardDevice
from hw_sim.devices.cdp import Frame

EXPECTED: Final = 52
PACKET_US: Final = 1_500 * MS
OK, SHORT, LONG, JAMMED, UNREADABLE, ABORTED, WRONG_CARDS = range(7)


@dataclass(slots=True)
class Work:
    """A shuffle or deck check that is running."""

    deck: int
    checking: bool
    timer: Timer


class Shuffler(CardDevice):
    DEV = cdp.SHUFFLER
    MODEL = b"SHUF-2"
    JAM_PLACE = 3

    def __init__(self, serial: str, rng: random.Random) -> None:
        super().__init__(serial, rng)
        self.shuffle_takes_us = (30 * SECOND, 90 * SECOND)
        self.present: dict[int, list[int]] = {}
        """Decks inside by their backs (1 red, 2 blue), top card first."""
        self.tray: list[int] = []
        """The packet that lies outside, bottom card first."""
        self._tray_no = 0
        self.packet_size = 3
        self.automatic = False
        """Deliver whenever the gate is open, instead of waiting for ``dispense``."""
        self._inserted = 1
        self._given: int | None = None
        """The shuffled deck that packets come from."""
        self._wrong: int | None = None
        self._work: Work | None = None
        self._delivery: Timer | None = None
        self._dealt: list[int] = []
        self._zero_counters()

    def _zero_counters(self) -> None:
        self._shuffle_id = self._packet_no = self._verify_id = 0
        self._shuffles_ok = self._shuffles_failed = self._cards = 0

    def _cards_left(self) -> int:
        return sum(len(cards) for cards in self.present.values())

    def _left_to_give(self) -> list[int]:
        return [] if self._given is None else self.present.get(self._given, [])

    def _idle(self) -> bool:
        return not self._busy() and not self._left_to_give()

    @property
    def ready(self) -> bool:
        """A shuffled deck lies inside and nothing is moving: the lamp on the machine is green."""
        return not self._busy() and bool(self._left_to_give())

    def _busy(self) -> bool:
        return self._passing or self._work is not None

    def lose_memory(self) -> None:
        self._zero_counters()
        self._given = self._work = None
        super().lose_memory()

    def counter_back(self, count: int) -> None:
        """The shuffler forgets its last packets, as after a worn memory cell."""
        self._packet_no = max(0, self._packet_no - count)
        self._outbox.number = max(0, self._outbox.number - count)

    # --- hands ---------------------------------------------------------------------------------

    def insert(self, deck: int, cards: list[int]) -> None:
        """A dealer empties tray and machine (unload key), then puts a deck in through the lid."""
        self.take_packet()
        self.unload()
        self.lid(True)
        self.present[deck] = list(cards)
        self._inserted = deck
        if self._given == deck:
            self._given = None
        self.lid(False)

    def unload(self) -> list[int]:
        """The unload key: what is left of the shuffled deck comes out unread, with no event."""
        if self._given is None or self._busy():
            return []
        deck, self._given = self._given, None
        return self.present.pop(deck, [])

    def shuffle(self, order: list[int] | None = None, deck: int | None = None) -> bool:
        """The shuffle key, for the deck put in last; False if nothing starts.

        ``order`` is the resulting order, top first; cards of the deck that it does not name follow
        in an order of chance, and cards that are not in the deck do not appear.
        """
        deck = self._inserted if deck is None else deck
        shut_in = not self.err and not self._open_doors and self._on
        at_rest = not self._busy() and not self.tray and not self._left_to_give()
        if not (shut_in and at_rest and self.present.get(deck) and self._outbox.has_room()):
            return False
        self._given = None
        self._shuffle_id += 1
        self._packet_no = 0
        self._dealt = []
        fields = cdp.payload(
            cdp.SHUFFLE_START, shuffle_id=self._shuffle_id, cards=0, expected=EXPECTED, result=0,
            deck_id=deck,
        )  # fmt: skip
        takes_us = self._rng.randrange(*self.shuffle_takes_us)
        timer = self._later(takes_us, partial(self._shuffled, deck, order or []))
        self._work = Work(deck, False, timer)
        self._report(cdp.SHUFFLE_START, fields, load=self._shuffle_id, number=0)
        return True

    def dispense(self, count: int = 3) -> bool:
        """The next packet is asked for; False if none can come now."""
        if not 1 <= count <= EXPECTED or self.tray or not self.gate_open:
            return False
        deck = self._left_to_give()
        fault, self.next_read = self.next_read, None
        count = min(count + (fault == "double feed"), len(deck), EXPECTED)
        packet = deck[:count]
        del deck[:count]
        if fault == "foreign":
            packet[-1] = cdp.JOKER
        elif fault == "duplicate":
            before = [*self._dealt, *packet[:-1]]
            if before:
                packet[-1] = self._rng.choice(before)
            else:
                self.next_read = fault  # nothing to double yet: in the next packet
        read = [self.mistaken.get(card, card) for card in packet]
        if fault == "misread":
            read[self._rng.randrange(count)] = cdp.UNREADABLE
        self._passing = True
        self._delivery = self._later(PACKET_US, partial(self._delivered, packet, read))
        return True

    def take_packet(self) -> list[int] | None:
        """The dealer takes the packet out of the tray, bottom card first; None if there is none."""
        if not self.tray:
            return None
        cards, self.tray = self.tray, []
        fields = cdp.payload(cdp.PACKET_REMOVED, packet_no=self._tray_no)
        self._report(cdp.PACKET_REMOVED, fields)
        return cards

    # --- the machine ---------------------------------------------------------------------------

    def _tick(self) -> None:
        if self.automatic:
            self.dispense(self.packet_size)

    def _delivered(self, packet: list[int], read: list[int]) -> None:
        self._passing = False
        self._delivery = None
        self._packet_no += 1
        self._tray_no = self._packet_no
        self.tray = packet
        self._dealt += packet
        self._cards += len(packet)
        assert self._given is not None
        fields = cdp.packet_payload(self._packet_no, self._given, read)
        self._report(cdp.PACKET, fields, number=self._packet_no)

    def _shuffled(self, deck: int, order: list[int]) -> None:
        cards = self.present.get(deck, [])
        rest = Counter(cards)
        first = []
        for card in order:
            if rest[card]:
                rest[card] -= 1
                first.append(card)
        by_chance = list(rest.elements())
        self._rng.shuffle(by_chance)
        self.present[deck] = [*first, *by_chance]
        self._end(len(cards), self._count(cards))

    def _checked(self, deck: int) -> None:
        cards = self.present.get(deck, [])
        result = self._count(cards)
        if result == OK and sorted(cards) != sorted(cdp.FULL_DECK):
            result = WRONG_CARDS
        self._end(len(cards), result)

    def _count(self, cards: list[int]) -> int:
        if len(cards) != EXPECTED:
            return SHORT if len(cards) < EXPECTED else LONG
        return UNREADABLE if cdp.UNREADABLE in cards else OK

    def _end(self, counted: int, result: int) -> None:
        """Shuffle or check is over, one way or another."""
        work, self._work = self._work, None
        if work is None:
            return
        work.timer.cancel()
        if work.checking:
            fields = cdp.payload(
                cdp.DECK_VERIFIED, verify_id=self._verify_id, cards=counted, expected=EXPECTED,
                result=result, deck_id=work.deck,
            )  # fmt: skip
            self._report(cdp.DECK_VERIFIED, fields)
            return
        if result == OK:
            self._given = work.deck
            self._shuffles_ok += 1
        else:
            self._wrong = work.deck
            self._err |= E_DECK
            self._shuffles_failed += 1
        fields = cdp.payload(
            cdp.SHUFFLE_END, shuffle_id=self._shuffle_id, cards=counted, expected=EXPECTED,
            result=result, deck_id=work.deck,
        )  # fmt: skip
        self._report(cdp.SHUFFLE_END, fields)

    def _powered_up(self) -> None:
        self._end(0, ABORTED)

    def _lid_moved(self, open_now: bool) -> None:
        if open_now:
            self._end(0, ABORTED)
            if self._wrong is not None:
                self.present.pop(self._wrong, None)
                self._wrong = None
        else:
            self._err &= ~E_DECK

    def _jam_struck(self) -> None:
        self._end(0, JAMMED)
        if self._delivery is not None:  # the packet comes out with the jam, by hand
            self._delivery.cancel()
            self._delivery = None
            self._passing = False

    # --- the host ------------------------------------------------------------------------------

    def _takes(self, kind: int) -> bool:
        return kind in cdp.FROM_HOST

    def _command(self, frame: Frame) -> int:
        return self.verify(frame.payload[0])

    def verify(self, deck: int) -> int:
        """DECK_VERIFY: 0 if it is carried out, else the code of the NAK."""
        if self._work is not None:
            same = self._work.checking and self._work.deck == deck
            return 0 if same else cdp.BUSY
        if self._passing or self.tray or self.err or self._open_doors or deck not in self.present:
            return cdp.WRONG_STATE
        if self._given == deck:
            self._given = None
        self._verify_id += 1
        takes_us = self._rng.randrange(30 * SECOND, 60 * SECOND)
        self._work = Work(deck, True, self._later(takes_us, partial(self._checked, deck)))
        return 0

    def _meters(self) -> bytes:
        return cdp.payload(
            cdp.METERS, shuffles_ok=self._shuffles_ok, shuffles_failed=self._shuffles_failed,
            cards=self._cards, door_openings=self._door_openings,
        )  # fmt: skip
