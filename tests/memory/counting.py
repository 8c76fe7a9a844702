"""A table that plays for days at the level of facts, and what it keeps in memory.

Counted are the objects that can be reached from the table's core, its scribe, its deck watch and
the program's own caches; not the process, whose allocator keeps what it likes. What the test
itself keeps is not counted.
"""

from __future__ import annotations

import gc
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import _lru_cache_wrapper
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final, NamedTuple

from controller.daemon.decks import Decks
from controller.deckwatch import statistics
from controller.rules import outcome
from controller.rules.cards import Card
from tests.clauses.tables import table
from tests.daemon.desk import Desk, Noise, Paper, Row, desk, opening_of, play_rounds
from tests.table.test_table_any_round import WAGERS

RECENT: Final = 500
NOT_COUNTED: Final = (
    type, ModuleType, FunctionType, MethodType, BuiltinFunctionType, CodeType,
)  # fmt: skip
CACHES: Final = [
    one
    for module in (outcome, statistics)
    for one in vars(module).values()
    if isinstance(one, _lru_cache_wrapper)
]


class Kept(NamedTuple):
    """What is held at one moment."""

    objects: Counter[str]
    """By type, without what the bounded caches hold."""
    bytes: int
    cached: int
    """Entries of the bounded caches."""

    @property
    def total(self) -> int:
        return self.objects.total()


def reachable(*roots: object) -> tuple[Counter[str], int]:
    """Objects by type, and their size, that these hold."""
    seen, waiting = set[int](), list(roots)
    counts, size = Counter[str](), 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, NOT_COUNTED):
            continue
        if type(one).__module__.startswith("tests."):
            continue
        seen.add(id(one))
        counts[type(one).__qualname__] += 1
        size += sys.getsizeof(one)
        waiting += gc.get_referents(one)
    return counts, size


@dataclass
class Thin(Paper):
    """A journal that is written and not kept."""

    count: int = 0

    @property
    def next_seq(self) -> int:
        return self.count + 1

    def append(self, kind: str, body: bytes, at_ms: int) -> Row:
        self.count += 1
        return Row(self.count, kind, body, at_ms, b"")


@dataclass
class LongTable:
    """One table that goes on and on."""

    game: str
    seed: int
    made: Desk = field(init=False)
    decks: Decks = field(default_factory=Decks)

    def __post_init__(self) -> None:
        self._rng = random.Random(f"{self.game} {self.seed}")
        croupier = table(self.game)
        self._deck: list[Card] = list(croupier.deck)
        self.made = desk(croupier, opening_of(self.game), WAGERS[self.game], Noise(), Thin())

    @property
    def rounds(self) -> int:
        return self.made.state.round_no

    def play(self, rounds: int) -> None:
        """Each round, then what the writer does between two."""
        hand = self.made.hand
        for _ in range(rounds):
            play_rounds(self.made, self._rng, self._deck, 1, plain=True)
            hand.table.core.outbox.clear()  # the writer takes them after every group
            self.decks.closed(self.made.state)
            if self.made.scribe.standing_due:
                self.made.scribe.stand()
            for told in (hand.table.log, hand.table.entries, hand.seen, self.made.noise.calls):
                del told[:-RECENT]  # what only the test keeps

    def kept(self) -> Kept:
        gc.collect()
        core: Any = self.made.hand.table.core
        scribe = self.made.scribe
        parts = (core.state, core.notices, core.outbox, core.credits, core.lamps, core.meter)
        found, size = reachable(core, *parts, scribe.memory, scribe.written, self.decks)
        return Kept(found, size, sum(cache.cache_info().currsize for cache in CACHES))
