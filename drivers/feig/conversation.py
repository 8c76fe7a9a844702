"""What is asked of a FEIG reader, in which order (docs/protocols/feig.md section 5).

Written as generators: each yields a request or a rest and is sent the answer, so that start-up,
guard and visit read as the page tells them. They hold no timer and send no byte;
``drivers.feig.driver`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple, Protocol, TypeVar

from drivers.base import (
    MS,
    SECOND,
    Counters,
    DeviceIdentified,
    Fault,
    Identity,
)
from drivers.feig import commands, faults
from drivers.feig.commands import HOPELESS, Answer, Request
from drivers.feig.plan import Plan
from drivers.machines import LineAction
from drivers.readings import Antenna, AntennaRead, Uid

QUICK_US: Final = 120 * MS
WRITE_CONFIG_US: Final = 250 * MS
INVENTORY_US: Final = 450 * MS
GUARD_US: Final = 400 * MS
PROBE_US: Final = 250 * MS
SLOW_PROBE_US: Final = 1 * SECOND
REOPEN_AFTER: Final = 8
MAX_CHAIN: Final = 32


class Ask(NamedTuple):
    request: Request
    timeout_us: int
    fence: bool = False
    """Every other frame is thrown away until this one's answer comes."""
    anyone: bool = False
    """Whatever COM-ADR the reader has: only to find out that it is not ours."""


class Rest(NamedTuple):
    until_us: int
    idle: bool
    """An order or a stray frame ends it at once."""


Result = Answer | Fault | None
INTERRUPTED: Final = Fault(faults.NO_ANSWER, "interrupted")
NEW: Final = Ask(commands.inventory(), INVENTORY_US)
MORE: Final = Ask(commands.inventory(more=True), INVENTORY_US)
T = TypeVar("T")
Talk = Generator[Ask | Rest, Result, None]
Asking = Generator[Ask | Rest, Result, T]


class Line(Protocol):
    """What the conversation may see and do of the machine that runs it."""

    name: str
    counters: Counters
    plan: Plan
    now_us: int
    sent_us: int
    confused: bool

    @property
    def holds(self) -> bool: ...

    def emit(self, action: LineAction) -> None: ...

    def hold(self, reading: AntennaRead) -> None: ...

    def antenna_failed(self, antenna: Antenna, fault: Fault) -> None: ...

    def report_working(self) -> None: ...

    def lose(self, reason: Fault) -> None: ...

    def lock(self, reason: Fault) -> None: ...

    def reopen(self, reason: Fault) -> None: ...


class Next(Enum):
    WORK = "work"
    SOON = "start up again soon"
    LATER = "start up again later"
    LOCKED = "locked"
    REOPEN = "reopen the line"


@dataclass(frozen=True, slots=True)
class _Failure:
    fault: Fault
    hopeless: bool = False


@lru_cache(maxsize=256)
def _select(antenna: Antenna) -> Ask:
    return Ask(commands.mux_select(antenna.mux, antenna.channel), QUICK_US)


class Conversation:
    def __init__(self, reader: Line, serial: str) -> None:
        self._reader = reader
        self._serial = serial
        self._expected = serial
        self._misses = 0
        self._guard_at_us = 0
        self._guard_configuration = False

    def opened(self) -> Talk:
        # An empty serial takes whichever reader answers first, but it must stay that one.
        self._expected = self._serial
        return self._session(rest_first=False)

    def lost(self) -> Talk:
        return self._session(rest_first=True)

    def _session(self, *, rest_first: bool) -> Talk:
        step = Next.SOON
        if not rest_first:
            step = yield from self._start_up()
        while True:
            if step is Next.WORK:
                step = yield from self._serve()
            elif step is Next.LOCKED:
                step = yield from self._stay_locked()
            elif step is Next.REOPEN:
                return
            else:
                pause_us = PROBE_US if step is Next.SOON else SLOW_PROBE_US
                yield Rest(self._reader.now_us + pause_us, idle=False)
                step = yield from self._start_up()

    # --- asking ----------------------------------------------------------------------------

    def _ask(
        self,
        request: Request,
        timeout_us: int = QUICK_US,
        *,
        fence: bool = False,
        anyone: bool = False,
    ) -> Asking[Answer | Fault]:
        return (yield Ask(request, timeout_us, fence, anyone)) or INTERRUPTED

    def _get(
        self,
        request: Request,
        parse: Callable[[Answer], T | Fault],
        *,
        fence: bool = False,
        anyone: bool = False,
    ) -> Asking[T | Fault]:
        answer = yield from self._ask(request, fence=fence, anyone=anyone)
        if isinstance(answer, Fault):
            return answer
        parsed = parse(answer)
        if isinstance(parsed, Fault):
            self._reader.counters[parsed.code] += 1
        return parsed

    # --- start-up --------------------------------------------------------------------------

    def _start_up(self) -> Asking[Next]:
        reader = self._reader
        step = yield from self._identity(fence=True)
        if step is not Next.WORK:
            return step
        told = yield from self._get(commands.software_version(), commands.version)
        if isinstance(told, Fault):
            return Next.SOON
        for eeprom in (True, False):
            step = yield from self._configure(eeprom=eeprom)
            if step is not Next.WORK:
                return step
        answer = yield from self._ask(commands.rf_reset())
        if isinstance(answer, Fault) or commands.done(answer) is not None:
            return Next.SOON
        identity = Identity("FEIG", told.model, self._expected, told.firmware)
        reader.emit(DeviceIdentified(reader.name, identity, reader.now_us))
        return Next.WORK

    def _identity(self, *, fence: bool) -> Asking[Next]:
        """Ask who is there. As a fence it is asked until the silence of the line ends it."""
        reader = self._reader
        # A reader of another port may have another address: every second probe is for anyone.
        anyone = bool(self._misses % 2 and self._expected)
        found = yield from self._get(
            commands.reader_info(), commands.device_id, fence=fence, anyone=anyone
        )
        if isinstance(found, Fault):
            if not reader.confused:
                reader.lose(found)
                return Next.LATER
            self._misses += 1
            if self._misses % REOPEN_AFTER:
                return Next.SOON
            reader.reopen(Fault(faults.SILENT, f"{REOPEN_AFTER} probes without an answer"))
            return Next.REOPEN
        self._misses = 0
        if not self._expected:
            self._expected = found
        if found == self._expected:
            return Next.WORK
        reason = f"reader {found} answered, expected {self._expected}"
        reader.counters[faults.WRONG_READER] += 1
        reader.lock(Fault(faults.WRONG_READER, reason))
        return Next.LOCKED

    def _stay_locked(self) -> Asking[Next]:
        """Until a person has put the right reader there; only a reopened line is believed."""
        reader = self._reader
        misses = 0
        while True:
            yield Rest(reader.now_us + SLOW_PROBE_US, idle=False)
            found = yield from self._get(
                commands.reader_info(), commands.device_id, fence=True, anyone=True
            )
            misses = misses + 1 if isinstance(found, Fault) else 0
            if found == self._expected or misses >= REOPEN_AFTER:
                reader.reopen(Fault(faults.WRONG_READER, "the reader that was wrong has gone"))
                return Next.REOPEN

    def _configure(self, *, eeprom: bool) -> Asking[Next]:
        """ONT off and anticollision on: read, write if wrong, read again."""
        read = commands.read_config(commands.CFG_ANTICOLLISION, eeprom=eeprom)
        block = yield from self._get(read, commands.config_block)
        if isinstance(block, Fault):
            return Next.SOON
        right = commands.sensing_config(block)
        if block == right:
            return Next.WORK
        write = commands.write_config(commands.CFG_ANTICOLLISION, right, eeprom=eeprom)
        self._reader.counters["configurations written"] += 1
        answer = yield from self._ask(write, WRITE_CONFIG_US)
        if isinstance(answer, Fault):
            return Next.SOON
        block = yield from self._get(read, commands.config_block)
        if isinstance(block, Fault):
            return Next.SOON
        if block == right:
            return Next.WORK
        self._configuration_lost("was written and is not kept")
        return Next.LATER

    def _configuration_lost(self, how: str) -> None:
        self._reader.counters[faults.CONFIGURATION] += 1
        self._reader.lose(Fault(faults.CONFIGURATION, f"CFG5 {how}"))

    # --- at work ---------------------------------------------------------------------------

    def _serve(self) -> Asking[Next]:
        reader = self._reader
        reader.report_working()
        self._guard_at_us = reader.now_us + GUARD_US
        while True:
            step = Next.WORK
            antenna: Antenna | None = None
            if reader.confused:
                step = yield from self._fence()
            elif reader.now_us >= self._guard_at_us:
                step = yield from self._guard()
            elif (antenna := reader.plan.next(reader.now_us)) is not None:
                step = yield from self._visit(antenna)
            elif reader.holds:
                step = yield from self._guard()
            else:
                wake_us = reader.plan.wake_us or self._guard_at_us
                yield Rest(min(wake_us, self._guard_at_us), idle=True)
            if step is not Next.WORK:
                return step

    def _fence(self) -> Asking[Next]:
        """Ask 66 until it is answered; the driver ends this when the reader is silent."""
        self._reader.counters["fences"] += 1
        while True:
            step = yield from self._identity(fence=True)
            if step is not Next.SOON:
                return step

    def _guard(self) -> Asking[Next]:
        """In turn: is it still the same reader, is ONT still off?"""
        self._guard_at_us = self._reader.now_us + GUARD_US
        self._guard_configuration = not self._guard_configuration
        if not self._guard_configuration:
            step = yield from self._identity(fence=False)
            # What could not be heard is asked again behind the fence.
            return Next.WORK if step is Next.SOON else step
        read = commands.read_config(commands.CFG_ANTICOLLISION, eeprom=False)
        block = yield from self._get(read, commands.config_block)
        if isinstance(block, bytes) and block == commands.sensing_config(block):
            return Next.WORK
        if self._reader.confused:
            return Next.WORK
        self._configuration_lost("was lost")
        return Next.SOON

    def _visit(self, antenna: Antenna) -> Asking[Next]:
        reader = self._reader
        failure = _Failure(Fault(faults.NO_ANSWER, "not tried"))
        for attempt in range(reader.plan.tries(antenna)):
            if attempt:
                reader.counters["retries"] += 1
            result = yield from self._read(antenna)
            if isinstance(result, AntennaRead):
                reader.hold(result)
                return Next.WORK
            if result is None:
                return Next.WORK
            failure = result
            if reader.confused:
                step = yield from self._fence()
                if step is not Next.WORK:
                    return step
            if failure.hopeless or reader.plan.fresh_sweep:
                break
        if reader.plan.fresh_sweep:
            return Next.WORK
        reader.antenna_failed(antenna, failure.fault)
        return Next.WORK

    def _read(self, antenna: Antenna) -> Asking[AntennaRead | _Failure | None]:
        """Select and take one whole inventory; None if a sweep wants the reader first."""
        reader = self._reader
        answer = (yield _select(antenna)) or INTERRUPTED
        if isinstance(answer, Fault):
            return _Failure(answer)
        wrong = commands.done(answer)
        if wrong is not None:
            return self._refused(answer, wrong)
        uids: set[Uid] = set()
        started_us = 0
        for part in range(MAX_CHAIN):
            if reader.plan.fresh_sweep:
                return None
            answer = (yield MORE if part else NEW) or INTERRUPTED
            if isinstance(answer, Fault):
                return _Failure(answer)
            if part == 0:
                started_us = reader.sent_us
            found = commands.tags(answer)
            if isinstance(found, Fault):
                return self._refused(answer, found)
            uids.update(found.uids)
            if found.complete:
                return AntennaRead(reader.name, antenna, frozenset(uids), started_us)
        reader.counters[faults.CHAIN_TOO_LONG] += 1
        return _Failure(Fault(faults.CHAIN_TOO_LONG, f"more than {MAX_CHAIN} answers"))

    def _refused(self, answer: Answer, fault: Fault) -> _Failure:
        self._reader.counters[fault.code] += 1
        return _Failure(fault, answer.status in HOPELESS)
