"""The simulated GPIO header: levels by BCM number, and edges that bounce or get lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from hw_sim.clock import Clock

Listener = Callable[[int, bool], None]
"""Called with the pin's number and level whenever an edge is announced."""


@dataclass
class Pins:
    clock: Clock
    levels: dict[int, bool] = field(default_factory=dict)
    listeners: list[Listener] = field(default_factory=list)
    lose_edges: set[int] = field(default_factory=set)
    """Pins whose level changes without anybody being told."""
    reads: int = 0

    def drive(self, number: int, level: bool) -> None:
        if self.levels.get(number) == level:
            return
        self.levels[number] = level
        if number not in self.lose_edges:
            for listener in list(self.listeners):
                listener(number, level)

    def read(self, number: int) -> bool:
        """A controller asks; a pin that is not wired is pulled up."""
        self.reads += 1
        return self.levels.get(number, True)

    def bounce(self, number: int, level: bool, edges: int, within_us: int) -> None:
        """The contact chatters and comes to rest at ``level``."""
        for i in range(edges):
            last = i == edges - 1
            now = level if last else bool(i % 2) != level
            self.clock.after(within_us * i // edges, partial(self.drive, number, now))
