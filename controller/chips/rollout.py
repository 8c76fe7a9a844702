"""Put a new register where a table reads it: verified, never backwards, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from controller.chips.audit import continues
from controller.chips.bank import audited
from controller.chips.errors import Problem, RegisterError
from controller.chips.files import locked, write_atomically
from controller.chips.load import Loaded, file_of, load
from controller.chips.register import Seen, check_rollback, require_two_people


@dataclass(frozen=True, slots=True)
class RolledOut:
    """``replaced`` is the version that was there, 0 for none or none that could be verified."""

    version: int
    digest: str
    replaced: int
    written: bool
    overruled: str
    """The code that two people overruled, or empty."""


def roll_out(
    source: Path, target: Path, public_key: bytes, approved_by: Sequence[str] = ()
) -> RolledOut:
    new = audited(source, public_key)
    seen = Seen(new.head.version, new.head.digest)
    with locked(target):
        old, overruled = _in_place(target, public_key, approved_by)
        if old is not None and old.head.digest == new.head.digest:
            return RolledOut(seen.version, seen.digest, seen.version, written=False, overruled="")
        if old is not None:
            overruled = _may_replace(old, new, target, approved_by)
        write_atomically(target, file_of(new))
    replaced = 0 if old is None else old.head.version
    return RolledOut(seen.version, seen.digest, replaced, written=True, overruled=overruled)


def _in_place(
    target: Path, public_key: bytes, approved_by: Sequence[str]
) -> tuple[Loaded | None, str]:
    """What is there now. A file that cannot be verified may hide a higher version."""
    if not os.path.lexists(target):
        return None, ""
    try:
        return load(target, public_key), ""
    except RegisterError as error:
        first = error.problems[0]
        said = f"what is in place cannot be verified ({first.text}); two people may replace it"
        require_two_people(approved_by, Problem(first.code, said, str(target)))
        return None, first.code


def _may_replace(old: Loaded, new: Loaded, target: Path, approved_by: Sequence[str]) -> str:
    """The code that was overruled, or empty; raises if it may not."""
    before = Seen(old.head.version, old.head.digest)
    offered = Seen(new.head.version, new.head.digest)
    check_rollback(before, offered, approved_by)
    if offered.version < before.version:
        return "E-CHIP-009"
    if offered.version == before.version:
        return "E-CHIP-010"
    if continues(old, new):
        return ""
    said = f"its history does not continue that of version {before.version}, which is in place"
    require_two_people(approved_by, Problem("E-CHIP-010", said, str(target)))
    return "E-CHIP-010"
