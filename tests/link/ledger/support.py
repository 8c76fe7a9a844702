"""A store in memory, and tables that number and chain their events: what the ledger tests need."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from link.ledger.history import History, check_history
from link.ledger.ledger import Ledger
from link.ledger.orders import Order, Person
from link.ledger.rounds import OPEN
from link.ledger.state import Greeting, Reply
from link.ledger.terms import MustHit, Pool, PoolTerms, Terms
from link.rows import (
    AlarmRow,
    AwardRow,
    AwardStep,
    BalanceRow,
    Entry,
    EventRow,
    Group,
    JournalRow,
    LevelRow,
    Saved,
)
from record.link import codec
from record.link.events import (
    AnyBody,
    Claim,
    Claimed,
    Contributed,
    FixedAward,
    Reversed,
    RoundPlayed,
    Wager,
    Withdrawn,
)
from record.link.messages import Checkpoint, Event, Hello, Locked, ServerRefused

NIL = "0" * 64
ANNA = Person("anna", "supervisor")
BEN = Person("ben", "cage")
CARL = Person("carl", "supervisor")
DORA = Person("dora", "technician")
BOTH = (ANNA, BEN)
SHARES = {"royal flush": 100, "straight flush": 10}


def terms(**changes: Any) -> Terms:
    """A plain level: base 1,000.00, reset 500.00, 0.37 % of each wager."""
    plain: dict[str, Any] = {
        "level": "main",
        "base_cents": 100_000,
        "reset_cents": 50_000,
        "rate_ppm": 3_700,
        "shares": dict(SHARES),
    }
    plain.update(changes)
    if "must_hit" in changes:
        plain["shares"] = {}
    return Terms(**plain)


def mystery(**changes: Any) -> Terms:
    plain: dict[str, Any] = {
        "level": "mystery",
        "base_cents": 1_000,
        "reset_cents": 500,
        "rate_ppm": 10_000,
        "must_hit": MustHit(2_000, 3_000),
    }
    return terms(**{**plain, **changes})


def pool(
    *levels: Terms,
    name: str = "pool",
    tables: Sequence[str] = ("T1", "T2", "T3", "T4"),
    **more: Any,
) -> Pool:
    members = PoolTerms(tables=dict.fromkeys(tables, "MBS3"), **more)
    return Pool(pool=name, terms=members, levels=levels or (terms(),))


class Sealed:
    """Seals by turning bytes round: the tests look for what must not be readable."""

    def seal(self, secret: bytes) -> bytes:
        return bytes(255 - b for b in secret)

    def unseal(self, sealed: bytes) -> bytes | None:
        return self.seal(sealed)


class Chance:
    """Seeds 1, 2, 3, ... as 32 bytes."""

    def __init__(self) -> None:
        self.given = 0

    def __call__(self) -> bytes:
        self.given += 1
        return hashlib.sha256(b"chance %d" % self.given).digest()


class MemoryStore:
    """Commits a group whole, after the checks that every store makes."""

    def __init__(self) -> None:
        self.events: list[EventRow] = []
        self.entries: list[Entry] = []
        self.steps: list[AwardStep] = []
        self.alarms: list[AlarmRow] = []
        self.balances: dict[tuple[str, str, str], BalanceRow] = {}
        self.levels: dict[tuple[str, str], LevelRow] = {}
        self.journals: dict[str, JournalRow] = {}
        self.awards: dict[str, AwardRow] = {}

    def commit(self, group: Group) -> None:
        for kind, have in (("events", self.events), ("entries", self.entries)):
            for row in getattr(group, kind):
                assert row.id == len(have) + 1, f"{kind}: id {row.id} after {len(have)}"
                have.append(row)
        for alarm in group.alarms:
            assert alarm.id == len(self.alarms) + 1
            self.alarms.append(alarm)
        for name, before in group.journals_before.items():
            known = self.journals.get(name)
            assert before == (0 if known is None else known.n), f"watermark of {name}"
        moved: dict[tuple[str, str, str], int] = {}
        for entry in group.entries:
            for account, sign in ((entry.debit, -1), (entry.credit, 1)):
                key = (entry.pool, entry.level, account)
                moved[key] = moved.get(key, 0) + sign * entry.units
        for key in moved.keys() | group.balances.keys():
            old = self.balances[key].units if key in self.balances else 0
            assert group.balances[key].units == old + moved.get(key, 0), key
        self.steps += group.steps
        self.balances |= group.balances
        self.levels |= group.levels
        self.journals |= group.journals
        self.awards |= group.awards

    def saved(self) -> Saved:
        going = [row for row in self.awards.values() if row.state in OPEN]
        names = {row.award for row in going}
        return Saved(
            last_event=len(self.events),
            last_order=sum(not row.table for row in self.events),
            last_entry=len(self.entries),
            last_alarm=len(self.alarms),
            chain=self.events[-1].chain if self.events else "",
            balances=list(self.balances.values()),
            levels=list(self.levels.values()),
            journals=list(self.journals.values()),
            awards=going,
            steps=[step for step in self.steps if step.award in names],
        )

    def history(self) -> History:
        return History(
            events=self.events,
            entries=self.entries,
            balances=list(self.balances.values()),
            levels=list(self.levels.values()),
            journals=list(self.journals.values()),
            awards=list(self.awards.values()),
            steps=self.steps,
            alarms=self.alarms,
        )

    def recall(self, journal: str, n: int) -> EventRow | None:
        found = (row for row in self.events if row.journal == journal and row.n == n)
        return next(found, None)


class Table:
    """Numbers its events; each stands in a journal record of its own."""

    def __init__(self, name: str, journal: str = "", rule: str = "sequential") -> None:
        self.name, self.rule = name, rule
        self.journal = journal or hashlib.sha256(name.encode()).hexdigest()[:32]
        self.sent: list[Event] = []
        self.seq = 0
        self.head = NIL

    def record(self, what: str = "") -> str:
        """A journal record: the next number, and a hash over the one before."""
        self.seq += 1
        self.head = hashlib.sha256(f"{self.head}{self.seq}{what}".encode()).hexdigest()
        return self.head

    def event(self, body: AnyBody) -> Event:
        self.record(str(body))
        made = Event(len(self.sent) + 1, self.seq, self.head, 1_000 * self.seq, body)
        # Only what survives the wire counts.
        through = codec.from_table(codec.encode(made))
        assert isinstance(through, Event)
        self.sent.append(through)
        return through

    def hello(self, **changes: Any) -> Hello:
        said: dict[str, Any] = {
            "versions": (2,),
            "table": self.name,
            "journal": self.journal,
            "sent": len(self.sent),
            "seq": self.seq,
            "head": self.head,
            "game": "MBS3",
            "meter_rule": self.rule,
            "program": "test",
            "configuration": NIL,
        }
        return Hello(**{**said, **changes})

    def checkpoint(self) -> Checkpoint:
        return Checkpoint(self.seq, self.head, 1_000 * self.seq)


class Floor:
    """A ledger over a store in memory; every call is committed as a group of its own."""

    def __init__(self, *pools: Pool, tables: Sequence[str] = ("T1", "T2", "T3", "T4")) -> None:
        self.pools = pools or (pool(),)
        self.store, self.chance, self.sealer = MemoryStore(), Chance(), Sealed()
        self.now_ms = 1_000_000
        self.grouped = True
        """False: one group for many calls, until ``commit``."""
        self.start()
        rule = self.pools[0].levels[0].meter_rule
        self.tables = {name: Table(name, rule=rule) for name in tables}
        for name in tables:
            assert self.hello(name).refused is None

    def start(self) -> None:
        """From what the store has, as after a crash."""
        self.ledger = Ledger(
            self.pools,
            self.store.saved(),
            recall=self.store.recall,
            sealer=self.sealer,
            chance=self.chance,
        )
        self.ledger.open(self.now_ms)
        self.commit()

    def commit(self) -> None:
        self.store.commit(self.ledger.group(1))

    def _done(self) -> None:
        if self.grouped:
            self.commit()

    def hello(self, name: str, **changes: Any) -> Greeting:
        greeting = self.ledger.hello(name, self.tables[name].hello(**changes), self.now_ms)
        self._done()
        return greeting

    def send(self, name: str, event: Event) -> list[Reply]:
        replies = self.ledger.take(name, self.tables[name].journal, event, self.now_ms)
        self._done()
        return replies

    def tell(self, name: str, body: AnyBody) -> list[Reply]:
        """A new event of the table."""
        return self.send(name, self.tables[name].event(body))

    def order(self, order: Order, by: Person | Sequence[Person] = ANNA) -> list[Reply]:
        replies = self.ledger.order(order, by, self.now_ms)
        self._done()
        return replies

    def tick(self, ms: int = 0) -> list[Reply]:
        self.now_ms += ms
        replies = self.ledger.tick(self.now_ms)
        self._done()
        return replies

    # --- shorthands -----------------------------------------------------------------------------

    def bet(self, name: str, number: int, *seats: int, cents: int = 100) -> list[Reply]:
        wagers = tuple(Wager(seat, cents, 1) for seat in seats)
        return self.tell(name, Contributed(number, wagers))

    def back(self, name: str, number: int, *seats: int, cents: int = 100) -> list[Reply]:
        wagers = tuple(Wager(seat, cents, 1) for seat in seats)
        return self.tell(name, Reversed(number, wagers))

    def claim(self, name: str, number: int, *claims: tuple[int, str]) -> list[Reply]:
        """``(seat, hand)`` with the share that the pool has for it."""
        hands = {h: p for a in self.pools for t in a.levels for h, p in t.shares.items()}
        told = tuple(Claim(seat, hand, hands[hand]) for seat, hand in claims)
        return self.tell(name, Claimed(number, told))

    def hit(self, name: str, number: int, hand: str = "royal flush", seat: int = 1) -> Locked:
        """A wager and its claim; locked at once."""
        self.bet(name, number, seat)
        return locked(self.claim(name, number, (seat, hand)))

    def withdraw(self, name: str, number: int, *seats: int) -> list[Reply]:
        return self.tell(name, Withdrawn(number, seats))

    def played(self, name: str, number: int, *awards: tuple[int, str, int]) -> list[Reply]:
        paid = tuple(FixedAward(*award) for award in awards)
        return self.tell(name, RoundPlayed(number, {}, {}, paid))

    def balances(self, level: str = "main", pool: str = "pool") -> dict[str, int]:
        """The accounts that hold anything, in units."""
        self.ledger.state.settle()
        held = self.ledger.state.pool(pool).level(level).balances
        return {account: units for account, units in held.items() if units}

    def shown(self, level: str = "main", pool: str = "pool") -> int:
        self.ledger.state.settle()
        return self.ledger.state.pool(pool).level(level).shown_cents

    def state_of(self, award: str) -> str:
        return self.store.awards[award].state

    def check(self) -> Ledger:
        """Every invariant over every row."""
        return check_history(self.store.history(), self.sealer)


def locked(replies: Sequence[Reply]) -> Locked:
    found = [message for _, message in replies if isinstance(message, Locked)]
    assert len(found) == 1, replies
    return found[0]


def refused(replies: Sequence[Reply]) -> ServerRefused:
    message = replies[0][1]
    assert isinstance(message, ServerRefused), replies
    return message
