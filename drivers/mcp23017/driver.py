"""One MCP23017 as a machine: search, configure, poll, retry, give up, come back.

It knows no key and no lamp: the drivers of this folder own one, tell it which latch they want and
look at the blocks that it took. Source: docs/protocols/mcp23017.md sections 3 to 5.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from drivers.base import MS, BusDone, BusFailed, BusOp, Counters, DeviceState, Fault
from drivers.debounce import Debouncer, Level
from drivers.machines import Reporter
from drivers.mcp23017 import codec
from drivers.mcp23017.codec import LOST, Block, Config, Found
from drivers.readings import Reading

INPUT_PERIOD_US: Final = 50 * MS
OUTPUT_PERIOD_US: Final = 500 * MS
"""Read back often enough that a board that went silent is unknown within a second."""
CONFIRM_US: Final = 20 * MS
RETRY_US: Final = 10 * MS
RETRIES: Final = 3
SILENT_US: Final = 900 * MS
FAILING_PERIOD_US: Final = 50 * MS
SEARCH_PERIOD_US: Final = 250 * MS


class Phase(Enum):
    SEARCH = "search"
    CONFIGURE = "configure"
    POLL = "poll"


@dataclass(frozen=True, slots=True)
class Polled:
    """What one batch came to."""

    block: Block | None = None
    """Taken: every register is as it must be."""
    found: Found | None = None
    """The search is over; the owner may choose the latch before the board is configured."""
    forgot: bool = False
    """Levels of before count no more: lost registers, or unknown for too long."""
    lost: bool = False
    """Registers were lost or wrong for longer than a retry: what the pins did is not proven."""


NOTHING: Final = Polled()


@dataclass(slots=True)
class Expander:
    name: str
    address: int
    config: Config
    period_us: int
    counters: Counters = field(default_factory=Counter)
    wanted: int = 0
    """The latch as it should be."""
    due_us: int = 0
    phase: Phase = Phase.SEARCH
    fault: Fault | None = None
    """Why the board is degraded or unknown; None while its blocks are good."""
    known: bool = False
    """A good block came, and not too long ago."""
    _sequence: int = 0
    _failures: int = 0
    _strange: int = 0
    _good_us: int = 0
    _sent: int = 0
    _verified: int | None = None
    reporter: Reporter = field(init=False)

    def __post_init__(self) -> None:
        self.reporter = Reporter(self.name)

    @property
    def sequence(self) -> int:
        return self._sequence

    @property
    def calm(self) -> bool:
        """Polled at its own pace: nothing to retry, nothing to configure."""
        return self.phase is Phase.POLL and not self._failures

    @property
    def settled(self) -> bool:
        """The board is known to hold the latch that is wanted."""
        return self.known and self._verified == self.wanted

    def want(self, latch: int, now_us: int) -> None:
        """Order a latch; it goes out with the next batch, which is due now."""
        if latch != self.wanted:
            self.wanted = latch
            self.hurry(now_us)

    def hurry(self, when_us: int) -> None:
        """Poll no later than this; retries keep their own pace."""
        if self.calm:
            self.due_us = min(self.due_us, when_us)

    def nudge(self, now_us: int) -> None:
        """INT went low: poll soon, but a chattering line gets no more than one poll per 20 ms."""
        self.hurry(max(now_us, self._good_us + CONFIRM_US))

    def plan(self) -> tuple[BusOp, ...]:
        if self.phase is Phase.SEARCH:
            return codec.search()
        self._sequence = codec.next_sequence(self._sequence)
        self._sent = self.wanted
        if self.phase is Phase.CONFIGURE:
            return codec.configure(self.config, self.address, self._sequence, self._sent)
        latch = None if self._verified == self._sent else self._sent
        return codec.poll(self.address, self._sequence, latch)

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> Polled:
        self.counters["batches"] += 1
        if isinstance(outcome, BusFailed):
            return self._failed(Fault("E-EXP-001", f"errno {outcome.errno}"), now_us)
        if self.phase is Phase.SEARCH:
            return self._searched(outcome, now_us)
        parsed = codec.parse(outcome.data[-1] if outcome.data else b"")
        if isinstance(parsed, Fault):
            return self._failed(parsed, now_us)
        refused = codec.refusal(parsed, self.config, self.address, self._sequence, self._sent)
        if refused is not None:
            return self._failed(refused, now_us)
        self.phase = Phase.POLL
        self.fault = None
        self.known = True
        self._failures = 0
        self._good_us = now_us
        self._verified = self._sent
        self.due_us = now_us if self.wanted != self._sent else now_us + self.period_us
        return Polled(block=parsed)

    def _searched(self, outcome: BusDone, now_us: int) -> Polled:
        first, second = (*outcome.data, b"", b"")[:2]
        result = codec.found(first, second, self.config, self.address)
        if isinstance(result, Fault):
            # Something is there and cannot be read as ours: after three more reads write it afresh.
            self._strange += 1
            if self._strange <= RETRIES:
                return self._failed(result, now_us)
            self.counters[result.code] += 1
            result = LOST
        self.phase = Phase.CONFIGURE
        self._failures = self._strange = 0
        self.due_us = now_us
        self.counters["found kept" if result.kept else "found lost"] += 1
        return Polled(found=result, lost=not result.kept)

    def _failed(self, fault: Fault, now_us: int) -> Polled:
        self.counters[fault.code] += 1
        self._verified = None
        if fault.code == "E-EXP-003" and self.phase is Phase.POLL:
            return self._start_over(fault, now_us)
        self._failures += 1
        if self._failures <= RETRIES:
            self.counters["retries"] += 1
            self.due_us = now_us + RETRY_US
            return NOTHING
        self.fault = fault
        if fault.code in ("E-EXP-004", "E-EXP-005"):
            # Every other register is right: the board is there, a part of it does not work.
            self.phase = Phase.POLL
            self.known = True
            self._good_us = now_us
        if not self.known or now_us - self._good_us >= SILENT_US:
            return self._silent(now_us)
        lost = fault.code != "E-EXP-001"
        if fault.code in ("E-EXP-002", "E-EXP-003"):
            self.phase = Phase.CONFIGURE
        self.due_us = min(now_us + FAILING_PERIOD_US, self._good_us + SILENT_US)
        return Polled(lost=lost)

    def _start_over(self, fault: Fault, now_us: int) -> Polled:
        self.phase = Phase.CONFIGURE
        self.fault = fault
        self.known = False
        self._failures = 0
        self.due_us = now_us
        return Polled(forgot=True, lost=True)

    def _silent(self, now_us: int) -> Polled:
        was_known, self.known = self.known, False
        self.phase = Phase.SEARCH
        self.due_us = now_us + SEARCH_PERIOD_US
        return Polled(forgot=was_known)

    def lose(self, why: str, now_us: int) -> Polled:
        """The bus is gone, and everything the board said with it."""
        self.counters["E-EXP-006"] += 1
        self.fault = Fault("E-EXP-006", why)
        self._verified = None
        self._failures = self._strange = 0
        self._silent(now_us)
        self.due_us = now_us
        return Polled(forgot=True)

    def health(
        self, now_us: int, trouble: Fault | None = None, *, ready: bool = True
    ) -> list[Reading]:
        """The state, if it is news. ``trouble`` of the owner degrades a board that is well."""
        if not self.known:
            if self.fault is None:
                return []
            state, reason = DeviceState.UNKNOWN, self.fault
        elif self.fault is not None:
            state, reason = DeviceState.DEGRADED, self.fault
        elif trouble is not None:
            state, reason = DeviceState.DEGRADED, trouble
        elif ready:
            return self.reporter.report(DeviceState.READY, None, now_us)
        else:
            return []
        return self.reporter.report(state, reason, now_us)


class ExpanderDriver:
    """What the drivers of this folder share: a ``BoardDriver`` that owns one expander."""

    def __init__(
        self,
        name: str,
        address: int,
        config: Config,
        period_us: int,
        counters: Counters | None = None,
    ) -> None:
        self.name = name
        self.address = address
        self.counters: Counters = Counter() if counters is None else counters
        self._board = Expander(name, address, config, period_us, self.counters)

    @property
    def wake_us(self) -> int:
        return self._board.due_us

    def plan(self, now_us: int) -> tuple[BusOp, ...]:  # noqa: ARG002 (one shape for all boards)
        return self._board.plan()

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> list[Reading]:
        return self._take(self._board.finish(outcome, now_us), now_us)

    def bus_lost(self, why: str, now_us: int) -> list[Reading]:
        return self._take(self._board.lose(why, now_us), now_us)

    def _take(self, polled: Polled, now_us: int) -> list[Reading]:
        """What a batch or the loss of the bus means to the device."""
        raise NotImplementedError


class InputsDriver(ExpanderDriver):
    """A board of inputs: its levels are debounced, and INT makes it poll sooner."""

    def __init__(self, name: str, address: int) -> None:
        super().__init__(name, address, codec.INPUTS, INPUT_PERIOD_US)
        self._levels = Debouncer(codec.INPUTS.inputs)

    def nudge(self, now_us: int) -> None:
        self._board.nudge(now_us)

    def _sample(self, block: Block, now_us: int) -> list[Level]:
        """The levels that count from now on; a level that waits for its confirmation gets one."""
        levels = self._levels.sample(block.gpio, now_us)
        if self._levels.pending:
            self._board.hurry(now_us + CONFIRM_US)
        return levels
