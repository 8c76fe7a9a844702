"""The watch itself: every finished round goes in, alarms come out. Pure; its state is JSON.

Seven tests, each of which may cry wolf in one of a thousand million fair rounds (``RATE``). Some
judge a round alone; two collect weak evidence over rounds (Shiryaev-Roberts sums of bets, which
need 1 / RATE fair rounds on average to reach 1 / RATE); one counts cards by place. Why that is so:
docs/operations/deck-watch.md.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from typing import Final

from controller.deckwatch import alarms as a
from controller.deckwatch.orders import (
    START,
    DealtOrder,
    Order,
    Starts,
    by_suit,
    disorder_of,
    new_deck_neighbours,
)
from controller.deckwatch.places import Places
from controller.deckwatch.statistics import (
    DECK,
    coincidence_chance,
    evidence,
    little_disorder,
    same_groups,
)
from controller.rules.cards import NAMES

RATE: Final = 1e-9
"""False alarms per round of each of the seven tests."""
RECENT: Final = 32
"""Shuffles that are compared card by card."""
REMEMBERED: Final = 2048
"""Shuffles whose first cards are remembered."""
NEW_DECKS: Final = 16
"""Each of four suits may run up or down."""
_STARTS: Final = Fraction(1, DECK * 51 * 50 * 49 * 48 * 47 * 46 * 45)
assert START == 8


class DeckWatch:
    """One table's decks and shuffler."""

    def __init__(self, rate: float = RATE) -> None:
        self.rate = rate
        self.last_round = 0
        self.shuffles = 0
        self.recent: deque[Order] = deque(maxlen=RECENT)
        self.starts = Starts(REMEMBERED)
        self.places = Places(rate)
        self.unshuffled = self.similar = 0.0
        """Sums of bets that decks are unshuffled, or like the one before."""

    def take(self, dealt: DealtOrder) -> list[a.DeckAlarm]:
        """A finished round. One that was told before changes nothing."""
        if dealt.round_no <= self.last_round:
            return []
        self.last_round = dealt.round_no
        order, goes_on = self._order(dealt)
        known = [c for c in order.cards if c is not None]
        if len(set(known)) < len(known):
            twice = sorted({NAMES[c] for c in known if known.count(c) > 1})
            return [_alarm(dealt, a.CARD_TWICE, 0.0, "exact", f"{', '.join(twice)} dealt twice")]
        found = [*self._new_deck(dealt, order, goes_on), *self._compare(dealt, order, goes_on)]
        found += self._memory(dealt, order, goes_on)
        found += self._by_place(dealt, len(order.cards) - len(dealt.cards))
        if not goes_on:
            self.shuffles += 1
        self.recent.append(order)
        return found

    def _order(self, dealt: DealtOrder) -> tuple[Order, bool]:
        """What is known of this shuffle, and whether an earlier round was dealt from it too."""
        before = self.recent[-1] if self.recent else None
        if before is None or (before.deck, before.shuffle) != (dealt.deck, dealt.shuffle):
            cards, packets, gathered = dealt.cards, dealt.packets, dealt.gathered
            return Order(dealt.deck, dealt.shuffle, cards, packets, gathered), False
        self.recent.pop()
        cards = before.cards + dealt.cards
        return Order(dealt.deck, dealt.shuffle, cards, (), dealt.gathered), True

    # --- one round ------------------------------------------------------------------------------

    def _new_deck(self, dealt: DealtOrder, order: Order, goes_on: bool) -> list[a.DeckAlarm]:
        suits = by_suit([card for _, card in dealt.sample])
        wrong = disorder_of(suits)
        by_order = float(little_disorder(map(len, suits), wrong))
        kept = new_deck_neighbours(order.cards)
        by_neighbours = NEW_DECKS * coincidence_chance(len(order.cards) - 1, kept)
        chance = min(1.0, 2 * min(by_order, by_neighbours))
        if not goes_on:
            self.unshuffled = (self.unshuffled + 1) * evidence(chance)
        if chance <= self.rate:
            text = f"the suits run like in a new deck: {kept} neighbours kept, {wrong} turns"
            self.unshuffled = 0.0
            return [_alarm(dealt, a.UNSHUFFLED, chance, "bound", text)]
        return self._collected(dealt)

    def _collected(self, dealt: DealtOrder) -> list[a.DeckAlarm]:
        if self.unshuffled * self.rate < 1:
            return []
        chance, self.unshuffled = 1 / self.unshuffled, 0.0
        text = "over the last shuffles the suits run too much like in a new deck"
        return [_alarm(dealt, a.BADLY_SHUFFLED, chance, "bound", text)]

    def _compare(self, dealt: DealtOrder, order: Order, goes_on: bool) -> list[a.DeckAlarm]:
        """This shuffle beside each recent one: same cards at same places, same neighbours."""
        if not self.recent:
            return []
        backward = order.backward
        likeness = [self._likeness(order, backward, other) for other in self.recent]
        places, neighbours, groups = (max(column) for column in zip(*likeness, strict=True))
        found = []
        tests = 5 * len(self.recent)
        chance = tests * self._alike(order, places, neighbours)
        if chance <= self.rate:
            other = self.recent[max(range(len(likeness)), key=lambda i: max(likeness[i][:2]))]
            text = f"like shuffle {other.shuffle} of deck {other.deck}: {places} cards at the same"
            text += f" place, {neighbours} neighbours the same"
            found.append(_alarm(dealt, a.REPEATED, chance, "bound", text))
        if groups:
            mine = order.packets.count(order.size)
            others = max(o.packets.count(order.size) for o in self.recent)
            bound = same_groups(mine, others, groups, order.size)
            chance = min(1.0, len(self.recent) * float(bound))
            if chance <= self.rate:
                text = f"{groups} packets are the same, card by card, as in an earlier shuffle"
                found.append(_alarm(dealt, a.DEVICE_REPEATS, chance, "bound", text))
        if not goes_on:
            found += self._like_the_last(dealt, order, likeness[-1], quiet=bool(found))
        return found

    def _like_the_last(
        self, dealt: DealtOrder, order: Order, last: tuple[int, int, int], *, quiet: bool
    ) -> list[a.DeckAlarm]:
        chance = min(1.0, 5 * self._alike(order, last[0], last[1]))
        self.similar = (self.similar + 1) * evidence(chance)
        if self.similar * self.rate < 1:
            return []
        chance, self.similar = 1 / self.similar, 0.0
        text = "over the last shuffles each is too much like the one before"
        return [] if quiet else [_alarm(dealt, a.SIMILAR, chance, "bound", text)]

    @staticmethod
    def _likeness(order: Order, backward: frozenset[int], other: Order) -> tuple[int, int, int]:
        runs = max(len(order.forward & other.forward), len(backward & other.forward))
        if other.taken_up:
            runs = max(runs, len(order.forward & other.taken_up), len(backward & other.taken_up))
        return len(order.places & other.places), runs, len(order.groups & other.groups)

    @staticmethod
    def _alike(order: Order, places: int, neighbours: int) -> float:
        """All dealt places count as tried, also those never seen: a choice of what becomes public
        can hide a coincidence, not make one."""
        dealt = len(order.cards)
        return min(coincidence_chance(dealt, places), coincidence_chance(dealt - 1, neighbours))

    # --- many rounds ----------------------------------------------------------------------------

    def _memory(self, dealt: DealtOrder, order: Order, goes_on: bool) -> list[a.DeckAlarm]:
        start = order.start
        if start is None or (goes_on and len(order.cards) - len(dealt.cards) >= START):
            return []
        chance = float(_STARTS) * len(self.starts)
        seen = start in self.starts
        self.starts.append(start)
        if not seen or chance > self.rate:
            return []
        text = f"the first {START} cards are those of an earlier shuffle, in the same order"
        return [_alarm(dealt, a.DEVICE_REPEATS, chance, "bound", text)]

    def _by_place(self, dealt: DealtOrder, offset: int) -> list[a.DeckAlarm]:
        found = self.places.take([(offset + i, card) for i, card in dealt.sample])
        if found is None:
            return []
        chance, text = found
        return [_alarm(dealt, a.BIASED, chance, "bound", text)]


def _alarm(dealt: DealtOrder, code: str, chance: float, how: a.How, text: str) -> a.DeckAlarm:
    return a.DeckAlarm(code, chance, how, text, dealt.round_no, dealt.deck, dealt.shuffle)
