"""The floor as lines of text: a pure function of what is known and of the screen's size.

Plain ANSI, three colours, nothing that depends on a library. Every line fits the width; what has no
room gives way from the bottom of each part, meters and tables last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from controller.floor.state import Floor, Meter, Note, Pending, TableView, Weight
from controller.rules.money import format_cents
from record.outside import printable

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


def lines(floor: Floor, columns: int, rows: int, *, colour: bool) -> list[str]:
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


def _head(floor: Floor, paint: _Paint) -> Iterator[str]:
    minutes, seconds = divmod(floor.running_s, 60)
    right = f"{floor.server or 'link server: no answer'}  {minutes:02}:{seconds:02}"
    gap = " " * max(2, paint.columns - len(floor.title) - len(right))
    yield paint.row(f"{floor.title}{gap}{right}", f"{BOLD};7")


# --- meters ------------------------------------------------------------------------------------


def _meters(floor: Floor, paint: _Paint) -> Iterator[str]:
    yield paint.row("JACKPOTS", BOLD)
    if not floor.meters:
        yield paint.row("  no meter heard of yet", DIM)
    for meter in floor.meters:
        yield _meter(meter, floor.stale_s, paint)


def _meter(meter: Meter, stale_s: int, paint: _Paint) -> str:
    words = [f"generation {meter.generation:<3}"]
    style = ""
    if meter.pending:
        words.append("PENDING" if meter.pending == 1 else f"{meter.pending} PENDING")
        style = _BY_WEIGHT["jackpot"]
    if stale_s:
        words.append(f"STALE {stale_s} s")
        style = RED
    if meter.must_hit_cents:
        words.append(f"must hit by {format_cents(meter.must_hit_cents)}")
    amount = f"$ {format_cents(meter.cents):>12}"
    return paint.row(f"  {meter.pool:6} {meter.level:9} {amount}   {'  '.join(words)}", style)


# --- tables ------------------------------------------------------------------------------------


def _tables(floor: Floor, paint: _Paint) -> Iterator[str]:
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


def _note(note: Note, paint: _Paint) -> str:
    return paint.row(f"  {plain(note)}", _BY_WEIGHT[note.weight])


def plain(note: Note) -> str:
    """A note as a line of its own."""
    return f"{note.at}  {note.where:6} {note.text}"


def _pending(floor: Floor, paint: _Paint) -> Iterator[str]:
    for one in floor.pending[:1]:
        more = len(floor.pending) - 1
        also = f" ({more} more wait)" if more else ""
        yield paint.row(one.text + also, _BY_WEIGHT["jackpot"])
        for row in wrapped(one, paint.columns):
            yield paint.row(row)


def wrapped(one: Pending, columns: int) -> Iterator[str]:
    """A command over several lines that a shell reads as one."""
    row = " "
    for word in re.findall(r"(?:--\S+ )?\S+", one.command):  # an option stays with its value
        if len(row) + len(word) + 3 > columns:
            yield f"{row} \\"
            row = "   "
        row += f" {word}"
    yield row


def _foot(floor: Floor, paint: _Paint) -> Iterator[str]:
    if floor.ending:
        yield paint.row(floor.ending, BOLD)
        return
    for said, command in floor.further:
        yield paint.row(f"  {said:9} {command}", DIM)
    yield paint.row("Ctrl-C ends it; the next start goes on from here.", BOLD)
