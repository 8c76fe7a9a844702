"""The card reader with a known deck, and the deal pattern.

A new deck as it is printed: clubs, diamonds, hearts, spades, each from ace to king. From a shoe
every card must come in this order; a shuffler mixes it, so every card must come once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from controller.rules.cards import NAMES
from controller.shell.testing.steps import SECOND, Answer, Guided, Looped, Wishes
from controller.table.cards import card_of
from drivers.orders import LockCards
from drivers.readings import CardEvent, CardRead, PacketRead, Reading, SealedCard
from record.kit.words import counted

CODES: Final = tuple(suit << 4 | rank for suit in range(4) for rank in range(1, 14))
PATIENCE_US: Final = 120 * SECOND
"""Without a card for so long the test is over."""
NOT_READ: Final = 0xFF
WRONG_MOST: Final = 6
"""After so many wrong cards in a row nothing new is learnt."""
BAD: Final = ("gap", "returned", "jam")
UNREAD: Final = {"misread": "not read", "double feed": "two cards at once"}
"""Cards that came and have no name; an event of the device says so."""


def name_of(code: int) -> str:
    card = card_of(code)
    return "no card of a deck" if card is None else NAMES[card]


class _Drawn(Guided):
    """What both tests of the card device share."""

    draws_cards: ClassVar[bool] = True

    def __init__(self, device: str) -> None:
        super().__init__()
        self._device = device
        self._until_us = 0

    def begin(self, now_us: int) -> Wishes:
        self._until_us = now_us + PATIENCE_US
        self.say("ask", self._invitation())
        return [LockCards(False)]

    def take(self, reading: Reading | Looped, now_us: int) -> Wishes:
        match reading:
            case CardRead(device=device, card=card) if device == self._device:
                self._cards((card,), now_us)
            case PacketRead(device=device, cards=cards) if device == self._device:
                self._cards(cards, now_us)
            case CardEvent(device=device, kind=kind) if device == self._device and kind in UNREAD:
                self._until_us = now_us + PATIENCE_US
                if not self.done:
                    self._unread(kind, reading.count)
            case CardEvent(device=device, kind=kind) if device == self._device:
                self._event(kind)
            case _:
                pass
        return self._shut()

    def answer(self, answer: Answer, now_us: int) -> Wishes:  # noqa: ARG002
        """``no``: there are no more cards."""
        if answer == "no" and not self.done:
            self._over()
        return self._shut()

    def advance(self, now_us: int) -> Wishes:
        if not self.done and now_us >= self._until_us:
            self.say("note", f"no card for {PATIENCE_US // SECOND} s")
            self._over()
        return self._shut()

    def _shut(self) -> Wishes:
        return [LockCards(True)] if self.done else []

    def _cards(self, cards: Sequence[SealedCard], now_us: int) -> None:
        self._until_us = now_us + PATIENCE_US
        if not self.done:
            self._draw([card.unseal() for card in cards])

    def _event(self, kind: str) -> None:
        if self.done:
            return
        if kind in BAD:
            self.say("fail", f"the device says: {kind}")
        elif kind == "empty":
            self.say("note", "the device is empty")
            if not self.question:
                self._over()

    def _invitation(self) -> str:
        raise NotImplementedError

    def _draw(self, codes: Sequence[int]) -> None:
        """One pull: a card of a shoe, a packet of a shuffler."""
        raise NotImplementedError

    def _unread(self, kind: str, count: int) -> None:
        """The same, but the device cannot say which cards they were."""
        raise NotImplementedError

    def _over(self) -> None:
        raise NotImplementedError


class DeckTest(_Drawn):
    """``in_order``: the device gives the cards as they lie in it."""

    name = "cards"

    def __init__(self, device: str, *, in_order: bool) -> None:
        super().__init__(device)
        self._in_order = in_order
        self._seen: list[int] = []
        """Every card that came, in order; those that were not read too."""
        self._wrong = 0

    def _invitation(self) -> str:
        way = "draw every card" if self._in_order else "take every packet"
        return f"load a new deck, clubs to spades, ace to king; {way}"

    def _draw(self, codes: Sequence[int]) -> None:
        for code in codes:
            if not self.done:
                self._card(code)

    def _unread(self, kind: str, count: int) -> None:
        """The cards after it keep their places."""
        first, cards = len(self._seen), count or (1 if kind == "misread" else 2)
        self._seen += [NOT_READ] * cards
        said = f"card {first + 1}: {UNREAD[kind]}"
        if self._in_order:
            wanted = " ".join(name_of(code) for code in CODES[first : first + cards])
            said += f", {wanted or 'no more card'} expected"
        self._bad(said, first + 1, "")
        self._end_if_all_is_known()

    def _card(self, code: int) -> None:
        number = len(self._seen)
        again = code in self._seen
        self._seen.append(code)
        expected = CODES[number] if number < len(CODES) else None
        read = name_of(code)
        if self._in_order and code != expected:
            wanted = "no more card" if expected is None else name_of(expected)
            said = f"card {number + 1}: {read}, {wanted} expected"
            self._bad(said + ("; it came before" if again else ""), number + 1, read)
        elif not self._in_order and (again or code not in CODES):
            said = f"card {number + 1}: {read}"
            self._bad(said + (" came before" if again else ""), number + 1, read)
        else:
            self._wrong = 0
            self.say("seen", f"card {number + 1}: {read}", card=read)
        self._end_if_all_is_known()

    def _end_if_all_is_known(self) -> None:
        if len(self._seen) >= len(CODES) or self._wrong >= WRONG_MOST:
            self._over()

    def _bad(self, said: str, number: int, read: str) -> None:
        self._wrong += 1
        self.say("fail", said, number=number, card=read)

    def _over(self) -> None:
        missing = [code for code in CODES if code not in self._seen]
        failed = any(step["kind"] == "fail" for step in self.steps)
        if missing:
            shown = " ".join(name_of(code) for code in missing[:13])
            more = f" and {len(missing) - 13} more" if missing[13:] else ""
            self.say(
                "fail", f"{len(missing)} of {counted(len(CODES), 'card')} never read: {shown}{more}"
            )
        elif not failed:
            order = " in order" if self._in_order else ""
            self.say("pass", f"all {counted(len(CODES), 'card')} were read{order}")
        self.finish()


class PatternTest(_Drawn):
    """Which place each drawn card or packet would get, by the book and the table's settings."""

    name = "cards pattern"

    def __init__(self, device: str, places: Sequence[int], sizes: Sequence[int]) -> None:
        """A place and a number of cards for every draw; place 0 is the dealer."""
        super().__init__(device)
        self._draws = list(zip(places, sizes, strict=True))
        self._drawn = self._number = 0
        self._given: dict[int, int] = {}

    def _invitation(self) -> str:
        cards = sum(size for _, size in self._draws)
        return f"deal {counted(cards, 'card')} as in a round, and look where each one lands"

    def _draw(self, codes: Sequence[int]) -> None:
        place = self._next_place(len(codes))
        if place is None:
            return
        for code in codes:
            self._number += 1
            self._given[place] = self._given.get(place, 0) + 1
            said = f"card {self._number}: {name_of(code)} to {_where(place)}"
            self.say("seen", f"{said}, card {self._given[place]}", place=_where(place))
        self._ask_at_the_end()

    def _unread(self, kind: str, count: int) -> None:
        """Which card it was is no matter here, only that one came."""
        place = self._next_place(count or 1)
        if place is None:
            return
        self.say("fail", f"draw {self._drawn} to {_where(place)}: {UNREAD[kind]}")
        self._number += count or 1
        self._ask_at_the_end()

    def _next_place(self, cards: int) -> int | None:
        """Of this draw; None where the pattern has no more of them."""
        if self._drawn == len(self._draws):
            self.say("fail", f"a card came after the last of the {self._drawn} draws")
            return None
        place, size = self._draws[self._drawn]
        self._drawn += 1
        if cards != size:
            said = (
                f"draw {self._drawn} to {_where(place)}: {counted(cards, 'card')}, {size} expected"
            )
            self.say("fail", said)
        return place

    def _ask_at_the_end(self) -> None:
        if self._drawn == len(self._draws):
            self.question = "did every card land where the list says? (yes or no)"
            self.say("ask", self.question)

    def _shut(self) -> Wishes:
        return [LockCards(True)] if self.done or self.question else []

    def answer(self, answer: Answer, now_us: int) -> Wishes:
        if self.question:
            if answer == "yes":
                self.say("pass", f"{counted(self._number, 'card')} dealt by the pattern")
            else:
                self.say("fail", "the cards did not land by the pattern: settings.deal_pattern")
            self.finish()
            return self._shut()
        return super().answer(answer, now_us)

    def _over(self) -> None:
        left = len(self._draws) - self._drawn
        said = f"{left} draws of the pattern did not come" if left else "nobody has looked"
        self.say("fail", said)
        self.finish()


def _where(place: int) -> str:
    return "dealer" if place == 0 else f"seat {place}"
