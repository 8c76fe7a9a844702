"""A bookkeeper for the tests: groups as a ledger would hand them over, small and exact.

One pool, one level. A wager of 500 cents puts 10 % on display and 2 % into the reserve: 50,000,000
and 10,000,000 units of 1,000,000 to the cent. Its own memory of what it handed over is the model
that a store is compared with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from link.rows import (
    AccountRow,
    AlarmRow,
    AwardRow,
    AwardState,
    AwardStep,
    BalanceRow,
    Entry,
    EventRow,
    Group,
    JournalRow,
    KeyRow,
    LevelRow,
    Saved,
    chain_of,
)
from link.store.backup import Explain
from link.store.base import Store

POOL, LEVEL = "mega", "main"
DISPLAY_UNITS = 50_000_000
RESERVE_UNITS = 10_000_000
START_MS = 1_790_000_000_000
BODY = b'{"what":"contributed","round":%d,"wagers":[[1,500]]}'


def journal_id(number: int) -> str:
    return f"{number:032x}"


class Book:
    """What was handed over so far. ``copy_of`` goes on from what a store gave back."""

    def __init__(self, epoch: int, copy_of: Saved | None = None) -> None:
        saved = copy_of or Saved()
        self.epoch = epoch
        self.event, self.entry, self.alarm = saved.last_event, saved.last_entry, saved.last_alarm
        self.order, self.chain = saved.last_order, saved.chain
        self.units = {(r.pool, r.level, r.account): r.units for r in saved.balances}
        self.journals = {r.journal: r for r in saved.journals}
        self.steps = {r.award: r.step for r in saved.steps}
        self.levels = {(r.pool, r.level): r for r in saved.levels}
        self.events: list[EventRow] = []
        self.entries: list[Entry] = []

    # --- parts of a group --------------------------------------------------------------------

    def _event(self, group: Group, table: str, journal: str, n: int, body: bytes) -> EventRow:
        self.event += 1
        hash_ = hashlib.sha256(f"{journal} {n}".encode()).hexdigest() if journal else ""
        seq = n * 3 if journal else 0
        at_ms, received_ms = START_MS + self.event * 10, START_MS + self.event * 10 + 1
        self.chain = chain_of(
            self.chain,
            id=self.event,
            table=table,
            journal=journal,
            n=n,
            seq=seq,
            hash=hash_,
            at_ms=at_ms,
            received_ms=received_ms,
            body=body,
        )
        row = EventRow(
            self.event, table, journal, n, seq, hash_, at_ms, received_ms, body, self.chain
        )
        group.events.append(row)
        self.events.append(row)
        return row

    def timed(self, row: EventRow, received_ms: int) -> EventRow:
        """The same event, received at another time, chained to what this book has."""
        self.chain = chain_of(
            self.chain,
            id=row.id,
            table=row.table,
            journal=row.journal,
            n=row.n,
            seq=row.seq,
            hash=row.hash,
            at_ms=row.at_ms,
            received_ms=received_ms,
            body=row.body,
        )
        return replace(row, received_ms=received_ms, chain=self.chain)

    def _move(self, group: Group, debit: str, credit: str, units: int, first: int) -> None:
        self.entry += 1
        entry = Entry(self.entry, POOL, LEVEL, 1, debit, credit, units, "wagers", first, self.event)
        group.entries.append(entry)
        self.entries.append(entry)
        for account, change in ((debit, -units), (credit, units)):
            key = (POOL, LEVEL, account)
            self.units[key] = self.units.get(key, 0) + change
            group.balances[key] = BalanceRow(*key, self.units[key])

    # --- groups ------------------------------------------------------------------------------

    def opening(self, tables: int = 1) -> Group:
        """The level, and journals 1, 2, ... of tables T-1, T-2, ..., without an event yet."""
        group = Group(self.epoch)
        self.order += 1
        self._event(group, "", "", self.order, b'{"what":"open"}')
        level = LevelRow(POOL, LEVEL, 1, b'{"rate":100000}', b"", 0, b"{}")
        group.levels[POOL, LEVEL] = self.levels[POOL, LEVEL] = level
        for number in range(1, tables + 1):
            journal = journal_id(number)
            row = JournalRow(journal, f"T-{number}", "active", 0, 0, "", 0, "", START_MS)
            group.journals[journal] = self.journals[journal] = row
            group.journals_before[journal] = 0
        return group

    def contributions(self, numbers: Sequence[int] = (1,)) -> Group:
        """One wager at each of these tables, in this order; a table may be named more than once."""
        group = Group(self.epoch)
        for number in numbers:
            row = self.journals[journal_id(number)]
            event = self._event(group, row.table, row.journal, row.n + 1, BODY % (row.n + 1))
            group.journals_before.setdefault(row.journal, row.n)
            row = replace(
                row,
                n=event.n,
                seq=event.seq,
                hash=event.hash,
                received_ms=event.received_ms,
                rounds=b'[{"round":%d}]' % event.n,
            )
            group.journals[row.journal] = self.journals[row.journal] = row
        first = group.events[0].id
        self._move(group, "wagers", "display", DISPLAY_UNITS * len(numbers), first)
        self._move(group, "wagers", "reserve", RESERVE_UNITS * len(numbers), first)
        return group

    def checkpoint(self, number: int, seq: int, head: str) -> Group:
        """No event: only the head of a journal."""
        group = Group(self.epoch)
        row = replace(self.journals[journal_id(number)], head_seq=seq, head_hash=head)
        group.journals[row.journal] = self.journals[row.journal] = row
        group.journals_before[row.journal] = row.n
        return group

    def award(self, name: str, state: AwardState, *, number: int = 1, round_: int = 1) -> Group:
        """An order that brings an award into this state; the first one claims it."""
        group = Group(self.epoch)
        self.order += 1
        event = self._event(group, "", "", self.order, b'{"what":"%s"}' % state.encode())
        self.steps[name] = step = self.steps.get(name, 0) + 1
        journal = self.journals[journal_id(number)]
        group.awards[name] = AwardRow(
            award=name,
            pool=POOL,
            level=LEVEL,
            generation=1,
            order=int(name.rsplit("/", maxsplit=1)[-1]),
            table=journal.table,
            journal=journal.journal,
            round=round_,
            seat=3,
            hand="royal flush",
            percent=100,
            cents=1_234_567,
            state=state,
            policy="strict_order",
            event=event.id,
            jackpot_cents=1_234_567,
            reset_cents=1_000_000,
            seed_units=0,
        )
        group.steps.append(AwardStep(name, step, state, "anna", "manager", 5, "seen", event.id))
        return group

    def alarmed(self, text: str = "T-1 is silent") -> Group:
        group = Group(self.epoch)
        self.alarm += 1
        group.alarms.append(AlarmRow(self.alarm, "E-LNK-014", "T-1", text, START_MS, self.event))
        return group

    def people(self) -> Group:
        """A key and an account, with the order that made them."""
        group = Group(self.epoch)
        self.order += 1
        self._event(group, "", "", self.order, b'{"what":"enrol"}')
        key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
        group.keys[key] = KeyRow(key, "T-1", "table", START_MS, 0, 0, "anna", START_MS)
        group.accounts["anna"] = AccountRow(
            "anna", "manager", "scrypt$16384$8$1$c2FsdA$aGFzaA", 0, 0, "setup", START_MS
        )
        return group


def led(store: Store, tables: int = 1) -> Book:
    """A book whose epoch leads and whose level is open."""
    epoch = store.lead("one", 60_000)
    assert epoch is not None
    book = Book(epoch)
    store.commit(book.opening(tables))
    return book


def restore_order(by: tuple[tuple[str, str], ...], why: str, at_ms: int) -> Explain:
    """The order alone: (account, role) of the two who gave it, and why."""

    def explain(saved: Saved, epoch: int) -> Group:
        body = msgspec.json.encode({"by": by, "order": {"what": "restore", "why": why}})
        row = EventRow(
            id=saved.last_event + 1,
            table="",
            journal="",
            n=saved.last_order + 1,
            seq=saved.staff,
            hash=saved.staff_head,
            at_ms=at_ms,
            received_ms=at_ms,
            body=body,
            chain="",
        )
        chain = chain_of(
            saved.chain,
            id=row.id,
            table="",
            journal="",
            n=row.n,
            seq=row.seq,
            hash=row.hash,
            at_ms=at_ms,
            received_ms=at_ms,
            body=body,
        )
        return Group(epoch=epoch, events=[replace(row, chain=chain)])

    return explain
