"""What is known of one shuffle: the public cards in dealt order, and what is compared of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final

from controller.deckwatch.statistics import DECK, disorder

SUITS: Final = 4
START: Final = 8
"""So many first cards name a shuffle in the long memory."""


@dataclass(frozen=True, slots=True)
class DealtOrder:
    """A finished round. Cards are numbers as in ``controller.rules.cards``."""

    round_no: int
    deck: str
    shuffle: int
    """Counts shuffles of this table; rounds from the same shuffle follow each other."""
    cards: tuple[int | None, ...]
    """In dealt order; None for a card that never became public."""
    packets: tuple[int, ...] = ()
    """Sizes of the packets, in order, if the device gives packets; they add up to all cards."""
    sure: frozenset[int] | None = None
    """Places in ``cards`` that become public whatever the cards are; None means all. Where players
    may fold, their cards are no sample: the hands that stay are the good ones."""
    gathered: tuple[int, ...] = ()
    """Public cards in the order in which they were taken up after the round, if that is known."""

    def __post_init__(self) -> None:
        known = {c for c in (*self.cards, *self.gathered) if c is not None}
        if not known <= set(range(DECK)) or len(self.cards) > DECK:
            raise ValueError(f"round {self.round_no}: not the cards of one deck: {self.cards}")
        if self.packets and sum(self.packets) != len(self.cards):
            raise ValueError(f"round {self.round_no}: packets {self.packets} are not all cards")
        if self.sure is not None and not self.sure <= set(range(len(self.cards))):
            raise ValueError(f"round {self.round_no}: places {sorted(self.sure)} were not dealt")

    @property
    def sample(self) -> list[tuple[int, int]]:
        """Place and card of what became public whatever the cards are, in dealt order."""
        return [
            (i, card)
            for i, card in enumerate(self.cards)
            if card is not None and (self.sure is None or i in self.sure)
        ]


def neighbours(cards: tuple[int | None, ...]) -> frozenset[int]:
    """Each known card with the known card after it, as one number."""
    return frozenset(
        a * 64 + b for a, b in pairwise(cards) if a is not None and b is not None
    )  # fmt: skip


@dataclass(slots=True)
class Order:
    """One shuffle as far as it was dealt. Derived sets are made once, then only intersected."""

    deck: str
    shuffle: int
    cards: tuple[int | None, ...]
    packets: tuple[int, ...] = ()
    gathered: tuple[int, ...] = ()
    places: frozenset[int] = field(init=False)
    forward: frozenset[int] = field(init=False)
    taken_up: frozenset[int] = field(init=False)
    size: int = field(init=False)
    """The commonest size of its packets; only those are compared."""
    groups: frozenset[tuple[int | None, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self.places = frozenset(i * 64 + c for i, c in enumerate(self.cards) if c is not None)
        self.forward = neighbours(self.cards)
        # A card twice would make no path of it, and the bounds are about paths.
        distinct = len(set(self.gathered)) == len(self.gathered)
        self.taken_up = neighbours(self.gathered) if distinct else frozenset()
        self.size = max(self.packets, key=self.packets.count, default=0)
        ends = list(accumulate(self.packets))
        packets = [self.cards[end - self.size : end] for end in ends]
        right = [p for p, n in zip(packets, self.packets, strict=True) if n == self.size]
        self.groups = frozenset(packet for packet in right if None not in packet)

    @property
    def backward(self) -> frozenset[int]:
        return neighbours(self.cards[::-1])

    @property
    def start(self) -> int | None:
        """The first cards as one number, if all of them are known."""
        number = 0
        for card in self.cards[:START]:
            if card is None:
                return None
            number = number * DECK + card
        return number if len(self.cards) >= START else None


class Starts:
    """The first cards of the last shuffles, oldest first: eight bytes each, all of them at once,
    so that the memory of a table is the same after its first round as after its last."""

    def __init__(self, most: int, known: Iterable[int] = ()) -> None:
        self._kept = array("Q", bytes(8 * most))
        self._count = 0
        for start in known:
            self.append(start)

    def append(self, start: int) -> None:
        self._kept[self._count % len(self._kept)] = start
        self._count += 1

    def __len__(self) -> int:
        return min(self._count, len(self._kept))

    def __contains__(self, start: int) -> bool:
        """Eight different cards are never 0, which is what an empty place holds."""
        return start in self._kept

    def __iter__(self) -> Iterator[int]:
        first = self._count - len(self)
        return (self._kept[n % len(self._kept)] for n in range(first, self._count))


def by_suit(cards: list[int]) -> list[list[int]]:
    """The ranks of each suit in dealt order, ace low as in a new deck."""
    suits: list[list[int]] = [[], [], [], []]
    for card in cards:
        suits[card % SUITS].append((card // SUITS + 1) % 13)
    return suits


def disorder_of(suits: list[list[int]]) -> int:
    return sum(disorder(ranks) for ranks in suits if ranks)


def new_deck_neighbours(cards: tuple[int | None, ...]) -> int:
    """Neighbours that a new deck has too; each suit may run up or down, whichever fits better."""
    up, down = [0] * SUITS, [0] * SUITS
    for a, b in pairwise(cards):
        if a is None or b is None or a % SUITS != b % SUITS:
            continue
        step = (b // SUITS + 1) % 13 - (a // SUITS + 1) % 13
        up[a % SUITS] += step == 1
        down[a % SUITS] += step == -1
    return sum(max(pair) for pair in zip(up, down, strict=True))
