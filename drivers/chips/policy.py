"""How sure sensing must be before a chip counts (docs/protocols/chip-sensing.md section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from drivers.base import MS
from drivers.chips import budget

NOT_READ: Final = "E-SPOT-001"
"""A watched antenna gave neither a reading nor a failure for too long."""


@dataclass(frozen=True, slots=True)
class Policy:
    arrive_reads: int = 2
    arrive_us: int = 300 * MS
    leave_reads: int = 3
    leave_us: int = 1_000 * MS
    restless: int = 3
    """Changes among the last ``restless_of`` inventories that make a spot move."""
    restless_of: int = 12
    sweep_reads: int = 6
    chips_per_spot: int = 6
    """What the deadline of a sweep allows for; a higher stack on every spot needs more."""
    rates: budget.Rates = budget.SLOW

    def __post_init__(self) -> None:
        if self.arrive_reads < 2 or self.leave_reads < self.arrive_reads:
            raise ValueError("one reading is never a fact; leaving needs at least as many")
        if self.leave_us < self.arrive_us:
            raise ValueError("leaving needs at least as long as arriving")

    def sweep_deadline_us(self, spots_of_busiest_reader: int) -> int:
        return budget.sweep_deadline_us(spots_of_busiest_reader, self.chips_per_spot, self.rates)

    def stale_us(self, spots_of_reader: int) -> int:
        """A spot waits at most one sweep of its reader's spots for its turn."""
        return 2 * self.sweep_deadline_us(spots_of_reader)
