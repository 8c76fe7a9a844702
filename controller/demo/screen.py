"""The floor as lines of text: a pure function of what is known and of the screen's size.

Plain ANSI, three colours, nothing that depends on a library. Every line fits the width; what has no
room gives way from the bottom of each part, meters and tables last.
"""

from __future__ import annotations

import os
import re
import sys
import termios
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self

from record.kit.money import cents_text
from record.kit.outside import printable
from record.kit.terminal import draw

Weight = Literal["plain", "hit", "jackpot", "alarm"]
OPEN_STATES: Final = ("claimed", "locked", "verified", "approved")


@dataclass(frozen=True, slots=True)
class MeterView:
    """A level of a pool as a sign hears it."""

    pool: str
    level: str
    cents: int
    generation: int
    pending: int = 0
    must_hit_cents: int = 0
    """Its hidden trigger is at most this; 0: no such level."""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as its own status tells it; ``phase`` empty: it does not answer."""

    name: str
    title: str
    phase: str = ""
    hand: int = 0
    progressive: bool = False
    link: str = ""
    """State of the link in its own words; empty: none is configured."""
    waiting: int = 0
    """Events that the server has not acknowledged."""
    ready: int = 0
    devices: int = 0
    prompt: tuple[str, ...] = ()
    trouble: str = ""
    """The first thing that is stopped or degraded."""


@dataclass(frozen=True, slots=True)
class FloorNote:
    """Something that happened, in one line."""

    at_ms: int
    at: str
    """As a clock on the wall shows it."""
    where: str
    text: str
    weight: Weight = "plain"


@dataclass(frozen=True, slots=True)
class PendingAward:
    """An award that people have to look at, and how anybody can."""

    award: str
    text: str
    command: str


@dataclass(frozen=True, slots=True)
class FloorView:
    title: str
    server: str
    """What the link server says of itself; empty: it does not answer."""
    running_s: int
    meters: tuple[MeterView, ...] = ()
    stale_s: int = 0
    """So long no meter was heard of; 0: they are live."""
    tables: tuple[TableView, ...] = ()
    last: Mapping[str, str] = field(default_factory=dict)
    """By table: how its last round ended."""
    notes: tuple[FloorNote, ...] = ()
    """The oldest first."""
    pending: tuple[PendingAward, ...] = ()
    further: tuple[tuple[str, str], ...] = ()
    """What can be looked at, and the command for it."""
    ending: str = ""


BOLD, DIM, GREEN, YELLOW, RED = "1", "2", "32", "33", "31"
_BY_WEIGHT: Final[dict[Weight, str]] = {
    "plain": "",
    "hit": GREEN,
    "jackpot": f"{BOLD};{YELLOW}",
    "alarm": RED,
}
LEAST_COLUMNS, LEAST_ROWS = 40, 10
WIDE: Final = 110
"""From here on there is room for the dealers' prompts."""
LEAST_NOTES: Final = 3
_COLUMNS: Final = "{:8}{:12}{:>5}  {:25} {:7} {:7} {}"


def lines(floor: FloorView, columns: int, rows: int, *, colour: bool) -> list[str]:
    """At most ``rows`` lines of at most ``columns`` characters each."""
    columns, rows = max(columns, LEAST_COLUMNS), max(rows, LEAST_ROWS)
    paint = _Paint(columns, colour)
    top = [*_head(floor, paint), *_meters(floor, paint), "", *_tables(floor, paint), ""]
    waiting = list(_pending(floor, paint))
    foot = list(_foot(floor, paint))
    room = rows - len(top) - 1
    if room - len(waiting) - len(foot) < LEAST_NOTES:
        foot = foot[-1:]  # how to end it stays
    if room - len(waiting) - len(foot) < LEAST_NOTES:
        waiting = waiting[:1]
    many = max(0, room - len(waiting) - len(foot))
    shown = [_note(note, paint) for note in floor.notes[-many:]] if many else []
    shown += [""] * (many - len(shown))
    return [*top, paint.row("WHAT HAPPENED", BOLD), *shown, *waiting, *foot][:rows]


class _Paint:
    def __init__(self, columns: int, colour: bool) -> None:
        self.columns, self._colour = columns, colour

    @property
    def wide(self) -> bool:
        return self.columns >= WIDE

    def row(self, text: str, style: str = "") -> str:
        cut = printable(text).rstrip()
        if len(cut) > self.columns:
            cut = cut[: self.columns - 1] + "…"
        return f"\x1b[{style}m{cut}\x1b[0m" if style and self._colour and cut else cut


def _head(floor: FloorView, paint: _Paint) -> Iterator[str]:
    minutes, seconds = divmod(floor.running_s, 60)
    right = f"{floor.server or 'link server: no answer'}  {minutes:02}:{seconds:02}"
    gap = " " * max(2, paint.columns - len(floor.title) - len(right))
    yield paint.row(f"{floor.title}{gap}{right}", f"{BOLD};7")


# --- meters ------------------------------------------------------------------------------------


def _meters(floor: FloorView, paint: _Paint) -> Iterator[str]:
    yield paint.row("JACKPOTS", BOLD)
    if not floor.meters:
        yield paint.row("  no meter heard of yet", DIM)
    for meter in floor.meters:
        yield _meter(meter, floor.stale_s, paint)


def _meter(meter: MeterView, stale_s: int, paint: _Paint) -> str:
    words = [f"generation {meter.generation:<3}"]
    style = ""
    if meter.pending:
        words.append("PENDING" if meter.pending == 1 else f"{meter.pending} PENDING")
        style = _BY_WEIGHT["jackpot"]
    if stale_s:
        words.append(f"STALE {stale_s} s")
        style = RED
    if meter.must_hit_cents:
        words.append(f"must hit by {cents_text(meter.must_hit_cents)}")
    amount = f"$ {cents_text(meter.cents):>12}"
    return paint.row(f"  {meter.pool:6} {meter.level:9} {amount}   {'  '.join(words)}", style)


# --- tables ------------------------------------------------------------------------------------


def _tables(floor: FloorView, paint: _Paint) -> Iterator[str]:
    head = _COLUMNS.format("TABLES", "", "hand", "phase", "link", "devices", "house")
    yield paint.row(f"{head:80}  dealer's prompt" if paint.wide else head, BOLD)
    for table in floor.tables:
        bad = table.trouble or not table.phase
        yield paint.row(_table(table, floor.last.get(table.name, ""), paint), RED if bad else "")


def _table(table: TableView, last: str, paint: _Paint) -> str:
    if not table.phase:
        return _COLUMNS.format(f"  {table.name}", table.title, "", "does not answer", "", "", "")
    link = f"{table.waiting} wait" if table.waiting and table.link == "open" else table.link
    devices = f"{table.ready}/{table.devices}"
    row = _COLUMNS.format(
        f"  {table.name}", table.title, table.hand, table.phase, link or "none", devices, last
    )
    if not paint.wide:
        return row
    prompt = " / ".join(part for line in table.prompt[1:] if (part := " ".join(line.split())))
    return f"{row:80}  {table.trouble or prompt}"


# --- what happened -----------------------------------------------------------------------------


def _note(note: FloorNote, paint: _Paint) -> str:
    return paint.row(f"  {plain(note)}", _BY_WEIGHT[note.weight])


def plain(note: FloorNote) -> str:
    """A note as a line of its own."""
    return f"{note.at}  {note.where:6} {note.text}"


def _pending(floor: FloorView, paint: _Paint) -> Iterator[str]:
    for one in floor.pending[:1]:
        more = len(floor.pending) - 1
        also = f" ({more} more wait)" if more else ""
        yield paint.row(one.text + also, _BY_WEIGHT["jackpot"])
        for row in wrapped(one, paint.columns):
            yield paint.row(row)


def wrapped(one: PendingAward, columns: int) -> Iterator[str]:
    """A command over several lines that a shell reads as one."""
    row = " "
    for word in re.findall(r"(?:--\S+ )?\S+", one.command):  # an option stays with its value
        if len(row) + len(word) + 3 > columns:
            yield f"{row} \\"
            row = "   "
        row += f" {word}"
    yield row


def _foot(floor: FloorView, paint: _Paint) -> Iterator[str]:
    if floor.ending:
        yield paint.row(floor.ending, BOLD)
        return
    for said, command in floor.further:
        yield paint.row(f"  {said:9} {command}", DIM)
    yield paint.row("Ctrl-C stops the demo; the next start resumes from here.", BOLD)


ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[2J"
LEAVE: Final = "\x1b[?25h\x1b[?1049l"
DEFAULT: Final = os.terminal_size((80, 24))
NOBODY: Final = b"\0"
"""A control character that no key makes."""


def screen_possible() -> bool:
    """Is standard output a terminal that can move its cursor?"""
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


class Terminal:
    def __init__(self) -> None:
        self.colour = "NO_COLOR" not in os.environ
        self._before: list[Any] | None = None

    def __enter__(self) -> Self:
        if sys.stdin is not None and sys.stdin.isatty():
            self._before = termios.tcgetattr(sys.stdin)
            quiet = termios.tcgetattr(sys.stdin)
            quiet[3] &= ~(termios.ECHO | termios.ICANON)
            # Stopped half-way it would leave the floor running behind a screen that is not ours.
            quiet[6][termios.VSUSP] = NOBODY
            termios.tcsetattr(sys.stdin, termios.TCSANOW, quiet)
        draw(ENTER)
        return self

    def __exit__(self, *_error: object) -> None:
        try:
            draw(LEAVE)
            if self._before is not None:
                termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, self._before)
        except (OSError, termios.error):
            pass  # the terminal itself is gone

    def size(self) -> os.terminal_size:
        try:
            found = os.get_terminal_size(sys.stdout.fileno())
        except OSError:
            return DEFAULT
        return found if found.columns and found.lines else DEFAULT

    def show(self, lines: list[str]) -> None:
        """Over what is there, so that nothing flickers; what was below is wiped out."""
        rows = "\r\n".join(f"\x1b[2K{line}" for line in lines)
        draw(f"\x1b[H{rows}\x1b[J")
