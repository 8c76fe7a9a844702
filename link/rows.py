"""What the ledger hands to the store, and gets back from it: rows, and the group they travel in.

The ledger is pure and lives in memory; a group is everything that a batch of messages and orders
changed. The store commits a group in one transaction or not at all; only then is anything told.
Amounts in units: 1 cent is 1,000,000 units (``link.ledger.units``), so that every rate of whole
parts per million is exact and nothing is ever rounded away.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

JournalState = Literal["active", "proposed", "halted", "retired"]
AwardState = Literal["claimed", "locked", "verified", "approved", "paid", "rejected", "withdrawn"]


@dataclass(frozen=True, slots=True)
class EventRow:
    """One accepted input in server order: an event of a table, or an order of people or time.

    ``id`` is the order of record. ``chain`` is SHA-256 over the previous row's chain and this
    row's content, so that a copy of the last one vouches for all of them.
    """

    id: int
    table: str
    """``""`` for an order given at the server."""
    journal: str
    n: int
    seq: int
    hash: str
    at_ms: int
    received_ms: int
    body: bytes
    chain: str


@dataclass(frozen=True, slots=True)
class Entry:
    """Money moved from one account of a level to another; ``through`` is the last event behind it.

    Contributions of a group to one level are one entry each for display, reserve and overflow,
    with ``first`` and ``through`` naming the events summed up.
    """

    id: int
    pool: str
    level: str
    generation: int
    debit: str
    """The account it comes from."""
    credit: str
    """The account it goes to."""
    units: int
    why: str
    first: int
    through: int
    award: str = ""


@dataclass(frozen=True, slots=True)
class BalanceRow:
    """Derived: the sum of the entries, checked at every start."""

    pool: str
    level: str
    account: str
    units: int


@dataclass(frozen=True, slots=True)
class LevelRow:
    """Where a level stands: its generation, its counters and the parameters of the generation."""

    pool: str
    level: str
    generation: int
    parameters: bytes
    """JSON, as the generation was opened with."""
    next_parameters: bytes
    """JSON taken at the next reset; empty if none wait."""
    hits: int
    state: bytes
    """JSON: sealed trigger and whatever else a level must remember."""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """A table's journal and how far the server has it."""

    journal: str
    table: str
    state: JournalState
    n: int
    seq: int
    hash: str
    """Last event applied, and the journal record it stood in."""
    head_seq: int
    head_hash: str
    """Last checkpoint."""
    received_ms: int
    why: str = ""
    accepted_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AwardRow:
    award: str
    """``pool/generation/order``."""
    pool: str
    level: str
    generation: int
    order: int
    """The place of record among all awards of the pool."""
    table: str
    journal: str
    round: int
    seat: int
    hand: str
    percent: int
    """0 for a mystery award."""
    cents: int
    state: AwardState
    policy: str
    event: int
    """The claim's event row."""
    jackpot_cents: int
    reset_cents: int
    seed_units: int
    """What reseeding after this award took from reserve, next base and house together."""


@dataclass(frozen=True, slots=True)
class AwardStep:
    award: str
    step: int
    state: AwardState
    by: str
    role: str
    at_ms: int
    note: str
    event: int


@dataclass(frozen=True, slots=True)
class AlarmRow:
    id: int
    code: str
    table: str
    text: str
    at_ms: int
    event: int


@dataclass(slots=True)
class Group:
    """Everything one batch changed. Rows of events, entries, steps and alarms are new; the others
    replace the row of the same key."""

    epoch: int
    events: list[EventRow] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    steps: list[AwardStep] = field(default_factory=list)
    alarms: list[AlarmRow] = field(default_factory=list)
    balances: dict[tuple[str, str, str], BalanceRow] = field(default_factory=dict)
    levels: dict[tuple[str, str], LevelRow] = field(default_factory=dict)
    journals: dict[str, JournalRow] = field(default_factory=dict)
    journals_before: dict[str, int] = field(default_factory=dict)
    """The watermark each changed journal had before the group: compared in the transaction."""
    awards: dict[str, AwardRow] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.events or self.journals or self.alarms or self.levels or self.awards)


@dataclass(slots=True)
class Saved:
    """What a store gives back at a start: enough for the ledger to go on."""

    last_event: int = 0
    last_entry: int = 0
    last_alarm: int = 0
    chain: str = ""
    balances: list[BalanceRow] = field(default_factory=list)
    levels: list[LevelRow] = field(default_factory=list)
    journals: list[JournalRow] = field(default_factory=list)
    awards: list[AwardRow] = field(default_factory=list)
    """Those not yet paid, rejected or withdrawn, and all of their rounds."""
    steps: list[AwardStep] = field(default_factory=list)
    """Of the awards above."""
