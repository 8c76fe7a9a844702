"""The closing call: a cut in time, and a sweep that must find what lay there before the cut.

What changed around the cut is undecidable by rule: it is never counted and never refused in
silence; the dealer calls again or leaves the seat out (AMB-W04).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from controller.rules.engine import facts as f
from controller.table.chips import Chips
from drivers.readings import Antenna, SpotMoving, SpotSettled, SweepAgreed, Uid

SWEEP_US: Final = 60_000_000
"""Longest wait for a sweep; then the closing call has to be made again. Every sweep answers at its
own deadline, at most 52 s (docs/protocols/chip-sensing.md): this only catches a lost answer."""
NOTHING: Final[frozenset[Uid]] = frozenset()


@dataclass(slots=True)
class Closing:
    """The call was made; chips that settle up to ``cut_us`` still count, then the sweep proves what
    lies there."""

    number: int
    by: f.Source
    at_ms: int
    """The press."""
    cut_us: int
    """The press, and the grace of the house after it."""
    settle_us: int
    asked: frozenset[Antenna]
    sweeps: bool = False
    until_us: int = 0
    stood: dict[Antenna, frozenset[Uid]] = field(default_factory=dict)
    """What was settled at the cut."""
    uncertain: set[Antenna] = field(default_factory=set)
    answered: set[Antenna] = field(default_factory=set)
    swept: dict[Antenna, frozenset[Uid]] = field(default_factory=dict)

    @property
    def due_us(self) -> int:
        """When time alone moves it on."""
        return self.until_us if self.sweeps else self.cut_us

    def begin(self, chips: Chips, now_us: int) -> None:
        """The cut has come: what moves, or has changed a moment ago, is uncertain."""
        self.sweeps, self.until_us = True, now_us + SWEEP_US
        self.stood = {a: chips.tags[a] for a in self.asked if a in chips.tags}
        fresh = {a for a, at_us in chips.changed_us.items() if self._around_the_cut(at_us)}
        self.uncertain = (chips.moving | fresh) & self.asked

    def _around_the_cut(self, at_us: int) -> bool:
        return at_us > self.cut_us - self.settle_us

    def moved(self, reading: SpotSettled | SpotMoving) -> None:
        """Chips moved, or turned out to have moved, after the cut."""
        antenna = reading.antenna
        if not self.sweeps or antenna not in self.asked:
            return
        if isinstance(reading, SpotSettled):
            if reading.tags == self.stood.get(antenna, NOTHING):
                return
            if not self._around_the_cut(reading.seen_us):
                self.stood[antenna] = reading.tags  # told late, but settled in time
                return
        self.uncertain.add(antenna)

    def take(self, sweep: SweepAgreed) -> bool:
        """Add one reader's part; True when every antenna asked for has been answered."""
        if sweep.number != self.number or not self.sweeps:
            return False
        self.uncertain |= set(sweep.uncertain) & self.asked
        self.swept |= {a: tags for a, tags in sweep.tags if a in self.asked}
        self.answered |= set(self.swept) | set(sweep.uncertain)
        return self.asked <= self.answered

    def result(self) -> tuple[Mapping[Antenna, frozenset[Uid]], frozenset[Antenna]]:
        """What the sweep confirms, and what nobody can say."""
        other = {a for a, tags in self.swept.items() if tags != self.stood.get(a, NOTHING)}
        uncertain = frozenset(self.uncertain | other)
        return {a: t for a, t in self.swept.items() if a not in uncertain}, uncertain
