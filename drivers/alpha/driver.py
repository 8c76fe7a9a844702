"""The overhead sign: set up once, rewrite only its STRING, read it back, say what is known.

A pure machine. A sign acknowledges no write, so what it shows is known only from reading; a sign
that never answers is still written to. It never blanks the sign without need: allocating wipes it.
Source: docs/protocols/alpha.md, section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import ClassVar, Final

from drivers.alpha import codec
from drivers.alpha.codec import Answer, AnswerDecoder
from drivers.base import (
    MS,
    SECOND,
    DeviceState,
    Fault,
    LineSettings,
    Write,
)
from drivers.display import Display
from drivers.machines import LineAction
from drivers.orders import Kinds, Order, ShowSign
from drivers.readings import Reading

STX_PAUSE_US: Final = 100 * MS
ANSWER_US: Final = 700 * MS
STRING_SPACING_US: Final = 500 * MS
REWRITE_US: Final = 30 * SECOND
READ_US: Final = 10 * SECOND
BLIND_SET_UP_US: Final = 600 * SECOND
WRONG_SET_UP_US: Final = 30 * SECOND
READ_TRIES: Final = 2
MISMATCHES: Final = 3

TEXT_SIZE: Final = 64
STRING_SIZE: Final = 32
TOO_LONG_TEXT: Final = "-" * 8

SILENT: Final = "E-DSP-021"
WRONG: Final = "E-DSP-022"
TEXT_TOO_LONG: Final = "E-DSP-023"
NOT_READ_BACK: Final = "E-DSP-024"
LINE_CLOSED: Final = "E-DSP-025"


class _Step(Enum):
    ALLOCATE = "allocate"
    TEXT = "text"
    STRING = "string"
    READ = "read"


_WAIT_AFTER_US: Final = {
    _Step.ALLOCATE: SECOND,  # the sign sorts its memory
    _Step.TEXT: 200 * MS,
    _Step.STRING: 300 * MS,
    _Step.READ: 0,  # its answer is waited for
}


class AlphaDriver(Display):
    takes: ClassVar[Kinds] = frozenset((ShowSign,))

    def __init__(
        self,
        name: str,
        *,
        caption: str = "JACKPOT ",
        string_size: int = STRING_SIZE,
        readback: bool = True,
    ) -> None:
        if not len(TOO_LONG_TEXT) <= string_size <= codec.STRING_LIMIT:
            raise ValueError(f"{name}: STRING size {string_size}, expected 8 to 125")
        if len(codec.write_text(caption)) > TEXT_SIZE:
            raise ValueError(f"{name}: caption too long for TEXT A")
        super().__init__(name)
        self.settings = LineSettings(9600, bytesize=7, parity="E", stopbits=2)
        self._caption = caption
        self._string_size = string_size
        self._readback = readback
        self._wanted: str | None = None
        self._wanted_fault: Fault | None = None
        self._decoder = AnswerDecoder()
        self._forget()

    def _forget(self) -> None:
        """As before opening: nothing is known of the sign and nothing is under way."""
        self._open = False
        self._steps: list[_Step] = []
        self._step = _Step.READ
        self._pieces: list[bytes] = []
        self._clear_us = 0
        """When the line may carry the next piece."""
        self._answer_due_us: int | None = None
        self._read_tries = 0
        self._silent = False
        self._is_set_up = False
        """Set up since the line opened, or found to hold the right text."""
        self._set_up_us = 0
        self._wrong_until_us: int | None = None
        self._string_us = 0
        self._read_us = 0
        self._held: str | None = None
        """What the sign said it holds, before anything was ordered."""
        self._written: str | None = None
        self._confirmed = None
        self._mismatches = 0
        self._decoder.reset()

    # --- the machine ---------------------------------------------------------------------------

    @property
    def wake_us(self) -> int | None:
        if not self._open:
            return None
        if self._answer_due_us is not None:
            return self._answer_due_us
        if self._pieces or self._steps:
            return self._clear_us
        return min((due_us for due_us, _ in self._timers()), default=None)

    def opened(self, now_us: int) -> list[LineAction]:
        self._forget()
        self._open = True
        self._clear_us = now_us
        if self._readback:
            self._steps.append(_Step.READ)
        elif self._wanted is not None:
            self._set_up(now_us)
        return self.advance(now_us)

    def closed(self, why: str, now_us: int) -> list[LineAction]:
        self._forget()
        return [*self._reporter.report(DeviceState.UNKNOWN, Fault(LINE_CLOSED, why), now_us)]

    def received(self, data: bytes, now_us: int) -> list[LineAction]:
        if not self._open:
            return []
        self.counters["bytes_in"] += len(data)
        out: list[LineAction] = []
        for fact in self._decoder.feed(data, now_us):
            if isinstance(fact, Fault):
                self.counters[fact.code] += 1
            elif fact.label != codec.STRING_LABEL or self._answer_due_us is None:
                self.counters["unexpected_answers"] += 1
            else:
                out += self._answered(fact, now_us)
        return out + self.advance(now_us)

    def order(self, order: Order, now_us: int) -> list[LineAction]:
        if not isinstance(order, ShowSign):
            return []
        self.counters["orders"] += 1
        text, fault = codec.printable(order.text), None
        if len(text) > self._string_size:
            fault = Fault(TEXT_TOO_LONG, f"{len(text)} characters, {self._string_size} allocated")
            text = TOO_LONG_TEXT
        if text == self._wanted and fault == self._wanted_fault:
            return []
        self._wanted, self._wanted_fault = text, fault
        if self._confirmed == text:
            self._confirmed = None  # ordered again after another: to be confirmed again
        if not self._open:
            return []
        out: list[LineAction] = []
        if self._is_set_up:
            if _Step.STRING not in self._steps:
                self._steps += self._with_read(_Step.STRING)
        elif self._silent or not self._readback:
            self._set_up(now_us)
        elif self._held is not None:
            out += self._compare_first(self._held, text, now_us)
        return out + self.advance(now_us)

    def advance(self, now_us: int) -> list[LineAction]:
        if not self._open:
            return []
        out: list[LineAction] = []
        if self._answer_due_us is not None:
            if now_us < self._answer_due_us:
                return out
            out += self._missed(now_us)
        if not self._pieces and not self._steps:
            for due_us, act in self._timers():
                if now_us >= due_us:
                    act(now_us)
                    break
        while self._answer_due_us is None and now_us >= self._clear_us:
            if not self._pieces and not self._begin(now_us):
                break
            out += self._send_piece(now_us)
        return out

    # --- sending -------------------------------------------------------------------------------

    def _with_read(self, *steps: _Step) -> list[_Step]:
        return [*steps, _Step.READ] if self._readback and not self._silent else [*steps]

    def _set_up(self, now_us: int) -> None:
        self.counters["set_ups"] += 1
        self._is_set_up = True
        self._set_up_us = now_us
        self._wrong_until_us = None
        self._steps = self._with_read(_Step.ALLOCATE, _Step.TEXT, _Step.STRING)

    def _timers(self) -> list[tuple[int, Callable[[int], None]]]:
        """What falls due while the line is idle, and what to do then."""
        timers: list[tuple[int, Callable[[int], None]]] = []
        if self._readback:
            timers.append((self._read_us + READ_US, self._read_again))
        if self._is_set_up:
            if self._wrong_until_us is not None:
                timers.append((self._wrong_until_us, self._set_up))
            if self._silent or not self._readback:
                timers.append((self._set_up_us + BLIND_SET_UP_US, self._set_up))
            timers.append((self._string_us + REWRITE_US, self._string_again))
        return timers

    def _read_again(self, now_us: int) -> None:
        self._read_us = now_us
        self._steps.append(_Step.READ)

    def _string_again(self, now_us: int) -> None:
        self._string_us = now_us - STRING_SPACING_US
        self._steps.append(_Step.STRING)

    def _begin(self, now_us: int) -> bool:
        """Prepare the next step's frame; False if there is none or it must wait."""
        if not self._steps:
            return False
        step = self._steps[0]
        if step is _Step.STRING and self._written is not None:
            free_us = self._string_us + STRING_SPACING_US
            if now_us < free_us:
                self._clear_us = free_us
                return False
        self._step = self._steps.pop(0)
        self._pieces = codec.writes_of(codec.frame(self._command(step)))
        self.counters["frames_out"] += 1
        return True

    def _command(self, step: _Step) -> bytes:
        match step:
            case _Step.ALLOCATE:
                return codec.allocate(TEXT_SIZE, self._string_size)
            case _Step.TEXT:
                return codec.write_text(self._caption)
            case _Step.STRING:
                self.counters["strings"] += 1
                self._written = self._wanted or ""
                return codec.write_string(self._written)
            case _Step.READ:
                return codec.read_string()

    def _send_piece(self, now_us: int) -> list[LineAction]:
        piece = self._pieces.pop(0)
        self.counters["bytes_out"] += len(piece)
        out: list[LineAction] = [Write(piece)]
        pause_us = STX_PAUSE_US if self._pieces else _WAIT_AFTER_US[self._step]
        self._clear_us = now_us + len(piece) * self.settings.char_us + pause_us
        if self._pieces:
            return out
        if self._step is _Step.READ:
            self._answer_due_us = now_us + ANSWER_US
        elif self._step is _Step.STRING:
            self._string_us = now_us
            if not self._readback:
                fault = self._wanted_fault or Fault(NOT_READ_BACK, "by its setting")
                out += self._reporter.report(DeviceState.DEGRADED, fault, now_us)
        return out

    # --- what the sign says --------------------------------------------------------------------

    def _answered(self, answer: Answer, now_us: int) -> list[Reading]:
        self.counters["answers"] += 1
        self._answer_due_us = None
        self._read_tries = 0
        self._silent = False
        self._read_us = now_us
        if self._wanted is None:
            self._held = answer.text
            return self._reporter.report(DeviceState.READY, None, now_us)
        if not self._is_set_up:
            return self._compare_first(answer.text, self._wanted, now_us)
        if answer.text == self._written:
            return self._right(answer.text, now_us)
        return self._wrong(now_us)

    def _compare_first(self, held: str, wanted: str, now_us: int) -> list[Reading]:
        """The first comparison after opening: a sign that already shows it is left alone."""
        if held != wanted:
            self._set_up(now_us)
            return []
        self._is_set_up = True
        self._written = held
        self._set_up_us = self._string_us = now_us
        return self._right(held, now_us)

    def _right(self, text: str, now_us: int) -> list[Reading]:
        self._wrong_until_us = None
        return self._confirm(text, self._wanted_fault, now_us)

    def _wrong(self, now_us: int) -> list[Reading]:
        self._mismatch()
        if self._mismatches < MISMATCHES:
            self._set_up(now_us)
            return []
        if self._wrong_until_us is None:
            self._wrong_until_us = now_us + WRONG_SET_UP_US
        fault = Fault(WRONG, "it answers with another text than was written")
        return self._reporter.report(DeviceState.DEGRADED, fault, now_us)

    def _missed(self, now_us: int) -> list[Reading]:
        self.counters["missed_answers"] += 1
        self._answer_due_us = None
        self._read_us = now_us
        self._read_tries += 1
        if self._read_tries < READ_TRIES and not self._silent:
            self._steps.insert(0, _Step.READ)
            return []
        self._read_tries = 0
        was_silent, self._silent = self._silent, True
        self._doubt()
        if not was_silent and self._wanted is not None:
            self._set_up(now_us)
        fault = Fault(SILENT, f"no answer within {ANSWER_US // MS} ms")
        return self._reporter.report(DeviceState.UNKNOWN, fault, now_us)
