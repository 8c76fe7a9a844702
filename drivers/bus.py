"""The I2C bus as a machine: whose batch is next, and what to do when nobody answers.

It schedules the boards' machines, one batch at a time, and does no I/O: the shell runs the batch it
is given and says how it ended. A shell that has an outcome delivers it before it asks whether the
deadline has passed. Source: docs/protocols/mcp23017.md section 9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from errno import ETIMEDOUT, errorcode
from operator import attrgetter
from typing import ClassVar, Final, Protocol, runtime_checkable

from drivers.base import MS, SECOND, BusDone, BusFailed, BusOp, Counters, Fault
from drivers.machines import BoardDriver
from drivers.orders import Kinds, Order, routes
from drivers.readings import Reading

BATCH_US: Final = 500 * MS
"""Longest time of a batch: two of them still leave every board known or unknown within 1 s."""
RECOVERY_US: Final = 2 * SECOND
RECOVERY_EVERY_US: Final = 10 * SECOND
REOPEN_EVERY_US: Final = SECOND
"""Where the bus is not held but gone, or nobody on it answers: opening it again costs nothing."""
ALL_FAILED: Final = 8
"""Batches in a row, and each board at least once: few boards on a bus that worked get their own
retries first. A bus on which nobody has answered yet is given up after one round."""
HELD: Final = ("E-BUS-001", "E-BUS-002")
"""Something holds the wires: a recovery clocks them, which disturbs boards that still work."""


@dataclass(frozen=True, slots=True)
class RecoverBus:
    """Close the bus, free it if the adapter can, open it again; ``recovered`` says how it went."""

    reason: Fault


BusAction = RecoverBus | Reading


@runtime_checkable
class Nudged(Protocol):
    """A board that has inputs: INT makes it poll sooner."""

    def nudge(self, now_us: int) -> None: ...


@runtime_checkable
class Ordered(Protocol):
    """A board that takes orders: those in ``takes`` and no others."""

    takes: ClassVar[Kinds]

    def order(self, order: Order, now_us: int) -> list[Reading]: ...


@runtime_checkable
class Linked(Protocol):
    """A board that is due when another one's outcome says so."""

    linked_to: str


@dataclass(slots=True)
class _Place:
    """A board and when its last batch ended: it is never due earlier than that."""

    board: BoardDriver
    ended_us: int = 0
    due_us: int = 0
    """Asked of the board when something has happened to it."""


_turn = attrgetter("due_us", "ended_us")


class BusMachine:
    def __init__(self, boards: Sequence[BoardDriver]) -> None:
        addresses = Counter(board.address for board in boards)
        twice = [address for address, times in addresses.items() if times > 1]
        if twice:
            raise ValueError(f"two boards at address 0x{twice[0]:02X}")
        self.counters: Counters = Counter()
        self.number = 0
        """Of the batch given out last; a shell that numbers its batches finds late ones by it."""
        self._places = [_Place(board) for board in boards]
        self._linked = [place for place in self._places if isinstance(place.board, Linked)]
        self._routes = routes(
            ((place, board), board.takes)
            for place in self._places
            if isinstance(board := place.board, Ordered)
        )
        self._running: _Place | None = None
        self._deadline_us = 0
        self._timeouts: Counter[str] = Counter()
        """Batches that timed out in a row, by board."""
        self._failures: Counter[str] = Counter()
        """Batches that failed in a row, however they did, by board."""
        self._answered = False
        """A board has answered since the bus was opened."""
        self._stuck: Fault | None = None
        self._recovering = False
        self._recovered_us: int | None = None
        """When the last recovery was asked for."""
        self._next: _Place | None = None
        """Whose turn is next; None if something has happened to a board since that was found."""
        self._touched(*self._places)

    @property
    def boards(self) -> list[BoardDriver]:
        return [place.board for place in self._places]

    def due_us(self) -> dict[str, int]:
        """When each board's next batch should run."""
        return {place.board.name: place.due_us for place in self._places}

    @property
    def stuck(self) -> bool:
        return self._stuck is not None

    @property
    def wake_us(self) -> int | None:
        """When something is due: a batch, a deadline or a recovery; None on an empty bus."""
        if self._running is not None or self._recovering:
            return self._deadline_us
        if self._stuck is not None:
            return self._next_recovery_us
        place = self._next or self._find_next()
        return None if place is None else place.due_us

    @property
    def _next_recovery_us(self) -> int:
        if self._recovered_us is None:
            return 0
        held = self._stuck is not None and self._stuck.code in HELD
        return self._recovered_us + (RECOVERY_EVERY_US if held else REOPEN_EVERY_US)

    def next_batch(self, now_us: int) -> tuple[BoardDriver, tuple[BusOp, ...]] | None:
        """The batch to run now, if one is due and none is on its way."""
        if self._running is not None or self._stuck is not None:
            return None
        while (place := self._next or self._find_next()) is not None and place.due_us <= now_us:
            ops = place.board.plan(now_us)
            if not ops:
                place.ended_us = now_us + 1  # nothing to do: out of the way of the others
                self._touched(place)
                continue
            self._running = place
            self._deadline_us = now_us + BATCH_US
            self.number += 1
            self.counters["batches"] += 1
            return place.board, ops
        return None

    def _find_next(self) -> _Place | None:
        """Of those that are due first the one that has waited longest."""
        self._next = min(self._places, key=_turn, default=None)
        return self._next

    def _touched(self, *places: _Place) -> None:
        """Something happened to these boards: when they are due may have changed."""
        self._next = None
        for place in (*places, *self._linked):
            place.due_us = max(place.board.wake_us, place.ended_us)

    def finished(
        self, outcome: BusDone | BusFailed, now_us: int, number: int | None = None
    ) -> list[BusAction]:
        """The batch on its way ended; with the number of another one it is too late to matter."""
        place = self._running
        if place is None or number not in (None, self.number):
            self.counters["late"] += 1
            return []
        self._running = None
        place.ended_us = now_us
        said: list[BusAction] = [*place.board.finish(outcome, now_us)]
        self._touched(place)
        if not isinstance(outcome, BusFailed):
            self._timeouts.clear()
            self._failures.clear()
            self._answered = True
            return said
        self.counters["failed"] += 1
        lost = self._verdict(place.board.name, outcome)
        return said if lost is None else said + self._lost(lost, now_us)

    def _verdict(self, name: str, outcome: BusFailed) -> Fault | None:
        """Is it the bus that failed and not the board? A board that fails alone leaves it alone."""
        if outcome.gone:
            return Fault("E-BUS-003", outcome.gone)
        self._failures[name] += 1
        if outcome.errno == ETIMEDOUT:
            self._timeouts[name] += 1
        else:
            self._timeouts.clear()  # some board or the adapter did answer: the bus is free
        boards = len(self._places)
        if self._timeouts.total() >= 2 and len(self._timeouts) >= min(2, boards):
            return Fault("E-BUS-002", f"{' and '.join(self._timeouts)} timed out in a row")
        enough = max(ALL_FAILED if self._answered else 2, boards)
        if len(self._failures) == boards and self._failures.total() >= enough:
            return Fault("E-BUS-004", f"no board answers: {_named(outcome.errno)}")
        return None

    def timed_out(self, now_us: int) -> list[BusAction]:
        """Whatever deadline has passed: a batch, a recovery, or the pause between recoveries."""
        if self._running is not None:
            if now_us < self._deadline_us:
                return []
            name = self._running.board.name
            self._running.ended_us = now_us
            self._running = None
            return self._lost(Fault("E-BUS-001", f"no outcome for {name}"), now_us)
        if self._recovering:
            return (
                self.recovered(worked=False, now_us=now_us) if now_us >= self._deadline_us else []
            )
        return self._recover(now_us)

    def recovered(self, *, worked: bool, now_us: int) -> list[BusAction]:
        """How the recovery went. If it did not work the next one is ten seconds after this one."""
        if not self._recovering:
            return []
        self._recovering = False
        self.counters["recoveries" if worked else "recoveries failed"] += 1
        if worked:
            self._stuck = None
            self._timeouts.clear()
            self._failures.clear()
            return []
        return self._recover(now_us)

    def order(self, order: Order, now_us: int) -> list[Reading]:
        concerned = self._routes[type(order)]
        readings = [r for _, board in concerned for r in board.order(order, now_us)]
        self._touched(*(place for place, _ in concerned))
        return readings

    def takes(self, order: Order) -> bool:
        """Does it concern a board? From any thread."""
        return bool(self._routes[type(order)])

    def nudge(self, now_us: int) -> None:
        """The expanders' INT line is low."""
        for place in self._places:
            if isinstance(place.board, Nudged):
                place.board.nudge(now_us)
                self._touched(place)

    def _lost(self, fault: Fault, now_us: int) -> list[BusAction]:
        self.counters[fault.code] += 1
        self._stuck = fault
        self._answered = False
        readings = [
            reading
            for place in self._places
            for reading in place.board.bus_lost(f"{fault.code}: {fault.detail}", now_us)
        ]
        self._touched(*self._places)
        return readings + self._recover(now_us)

    def _recover(self, now_us: int) -> list[BusAction]:
        if self._stuck is None or now_us < self._next_recovery_us:
            return []
        self._recovering = True
        self._recovered_us = now_us
        self._deadline_us = now_us + RECOVERY_US
        return [RecoverBus(self._stuck)]


def _named(errno: int) -> str:
    return f"errno {errno} {errorcode.get(errno, '')}".rstrip()
