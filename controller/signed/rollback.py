"""No way back: an old register is a valid register, and only two people may return to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from controller.signed.errors import NotPermittedError, Problem

APPROVERS: Final = 2


@dataclass(frozen=True, slots=True)
class Seen:
    """What a table remembers of a register: enough to notice a way back or a second truth."""

    version: int
    digest: str


def check_rollback(
    seen: Seen | None, offered: Seen, approved_by: Iterable[str] = (), *, codes: str
) -> None:
    """May a table that has ``seen`` take what is ``offered``? Raises ``NotPermittedError``."""
    if seen is None or offered.version > seen.version or offered == seen:
        return
    if offered.version < seen.version:
        said = f"version {offered.version} is older than {seen.version}, which was seen here"
        problem = Problem(f"{codes}-009", said)
    else:
        said = f"version {offered.version} was seen here with another content"
        problem = Problem(f"{codes}-010", said)
    require_two_people(approved_by, problem, codes=codes)


def require_two_people(approved_by: Iterable[str], problem: Problem, *, codes: str) -> None:
    """Nobody approved: the problem itself. One person, however spelt: two are needed."""
    people = {" ".join(name.split()).casefold() for name in approved_by} - {""}
    if not people:
        raise NotPermittedError(problem)
    if len(people) < APPROVERS:
        said = f"two different people must approve, not one: {problem.text}"
        raise NotPermittedError(Problem(f"{codes}-011", said, problem.file))
