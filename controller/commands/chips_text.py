"""What ``underfelt chips`` says: registers, chips and differences for people, and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controller.registers.chips import history
from controller.registers.chips.audit import Difference, Pile, piles
from controller.registers.chips.history import ChipEntry, Imported, time_text
from controller.registers.chips.layout import Head
from controller.registers.chips.register import Chip
from controller.registers.errors import Problem
from controller.registers.keys import fingerprint
from record.kit.money import cents_text
from record.kit.words import counted

LISTED_SINGLY: Final = 20
"""More new chips than these are counted by kind; JSON lists them all."""


def chips_text(count: int) -> str:
    return counted(count, "chip")


def head_text(head: Head) -> str:
    return (
        f"house {head.house}, version {head.version}, issued {time_text(head.issued_at)}, "
        f"{chips_text(head.chip_count)}, signed by {fingerprint(head.public_key)}"
    )


def head_json(head: Head) -> dict[str, Any]:
    return {
        "house": head.house,
        "version": head.version,
        "issued_at": time_text(head.issued_at),
        "chips": head.chip_count,
        "digest": head.digest,
        "fingerprint": fingerprint(head.public_key),
    }


def piles_text(counted: Mapping[Pile, int]) -> str:
    rows = [f"  {'house':16} {'class':5} {'value':>16} {'status':8} {'chips':>9} {'worth':>20}"]
    rows += [
        f"  {house:16} {kind:5} {cents_text(cents):>16} {status:8} {count:>9,} "
        f"{cents_text(cents * count):>20}"
        for (house, cents, kind, status), count in counted.items()
    ]
    return "\n".join(rows)


def piles_json(counted: Mapping[Pile, int]) -> list[dict[str, Any]]:
    return [
        {"house": house, "class": kind, "value": cents, "status": status, "chips": count}
        for (house, cents, kind, status), count in counted.items()
    ]


def chip_json(chip: Chip) -> dict[str, Any]:
    return {
        "uid": chip.uid,
        "value": chip.cents,
        "class": chip.kind,
        "series": chip.series,
        "house": chip.house,
        "status": chip.status,
        "foreign": chip.foreign,
        "added_in": chip.added_in,
        "marked_in": chip.marked_in,
    }


def chip_text(chip: Chip) -> str:
    foreign = " (another house)" if chip.foreign else ""
    return (
        f"{chip.uid}  {cents_text(chip.cents)} {chip.kind}, {chip.status}, "
        f"series {chip.series}, house {chip.house}{foreign}"
    )


def entry_text(entry: ChipEntry) -> str:
    stamp = entry.stamp
    if isinstance(entry, Imported):
        did = f"imported {chips_text(entry.count)} of {entry.house} from {entry.file}"
    else:
        many = chips_text(len(entry.uids)) if len(entry.uids) > 1 else entry.uids[0]
        did = f"marked {many} {entry.status}"
    why = f": {stamp.why}" if stamp.why else ""
    return f"version {entry.version}, {time_text(stamp.at)}, {stamp.by} {did}{why}"


def entry_json(entry: ChipEntry) -> dict[str, Any]:
    return history.as_json(entry)


def difference_text(difference: Difference) -> str:
    rows = [f"  {entry_text(entry)}" for entry in difference.lines]
    rows += _added(difference.added)
    rows += [
        f"  marked   {was.uid}  {was.status} -> {now.status}" for was, now in difference.marked
    ]
    rows += [f"  GONE     {chip_text(chip)}" for chip in difference.gone]
    rows += [
        f"  ALTERED  {chip_text(was)}\n       to  {chip_text(now)}"
        for was, now in difference.altered
    ]
    if difference.rewritten:
        rows.append("  REWRITTEN: the new history does not begin with the old one")
    return "\n".join(rows or ["  no difference"])


def _added(chips: tuple[Chip, ...]) -> list[str]:
    if len(chips) <= LISTED_SINGLY:
        return [f"  added    {chip_text(chip)}" for chip in chips]
    return [f"  added    {chips_text(len(chips))}", piles_text(piles(chips))]


def difference_json(difference: Difference) -> dict[str, Any]:
    return {
        "history": [entry_json(entry) for entry in difference.lines],
        "added": [chip_json(chip) for chip in difference.added],
        "marked": [
            {"uid": was.uid, "from": was.status, "to": now.status, "in": now.marked_in}
            for was, now in difference.marked
        ],
        "gone": [chip_json(chip) for chip in difference.gone],
        "altered": [
            {"from": chip_json(was), "to": chip_json(now)} for was, now in difference.altered
        ],
        "rewritten": difference.rewritten,
    }


def problem_json(problem: Problem) -> dict[str, Any]:
    places = {"file": problem.file, "line": problem.line, "field": problem.field}
    row: dict[str, Any] = {"code": problem.code, "text": problem.text}
    return row | {name: place for name, place in places.items() if place} | {"value": problem.value}
