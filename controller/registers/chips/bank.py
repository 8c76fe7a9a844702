"""What the chip bank does to its register: read, change, sign and write it under one lock.

The time, the names and the key are the caller's; docs/protocols/chip-register.md, section 7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from controller.registers import rollout
from controller.registers.checks import check_start
from controller.registers.chips import edit
from controller.registers.chips.audit import Pile, history_problems
from controller.registers.chips.batch import read_batch
from controller.registers.chips.history import ChipStamp
from controller.registers.chips.layout import Status
from controller.registers.chips.load import LoadedChips, load
from controller.registers.errors import RegisterError
from controller.registers.files import locked, write_atomically
from controller.registers.keys import SigningSecret
from controller.registers.kinds import CHIPS


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch file as it was read; ``house`` is None for the register's own."""

    name: str
    content: bytes
    house: str | None = None

    @property
    def source(self) -> edit.Source:
        """For the history: the bare name, without what cannot be printed."""
        name = "stdin" if self.name == "-" else Path(self.name).name
        bare = "".join(c for c in name if c.isprintable())[:200].strip() or "unnamed"
        return edit.Source(bare, sha256(self.content).hexdigest())


@dataclass(frozen=True, slots=True)
class Changed:
    """``written`` is False for a rehearsal, and where there was nothing to change."""

    version: int
    written: bool
    added: dict[Pile, int]
    marked: tuple[str, ...] = ()
    already: tuple[str, ...] = ()


def audited(path: Path, public_key: bytes | None, minimum_version: int = 0) -> LoadedChips:
    """Loaded, and its history tells the same story as its chips."""
    loaded = load(path, public_key, minimum_version=minimum_version)
    if problems := history_problems(loaded, str(path)):
        raise RegisterError(*problems)
    return loaded


def import_batch(
    path: Path,
    batch: Batch,
    key: SigningSecret,
    stamp: ChipStamp,
    *,
    new_house: str | None = None,
    rehearse: bool = False,
) -> Changed:
    with locked(CHIPS, path):
        check_start(CHIPS, path, new_house, "--new HOUSE")
        old = edit.of(audited(path, key.public)) if new_house is None else edit.start(new_house)
        rows = read_batch(batch.content, batch.name, lambda uid: edit.known_in(old, uid))
        house = batch.house or old.house
        new = edit.import_chips(old, rows, house, batch.source, stamp)
        if not rehearse:
            write_atomically(CHIPS, path, edit.seal(new, key))
    added = Counter[Pile]((house, row.cents, row.kind, "in play") for row in rows)
    return Changed(new.version, not rehearse, dict(sorted(added.items())))


def mark(
    path: Path,
    uids: list[bytes],
    status: Status,
    key: SigningSecret,
    stamp: ChipStamp,
    *,
    rehearse: bool = False,
) -> Changed:
    with locked(CHIPS, path):
        old = edit.of(audited(path, key.public))
        result = edit.mark_chips(old, uids, status, stamp)
        if result.content is None:
            return Changed(old.version, False, {}, (), result.already)
        if not rehearse:
            write_atomically(CHIPS, path, edit.seal(result.content, key))
    version = result.content.version
    return Changed(version, not rehearse, {}, result.changed, result.already)


def roll_out(
    source: Path, target: Path, public_key: bytes, approved_by: Sequence[str] = ()
) -> rollout.RolledOut:
    """Only what was audited is put where a table reads it."""
    new = audited(source, public_key)
    return rollout.roll_out(CHIPS, new, target, lambda path: load(path, public_key), approved_by)
