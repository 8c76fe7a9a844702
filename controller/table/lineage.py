"""Whose chips they were: a hint that one player may sit at two seats.

No sensor knows people. Chips that a seat bet or was paid in the last round, and did not lose, are
its own; when they come down at another seat while the first one bets too, the prompt says so. It
is a hint and nothing else: it refuses nothing and moves no money, and a person has to confirm it
(NSW-5.5, AMB-W14). Tags are remembered for one round and written nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from controller.rules.engine.state import TableRules
from controller.table.spots import Spot
from drivers.readings import Uid

LOST = "lose"
HOUSE_RULE = "house rule"
Lying = Mapping[Spot, frozenset[Uid]]


class Hint(NamedTuple):
    """``chips`` chips of seat ``first`` lie at ``second``, and both bet."""

    first: int
    second: int
    chips: int


def forbidden_by(rules: TableRules) -> str:
    """The clause that lets a player bet one hand only; empty where nothing forbids more."""
    if rules.book.one_hand_clause:
        return rules.book.one_hand_clause
    return HOUSE_RULE if rules.table.multi_seat == "not_allowed" else ""


@dataclass(slots=True)
class Lineage:
    owners: dict[Uid, int] = field(default_factory=dict)
    """Chips of the last round, by the seat that has them."""
    laid: dict[Spot, set[Uid]] = field(default_factory=dict)
    """What has lain on each spot since the bets of this round were locked."""
    hinted: set[tuple[int, int]] = field(default_factory=set)
    """Pairs of seats that the dealer has been told of in this round."""

    def opened(self) -> list[tuple[int, int]]:
        """A new round; returns the pairs that were told in the last one."""
        told, self.hinted = sorted(self.hinted), set()
        return told

    def locked(self, lying: Lying) -> None:
        self.laid = {spot: set(tags) for spot, tags in lying.items()}

    def saw(self, spot: Spot, tags: Iterable[Uid]) -> None:
        """After the lock: chips paid onto the spot are the seat's as well."""
        self.laid.setdefault(spot, set()).update(tags)

    def ended(self, result: Any) -> None:
        """What a seat has not lost is still its own; lost chips are the house's again."""
        self.owners = {
            tag: row["seat"]
            for row in result["seats"]
            for spot, wager in row["wagers"].items()
            if wager is not None and wager["status"] != LOST
            for tag in self.laid.get((row["seat"], spot), ())
        }
        self.laid = {}

    def hints(self, lying: Lying, betting: Iterable[int]) -> list[Hint]:
        """What is new among the chips down: each pair of seats is reported once a round."""
        playing, found = frozenset(betting), Counter[tuple[int, int]]()
        for (seat, _), tags in lying.items():
            for tag in tags:
                first = self.owners.get(tag, seat)
                if first != seat and {first, seat} <= playing:
                    found[first, seat] += 1
        new = [Hint(*pair, found[pair]) for pair in sorted(found) if pair not in self.hinted]
        self.hinted |= {(hint.first, hint.second) for hint in new}
        return new

    def confirms(self, seats: tuple[int, ...]) -> tuple[int, int] | None:
        """The pair that a noted breach of these seats is about."""
        return next((pair for pair in sorted(self.hinted) if set(pair) == set(seats)), None)
