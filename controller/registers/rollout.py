"""Put a register where a table reads it: verified, never backwards, whole or not at all.

An old register is a valid register, and only two people may return to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, Self, TypeVar

from controller.registers.errors import NotPermittedError, Problem, RegisterError
from controller.registers.files import locked, write_atomically
from controller.registers.kinds import RegisterKind

APPROVERS: Final = 2


@dataclass(frozen=True, slots=True)
class Seen:
    """What a table remembers of a register: enough to notice a way back or a second truth."""

    version: int
    digest: str


class Verified(Protocol):
    """A register whose signature and structure hold."""

    @property
    def seen(self) -> Seen: ...

    @property
    def file(self) -> bytes: ...

    def continues(self, old: Self) -> bool:
        """Does its history begin with the old one's?"""


R = TypeVar("R", bound=Verified)


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
    kind: RegisterKind,
    new: R,
    target: Path,
    load: Callable[[Path], R],
    approved_by: Sequence[str],
) -> RolledOut:
    version, digest = new.seen.version, new.seen.digest
    with locked(kind, target):
        old, overruled = _in_place(kind, target, load, approved_by)
        if old is not None and old.seen == new.seen:
            return RolledOut(version, digest, version, written=False, overruled="")
        if old is not None:
            overruled = _may_replace(kind, old, new, target, approved_by)
        write_atomically(kind, target, new.file)
    replaced = 0 if old is None else old.seen.version
    return RolledOut(version, digest, replaced, written=True, overruled=overruled)


def _in_place(
    kind: RegisterKind, target: Path, load: Callable[[Path], R], approved_by: Sequence[str]
) -> tuple[R | None, str]:
    """What is there now. A file that cannot be verified may hide a higher version."""
    if not os.path.lexists(target):
        return None, ""
    try:
        return load(target), ""
    except RegisterError as error:
        first = error.problems[0]
        said = f"what is in place cannot be verified ({first.text}); two people may replace it"
        _require_two_people(kind, approved_by, Problem(first.code, said, str(target)))
        return None, first.code


def _may_replace(
    kind: RegisterKind, old: R, new: R, target: Path, approved_by: Sequence[str]
) -> str:
    """The code that was overruled, or empty; raises if it may not."""
    if overruled := check_rollback(kind, old.seen, new.seen, approved_by):
        return overruled
    if new.continues(old):
        return ""
    said = f"its history does not continue that of version {old.seen.version}, which is in place"
    problem = Problem(f"{kind.codes}-010", said, str(target))
    return _require_two_people(kind, approved_by, problem)


def check_rollback(
    kind: RegisterKind, seen: Seen | None, offered: Seen, approved_by: Iterable[str] = ()
) -> str:
    """May a table that has ``seen`` take what is ``offered``? Raises ``NotPermittedError``.

    The answer is the code that two people overruled, or empty.
    """
    if seen is None or offered.version > seen.version or offered == seen:
        return ""
    if offered.version < seen.version:
        said = f"version {offered.version} is older than {seen.version}, which was seen here"
        problem = Problem(f"{kind.codes}-009", said)
    else:
        said = f"version {offered.version} was seen here with another content"
        problem = Problem(f"{kind.codes}-010", said)
    return _require_two_people(kind, approved_by, problem)


def _require_two_people(kind: RegisterKind, approved_by: Iterable[str], problem: Problem) -> str:
    """Nobody approved: the problem itself. One person, however spelt: two are needed."""
    people = {" ".join(name.split()).casefold() for name in approved_by} - {""}
    if not people:
        raise NotPermittedError(problem)
    if len(people) < APPROVERS:
        said = f"two different people must approve, not one: {problem.text}"
        raise NotPermittedError(Problem(f"{kind.codes}-011", said, problem.file))
    return problem.code
