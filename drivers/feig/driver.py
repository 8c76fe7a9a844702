"""One FEIG reader with its multiplexers, as a machine (docs/protocols/feig.md section 5).

This file is the line: one request at a time, its answer or its fault, the silences, the states.
What is asked in which order is the conversation (``drivers.feig.conversation``). No I/O, no clock.
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Final

from drivers.base import (
    MS,
    Counters,
    DeviceState,
    Fault,
    LineSettings,
    Reopen,
    StateReported,
    Write,
)
from drivers.feig import faults
from drivers.feig.codec import SILENCE_US, Decoder, Frame
from drivers.feig.commands import Answer, answer_of, to_bytes
from drivers.feig.conversation import Ask, Conversation, Rest, Result, Talk
from drivers.feig.plan import Plan
from drivers.machines import LineAction
from drivers.orders import Kinds, Order, SweepAntennas, WatchAntennas
from drivers.readings import Antenna, AntennaFailed, AntennaRead

SILENT_US: Final = 900 * MS
ANY: Final = 0xFF
"""COM-ADR of a request that every reader answers."""
MAX_MUX: Final = 15
OUTPUTS: Final = 8
WORKING: Final = (DeviceState.READY, DeviceState.DEGRADED)


class FeigReader:
    """A ``LineDriver``."""

    settings = LineSettings(38_400, parity="E")
    takes: ClassVar[Kinds] = frozenset((WatchAntennas, SweepAntennas))

    def __init__(self, name: str, serial: str, address: int = 1) -> None:
        if not 0 <= address < 0xFF:
            raise ValueError(f"{name}: address {address}, expected 0 to 254")
        self.name = name
        self.counters: Counters = Counter()
        self.state: DeviceState | None = None
        """What was reported last; None before the first report."""
        self._failing: tuple[Antenna, str] | None = None
        """The antenna that the reported reason is about, and the reason's code."""
        self.plan = Plan()
        self.now_us = 0
        self.sent_us = 0
        """When the open request went out."""
        self.confused = False
        """Something unexpected was heard, or nothing: only a fence may be asked next."""
        self._address = address
        self._decoder = Decoder()
        self._conversation = Conversation(self, serial)
        self._talk: Talk | None = None
        self._open: Ask | None = None
        self._waiting: Ask | None = None
        self._deadline_us = 0
        """Of the open or the waiting request."""
        self._rest: Rest | None = None
        self._hush_us = 0
        self._last_answer_us = 0
        self._held: AntennaRead | None = None
        self._out: list[LineAction] = []

    # --- LineDriver ------------------------------------------------------------------------

    @property
    def wake_us(self) -> int | None:
        wake_us = quiet_at_us = self._decoder.quiet_at_us
        waits = self._waiting is not None
        if (waits or self._open is not None) and (wake_us is None or self._deadline_us < wake_us):
            wake_us = self._deadline_us
        if waits and quiet_at_us is None:
            wake_us = _first(wake_us, self._may_send_us())
        if self._rest is not None:
            wake_us = _first(wake_us, self._rest.until_us)
        silent_us = self._last_answer_us + SILENT_US
        if (wake_us is None or silent_us < wake_us) and self._talk and self._may_fall_silent():
            wake_us = silent_us
        return wake_us

    def opened(self, now_us: int) -> list[LineAction]:
        self.now_us = now_us
        self._decoder.reset()
        self._hush_us = now_us + SILENCE_US
        self._last_answer_us = now_us
        self.counters["openings"] += 1
        self._begin(self._conversation.opened())
        return self._flush()

    def closed(self, why: str, now_us: int) -> list[LineAction]:
        self.now_us = now_us
        self._decoder.reset()
        self._talk = self._open = self._waiting = self._rest = None
        self.counters[faults.LINE_CLOSED] += 1
        self.lose(Fault(faults.LINE_CLOSED, why))
        return self._flush()

    def received(self, data: bytes, now_us: int) -> list[LineAction]:
        self.now_us = now_us
        self.counters["bytes received"] += len(data)
        if items := self._decoder.feed(data, now_us):
            self._hear(items)
        return self._flush()

    def order(self, order: Order, now_us: int) -> list[LineAction]:
        self.now_us = now_us
        if isinstance(order, WatchAntennas):
            self.plan.watch(self._own(order.antennas))
        elif isinstance(order, SweepAntennas):
            self.plan.sweep(order.number, self._own(order.antennas))
        else:
            return []
        if self.state in WORKING:
            self.report_working()
        if self._rest is not None and self._rest.idle:
            self._resume(None)
        return self._flush()

    def advance(self, now_us: int) -> list[LineAction]:
        self.now_us = now_us
        if items := self._decoder.quiet(now_us):
            self._hear(items)
        if self._waiting is not None:
            self._send()
        if (self._open or self._waiting) and now_us >= self._deadline_us:
            self._time_out()
        if self._rest is not None and now_us >= self._rest.until_us:
            self._resume(None)
        if self._may_fall_silent() and now_us >= self._last_answer_us + SILENT_US:
            self._fall_silent()
        return self._flush()

    # --- for the conversation --------------------------------------------------------------

    def emit(self, action: LineAction) -> None:
        self._out.append(action)

    def hold(self, reading: AntennaRead) -> None:
        """Keep a reading until the next clean answer proves that nothing was left on the line."""
        self._held = reading
        self.plan.read(reading.antenna, reading.tags)
        self.counters["inventories"] += 1

    @property
    def holds(self) -> bool:
        return self._held is not None

    def report(self, state: DeviceState, reason: Fault | None) -> None:
        if state is self.state:
            return
        self._failing = None
        self._tell(state, reason)

    def _tell(self, state: DeviceState, reason: Fault | None) -> None:
        self.state = state
        self.emit(StateReported(self.name, state, reason, self.now_us))

    def antenna_failed(self, antenna: Antenna, fault: Fault) -> None:
        """The reader's reason is that of an antenna that fails now, and what is wrong with it now.

        It stays with one antenna while that one fails: two of them do not take turns in the log.
        """
        self.plan.fail(antenna, self.now_us)
        self.emit(AntennaFailed(self.name, antenna, fault.code, self.now_us))
        told = self._failing
        if self.state is DeviceState.DEGRADED and told is not None:
            if told == (antenna, fault.code):
                return
            if told[0] != antenna and told[0] in self.plan.failed:
                return
        self._failing = antenna, fault.code
        self._tell(DeviceState.DEGRADED, Fault(fault.code, f"antenna {antenna}: {fault.detail}"))

    def report_working(self) -> None:
        if not self.plan.failed:
            self.report(DeviceState.READY, None)

    def lose(self, reason: Fault) -> None:
        """What the reader said counts no more. One that is not ours stays locked all the same."""
        self._withdraw()
        self.plan.lost()
        if self.state is not DeviceState.LOCKED:
            self.report(DeviceState.UNKNOWN, reason)

    def lock(self, reason: Fault) -> None:
        self._withdraw()
        self.plan.lost()
        self.report(DeviceState.LOCKED, reason)

    def reopen(self, reason: Fault) -> None:
        self.counters["reopenings"] += 1
        self.emit(Reopen(reason))

    # --- the line --------------------------------------------------------------------------

    def _own(self, antennas: frozenset[Antenna]) -> frozenset[Antenna]:
        """The antennas of this reader; one that no multiplexer can have is not there at all."""
        return frozenset(
            a
            for a in antennas
            if a.reader == self.name and 0 <= a.mux <= MAX_MUX and 1 <= a.channel <= OUTPUTS
        )

    def _flush(self) -> list[LineAction]:
        out, self._out = self._out, []
        return out

    def _begin(self, talk: Talk) -> None:
        self._talk = talk
        self.confused = False
        self._resume(None)

    def _resume(self, result: Result) -> None:
        """Run the conversation until it asks or rests."""
        self._open = self._waiting = self._rest = None
        talk = self._talk
        while talk is not None:
            try:
                step = talk.send(result)
            except StopIteration:
                self._talk = None
                return
            if isinstance(step, Ask):
                self._waiting = step
                self._deadline_us = self.now_us + step.timeout_us
                self._send()
                return
            if step.until_us > self.now_us:
                self._rest = step
                return
            result = None

    def _may_send_us(self) -> int:
        return max(self._hush_us, self._decoder.last_byte_us + SILENCE_US)

    def _send(self) -> None:
        """Put the waiting request on the line as soon as the line has been silent."""
        ask = self._waiting
        if ask is None or self._decoder.quiet_at_us is not None:
            return
        if self.now_us < self._may_send_us():
            return
        self._waiting, self._open = None, ask
        self.sent_us = self.now_us
        self._deadline_us = self.now_us + ask.timeout_us
        self.counters["frames sent"] += 1
        self.emit(Write(to_bytes(ask.request, ANY if ask.anyone else self._address)))

    def _hear(self, items: list[Frame | Fault]) -> None:
        for item in items:
            if isinstance(item, Fault):
                self._stray(item)
                continue
            self.counters["frames received"] += 1
            answer = self._answer(item)
            if isinstance(answer, Fault):
                self._stray(answer)
            else:
                self._clean(answer)

    def _answer(self, frame: Frame) -> Answer | Fault:
        """The answer to the open request, if this frame is one."""
        ask = self._open
        if ask is None:
            return Fault(faults.UNASKED, f"answer to {frame.command:02X} while none is open")
        if not frame.isolated:
            return Fault(faults.SEVERAL_FRAMES, f"answer to {frame.command:02X} among others")
        ours = frame.address == self._address
        if ask.anyone and not ours:
            self.counters[faults.OTHER_ANSWER] += 1
        if frame.command != ask.request.command or not (ours or ask.anyone):
            return Fault(
                faults.OTHER_ANSWER,
                f"{frame.command:02X} from {frame.address:02X},"
                f" expected {ask.request.command:02X} from {self._address:02X}",
            )
        if not frame.advanced:
            return Fault(faults.OTHER_ANSWER, "standard answer to an advanced request")
        return answer_of(frame)

    def _clean(self, answer: Answer) -> None:
        self._last_answer_us = self.now_us
        if self._open is not None and self._open.fence:
            # The reader answers in order: nothing that was asked before can still come.
            self.confused = False
        if self._held is not None:
            self.emit(self._held)
            self._held = None
            if self.state in WORKING:
                self.report_working()
        self._resume(answer)

    def _stray(self, fault: Fault) -> None:
        """A frame that is no answer, or no frame: never data, and doubt on what came before it."""
        self.counters[fault.code] += 1
        self.confused = True
        self._withdraw()
        ask = self._open or self._waiting
        if ask is not None:
            if not ask.fence:
                self._resume(fault)
        elif self._rest is not None and self._rest.idle:
            self._resume(None)

    def _withdraw(self) -> None:
        if self._held is not None:
            self.counters[faults.WITHDRAWN] += 1
            self.plan.withdraw(self._held.antenna)
            self._held = None

    def _time_out(self) -> None:
        self.counters[faults.NO_ANSWER] += 1
        self.confused = True
        ask = self._open or self._waiting
        what = f"{ask.request.command:02X}" if ask is not None else "nothing"
        self._resume(Fault(faults.NO_ANSWER, f"no answer to {what} in time"))

    def _may_fall_silent(self) -> bool:
        return self.state in WORKING or (self.state is None and self._talk is not None)

    def _fall_silent(self) -> None:
        first = self.state is None
        self.counters[faults.SILENT] += 1
        self.lose(Fault(faults.SILENT, f"no clean answer for {SILENT_US // MS} ms"))
        if not first:
            self._begin(self._conversation.lost())


def _first(one_us: int | None, other_us: int) -> int:
    return other_us if one_us is None or other_us < one_us else one_us
