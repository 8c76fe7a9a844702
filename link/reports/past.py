"""What the pools ran by at every event of record: levels, generations, terms, who played for them.

From the orders, the awards and their steps alone; the ledger itself is not asked, so that what it
wrote can be compared with what it should have written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

import msgspec

from link.ledger.journals import Skips
from link.ledger.orders import Change, Found, LinkTables, Office, Open, Resume, read_given
from link.ledger.terms import Terms
from link.reports.days import GamingDays
from link.reports.source import Mark, Period, Source, period_of
from link.rows import AwardRow, AwardStep, EventRow
from record.link.codec import body_of
from record.link.events import AnyBody, Contributed, Reversed, Wager

KEPT_ROUNDS: Final = 16

Key = tuple[str, str]
"""Pool and level."""


@dataclass(slots=True)
class LevelPast:
    pool: str
    level: str
    opened: int
    """The event that opened it."""
    terms: list[Terms]
    """Of each generation, the first at 0."""
    ends: list[tuple[int, int]] = field(default_factory=list)
    """Of each generation that is over: the event, and for a mystery the seat that ended it."""

    def of(self, event: int) -> tuple[int, Terms]:
        """Generation and terms of what comes with this event."""
        ended = bisect_left(self.ends, (event, 0))
        return ended + 1, self.terms[ended]

    def spread(self, event: int, wagers: Sequence[Wager]) -> list[tuple[int, Terms, int]]:
        """Generation, its terms and cents wagered: a mystery may end in the middle of an event."""
        if event < self.opened:
            return []
        generation, terms = self.of(event)
        found, cents = [], 0
        for wager in wagers:
            cents += wager.cents
            if self.ends[generation - 1 : generation] == [(event, wager.seat)]:
                found.append((generation, terms, cents))
                cents, terms, generation = 0, self.terms[generation], generation + 1
        return [*found, (generation, terms, cents)] if cents else found


class Past:
    def __init__(self, source: Source, mark: Mark) -> None:
        self.levels: dict[Key, LevelPast] = {}
        self.locks = first_locks(source.steps())
        """Award to the event that locked it."""
        self.unproved = ""
        """Why accounts were made without proof, until two people have acknowledged it."""
        self._links: list[tuple[int, str, dict[str, str]]] = []
        self._skips = Skips()
        self._pool_of: dict[str, str] = {}
        self._game_of: dict[str, str] = {}
        self._rounds: dict[str, dict[int, str]] = {}
        self._next_link = 0
        changes: dict[Key, list[tuple[int, Terms]]] = {}
        for row in source.events(journal=""):
            self._order(row, changes)
        self._generations(mark.awards, changes)

    def _order(self, row: EventRow, changes: dict[Key, list[tuple[int, Terms]]]) -> None:
        order = read_given(row.body).order
        match order:
            case Open():
                key = (order.pool, order.terms.level)
                self.levels[key] = LevelPast(*key, row.id, [order.terms])
            case Change():
                changes.setdefault((order.pool, order.terms.level), []).append(
                    (row.id, order.terms)
                )
            case LinkTables():
                self._links.append((row.id, order.pool, dict(order.terms.tables)))
            case Found():
                self.unproved = order.why
            case Office() if msgspec.json.decode(order.text)["what"] == "acknowledge accounts":
                self.unproved = ""
            case Resume():
                self._skips.note(row.id, order)
            case _:
                pass

    def _generations(
        self, awards: Iterable[AwardRow], changes: dict[Key, list[tuple[int, Terms]]]
    ) -> None:
        ends: dict[Key, dict[int, tuple[int, int]]] = {}
        for award in awards:
            if award.percent in (0, 100) and award.award in self.locks:
                lock = self.locks[award.award]
                seat = 0 if award.percent else award.seat
                found = ends.setdefault((award.pool, award.level), {})
                found.setdefault(award.generation, (lock, seat))
        for key, level in self.levels.items():
            for _, end in sorted(ends.get(key, {}).items()):
                level.ends.append(end)
                before = [terms for event, terms in changes.get(key, []) if event < end[0]]
                level.terms.append(before[-1] if before else level.terms[-1])

    # --- walking along the events -----------------------------------------------------------------

    def restart(self) -> None:
        """Before another walk."""
        self._pool_of, self._game_of, self._rounds, self._next_link = {}, {}, {}, 0

    def game_of(self, table: str) -> str:
        return self._game_of.get(table, "")

    def body(self, row: EventRow) -> AnyBody | None:
        """What an event of a table says; None for an order, and for one left without effect."""
        while self._next_link < len(self._links) and self._links[self._next_link][0] <= row.id:
            _, pool, tables = self._links[self._next_link]
            self._pool_of = {t: p for t, p in self._pool_of.items() if p != pool}
            self._pool_of |= dict.fromkeys(tables, pool)
            self._game_of |= tables
            self._next_link += 1
        if not row.table or self._skips.leave_out(row):
            return None
        return body_of(row.body)

    def pool_of(self, row: EventRow, body: Contributed | Reversed) -> str:
        """The pool that the round contributed to, whatever the table plays for now."""
        rounds = self._rounds.setdefault(row.journal, {})
        pool = rounds.setdefault(body.round, self._pool_of.get(row.table, ""))
        while len(rounds) > KEPT_ROUNDS:
            del rounds[min(rounds)]
        return pool

    def levels_of(self, pool: str) -> list[LevelPast]:
        return [level for (name, _), level in self.levels.items() if name == pool]


def first_locks(steps: Iterable[AwardStep]) -> dict[str, int]:
    locks: dict[str, int] = {}
    for step in steps:
        if step.state == "locked":
            locks[step.award] = min(step.event, locks.get(step.award, step.event))
    return locks


@dataclass(frozen=True, slots=True)
class ReportInputs:
    """Everything that a report is made from."""

    source: Source
    mark: Mark
    past: Past
    period: Period

    @classmethod
    def of(cls, source: Source, days: GamingDays, first: date, last: date) -> ReportInputs:
        mark = source.mark()
        return cls(source, mark, Past(source, mark), period_of(source, mark, days, first, last))

    def facts(self) -> list[tuple[str, str]]:
        """For the head of every report."""
        facts = self.period.facts(self.source.place)
        if self.past.unproved:
            said = f"accounts were made without proof: {self.past.unproved}"
            facts.insert(0, ("ALARM", f"{said}; two people acknowledge it (E-ACT-011)"))
        return facts
