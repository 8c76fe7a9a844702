"""What a store is asked with, and what it answers besides rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

INT64_MAX = (1 << 63) - 1
Numbered = Literal["events", "entries", "alarms"]
"""Rows whose ids are 1, 2, 3, ..."""


@dataclass(frozen=True, slots=True)
class Span:
    """From, inclusive, to, exclusive, in milliseconds of the server's wall clock."""

    from_ms: int = 0
    to_ms: int = INT64_MAX


ALWAYS = Span()


@dataclass(frozen=True, slots=True)
class Counts:
    """What a check went through."""

    events: int
    entries: int
    balances: int
    journals: int
    awards: int
    steps: int
    alarms: int
    chain: str
    """The chain value of the last event."""


@dataclass(frozen=True, slots=True)
class Leader:
    """Who leads, by the database's clock; ``left_ms`` is below 0 once the lease is over."""

    epoch: int
    holder: str
    left_ms: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Beside every backup, and in it: what it must be."""

    format: str
    """``sqlite`` or ``export``."""
    schema: int
    at_ms: int
    file: str
    sha256: str
    bytes: int
    last_event: int
    chain: str
    rows: dict[str, int]
