"""Progressive wagers: a sensor's level, or credits that an acceptor hands over one by one.

A credit is acknowledged only when its fact is journalled; the acceptor holds the chip that long.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase, TableState
from drivers.readings import CreditOffered, SwitchRead

_SENSOR: Final = re.compile(r"progressive seat ([1-7])")


def sensor_seat(reading: SwitchRead) -> int | None:
    """The seat of a progressive sensor, None for any other switch."""
    found = _SENSOR.fullmatch(reading.name)
    return int(found[1]) if found else None


@dataclass(slots=True)
class Credits:
    """What the sensors and acceptors show, beside what the engine has taken."""

    untaken: AbstractSet[int]
    """Seats whose last credit is journalled but whose acceptor has not let go yet: the journal's
    own set, only read here."""
    at_start: set[int] = field(default_factory=set)
    """Those of before a restart of which the acceptors have not told anything yet."""
    doubt: set[int] = field(default_factory=set)
    """Credits of which nobody can say whether the chip is in the box: a supervisor rules."""
    numbers: dict[int, int] = field(default_factory=dict)
    levels: dict[int, bool] = field(default_factory=dict)
    armed: set[int] = field(default_factory=set)
    given_back: set[int] = field(default_factory=set)
    """Seats whose credit was refused: disabled, so that the acceptor returns the chip."""

    def sensed(self, seat: int, on: bool, state: TableState) -> f.CreditsRead | None:
        """A sensor's level: a fact while bets are open; after the lock only a late wager is."""
        changed = self.levels.get(seat, False) != on
        self.levels[seat] = on
        late = on and (state.in_play or state.phase is Phase.LOCKED)
        if not changed or not (state.phase is Phase.BETTING or late):
            return None
        return f.CreditsRead(seat, 1 if on else 0)

    def at_opening(self) -> list[f.CreditsRead]:
        """Wagers that already lay on their sensors when bets were opened."""
        self.given_back.clear()
        return [f.CreditsRead(seat, 1) for seat, on in sorted(self.levels.items()) if on]

    def offered(self, reading: CreditOffered, state: TableState) -> f.CreditsRead | None:
        """One credit more; None if this very credit is journalled already and only not dropped."""
        self.numbers[reading.seat] = reading.number
        self.at_start.discard(reading.seat)
        if reading.seat in self.untaken:
            return None
        return f.CreditsRead(reading.seat, state.credits.get(reading.seat, 0) + 1)

    def closed(self, seat: int) -> int:
        """The seat's credit is in the box, back with the player, or ruled on; its number."""
        for seats in (self.at_start, self.doubt, self.given_back):
            seats.discard(seat)
        return self.numbers.get(seat, 0)

    def enabled(self, state: TableState, *, closing: bool) -> frozenset[int]:
        """Acceptors that may take a chip now: armed, not full, and bets are open.

        One that is dropping an acknowledged chip stays enabled until it has let go: disabled in
        the middle of it, it might give back what is already counted.
        """
        dropping = self.untaken if state.phase in (Phase.BETTING, Phase.LOCKED) else frozenset()
        if state.phase is not Phase.BETTING or closing or not state.takes_progressive:
            return frozenset(dropping)
        most = state.rules.table.max_credits
        free = {n for n in self.armed if state.credits.get(n, 0) < most}
        return frozenset((free - self.given_back) | dropping)
