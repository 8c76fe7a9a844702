"""Fair and faulty shuffles, from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from controller.deckwatch.alarms import DeckAlarm
from controller.deckwatch.orders import DealtOrder
from controller.deckwatch.watch import DeckWatch

Shuffle = Callable[[Random], list[int]]


def new_deck() -> list[int]:
    """As it leaves the factory: spades and diamonds ace to king, clubs and hearts king to ace."""
    ace_low = [12, *range(12)]
    order = [(r, 3) for r in ace_low] + [(r, 1) for r in ace_low]
    order += [(r, 0) for r in reversed(ace_low)] + [(r, 2) for r in reversed(ace_low)]
    return [4 * rank + suit for rank, suit in order]


def fair(rng: Random) -> list[int]:
    return rng.sample(range(52), 52)


def riffle(deck: list[int], rng: Random) -> list[int]:
    cut = sum(rng.random() < 0.5 for _ in range(52))
    left, right = deck[:cut], deck[cut:]
    out = []
    while left or right:
        out.append((left if rng.random() * (len(left) + len(right)) < len(left) else right).pop(0))
    return out


def overhand(deck: list[int], rng: Random) -> list[int]:
    out: list[int] = []
    while deck:
        size = rng.randint(4, 9)
        out, deck = deck[:size] + out, deck[size:]
    return out


def rounds(orders: Iterator[list[int]], dealt: int = 23, first: int = 1) -> Iterator[DealtOrder]:
    for number, order in enumerate(orders, first):
        packets = (3,) * ((dealt - 2) // 3) + (2,) if dealt % 3 == 2 else ()
        yield DealtOrder(number, "red", number, tuple(order[:dealt]), packets)


def watched(watch: DeckWatch, told: Iterator[DealtOrder]) -> list[DeckAlarm]:
    return [alarm for dealt in told for alarm in watch.take(dealt)]


def fair_rounds(seed: int, count: int, dealt: int = 23, first: int = 1) -> Iterator[DealtOrder]:
    rng = Random(seed)
    return rounds((rng.sample(range(52), dealt) for _ in range(count)), dealt, first)
