"""Numbered steps of the schema, one folder of SQL files for each database. A file never changes
once a store has been through it: its SHA-256 is recorded there and compared at every opening."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, Literal

from link.store.errors import MigrationChanged, TooNew

Dialect = Literal["sqlite", "postgresql"]

TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS migrations (number BIGINT NOT NULL PRIMARY KEY,"
    " name TEXT NOT NULL, sha256 TEXT NOT NULL, at_ms BIGINT NOT NULL)"
)


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    """Of the file, without its ending."""
    sha256: str
    statements: tuple[str, ...]


@cache
def migrations(dialect: Dialect) -> tuple[Migration, ...]:
    """All that this program has, numbered from 1 without gaps."""
    folder = resources.files(__name__) / dialect
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    found = tuple(read(f.name, f.read_bytes()) for f in files)
    assert [m.number for m in found] == list(range(1, len(found) + 1)), f"{dialect}: a gap"
    return found


def read(file: str, content: bytes) -> Migration:
    """A statement ends where a line ends with a semicolon."""
    name = file.removesuffix(".sql")
    lines = content.decode().splitlines()
    code = "\n".join(line for line in lines if not line.startswith("--"))
    parts = [part.strip() for part in code.split(";\n")]
    statements = tuple(part.removesuffix(";") for part in parts if part)
    return Migration(int(name[:4]), name, hashlib.sha256(content).hexdigest(), statements)


def pending(
    place: str, applied: Sequence[tuple[int, str, str]], have: Sequence[Migration]
) -> tuple[Migration, ...]:
    """What a store still has to go through, given the (number, name, sha256) it has recorded."""
    newest = max((number for number, _, _ in applied), default=0)
    if newest > len(have):
        raise TooNew(
            place,
            f"its schema is {newest}, this program knows {len(have)}; nothing was changed;"
            " run the program that wrote it, or a later one",
        )
    for expected, (number, name, sha256) in enumerate(sorted(applied), 1):
        if number != expected:
            raise MigrationChanged(place, f"step {expected} of the schema is not recorded")
        if sha256 != have[number - 1].sha256:
            raise MigrationChanged(
                place,
                f"step {name} was recorded with SHA-256 {sha256}, this program's"
                f" {have[number - 1].name} has {have[number - 1].sha256}; a step never changes",
            )
    return tuple(have[newest:])
