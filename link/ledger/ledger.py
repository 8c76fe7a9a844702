"""The ledger: pools, journals and awards in memory, changed by events and orders, one at a time.

Pure: it reads no clock, draws nothing and writes nothing. Whatever it changed since the last time
is handed over by ``group`` for the store to commit; only then may replies be sent. If the commit
fails the process stops or builds a new ledger from the store: nothing is rolled back here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from link.ledger import (
    awards,
    claims,
    contributions,
    fixed,
    invariants,
    journals,
    mystery,
    selections,
)
from link.ledger import orders as o
from link.ledger.errors import PoolError
from link.ledger.level import LevelMeters
from link.ledger.loading import load
from link.ledger.mystery import Sealer
from link.ledger.order_handlers import carry_out
from link.ledger.orders import CLOCK, CONFIGURATION, SERVER, Given, Order, Person
from link.ledger.pools import check_change, check_plan, digest
from link.ledger.state import (
    NO_WITNESS,
    REMEMBERED,
    Greeting,
    Poison,
    Reply,
    Sign,
    State,
    TableJournal,
)
from link.ledger.terms import Pool, PoolTerms, check_pools
from link.rows import EventRow, Group, Saved
from record.kit.outside import printable
from record.link import events as ev
from record.link.codec import body_of, encode, encode_body
from record.link.messages import Ack, Checkpoint, Event, Hello, MeterValue, Noted, ServerRefused

Recall = Callable[[str, int], EventRow | None]
"""The stored event ``n`` of a journal, for numbers the ledger no longer remembers."""

NOBODY: Final = PoolTerms(tables={})
NotContributed = ev.Reversed | ev.Claimed | ev.Withdrawn | ev.RoundPlayed | ev.SelectionWanted


class Ledger:
    """See the module. ``pools`` is the configuration, ``saved`` what the store has."""

    def __init__(
        self,
        pools: Sequence[Pool],
        saved: Saved,
        *,
        recall: Recall | None = None,
        sealer: Sealer | None = None,
        chance: Callable[[], bytes] | None = None,
    ) -> None:
        """``chance`` gives 32 fresh bytes; needed with ``sealer`` where a level is a mystery."""
        check_pools(tuple(pools))
        self._pools, self._recall = tuple(pools), recall
        self._sealer, self._chance = sealer, chance
        self.state: State = load(saved, self._pools, sealer)

    # --- the start ------------------------------------------------------------------------------

    def open(self, at_ms: int, pools: Sequence[Pool] | None = None) -> None:
        """Once after the start, and with other ``pools`` when the configuration was read again:
        opens new levels, plans changed terms, links tables."""
        wanted = self._pools if pools is None else tuple(pools)
        check_pools(wanted)
        check_plan(self.state, wanted)
        self._pools, self.state.at_ms = wanted, at_ms
        stated = {pool.pool: pool.terms for pool in self._pools}
        # Tables that change pools leave the old one before they join the new one.
        for name, pool in self.state.pools.items():
            if digest(stated.get(name, NOBODY)) != pool.first.state.members:
                self._link(name, NOBODY, at_ms)
        for stated_pool in self._pools:
            self._plan(stated_pool, at_ms)
            self._link(stated_pool.pool, stated_pool.terms, at_ms)
        self._draw(at_ms)

    def _plan(self, pool: Pool, at_ms: int) -> None:
        known = self.state.pools.get(pool.pool)
        levels = {} if known is None else {level.name: level for level in known.levels}
        for terms in pool.levels:
            level = levels.get(terms.level)
            if level is None:
                self._given(o.Open(pool.pool, terms), (CONFIGURATION,), at_ms)
            elif level.coming != terms:
                self._given(o.Change(pool.pool, terms), (CONFIGURATION,), at_ms)

    def _link(self, name: str, terms: PoolTerms, at_ms: int) -> None:
        if self.state.pools[name].first.state.members != digest(terms):
            self._given(o.LinkTables(name, terms), (CONFIGURATION,), at_ms)

    def _draw(self, at_ms: int) -> None:
        """Triggers for the mystery levels that have none."""
        while self.state.undrawn:
            if self._sealer is None or self._chance is None:
                raise PoolError("E-POOL-018", "a mystery level needs chance and a sealing key")
            order = mystery.draw(self.state.undrawn[0], self._chance(), self._sealer)
            self._given(order, (SERVER,), at_ms)

    def _select(self, at_ms: int) -> list[Reply]:
        """Magic card and lucky player for the table that asked."""
        replies: list[Reply] = []
        while self.state.unselected:
            if self._chance is None:
                raise PoolError("E-POOL-018", "a selection needs chance")
            order = selections.draw(self.state.unselected[0], self._chance(), self._chance())
            replies += self._given(order, (SERVER,), at_ms)
        return replies

    # --- tables ---------------------------------------------------------------------------------

    def hello(self, table: str, message: Hello, received_ms: int) -> Greeting:
        """``table`` is who the key belongs to."""
        refused = self._welcome(table, message, received_ms)
        if refused is not None:
            return Greeting(0, refused)
        journal = self.state.journals[message.journal]
        known = max((journal.head_seq, journal.head_hash), (journal.seq, journal.hash))
        if known[0] < message.seq and journal.witness == NO_WITNESS:
            journal.witness = known
        self._seen(journal, message.seq, message.head, received_ms)
        return Greeting(journal.n, None, self._again(journal), journal.witness[0])

    def _welcome(self, table: str, message: Hello, received_ms: int) -> ServerRefused | None:
        state = self.state
        if message.table != table:
            return ServerRefused("E-LNK-012", f"this key is table {table}'s, not {message.table}'s")
        pool = state.pool_of.get(table)
        if pool is not None:
            game, rule = pool.terms.tables[table], pool.first.terms.meter_rule
            if game != message.game:
                text = f"table {table} plays {game} for pool {pool.pool}, not {message.game}"
                return ServerRefused("E-POOL-031", text)
            if rule != message.meter_rule:
                text = f"meter_rule is {rule} in pool {pool.pool}, not {message.meter_rule}"
                return ServerRefused("E-LNK-018", text)
        journal = state.journals.get(message.journal)
        if journal is None:
            if journals.too_many(state, table):
                return ServerRefused(
                    "E-LNK-013", f"table {table} has too many journals to be accepted"
                )
            self._given(o.Propose(message.journal, table), (SERVER,), received_ms)
            journal = state.journals[message.journal]
        refused = self._refusal(table, journal)
        if refused is not None:
            return refused
        wrong = journals.moved(journal, message.seq, message.head)
        if wrong is None and message.sent < journal.n:
            text = f"the table has {message.sent} events, but {journal.n} were taken"
            wrong = journals.WENT_BACK, text
        if wrong is not None:
            return self._halt(journal, *wrong, encode(message), received_ms)
        return None

    def _refusal(self, table: str, journal: TableJournal | None) -> ServerRefused | None:
        if journal is None or journal.table != table:
            return ServerRefused(
                "E-LNK-013", "this journal is not known for this table; say hello first"
            )
        if journal.state == "halted":
            return ServerRefused("E-LNK-015", f"halted: {journal.why}"[:500], halted=True)
        if journal.state == "retired":
            return ServerRefused("E-LNK-021", f"retired: {journal.why}"[:500])
        if journal.state != "active":
            text = f"journal {journal.journal} is {journal.state}; two people must accept a new one"
            return ServerRefused("E-LNK-013", text)
        return None

    def _again(self, journal: TableJournal) -> list[Reply]:
        """What the table may have missed about its last rounds."""
        replies: list[Reply] = []
        if journal.selection is not None:
            replies += selections.told(journal, journal.selection.round)
        for book in journal.rounds.values():
            replies += self._told(journal, book.round)
            replies += [
                awards.changed(h) for h in book.awards if h.state not in ("claimed", "locked")
            ]
        return replies

    def _told(self, journal: TableJournal, number: int) -> list[Reply]:
        book = journal.rounds.get(number)
        if book is None:
            return []
        replies = claims.told(journal, book)
        replies += [(journal.table, mystery.told(held)) for held in book.mysteries()]
        return replies

    def checkpoint(
        self, table: str, journal: str, message: Checkpoint, received_ms: int
    ) -> list[Reply]:
        """Answers ``Noted`` or ``ServerRefused``."""
        known = self.state.journals.get(journal)
        refused = self._refusal(table, known)
        if refused is None and known is not None:
            wrong = journals.witnessed(known, message.seq, message.hash)
            if known.witness[0] == message.seq and wrong is None:
                known.witness = NO_WITNESS
                return [(table, Noted(message.seq))]
            wrong = wrong or journals.moved(known, message.seq, message.hash)
            if wrong is None:
                self._seen(known, message.seq, message.hash, received_ms)
                return [(table, Noted(message.seq))]
            refused = self._halt(known, *wrong, encode(message), received_ms)
        return [(table, refused)] if refused is not None else []

    def _seen(self, journal: TableJournal, seq: int, hash: str, received_ms: int) -> None:
        if seq > journal.head_seq:
            self.state.touch_journal(journal)
            journal.head_seq, journal.head_hash, journal.received_ms = seq, hash, received_ms

    # --- events ---------------------------------------------------------------------------------

    def take(
        self, table: str, journal: str, message: Event, received_ms: int, body: bytes = b""
    ) -> list[Reply]:
        """An event of the journal that this connection said hello with; ``body`` as it came.
        Always answers with an ``Ack`` or a ``ServerRefused`` for this table, first in the list."""
        known = self.state.journals.get(journal)
        if known is None or known.table != table or known.state != "active":
            refused = self._refusal(table, known)
            assert refused is not None
            return [(table, msgspec.structs.replace(refused, n=message.n))]
        n = message.n
        body = body or encode_body(message.body)
        if n != known.n + 1:
            return self._out_of_turn(known, message, received_ms, body)
        if message.seq <= known.seq or (
            message.seq == known.head_seq and message.hash != known.head_hash
        ):
            text = f"event {n} stands in record {message.seq}, whose hash or place was another"
            refused = self._halt(known, journals.FORK, text, encode(message), received_ms)
            return [(table, msgspec.structs.replace(refused, n=n))]
        try:
            more = self._apply(known, message, received_ms, body)
        except Poison as poison:
            evidence = encode(message)
            refused = self._halt(known, poison.code, poison.text, evidence, received_ms)
            return [(table, msgspec.structs.replace(refused, n=n))]
        replies: list[Reply] = [(table, Ack(n))]
        if more:
            replies += more
        if self.state.undrawn:
            self._draw(received_ms)
        if self.state.unselected:
            replies += self._select(received_ms)
        return replies

    def _apply(
        self, journal: TableJournal, message: Event, received_ms: int, body: bytes
    ) -> list[Reply] | None:
        """One event, next in its journal; ``Poison`` before anything has changed."""
        state, n = self.state, message.n
        state.at_ms = received_ms
        more: list[Reply] | None = None
        if n != journal.skip or message.hash != journal.skip_hash:
            told = message.body
            if isinstance(told, ev.Contributed):  # most of them by far
                more = contributions.contribute(state, journal, told)
            else:
                more = self._effect(journal, told)
        if journal.journal not in state.changed_journals:
            state.changed_journals[journal.journal] = journal.n
        journal.n, journal.seq, journal.hash = n, message.seq, message.hash
        journal.received_ms = received_ms
        marks = journal.marks
        marks[n] = hash((message.hash, body))
        marks.pop(n - REMEMBERED, None)
        state.record(body, received_ms, journal, message)
        return more

    def _effect(self, journal: TableJournal, body: NotContributed) -> list[Reply]:
        state = self.state
        state.settle()
        match body:
            case ev.RoundPlayed():
                return fixed.played(state, journal, body)
            case ev.Reversed():
                return contributions.reverse(state, journal, body)
            case ev.Claimed():
                return claims.claim(state, journal, body)
            case ev.Withdrawn():
                return awards.withdraw(state, journal, body)
            case ev.SelectionWanted():
                return selections.want(state, journal, body)

    def _out_of_turn(
        self, journal: TableJournal, message: Event, received_ms: int, body: bytes
    ) -> list[Reply]:
        """A repeat is acknowledged and not applied again; a gap is refused; a number with another
        hash or another body than the first time is a fork."""
        table, n = journal.table, message.n
        if n > journal.n:
            text = f"event {n} came, {journal.n + 1} is missing"
            return [(table, ServerRefused("E-LNK-014", text, n=n, expected=journal.n + 1))]
        wrong = self._differs(journal, message, body)
        if wrong is not None:
            refused = self._halt(journal, journals.FORK, wrong, encode(message), received_ms)
            return [(table, msgspec.structs.replace(refused, n=n))]
        replies: list[Reply] = [(table, Ack(journal.n))]
        if isinstance(message.body, ev.Claimed | ev.Contributed):
            replies += self._told(journal, message.body.round)
        if isinstance(message.body, ev.SelectionWanted):
            replies += selections.told(journal, message.body.round)
        return replies

    def _differs(self, journal: TableJournal, message: Event, body: bytes) -> str | None:
        """What is another than the first time, if anything. Bytes that mean the same are the
        same."""
        n = message.n
        if journal.marks.get(n) == hash((message.hash, body)):
            return None
        row = self._taken(journal.journal, n)
        if row is None:
            return None
        if row.hash != message.hash:
            return f"event {n} has two hashes: {row.hash} was taken, now {message.hash}"
        known, now = encode_body(body_of(row.body)), encode_body(message.body)
        if known != now:
            digests = [hashlib.sha256(text).hexdigest()[:16] for text in (known, now)]
            return f"event {n} has two bodies: SHA-256 {digests[0]} was taken, now {digests[1]}"
        return None

    def _taken(self, journal: str, n: int) -> EventRow | None:
        """Of this group, or stored."""
        for row in reversed(self.state.events):
            if row.journal == journal and row.n == n:
                return row
        return None if self._recall is None else self._recall(journal, n)

    def halt(
        self, table: str, journal: str, poison: Poison, message: bytes, at_ms: int
    ) -> ServerRefused | None:
        """Stop the table's journal: its message could not be taken."""
        known = self.state.journals.get(journal)
        if known is None or known.table != table or known.state != "active":
            return self._refusal(table, known)
        return self._halt(known, poison.code, poison.text, message, at_ms)

    def _halt(
        self, journal: TableJournal, code: str, text: str, message: bytes, at_ms: int
    ) -> ServerRefused:
        said = printable(text)[:500]
        order = o.Halt(journal.journal, code, said, journals.evidence(message))
        self._given(order, (SERVER,), at_ms)
        return ServerRefused(code, said, halted=True)

    # --- orders ---------------------------------------------------------------------------------

    def order(
        self,
        order: Order,
        by: Person | Sequence[Person],
        at_ms: int,
        sign: Sign | None = None,
        *,
        was_read: bool = False,
    ) -> list[Reply]:
        """Raises ``PoolError`` if it cannot be; otherwise it is recorded and done. ``sign`` gives
        the proofs of the people. ``was_read``: strictly, from outside, so it can be read again."""
        people = (by,) if isinstance(by, Person) else tuple(by)
        o.check_people(order, people)
        if isinstance(order, o.Change):
            check_change(self.state, order)
        replies = self._given(order, people, at_ms, sign, was_read=was_read)
        self._draw(at_ms)
        return replies

    def _given(
        self,
        order: Order,
        by: tuple[Person, ...],
        at_ms: int,
        sign: Sign | None = None,
        *,
        was_read: bool = False,
    ) -> list[Reply]:
        state = self.state
        body = msgspec.json.encode(Given(by, order))
        if not was_read:
            o.check_readable(order, body)
        state.at_ms = at_ms
        replies = carry_out(state, order, by, self._sealer)
        state.last_order += 1
        if sign is not None:
            body = state.signed(body, at_ms, sign)
        elif isinstance(order, o.Found):
            state.staffed(body, at_ms)
        state.record(body, at_ms)
        return replies

    def note(self, topic: str, text: str, by: Sequence[Person], at_ms: int) -> None:
        """For the record, by the server itself."""
        self._given(o.Note(topic, text), tuple(by), at_ms)

    def office(self, text: str, by: Sequence[Person], at_ms: int, sign: Sign) -> None:
        """What people ordered about accounts and keys, which the office carries out."""
        self._given(o.Office(text), tuple(by), at_ms, sign)

    def found(self, order: o.Found, by: Person, at_ms: int) -> None:
        """Accounts without proof, at the machine or at an upgrade."""
        self._given(order, (by,), at_ms)

    def alarm(self, code: str, table: str, text: str, at_ms: int) -> None:
        """Of record, like everything else that the server says."""
        self._given(o.Alarm(code, text, table), (SERVER,), at_ms)

    # --- time -----------------------------------------------------------------------------------

    def due_ms(self) -> int | None:
        """When ``tick`` has something to do, by the server's clock; None if nothing waits."""
        pools, at_ms = self.state.pools.values(), self.state.at_ms
        due = [d for pool in pools if (d := claims.due_ms(pool, at_ms)) is not None]
        return min(due, default=None)

    def tick(self, now_ms: int) -> list[Reply]:
        """What time decides: claims that waited for ties are locked."""
        replies: list[Reply] = []
        for name, pool in self.state.pools.items():
            due = claims.due_ms(pool, now_ms)
            if due is not None and due <= now_ms:
                replies += self._given(o.LockTies(name), (CLOCK,), now_ms)
        self._draw(now_ms)
        return replies

    def replay(self, row: EventRow) -> list[Reply]:
        """Apply a stored row again. Nothing is decided again: what the server or the clock ordered
        then stands among the rows."""
        if not row.table:
            given = o.read_given(row.body)
            sign = (lambda _: given.proofs) if given.proofs else None
            return self._given(given.order, given.by, row.received_ms, sign, was_read=True)
        event = Event(row.n, row.seq, row.hash, row.at_ms, body_of(row.body))
        journal = self.state.journals[row.journal]
        return self._apply(journal, event, row.received_ms, row.body) or []

    # --- out ------------------------------------------------------------------------------------

    def meters(self, table: str | None = None) -> tuple[MeterValue, ...]:
        """What may be shown once the changes so far are committed: all levels, or those of the pool
        that a table plays for."""
        self.state.settle()
        if table is None:
            return tuple(m for pool in self.state.pools.values() for m in pool.meters())
        pool = self.state.pool_of.get(table)
        return () if pool is None else pool.meters()

    def level_meters(self) -> list[LevelMeters]:
        """The meters of every level, for reports."""
        self.state.settle()
        return [level.meters() for level in self.state.levels()]

    def group(self, epoch: int) -> Group:
        """All that changed since the last call, checked (``LedgerBroken`` if it does not hold)."""
        state = self.state
        state.settle()
        for level in state.changed_levels.values():
            state.flush(level)
        group = Group(
            epoch=epoch,
            events=state.events,
            entries=state.entries,
            steps=state.steps,
            alarms=state.alarms,
            levels={key: level.row() for key, level in state.changed_levels.items()},
            journals={name: state.journals[name].row() for name in state.changed_journals},
            journals_before=state.changed_journals,
            awards={name: held.row() for name, held in state.changed_awards.items()},
            sums=state.tally.rows(state.events, state.entries),
        )
        for (pool, name), level in state.changed_levels.items():
            for account in level.touched:
                group.balances[pool, name, account] = level.balance_row(account)
        invariants.check_group(state, group)
        for level in state.changed_levels.values():
            level.touched = set()
            level.committed_generation = level.generation
            level.committed_terms_json = level.terms_json
        state.clear()
        return group
