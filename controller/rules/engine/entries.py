"""What a table journals besides the facts of a round, and the key of the reading it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from controller.rules.engine.facts import Declared, Fact, Role

ACCEPTORS: Final = "acceptors"
"""The device that credits come from."""


@dataclass(frozen=True, slots=True)
class SignedOn:
    """Somebody took a position; ``relieved`` is who left it."""

    person: str
    role: Role
    relieved: str | None
    at_ms: int


@dataclass(frozen=True, slots=True)
class TableCall:
    """Table opened, closed, or the gaming day closed: no fact of a round."""

    kind: Literal["table open", "table close", "day close"]
    by: Declared
    at_ms: int


@dataclass(frozen=True, slots=True)
class CreditDropped:
    """The acceptor let an acknowledged chip fall into its box. No fact of a round."""

    seat: int
    number: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class CreditGivenBack:
    """A counted credit that the acceptor gave back when it could no longer be taken off."""

    seat: int
    number: int
    at_ms: int


Key = tuple[str, int]
"""A device and the key of one of its readings."""
NoFact = SignedOn | TableCall | CreditDropped | CreditGivenBack
"""What people and acceptors did that is no fact of a round."""
Entry = Fact | NoFact
"""What is journalled with its own meaning."""
