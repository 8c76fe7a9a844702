"""Everything a store holds, checked from the first row to the last.

The rows are looked at on their own, and then every event is applied again to an empty ledger: the
result must be what is stored. Used by tests, by the server at a start and by auditors; without the
sealing key too, since a hit opens the seed it used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from link.ledger.errors import LedgerBroken
from link.ledger.invariants import check_steps
from link.ledger.journals import Skips
from link.ledger.ledger import Ledger
from link.ledger.mystery import Sealer
from link.ledger.orders import Draw, Resume, read_given
from link.rows import (
    AlarmRow,
    AwardRow,
    AwardStep,
    BalanceRow,
    Entry,
    EventRow,
    JournalRow,
    LevelRow,
    Saved,
    chain_of,
)
from record.link.codec import body_of
from record.link.events import Contributed, Reversed

GROUPED = 256
"""Events applied again between two checks."""


@dataclass(frozen=True, slots=True)
class History:
    """All rows, in order."""

    events: Sequence[EventRow]
    entries: Sequence[Entry]
    balances: Sequence[BalanceRow]
    levels: Sequence[LevelRow]
    journals: Sequence[JournalRow]
    awards: Sequence[AwardRow]
    steps: Sequence[AwardStep]
    alarms: Sequence[AlarmRow]


class Opened:
    """Unseals what a later draw opened: all an auditor without the key can, and all he needs."""

    def __init__(self, events: Iterable[EventRow]) -> None:
        self._seeds: dict[str, bytes] = {}
        last: dict[tuple[str, str], str] = {}
        for row in events:
            if row.table:
                continue
            order = read_given(row.body).order
            if isinstance(order, Draw):
                key = (order.pool, order.level)
                if order.opened:
                    self._seeds[last[key]] = bytes.fromhex(order.opened)
                last[key] = order.sealed

    def seal(self, secret: bytes) -> bytes:
        raise NotImplementedError("an auditor draws nothing")

    def unseal(self, sealed: bytes) -> bytes | None:
        return self._seeds.get(sealed.hex())


def check_history(history: History, sealer: Sealer | None = None) -> Ledger:
    """``LedgerBroken`` with the first invariant that does not hold; else the ledger at the end."""
    check_events(history.events)
    check_entries(history.entries, history.balances)
    check_awards(history)
    return check_replay(history, sealer)


def check_events(events: Iterable[EventRow]) -> None:
    """I3 each number once, I7 the chain, I14 no number left out, I17 records in order."""
    chain, last, seqs, tables = "", Counter[str](), dict[str, int](), dict[str, str]()
    for expected, row in enumerate(events, 1):
        if row.id != expected:
            raise LedgerBroken("I3", f"event {row.id} stands where {expected} belongs")
        last[row.journal] += 1
        if row.n != last[row.journal]:
            raise LedgerBroken("I14", f"event {row.id}: number {row.n}, not {last[row.journal]}")
        if row.journal:
            if row.seq <= seqs.get(row.journal, -1):
                raise LedgerBroken("I17", f"event {row.id}: record {row.seq} again")
            if tables.setdefault(row.journal, row.table) != row.table:
                raise LedgerBroken("I16", f"event {row.id}: journal of {tables[row.journal]}")
            seqs[row.journal] = row.seq
        chain = chain_of(
            chain,
            id=row.id,
            table=row.table,
            journal=row.journal,
            n=row.n,
            seq=row.seq,
            hash=row.hash,
            at_ms=row.at_ms,
            received_ms=row.received_ms,
            body=row.body,
        )
        if row.chain != chain:
            raise LedgerBroken("I7", f"event {row.id}: its chain value is not of its content")


def check_entries(entries: Iterable[Entry], balances: Iterable[BalanceRow]) -> None:
    """I1 and I5: balances are what the entries say, and add up to 0. I8: one seed a generation,
    and generations that only go up."""
    sums, levels = Counter[tuple[str, str, str]](), Counter[tuple[str, str]]()
    generations: dict[tuple[str, str], int] = {}
    seeds: dict[tuple[str, str, int], str] = {}
    for row in entries:
        key = (row.pool, row.level)
        if row.units <= 0:
            raise LedgerBroken("I1", f"entry {row.id} moves {row.units} units")
        sums[*key, row.debit] -= row.units
        sums[*key, row.credit] += row.units
        if row.generation < generations.get(key, 1):
            raise LedgerBroken("I8", f"entry {row.id}: generation {row.generation} is over")
        generations[key] = row.generation
        if row.why == "seed" and seeds.setdefault((*key, row.generation), row.award) != row.award:
            raise LedgerBroken("I8", f"entry {row.id}: generation {row.generation} has two seeds")
    stored = {(b.pool, b.level, b.account): b.units for b in balances}
    for place in sums.keys() | stored.keys():
        if sums[place] != stored.get(place, 0):
            text = (
                f"{'/'.join(place)} holds {stored.get(place, 0)} units, entries say {sums[place]}"
            )
            raise LedgerBroken("I5", text)
        levels[place[:2]] += sums[place]
    for level, total in levels.items():
        if total:
            raise LedgerBroken("I1", f"{'/'.join(level)}: accounts add up to {total} units, not 0")


def check_awards(history: History) -> None:
    """I9, I10 legal steps; I11 one order; I12 a wager behind every award."""
    last: dict[str, AwardStep] = {}
    check_steps(history.steps, last)
    orders: set[tuple[str, int]] = set()
    for award in history.awards:
        if award.award not in last or last[award.award].state != award.state:
            raise LedgerBroken("I10", f"award {award.award} is {award.state}, not its last step")
        if (award.pool, award.order) in orders:
            raise LedgerBroken("I11", f"award {award.award}: order {award.order} was given before")
        orders.add((award.pool, award.order))
    by_event: dict[int, list[AwardRow]] = {}
    for award in history.awards:
        by_event.setdefault(award.event, []).append(award)
    if by_event:
        _check_wagers(history.events, by_event)


def _check_wagers(events: Iterable[EventRow], awards: Mapping[int, list[AwardRow]]) -> None:
    wagered = Counter[tuple[str, int, int]]()
    skips = Skips()
    for row in events:
        if not row.table:
            order = read_given(row.body).order
            if isinstance(order, Resume):
                skips.note(row.id, order)
            continue
        if skips.leave_out(row):
            continue
        body = body_of(row.body)
        if isinstance(body, Contributed | Reversed):
            sign = 1 if isinstance(body, Contributed) else -1
            for wager in body.wagers:
                wagered[row.journal, body.round, wager.seat] += sign * wager.cents
        for award in awards.get(row.id, ()):
            if award.journal != row.journal or wagered[row.journal, award.round, award.seat] <= 0:
                raise LedgerBroken("I12", f"award {award.award} has no wager behind it")


def check_replay(history: History, sealer: Sealer | None = None) -> Ledger:
    """I4: the same events give the same balances, levels, journals, awards and alarms."""
    ledger = Ledger([], Saved(), sealer=sealer or Opened(history.events))
    entries: Counter[tuple[object, ...]] = Counter()
    stored: Counter[tuple[object, ...]] = Counter()
    steps, alarms = [], []
    for row in history.events:
        ledger.replay(row)
        if row.id % GROUPED == 0 or row is history.events[-1]:
            group = ledger.group(0)
            for entry in group.entries:
                entries[_summed(entry)] += entry.units
            steps += group.steps
            alarms += group.alarms
    for entry in history.entries:
        stored[_summed(entry)] += entry.units
    state = ledger.state
    levels = {(row.pool, row.level): row for row in history.levels}
    awards = {row.award: row for row in history.awards}
    _same("entries", entries, stored)
    # Steps of several awards in one event have no order of record among each other.
    _same("steps", sorted(steps, key=_place), sorted(history.steps, key=_place))
    _same("alarms", alarms, list(history.alarms))
    _same("levels", {(a.pool, a.name): a.row() for a in state.levels()}, levels)
    _same("journals", {n: _told(j.row()) for n, j in state.journals.items()},
          {j.journal: _told(j) for j in history.journals})  # fmt: skip
    _same("awards", {n: h.row() for n, h in state.awards.items()},
          {n: awards.get(n) for n in state.awards})  # fmt: skip
    return ledger


def _summed(entry: Entry) -> tuple[object, ...]:
    """An entry without what depends on how events were grouped."""
    return (
        entry.pool,
        entry.level,
        entry.generation,
        entry.debit,
        entry.credit,
        entry.why,
        entry.award,
    )


def _place(step: AwardStep) -> tuple[int, str, int]:
    return step.event, step.award, step.step


def _told(row: JournalRow) -> JournalRow:
    """Without checkpoints, which are no events."""
    return msgspec.structs.replace(row, head_seq=0, head_hash="", received_ms=0)


def _same(what: str, replayed: object, stored: object) -> None:
    if replayed != stored:
        if isinstance(replayed, Mapping) and isinstance(stored, Mapping):
            keys = [k for k in replayed.keys() | stored.keys() if replayed.get(k) != stored.get(k)]
            text = f"{keys[0]}: {replayed.get(keys[0])} is not {stored.get(keys[0])}"
        else:
            text = f"{replayed} is not {stored}"
        raise LedgerBroken("I4", f"{what} replayed and stored differ: {text}"[:2000])
