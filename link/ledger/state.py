"""Everything the ledger holds in memory, and what has changed of it since the last group."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from link.ledger.errors import LedgerBroken, PoolError
from link.ledger.level import PAID, PENDING, Level, Sum
from link.ledger.rounds import (
    HELD,
    KEPT,
    Held,
    Memory,
    Part,
    RoundBook,
    Selection,
    Spread,
    read_memory,
    write_memory,
)
from link.ledger.sums import HITS, WIN_UNITS, Tally
from link.ledger.terms import PoolTerms
from link.ledger.units import money_text
from link.rows import (
    AlarmRow,
    AwardState,
    AwardStep,
    Entry,
    EventRow,
    JournalRow,
    JournalState,
    chain_of,
    staff_head,
    staff_text,
)
from record.link.events import SelectionWanted
from record.link.messages import Event, FromServer, MeterValue, ServerRefused

Sign = Callable[[bytes], tuple[str, ...]]
"""The signatures of those who give an order, over the text they sign."""
Reply = tuple[str, FromServer]
"""The table it goes to, and the message. To be sent after the commit."""

REMEMBERED: Final = 16
"""Events of a journal that are known without asking the store."""


NO_WITNESS: Final = (0, "")
UNREASONABLE: Final = "E-LNK-016"


class Poison(Exception):
    """An event that breaks the rules: not applied, the journal is halted. Raised before anything
    has changed."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


def must_fit(level: Level, units: int, where: str) -> None:
    """Refuse what the store's columns could not hold, before anything has changed."""
    if units > level.headroom:
        raise Poison(
            UNREASONABLE,
            f"{where}: level {level.pool}/{level.name} cannot hold {money_text(units)} more: its "
            "accounts are full; move its money to a new pool",
        )


class TableJournal:
    __slots__ = (
        "accepted_by",
        "forgotten",
        "hash",
        "head_hash",
        "head_seq",
        "journal",
        "marks",
        "n",
        "played",
        "received_ms",
        "rounds",
        "selection",
        "seq",
        "skip",
        "skip_hash",
        "state",
        "table",
        "wanted",
        "why",
        "witness",
    )

    def __init__(self, journal: str, table: str, state: JournalState) -> None:
        self.journal, self.table = journal, table
        self.state: JournalState = state
        self.n = self.seq = self.head_seq = self.received_ms = 0
        self.hash = self.head_hash = self.why = ""
        self.accepted_by: tuple[str, ...] = ()
        self.rounds: dict[int, RoundBook] = {}
        self.forgotten = self.skip = self.played = 0
        self.skip_hash = ""
        self.marks: dict[int, int] = {}
        """Number to Python's hash of the record's hash and the body, keyed per process: nobody can
        make two bodies with one mark. A miss compares the stored body itself."""
        self.selection: Selection | None = None
        self.witness = NO_WITNESS
        """The head before the last hello, until the table has told its hash again. Not stored: the
        next hello asks again."""
        self.wanted: SelectionWanted | None = None
        """Answered before the group ends: never stored."""

    def row(self) -> JournalRow:
        return JournalRow(
            self.journal,
            self.table,
            self.state,
            self.n,
            self.seq,
            self.hash,
            self.head_seq,
            self.head_hash,
            self.received_ms,
            self.why,
            self.accepted_by,
            write_memory(
                Memory(
                    list(self.rounds.values()),
                    self.forgotten,
                    self.skip,
                    self.skip_hash,
                    self.selection,
                    self.played,
                )
            ),
        )

    @classmethod
    def load(cls, row: JournalRow) -> TableJournal:
        journal = cls(row.journal, row.table, row.state)
        journal.n, journal.seq, journal.hash = row.n, row.seq, row.hash
        journal.head_seq, journal.head_hash = row.head_seq, row.head_hash
        journal.received_ms, journal.why = row.received_ms, row.why
        journal.accepted_by = row.accepted_by
        memory = read_memory(row.rounds)
        journal.rounds = {book.round: book for book in memory.rounds}
        journal.forgotten = memory.forgotten
        journal.skip, journal.skip_hash = memory.skip, memory.skip_hash
        journal.selection, journal.played = memory.selection, memory.played
        return journal


class PoolState:
    """A pool and its levels; ``waiting`` are claims that a tie may still join, in order.

    Contributions that fit everywhere are counted here in cents (``came``, ``count``) and spread
    over the levels at ``settle``, before anything else looks at them; ``room`` is how many fit,
    below 0 if that must be looked up again.
    """

    __slots__ = (
        "allowed",
        "came",
        "count",
        "first_event",
        "hands",
        "last_event",
        "levels",
        "most_cents",
        "pool",
        "room",
        "spreads",
        "terms",
        "waiting",
    )

    def __init__(self, pool: str) -> None:
        self.pool = pool
        self.levels: list[Level] = []
        self.waiting: list[tuple[TableJournal, RoundBook]] = []
        self.spreads: tuple[Spread, ...] = ()
        self.hands: dict[str, Level] = {}
        self.came = self.count = self.first_event = self.last_event = 0
        self.room = -1
        self.link(PoolTerms(tables={}))

    def link(self, terms: PoolTerms) -> None:
        self.terms = terms
        self.most_cents = terms.most_cents
        self.allowed = frozenset(
            (cents * credits, credits)
            for cents in terms.denominations_cents
            for credits in range(1, terms.max_credits + 1)
        )

    def arrange(self) -> None:
        """After a level opened or began a generation."""
        self.levels.sort(key=lambda level: level.state.position)
        self.spreads = tuple(level.plain for level in self.levels)
        self.hands = {hand: level for level in self.levels for hand in level.terms.shares}

    @property
    def most_award_cents(self) -> int:
        """The largest award beside the jackpot that the pool bears."""
        return self.terms.award_most(self.first.terms)

    @property
    def first(self) -> Level:
        return self.levels[0]

    @property
    def closed(self) -> bool:
        return any(level.state.closed for level in self.levels)

    def level(self, name: str) -> Level:
        for level in self.levels:
            if level.name == name:
                return level
        raise PoolError("E-POOL-020", f"pool {self.pool} has no level {name}")

    def meters(self) -> tuple[MeterValue, ...]:
        return () if self.closed else tuple(level.meter() for level in self.levels)


@dataclass(frozen=True, slots=True)
class Greeting:
    """The answer to a ``Hello``: a ``Welcome`` with ``n`` and then the replies, or a refusal."""

    n: int
    refused: ServerRefused | None = None
    replies: list[Reply] = field(default_factory=list)
    seq: int = 0
    """The record whose hash the table must tell again; 0: none."""


class State:
    """``event`` is the id of the event that is being applied, or the next one."""

    def __init__(self) -> None:
        self.pools: dict[str, PoolState] = {}
        self.pool_of: dict[str, PoolState] = {}
        """Table to the pool it plays for."""
        self.journals: dict[str, TableJournal] = {}
        self.journals_of: dict[str, list[TableJournal]] = {}
        """The same by table: with ten thousand of them nobody looks at all for one."""
        self.awards: dict[str, Held] = {}
        """Of the rounds that are remembered."""
        self.event = 1
        self.last_order = self.last_entry = self.last_alarm = 0
        self.chain = self.staff_head = ""
        self.staff = 0
        """Number and head of the chain of staff orders."""
        self.at_ms = 0
        """When the event being applied was received."""
        self.unsettled: list[PoolState] = []
        """Pools with contributions that are not spread over their levels yet."""
        self.undrawn: list[Level] = []
        self.unselected: list[TableJournal] = []
        """Those whose table waits for a selection."""
        """Mystery levels whose generation has no trigger yet."""
        self.clear()

    def clear(self) -> None:
        """A group was handed over."""
        self.events: list[EventRow] = []
        self.entries: list[Entry] = []
        self.steps: list[AwardStep] = []
        self.alarms: list[AlarmRow] = []
        self.changed_levels: dict[tuple[str, str], Level] = {}
        self.changed_journals: dict[str, int] = {}
        """Journal to its watermark before the group."""
        self.changed_awards: dict[str, Held] = {}
        self.resets: dict[tuple[str, str], int] = {}
        """Resets of the group by level."""
        self.tally = Tally()

    # --- finding --------------------------------------------------------------------------------

    def pool(self, name: str) -> PoolState:
        found = self.pools.get(name)
        if found is None:
            raise PoolError("E-POOL-020", f"there is no pool {name}")
        return found

    def level_of(self, held: Held) -> Level:
        return self.pools[held.pool].level(held.level)

    def pending(self, level: Level) -> list[Held]:
        """Awards with money of this level set aside, the latest first."""
        mine = (level.pool, level.name)
        found = [h for h in self.awards.values() if h.state in HELD and (h.pool, h.level) == mine]
        return sorted(found, key=lambda held: held.order, reverse=True)

    def levels(self) -> Iterable[Level]:
        return (level for pool in self.pools.values() for level in pool.levels)

    def add_journal(self, journal: TableJournal) -> None:
        self.journals[journal.journal] = journal
        self.journals_of.setdefault(journal.table, []).append(journal)

    # --- rounds ---------------------------------------------------------------------------------

    def new_book(self, journal: TableJournal, pool: str, number: int) -> RoundBook:
        """A round begins; the oldest that nothing hangs on are forgotten."""
        rounds = journal.rounds
        book = rounds[number] = RoundBook(number, pool)
        spare = len(rounds) - KEPT
        if spare > 0:
            for old in (next(iter(rounds)),) if spare == 1 else list(rounds)[:spare]:
                awards = rounds[old].awards
                if awards:
                    if rounds[old].open:
                        continue
                    for held in awards:
                        del self.awards[held.award]
                del rounds[old]
                journal.forgotten = max(journal.forgotten, old)
        return book

    # --- money ----------------------------------------------------------------------------------

    def move(
        self, level: Level, debit: str, credit: str, units: int, why: str, *, award: str = ""
    ) -> None:
        """One entry of its own, after the contributions that came before it."""
        if units < 0:
            raise LedgerBroken("I1", f"{units} units from {debit} to {credit}")
        if not units:
            return
        self.flush(level)
        level.balances[debit] -= units
        level.balances[credit] += units
        if award and (credit == PENDING or (debit == PENDING and credit != PAID)):
            table = self.awards[award].table
            won = self.tally.of(self.at_ms, level.pool, level.name, table)
            won[WIN_UNITS] += units if credit == PENDING else -units
        self._entry(level, (debit, credit, why), Sum(units, self.event), award)

    def move_parts(
        self, level: Level, debit: str, parts: Iterable[Part], why: str, *, award: str = ""
    ) -> None:
        for credit, units in parts:
            self.move(level, debit, credit, units, why, award=award)

    def settle(self) -> None:
        """Spread what came over the levels. Called before anything but a plain contribution."""
        for pool in self.unsettled:
            for level in pool.levels:
                self.touch(level)
                level.add_plain(pool.came, pool.count, pool.first_event, pool.last_event)
            pool.came = pool.count = pool.first_event = 0
        self.unsettled.clear()

    def flush(self, level: Level) -> None:
        """Write down the contributions summed up so far."""
        self.touch(level)
        if level.sums:
            for key, found in level.sums.items():
                self._entry(level, key, found)
            level.sums = {}

    def _entry(self, level: Level, key: tuple[str, str, str], found: Sum, award: str = "") -> None:
        self.last_entry += 1
        debit, credit, why = key
        level.touched.update((debit, credit))
        self.entries.append(
            Entry(
                id=self.last_entry,
                pool=level.pool,
                level=level.name,
                generation=level.generation,
                debit=debit,
                credit=credit,
                units=found.units,
                why=why,
                first=found.first,
                through=found.through,
                award=award,
            )
        )

    # --- what changed ---------------------------------------------------------------------------

    def touch(self, level: Level) -> None:
        self.changed_levels[level.pool, level.name] = level
        self.pools[level.pool].room = -1

    def touch_journal(self, journal: TableJournal) -> None:
        self.changed_journals.setdefault(journal.journal, journal.n)

    def touch_award(self, held: Held) -> None:
        """Its round stands in the journal's row."""
        self.changed_awards[held.award] = held
        self.touch_journal(self.journals[held.journal])

    def step(self, held: Held, state: AwardState, by: str, role: str, note: str = "") -> None:
        """The award's next step of record; ``state`` may be the one it is in."""
        level = self.level_of(held)
        level.open_awards += (state in HELD) - (held.state in HELD)
        hit = (state == "locked" and held.state == "claimed") - (
            state in ("rejected", "withdrawn") and held.state in HELD
        )
        if hit:
            self.tally.of(self.at_ms, held.pool, held.level, held.table)[HITS] += hit
        held.state = state
        held.steps += 1
        self.steps.append(
            AwardStep(held.award, held.steps, state, by, role, self.at_ms, note, self.event)
        )
        self.touch_award(held)
        self.touch(level)

    def alarm(self, code: str, table: str, text: str) -> None:
        self.last_alarm += 1
        self.alarms.append(AlarmRow(self.last_alarm, code, table, text, self.at_ms, self.event))

    # --- the record -----------------------------------------------------------------------------

    def signed(self, body: bytes, at_ms: int, sign: Sign) -> bytes:
        """The order with the proofs of the people who give it, next in the chain."""
        proofs = sign(staff_text(self.staff_head, self.staff + 1, at_ms, body))
        body = b'%b,"proofs":%b}' % (body[:-1], msgspec.json.encode(proofs))
        self.staffed(body, at_ms)
        return body

    def staffed(self, body: bytes, at_ms: int) -> None:
        """One more in the chain of staff orders."""
        self.staff += 1
        self.staff_head = staff_head(self.staff_head, self.staff, at_ms, body)

    def record(
        self,
        body: bytes,
        received_ms: int,
        journal: TableJournal | None = None,
        message: Event | None = None,
    ) -> None:
        """The event of record; without a journal an order."""
        table, name, n, at_ms = "", "", self.last_order, received_ms
        seq, hash = self.staff, self.staff_head
        if journal is not None and message is not None:
            table, name, n = journal.table, journal.journal, message.n
            seq, hash, at_ms = message.seq, message.hash, message.at_ms
        chain = chain_of(
            self.chain,
            id=self.event,
            table=table,
            journal=name,
            n=n,
            seq=seq,
            hash=hash,
            at_ms=at_ms,
            received_ms=received_ms,
            body=body,
        )
        self.events.append(
            EventRow(self.event, table, name, n, seq, hash, at_ms, received_ms, body, chain)
        )
        self.chain = chain
        self.event += 1
