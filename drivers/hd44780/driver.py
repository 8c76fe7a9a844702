"""The dealer prompt: initialise, write what changed, read it back, patrol, repair.

A pure machine; one job per batch. The display refuses nothing and acknowledges nothing (the port
expander does), so the only proof that a line is shown is reading it back, and after any doubt the
whole initialisation runs. Source: docs/protocols/hd44780.md, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

from drivers.base import (
    MS,
    SECOND,
    BusDone,
    BusFailed,
    BusOp,
    DeviceState,
    Fault,
)
from drivers.display import BoardDisplay
from drivers.hd44780 import codec
from drivers.hd44780.codec import COLUMNS, INIT_STEPS, INIT_WAIT_US, LINES, PIECE, PIECES
from drivers.orders import Kinds, Order, ShowPrompt
from drivers.readings import Reading

PATROL_EVERY_US: Final = 750 * MS
"""Below a second by what three tries take, so that a lost prompt is UNKNOWN within one."""
WRONG_RETRY_US: Final = 5 * SECOND
MISMATCHES: Final = 3

NO_ANSWER: Final = "E-DSP-011"
MEMORY_WRONG: Final = "E-DSP-012"
BUS_LOST: Final = "E-DSP-013"

_BLANK: Final = b" " * COLUMNS
ON_OPS: Final = codec.port_ops(codec.byte_out(codec.DISPLAY_ON))


@dataclass(frozen=True, slots=True)
class _Init:
    step: int


@dataclass(frozen=True, slots=True)
class _WriteCells:
    line: int
    column: int
    codes: bytes


@dataclass(frozen=True, slots=True, order=True)
class _ReadPiece:
    line: int
    piece: int


@dataclass(frozen=True, slots=True)
class _ReadGlyph:
    code: int


_Job = _Init | _WriteCells | _ReadPiece | _ReadGlyph


@lru_cache(maxsize=64)
def _read_lit(address: int) -> tuple[BusOp, ...]:
    """Whether the display is lit cannot be read, so it is switched on before every read-back."""
    return ON_OPS + codec.read_text_ops(address, PIECE)


def _pieces_of(line: int) -> list[_ReadPiece]:
    return [_ReadPiece(line, piece) for piece in range(PIECES)]


class PromptDriver(BoardDisplay):
    no_answer = NO_ANSWER
    lost_with_bus = BUS_LOST
    retry_us = INIT_WAIT_US
    takes: ClassVar[Kinds] = frozenset((ShowPrompt,))

    def __init__(self, name: str, address: int) -> None:
        super().__init__(name, address)
        self._target = [_BLANK] * LINES
        self._target_fault: Fault | None = None
        self._screen = [_BLANK] * LINES
        """What was last written to each line, whether or not it was read back."""
        self._init_step: int | None = 0
        self._unread: set[_ReadPiece] = set()
        self._patrol: list[_ReadPiece | _ReadGlyph] = []
        self._patrols = 0
        self._patrol_due_us = 0
        self._running: _Job | None = None

    def order(self, order: Order, now_us: int) -> list[Reading]:
        if not isinstance(order, ShowPrompt):
            return []
        self.counters["orders"] += 1
        lines, fault = self._encode(order)
        if self._ordered and lines == self._target and fault == self._target_fault:
            return []
        changed = [n for n in range(LINES) if lines[n] != self._target[n]]
        # Read the changed lines in any case: an order taken back at once writes nothing. With no
        # line changed (only a fault, or the first order is blank), one line confirms it.
        for line in changed or [0]:
            self._unread.update(_pieces_of(line))
        self._target, self._target_fault = lines, fault
        self._ordered = True
        self._confirmed = None
        if self._init_step is None:
            self._due_us = now_us
        elif self.state is DeviceState.DEGRADED and self._init_step == 0:
            self._due_us = min(self._due_us, now_us + INIT_WAIT_US)
        return []

    def plan(self, now_us: int) -> tuple[BusOp, ...]:
        job = self._running = self._pick(now_us)
        match job:
            case _Init(step):
                self.counters["inits"] += step == 0
                return INIT_STEPS[step].ops
            case _WriteCells(line, column, codes):
                self.counters["writes"] += 1
                return codec.write_ops(codec.cell_address(line, column), codes)
            case _ReadPiece(line, piece):
                self.counters["reads"] += 1
                address = codec.cell_address(line, piece * PIECE)
                return _read_lit(address)
            case _ReadGlyph(code):
                self.counters["reads"] += 1
                return codec.read_glyph_ops(code)

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> list[Reading]:
        job, self._running = self._running, None
        if job is None:
            return []
        if isinstance(outcome, BusFailed):
            return self._bus_failed(outcome, now_us)
        out: list[Reading] = []
        match job:
            case _Init(step):
                return self._initialised(step, now_us)
            case _WriteCells(line, column, codes):
                before = self._screen[line]
                self._screen[line] = before[:column] + codes + before[column + len(codes) :]
                self._unread.update(_pieces_of(line))
            case _ReadPiece(line, piece):
                start = piece * PIECE
                expected = self._screen[line][start : start + PIECE]
                address = codec.cell_address(line, start)
                if not codec.text_matches(outcome.data[len(ON_OPS) :], address, expected):
                    return self._read_wrong(f"line {line + 1}", now_us)
                self._unread.discard(job)
                out = self._read_right(now_us)
            case _ReadGlyph(code):
                if not codec.glyph_matches(outcome.data, code):
                    return self._read_wrong(f"glyph {code}", now_us)
        self._rest(now_us)
        return out

    # --- choosing ------------------------------------------------------------------------------

    def _encode(self, order: ShowPrompt) -> tuple[list[bytes], Fault | None]:
        lines, first_fault = [_BLANK] * LINES, None
        for n, text in enumerate(order.lines[:LINES]):
            self.counters["unknown_characters"] += sum(codec.code_of(c) is None for c in text)
            lines[n], fault = codec.encode_line(text)
            first_fault = first_fault or fault
        return lines, first_fault

    def _pick(self, now_us: int) -> _Job:
        if self._init_step is not None:
            return _Init(self._init_step)
        for line in range(LINES):
            changed = [n for n in range(COLUMNS) if self._screen[line][n] != self._target[line][n]]
            if changed:
                first, last = changed[0], changed[-1]
                return _WriteCells(line, first, self._target[line][first : last + 1])
        if self._unread:
            return min(self._unread)
        if not self._patrol:
            self._patrol = [
                *_pieces_of(self._patrols % LINES),
                _ReadGlyph(self._patrols % len(codec.GLYPHS)),
            ]
            self._patrols += 1
            self._patrol_due_us = now_us + PATROL_EVERY_US
        return self._patrol.pop(0)

    def _rest(self, now_us: int) -> None:
        """More to do now, or nothing until the next patrol."""
        busy = self._unread or self._patrol or self._screen != self._target
        self._due_us = now_us if busy else max(self._patrol_due_us, now_us)

    # --- outcomes ------------------------------------------------------------------------------

    def _initialised(self, step: int, now_us: int) -> list[Reading]:
        self._due_us = now_us + INIT_STEPS[step].wait_us
        if step + 1 < len(INIT_STEPS):
            self._init_step = step + 1
            return []
        self._init_step = None
        self._screen = [_BLANK] * LINES
        self._unread = {piece for line in range(LINES) for piece in _pieces_of(line)}
        self._patrol.clear()
        self._patrol_due_us = now_us + PATROL_EVERY_US
        return []

    def _read_right(self, now_us: int) -> list[Reading]:
        if self._confirmed is not None or self._unread or self._screen != self._target:
            return []
        self._bus_failures = 0
        content = "\n".join(codec.decode_line(codes) for codes in self._target)
        memory = b"".join((*self._target, codec.GLYPH_MEMORY))
        fault = self._target_fault
        return self._confirm(content, fault, now_us, ordered=self._ordered, memory=memory)

    def _read_wrong(self, where: str, now_us: int) -> list[Reading]:
        self._mismatch()
        if self._mismatches < MISMATCHES:
            self._start_over(now_us + INIT_WAIT_US)
            return []
        self._start_over(now_us + WRONG_RETRY_US)
        fault = Fault(MEMORY_WRONG, f"{where} read back wrong")
        return self._reporter.report(DeviceState.DEGRADED, fault, now_us)

    def _start_over(self, due_us: int) -> None:
        """Whatever the display holds now, the initialisation has to run."""
        super()._start_over(due_us)
        self._running = None
        self._init_step = 0
