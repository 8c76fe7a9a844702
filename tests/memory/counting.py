"""A table that plays for days at the level of readings, and what its daemon keeps in memory.

Counted are the objects that can be reached from the daemon's parts (``WholeTable.kept``), and the
entries of the program's own caches; not the process, whose allocator keeps what it likes. What the
test itself keeps is not counted.
"""

from __future__ import annotations

import gc
import random
import sys
from collections import Counter
from functools import _lru_cache_wrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Final, NamedTuple, Self

from controller.deckwatch import statistics
from controller.rules import outcome
from controller.rules.cards import Card
from tests.clauses.tables import table
from tests.controller.history.desk import Desk, opening_of, play_rounds
from tests.controller.table.console_player import ConsolePlayer
from tests.controller.table.test_table_any_round import WAGERS
from tests.memory.whole import WholeTable
from tests.paper import Noise, Paper

GAMES: Final = ("MBS3", "MEGA", "NSW", "PP6", "RICO")
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


class LongTable:
    """One table that goes on and on; ``same``: every round is the same one, card by card."""

    def __init__(self, game: str, seed: int, *, linked: bool = False, same: bool = False) -> None:
        self.game, self.seed, self.same = game, seed, same
        self._folder = TemporaryDirectory()
        croupier, opening = table(game), opening_of(game)
        self._deck: list[Card] = list(croupier.deck)
        self._rng = random.Random(f"{game} {seed}")
        self.table = WholeTable(
            croupier.state, folder=Path(self._folder.name), opening=opening, linked=linked
        )
        hand = ConsolePlayer(self.table, list(croupier.deck), WAGERS[game])
        self.made = Desk(hand, Paper(), self.table.writer.table_log, opening, Noise())

    def close(self) -> None:
        self.table.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def rounds(self) -> int:
        return self.made.state.round_no

    def play(self, rounds: int) -> None:
        hand = self.made.hand
        for _ in range(rounds):
            if self.same:
                self._rng = random.Random(f"{self.game} {self.seed}")
            play_rounds(self.made, self._rng, self._deck, 1, plain=True)
            self.table.between_rounds()
            for told in (self.table.log, hand.seen):
                del told[:-RECENT]  # what only the test keeps

    def play_to_snapshot(self, rounds: int) -> None:
        """So many rounds at least, and then to the next snapshot: from one to the next the
        daemon follows the cards of closed rounds, which is no leak."""
        self.play(rounds)
        memory = self.made.table_log.memory
        before = memory.facts
        while memory.facts >= before:
            before = memory.facts
            self.play(1)

    def kept(self) -> Kept:
        gc.collect()
        found, size = reachable(*self.table.kept)
        return Kept(found, size, sum(cache.cache_info().currsize for cache in CACHES))
