"""What the ledger hands to the store, and gets back from it: rows, and the group they travel in.

The ledger is pure and lives in memory; a group is everything that a batch of messages and orders
changed. The store commits a group in one transaction or not at all; only then is anything told.
Amounts in units: 1 cent is 1,000,000 units (``link.ledger.units``), so that every rate of whole
parts per million is exact and nothing is ever rounded away.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal

import msgspec

JournalState = Literal["active", "proposed", "halted", "retired"]
AwardState = Literal["claimed", "locked", "verified", "approved", "paid", "rejected", "withdrawn"]
KeyRole = Literal["table", "sign", "server"]


class Stored(msgspec.Struct, frozen=True, gc=False):
    """A row. Several are made for every message: a frozen dataclass would take thirty times as
    long. Texts, numbers and tuples of them only, so nothing for the collector."""


class EventRow(Stored, frozen=True):
    """One accepted input in server order: an event of a table, or an order of people or time.

    ``id`` is the order of record, from 1 without gaps. ``chain`` is SHA-256 over the previous row's
    chain and this row's content (``chain_of``), so that a copy of the last one vouches for all.
    Orders have no journal row; their ``n`` runs from 1 without gaps like a journal's. Their ``seq``
    and ``hash`` are number and head of the chain of staff orders (``staff_head``) after them.
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


def chain_of(
    before: str,
    *,
    id: int,
    table: str,
    journal: str,
    n: int,
    seq: int,
    hash: str,
    at_ms: int,
    received_ms: int,
    body: bytes,
) -> str:
    """The chain value of a row after the one whose value is ``before`` (``""`` for the first).

    SHA-256 in hexadecimal over one line of text and the body:
    ``before id table journal n seq hash at_ms received_ms``, joined by tabs, a line feed, the body.
    No field can hold a tab or a line feed: ids are words, hashes hexadecimal.
    """
    head = f"{before}\t{id}\t{table}\t{journal}\t{n}\t{seq}\t{hash}\t{at_ms}\t{received_ms}\n"
    return hashlib.sha256(head.encode() + body).hexdigest()


def staff_head(before: str, number: int, at_ms: int, body: bytes) -> str:
    """The head of the chain of staff orders after one more: SHA-256 in hexadecimal over a line of
    text, ``before number at_ms`` joined by tabs, and the body of the order."""
    return hashlib.sha256(f"{before}\t{number}\t{at_ms}\n".encode() + body).hexdigest()


def staff_text(before: str, number: int, at_ms: int, unsigned: bytes) -> bytes:
    """What each person signs: the order, and its place in the chain of staff orders."""
    return f"underfelt order 1\t{before}\t{number}\t{at_ms}\n".encode() + unsigned


class Entry(Stored, frozen=True):
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


class BalanceRow(Stored, frozen=True):
    """Derived: the sum of the entries, checked at every start."""

    pool: str
    level: str
    account: str
    units: int


class LevelRow(Stored, frozen=True):
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


class JournalRow(Stored, frozen=True):
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
    rounds: bytes = b""
    """JSON: wagers and awards of the last rounds, so that a reversal or a repeated claim finds them
    after a restart."""


class AwardRow(Stored, frozen=True):
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


class AwardStep(Stored, frozen=True):
    award: str
    step: int
    state: AwardState
    by: str
    role: str
    at_ms: int
    note: str
    event: int


class AlarmRow(Stored, frozen=True):
    id: int
    code: str
    table: str
    text: str
    at_ms: int
    event: int


class KeyRow(Stored, frozen=True):
    """A CURVE public key and whom it speaks for. Times are of the server's wall clock."""

    public: str
    """Z85, 40 characters."""
    table: str
    """The table id; for a sign or a server its name."""
    role: KeyRole
    from_ms: int
    until_ms: int
    """0: no end."""
    revoked_ms: int
    """0: not revoked."""
    by: str
    at_ms: int
    """Who made this change, and when."""


class AccountRow(Stored, frozen=True):
    """A person who may approve, reject, enrol. No password is kept, only the key it makes."""

    name: str
    role: str
    credential: str
    """``ed25519$n$r$p$salt$key``: cost and salt of scrypt, and the public key. From before keys:
    ``scrypt$n$r$p$salt$hash``."""
    failures: int
    until_ms: int
    """No password is tried before."""
    by: str
    at_ms: int


SLICE_MS = 900_000
"""A quarter of an hour: hours and gaming days of every time zone begin with one."""


class SumRow(Stored, frozen=True):
    """What happened in one slice of time, by the time the server received it. All of it adds up:
    over time, over the levels of a pool, over tables.

    Money comes in by level (``table`` is empty), awards by level and table, wagers and rounds by
    table (``level`` is empty; ``pool`` too where the table plays for none).
    """

    at_ms: int
    """When the slice began."""
    pool: str
    level: str
    table: str
    wagers: int = 0
    """Progressive wagers of seats, less those that went back."""
    wagered_cents: int = 0
    rounds: int = 0
    """Each once, when it was reported first."""
    hands: int = 0
    """Seats in those rounds."""
    in_units: int = 0
    """What wagers brought into the level, less reversals."""
    hits: int = 0
    """Awards locked, less those rejected or withdrawn afterwards."""
    win_units: int = 0
    """Their amounts."""


@dataclass(slots=True)
class Group:
    """Everything one batch changed. Rows of events, entries, steps and alarms are new, their ids
    follow the last ones without gaps; the others replace the row of the same key.

    The store refuses a group whose events do not take each journal from ``journals_before`` to the
    watermark in ``journals`` in steps of one, or whose entries do not explain the new balances.
    """

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
    keys: dict[str, KeyRow] = field(default_factory=dict)
    accounts: dict[str, AccountRow] = field(default_factory=dict)
    sums: list[SumRow] = field(default_factory=list)
    """To be added to what is stored; each slice, pool, level and table once."""

    def __bool__(self) -> bool:
        return bool(
            self.events
            or self.entries
            or self.steps
            or self.alarms
            or self.balances
            or self.levels
            or self.journals
            or self.awards
            or self.keys
            or self.accounts
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """How the money stands after an event."""

    last_event: int
    balances: list[BalanceRow]
    levels: list[LevelRow]
    open_awards: list[AwardRow]
    """Those not yet paid, rejected or withdrawn, where they were asked for."""


@dataclass(slots=True)
class Saved:
    """What a store gives back at a start: enough for the ledger to go on."""

    last_event: int = 0
    last_order: int = 0
    """``n`` of the last order."""
    staff: int = 0
    staff_head: str = ""
    """Number and head of the chain of staff orders."""
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
    keys: list[KeyRow] = field(default_factory=list)
    accounts: list[AccountRow] = field(default_factory=list)
