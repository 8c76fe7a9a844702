"""What an auditor asks of a register: do chips and history agree, what is there, what changed.

Pure; docs/protocols/chip-register.md, section 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from controller.registers.chips.history import ChipEntry, Imported, Marked, entries
from controller.registers.chips.layout import Kind, Series, Status, uid_text, unpack_chips
from controller.registers.chips.load import LoadedChips
from controller.registers.chips.register import Chip, ChipRegister
from controller.registers.errors import Problem

Pile = tuple[str, int, Kind, Status]
"""House, value, class, status."""


def piles(chips: Iterable[Chip]) -> dict[Pile, int]:
    """How many chips of each kind, in order of house, class, value, status."""
    counted = Counter((c.house, c.cents, c.kind, c.status) for c in chips)
    return dict(sorted(counted.items(), key=lambda p: (p[0][0], p[0][2], p[0][1], p[0][3])))


def history_problems(loaded: LoadedChips, where: str) -> list[Problem]:
    """Where history and chips differ (E-CHIP-008); raises if a line is malformed."""
    lines = list(entries(loaded.history, where))
    found = [*_line_faults(lines, loaded), *_chip_faults(lines, loaded)]
    return [Problem("E-CHIP-008", f"signed, but {text}", where) for text in found]


def _line_faults(lines: list[ChipEntry], loaded: LoadedChips) -> Iterator[str]:
    head = loaded.head
    if len(lines) != head.version:
        yield f"version {head.version} has {len(lines)} lines of history"
    if lines and lines[-1].stamp.at != head.issued_at:
        yield "the last line of history is not of the time of issue"


def _chip_faults(lines: list[ChipEntry], loaded: LoadedChips) -> Iterator[str]:
    imports = {line.version: line for line in lines if isinstance(line, Imported)}
    last_mark: dict[str, Marked] = {}
    for line in lines:
        if isinstance(line, Marked):
            last_mark |= dict.fromkeys(line.uids, line)
    added: Counter[int] = Counter()
    for record in unpack_chips(loaded.chips):
        uid = uid_text(record.uid)
        line_added = imports.get(record.added_in)
        series: Series = loaded.series[record.series]
        if line_added is None or line_added.house != series.house:
            yield f"no line of history added chip {uid}"
        added[record.added_in] += 1
        mark = last_mark.pop(uid, None)
        says = (mark.status, mark.version) if mark else ("in play", 0)
        if says != (record.status, record.marked_in):
            yield f"chip {uid} is {record.status}, by history {says[0]}"
    for line in imports.values():
        if added[line.version] != line.count:
            there = added[line.version]
            yield f"version {line.version} added {line.count} chips, {there} are there"
    for uid in last_mark:
        yield f"history marks chip {uid}, which is not there"


def story_of(chip: Chip, loaded: LoadedChips, where: str) -> list[ChipEntry]:
    """The lines of history about one chip, oldest first."""
    return [
        line
        for line in entries(loaded.history, where)
        if (chip.uid in line.uids if isinstance(line, Marked) else line.version == chip.added_in)
    ]


@dataclass(frozen=True, slots=True)
class Difference:
    """From one version to another; ``gone``, ``altered`` and ``rewritten`` never happen rightly."""

    added: tuple[Chip, ...]
    marked: tuple[tuple[Chip, Chip], ...]
    gone: tuple[Chip, ...]
    altered: tuple[tuple[Chip, Chip], ...]
    lines: tuple[ChipEntry, ...]
    rewritten: bool

    @property
    def sound(self) -> bool:
        return not (self.gone or self.altered or self.rewritten)


def difference(old: LoadedChips, new: LoadedChips, where: str) -> Difference:
    before = {chip.uid: chip for chip in ChipRegister(old)}
    added: list[Chip] = []
    marked: list[tuple[Chip, Chip]] = []
    altered: list[tuple[Chip, Chip]] = []
    for chip in ChipRegister(new):
        was = before.pop(chip.uid, None)
        if was is None:
            added.append(chip)
        elif was != chip:
            (marked if _only_marked(was, chip) else altered).append((was, chip))
    lines = [line for line in entries(new.history, where) if line.version > old.head.version]
    return Difference(
        tuple(added),
        tuple(marked),
        tuple(before.values()),
        tuple(altered),
        tuple(lines),
        not new.continues(old),
    )


def _only_marked(was: Chip, chip: Chip) -> bool:
    def fixed(c: Chip) -> tuple[object, ...]:
        return (c.cents, c.kind, c.house, c.series, c.added_in)

    return fixed(was) == fixed(chip) and chip.marked_in > was.marked_in
