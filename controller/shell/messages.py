"""What goes over the table's socket when the shell asks: a request, and one of two replies.

Names on the wire are the names here. Core library alone: both ends use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from controller.shell.errors import VerbRefused
from controller.shell.parse import checked

SHELL: Final = "shell"
HELLO: Final = ("hello",)
"""The one request that is not a verb: a client asks for its role and for words to complete."""
UNREADABLE: Final = ("?",)
"""Stands for words that cannot be put on record."""


@dataclass(frozen=True, slots=True)
class Request:
    words: tuple[str, ...]
    id: int | None = None
    cursor: int | None = None
    """Of a repeated look: only what came after it is sent."""

    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"verb": SHELL, "id": self.id, "words": list(self.words)}
        return row if self.cursor is None else {**row, "cursor": self.cursor}

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Request:
        try:
            words = tuple(checked(row.get("words")))
        except VerbRefused:
            words = UNREADABLE
        return cls(words, _number(row.get("id")), _number(row.get("cursor")))


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class At:
    """Where the table is, for the prompt."""

    table: str
    game: str
    round: int
    phase: str
    in_round: bool
    troubles: int
    test_mode: bool


@dataclass(frozen=True, slots=True)
class Done:
    data: Mapping[str, Any]
    at: At

    def row(self) -> dict[str, Any]:
        return {"ok": True, "data": self.data, "at": asdict(self.at)}


@dataclass(frozen=True, slots=True)
class Refusal:
    error: str
    text: str
    do: str = ""
    at: At | None = None
    """Not told to somebody without a role."""

    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"error": self.error, "text": self.text}
        if self.do:
            row["do"] = self.do
        return row if self.at is None else {**row, "at": asdict(self.at)}


Reply = Done | Refusal


def reply_of(row: Mapping[str, Any]) -> Reply:
    """An answer as it came. A table of a later version may say more."""
    at = None if row.get("at") is None else At(**_known(At, row["at"]))
    if row.get("ok") and at is not None:
        return Done(row["data"], at)
    return Refusal(str(row.get("error")), str(row.get("text", "")), str(row.get("do", "")), at)


@dataclass(frozen=True, slots=True)
class Progress:
    """A guided test so far: the steps behind the cursor that was asked with."""

    steps: Sequence[Mapping[str, Any]] = ()
    cursor: int = 0
    done: bool = True
    passed: bool = False
    question: str = ""
    test: str = ""
    """Nothing where no test was begun."""
    certificate: Mapping[str, Any] | None = None
    """Once it is on disk."""

    def row(self) -> dict[str, Any]:
        return {k: v for k, v in asdict(self).items() if k not in OPTIONAL or v}

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Progress:
        return cls(**_known(cls, row))


OPTIONAL: Final = ("test", "certificate")


def _known(kind: type[At | Progress], row: Mapping[str, Any]) -> dict[str, Any]:
    return {one.name: row[one.name] for one in fields(kind) if one.name in row}
