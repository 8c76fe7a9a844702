"""What a group adds to the sums by time: counted as events are applied, stored once a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from link.ledger.level import WAGERS
from link.rows import SLICE_MS, Entry, EventRow, SumRow

WAGERS_COUNTED, WAGERED_CENTS, ROUNDS, HANDS, IN_UNITS, HITS, WIN_UNITS = range(7)
"""Places in the list of a slice, in the order of the fields of ``SumRow``."""
ZEROS: Final = (0,) * 7


class Tally:
    __slots__ = ("_sums",)

    def __init__(self) -> None:
        self._sums: dict[tuple[int, str, str, str], list[int]] = {}

    def of(self, at_ms: int, pool: str, level: str, table: str) -> list[int]:
        """To be added to."""
        key = (at_ms // SLICE_MS, pool, level, table)
        found = self._sums.get(key)
        if found is None:
            found = self._sums[key] = [*ZEROS]
        return found

    def rows(self, events: Sequence[EventRow], entries: Sequence[Entry]) -> list[SumRow]:
        """With what the entries of the group say; each belongs to the time of its last event."""
        for entry in entries:
            if WAGERS in (entry.debit, entry.credit):
                at_ms = events[entry.through - events[0].id].received_ms
                units = entry.units if entry.debit == WAGERS else -entry.units
                self.of(at_ms, entry.pool, entry.level, "")[IN_UNITS] += units
        return [
            SumRow(number * SLICE_MS, pool, level, table, *found)
            for (number, pool, level, table), found in self._sums.items()
            if any(found)
        ]
