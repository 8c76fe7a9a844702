"""What the loop answers, one struct for each request.

Names and order of the fields are those of the JSON on the control socket; the commands read the
same structs back.
"""

from __future__ import annotations

import msgspec

from link.rows import (
    AccountRow,
    AlarmRow,
    AwardRow,
    AwardStep,
    BalanceRow,
    Entry,
    EventRow,
    JournalState,
    KeyRow,
    LevelRow,
)
from link.store.contract import Manifest


class Reply(msgspec.Struct, frozen=True):
    """Every answer; without fields: it is done."""


class Refusal(Reply, frozen=True):
    error: str
    """The code."""
    text: str


class Ordered(Reply, frozen=True):
    """An order is durable; ``by`` are the accounts that gave it."""

    ok: bool
    by: list[str]


class PasswordFits(Reply, frozen=True):
    ok: bool
    name: str
    role: str
    change: int
    """As the feed's part ``accounts`` tells it for this account."""


class BackedUp(Reply, frozen=True):
    ok: bool
    manifest: Manifest


class AccountFound(Reply, frozen=True):
    """For the thread that checks a password; never leaves the process."""

    account: AccountRow | None
    waiting_ms: int


class Endpoints(msgspec.Struct, frozen=True):
    """Of one door."""

    tables: str
    signs: str


class StatusReply(Reply, frozen=True):
    server: str
    leading: bool
    epoch: int
    tables: int
    test_mode: list[str]
    store: str
    trouble: str
    clock_behind_ms: int
    standing: list[str]
    """Alarms that stay until people have dealt with them."""
    endpoints: list[Endpoints]
    counts: dict[str, int]


class LevelMeter(msgspec.Struct, frozen=True):
    pool: str
    level: str
    cents: int
    generation: int
    pending: int


class MetersReply(Reply, frozen=True):
    meters: list[LevelMeter]


class ConnectedTable(msgspec.Struct, frozen=True):
    table: str
    journal: str
    version: int
    test_mode: bool
    silent_ms: int
    key: str
    """Its fingerprint."""


class TablesReply(Reply, frozen=True):
    tables: list[ConnectedTable]
    next: str


class LevelTerms(msgspec.Struct, frozen=True):
    pool: str
    level: str
    generation: int
    hits: int
    parameters: str
    next_parameters: str


class PoolsReply(Reply, frozen=True):
    levels: list[LevelTerms]
    balances: list[BalanceRow]


class ListedKey(KeyRow, frozen=True, kw_only=True):
    fingerprint: str
    valid: bool


class KeysReply(Reply, frozen=True):
    keys: list[ListedKey]
    next: str


class ListedAccount(msgspec.Struct, frozen=True):
    """Everything but what the password could be guessed from; ``key`` is its fingerprint."""

    name: str
    role: str
    failures: int
    by: str
    at_ms: int
    disabled: bool
    waiting_ms: int
    key: str


class AccountsReply(Reply, frozen=True):
    accounts: list[ListedAccount]
    unacknowledged: int
    next: str


class ListedJournal(msgspec.Struct, frozen=True):
    journal: str
    table: str
    state: JournalState
    n: int
    seq: int
    hash: str
    head_seq: int
    head_hash: str
    received_ms: int
    why: str
    accepted_by: tuple[str, ...]


class JournalsReply(Reply, frozen=True):
    journals: list[ListedJournal]
    next: str


class AwardsReply(Reply, frozen=True):
    awards: list[AwardRow]
    steps: list[AwardStep]
    next: str


class AlarmsReply(Reply, frozen=True):
    alarms: list[AlarmRow]
    next: str


# --- stored rows: bodies and parameters are JSON text ---------------------------------------------


class EventText(msgspec.Struct, frozen=True):
    id: int
    table: str
    journal: str
    n: int
    seq: int
    hash: str
    at_ms: int
    received_ms: int
    body: str
    chain: str

    def row(self) -> EventRow:
        return EventRow(**{**msgspec.structs.asdict(self), "body": self.body.encode()})


class LevelText(msgspec.Struct, frozen=True):
    pool: str
    level: str
    generation: int
    parameters: str
    next_parameters: str
    hits: int
    state: str

    def row(self) -> LevelRow:
        texts = (self.parameters.encode(), self.next_parameters.encode())
        return LevelRow(
            self.pool, self.level, self.generation, *texts, self.hits, self.state.encode()
        )


class EventsPage(Reply, frozen=True):
    rows: list[EventText]
    next: int


class EntriesPage(Reply, frozen=True):
    rows: list[Entry]
    next: int


class AlarmsPage(Reply, frozen=True):
    rows: list[AlarmRow]
    next: int


class MarkReply(Reply, frozen=True):
    last_event: int
    balances: list[BalanceRow]
    levels: list[LevelText]
    open_awards: list[AwardRow]
