"""What every store does, whatever database is below it.

A store has one owner: one thread of one process. ``commit`` takes a whole group or nothing; what
it raises says which. After ``Fenced``, ``Conflict``, ``Broken`` or ``NotStorable`` the ledger in
memory is not what is stored: stop, or load again. After ``Failed`` the same group may be given
again. After ``Unknown`` ask ``settle`` with the same group until it answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from link.rows import (
    AlarmRow,
    AwardRow,
    AwardStep,
    Entry,
    EventRow,
    Group,
    JournalRow,
    Saved,
    Standing,
)

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


class Store(Protocol):
    """Opened by ``link.store.open_store``."""

    @property
    def place(self) -> str:
        """Where it is, without any password."""

    def migrate(self, *, at_ms: int) -> tuple[str, ...]:
        """Bring the schema up to this program's; the names of the steps taken."""

    def lead(self, holder: str, lease_ms: int, above: int = 0) -> int | None:
        """Take the lead: a new epoch above every one before it and ``above``, or None while another
        holder's lease lasts. The lease counts by the database's clock. The same holder is given a
        new epoch at once: its name must be its own."""

    def renew(self, epoch: int) -> None:
        """Renew the lease; ``Fenced`` if the epoch is not the leader's."""

    def resign(self, epoch: int) -> None:
        """End the lease now, so that another may lead at once. Nothing if somebody else leads."""

    def leader(self) -> Leader | None:
        """None before the first."""

    def standing(self, *, awards: bool = False) -> Standing:
        """Balances and levels, and open awards if asked for, at one moment."""

    def load(self) -> Saved:
        """What the ledger needs to go on. Call ``check`` first."""

    def commit(self, group: Group) -> None:
        """All of it, durably, or none."""

    def settle(self, group: Group) -> bool:
        """After ``Unknown``: True if the group is committed and durable, False if it never will be.
        Raises ``Unknown`` as long as nobody can say."""

    def caution(self) -> str:
        """What a person should know about what this store does not promise; or nothing."""

    def check(
        self, *, recent: int | None = None, between: Callable[[], object] | None = None
    ) -> Counts:
        """Everything that must hold; ``Broken`` with every finding. ``recent`` limits the chain and
        the numbers of events to the last so many. ``between`` is called again and again."""

    def tend(self) -> None:
        """Housekeeping that can wait; the server calls it when no message waits."""

    def event(self, journal: str, n: int) -> EventRow | None:
        """Event ``n`` of a journal, or order ``n`` with journal ``""``."""

    def last_ms(self) -> int:
        """The latest time at which an event was received; 0 if there is none."""

    def chain_of(self, event: int) -> str:
        """The chain value of the event with this id; empty if there is none."""

    def restored_since(self, epoch: int) -> int | None:
        """The last event that a restore after this epoch began with; None if there was none."""

    def rewound(self) -> str:
        """The alarm that says the store went back, unless a restore explained it since."""

    def events(
        self,
        span: Span = ALWAYS,
        *,
        table: str | None = None,
        journal: str | None = None,
        after: int = 0,
        upto: int = INT64_MAX,
    ) -> Iterator[EventRow]:
        """In order of record, by the time they were received. No read transaction stays open
        between two rows: a slow reader holds nothing up. Only ids above ``after`` and up to
        ``upto`` are looked at, here and below."""

    def events_before(self, span: Span) -> int:
        """The id before the first event of the span."""

    def last_id(self, table: Numbered) -> int:
        """0 if it has no rows."""

    def entries(
        self,
        span: Span = ALWAYS,
        *,
        pool: str | None = None,
        level: str | None = None,
        after: int = 0,
        upto: int = INT64_MAX,
    ) -> Iterator[Entry]:
        """By the time of their last event."""

    def awards(self, span: Span = ALWAYS, *, pool: str | None = None) -> Iterator[AwardRow]:
        """By the time of their claim."""

    def steps(self, span: Span = ALWAYS, *, award: str | None = None) -> Iterator[AwardStep]: ...

    def staff(self) -> Iterator[EventRow]:
        """The chain of staff orders, from its first."""

    def alarms(
        self,
        span: Span = ALWAYS,
        *,
        table: str | None = None,
        after: int = 0,
        upto: int = INT64_MAX,
    ) -> Iterator[AlarmRow]: ...

    def journals(self) -> Iterator[JournalRow]: ...

    def latest_alarms(self, most: int, *, before: int = INT64_MAX) -> list[AlarmRow]:
        """Newest first, with ids below ``before``."""

    def latest_journals(self, most: int, *, before: str = "", prefix: str = "") -> list[JournalRow]:
        """Newest first, only those that came before journal ``before`` and whose ids begin with
        ``prefix``, hexadecimal digits."""

    def latest_awards(self, most: int, *, before: str = "") -> list[AwardRow]:
        """Newest first, only those claimed before award ``before``."""

    def backup(
        self,
        path: Path,
        *,
        at_ms: int,
        between: Callable[[], None] | None = None,
        verify: bool = True,
    ) -> Manifest:
        """A consistent copy and, at ``path`` + ``.manifest``, its manifest. ``between`` is called
        again and again while it is written: commits may go on in it. ``verify`` reads the copy back
        and checks it whole; a server that must go on leaves that to ``verify_backup`` in another
        process."""

    def close(self) -> None: ...
