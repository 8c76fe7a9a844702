"""What the floor's screen knows at one moment. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Weight = Literal["plain", "hit", "jackpot", "alarm"]
OPEN_STATES: Final = ("claimed", "locked", "verified", "approved")


@dataclass(frozen=True, slots=True)
class Meter:
    """A level of a pool as a sign hears it."""

    pool: str
    level: str
    cents: int
    generation: int
    pending: int = 0
    must_hit_cents: int = 0
    """Its hidden trigger is at most this; 0: no such level."""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as its own status tells it; ``phase`` empty: it does not answer."""

    name: str
    title: str
    phase: str = ""
    hand: int = 0
    progressive: bool = False
    link: str = ""
    """State of the link in its own words; empty: none is configured."""
    waiting: int = 0
    """Events that the server has not acknowledged."""
    ready: int = 0
    devices: int = 0
    prompt: tuple[str, ...] = ()
    trouble: str = ""
    """The first thing that is stopped or degraded."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something that happened, in one line."""

    at_ms: int
    at: str
    """As a clock on the wall shows it."""
    where: str
    text: str
    weight: Weight = "plain"


@dataclass(frozen=True, slots=True)
class Pending:
    """An award that people have to look at, and how anybody can."""

    award: str
    text: str
    command: str


@dataclass(frozen=True, slots=True)
class Floor:
    title: str
    server: str
    """What the link server says of itself; empty: it does not answer."""
    running_s: int
    meters: tuple[Meter, ...] = ()
    stale_s: int = 0
    """So long no meter was heard of; 0: they are live."""
    tables: tuple[TableView, ...] = ()
    last: Mapping[str, str] = field(default_factory=dict)
    """By table: how its last round ended."""
    notes: tuple[Note, ...] = ()
    """The oldest first."""
    pending: tuple[Pending, ...] = ()
    further: tuple[tuple[str, str], ...] = ()
    """What can be looked at, and the command for it."""
    ending: str = ""
