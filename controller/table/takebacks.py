"""Wagers taken back whose chips still lie: how long they may, and what is overdue.

The chips must be gone some time after the decision; then a supervisor is needed (AMB-C02, AMB-W18).
Until they are gone no community card is turned, however long it takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from controller.rules.engine.common import spot_of, unresolved
from controller.rules.engine.state import TableState
from controller.table.spots import Spot


def still_lying(state: TableState) -> frozenset[Spot]:
    """Spots that were taken back in this phase and are not empty."""
    spot = spot_of(state.phase)
    if spot is None:
        return frozenset()
    back = (n for n in unresolved(state) if state.seats[n].decisions[spot] == "withdraw")
    return frozenset((number, spot) for number in back)


@dataclass(slots=True)
class TakeBacks:
    due_us: dict[Spot, int] = field(default_factory=dict)
    overdue: frozenset[Spot] = frozenset()

    def follow(self, state: TableState, now_us: int, limit_us: int) -> None:
        """The state has changed: time begins for what was taken back and ends for what is gone.
        A limit of 0 is none."""
        lying = still_lying(state)
        self.overdue &= lying
        waits = lying - self.overdue if limit_us else frozenset()
        self.due_us = {s: self.due_us.get(s, now_us + limit_us) for s in sorted(waits)}

    def expire(self, now_us: int) -> list[Spot]:
        """What has become overdue."""
        late = [spot for spot, due_us in self.due_us.items() if now_us >= due_us]
        self.overdue |= set(late)
        for spot in late:
            del self.due_us[spot]
        return late

    @property
    def wake_us(self) -> int | None:
        return min(self.due_us.values(), default=None)

    @property
    def seats(self) -> frozenset[int]:
        return frozenset(number for number, _ in self.overdue)
