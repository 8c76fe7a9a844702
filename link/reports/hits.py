"""How an amount of record came about, line by line, from the wagers of the tables.

What the jackpot held at the lock is added up twice: contributions from the tables' events by day
and table, everything else from the entries; it must give the jackpot of record, and the shares of
the round's claims the amount of record. Any difference is said, to the unit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from link.ledger.amounts import worths
from link.ledger.level import DISPLAY, PENDING, WAGERS
from link.ledger.units import money_text, rate_text, to_cents, to_units
from link.reports.desk import Desk
from link.reports.model import Line, Report, Section, columns
from link.reports.past import Past
from link.reports.source import Mark, Period
from link.reports.text import cents_text
from link.rows import AwardRow, AwardStep, Entry
from record.link.events import Claimed, Contributed

OVERFLOW: Final = "overflow"
_before: Final = re.compile(r"(\d+) cents before; ")


@dataclass(slots=True)
class Derivation:
    """One award, and what stood in the jackpot when its claims were locked."""

    award: AwardRow
    lock: int
    message: list[AwardRow]
    """All awards of the round on this level that were locked with it, in settlement order."""
    together: frozenset[str]
    """Awards whose amounts come from the same jackpot of record."""
    takers: int
    """Rounds that shared it."""
    generation: int
    rule: str
    """Of the meter, in that generation."""
    carried: int = 0
    moved: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Why and the other account to units of this generation."""
    earlier: Counter[str] = field(default_factory=Counter)
    over: int = 0
    """Contributions that did not fit under the ceiling."""
    put: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """Gaming day, table and rate to cents wagered."""
    from_jackpot: int = 0
    top_up: int = 0
    stopped: bool = False

    def take(self, entry: Entry) -> None:
        """Entries of the level in order, up to the lock."""
        mine = entry.award == self.award.award and entry.through == self.lock
        if mine and entry.credit == PENDING:
            self.from_jackpot += entry.units if entry.why == "award" else 0
            self.top_up += entry.units if entry.why == "top-up" else 0
        if entry.through > self.lock or (
            entry.award in self.together and entry.through == self.lock
        ):
            self.stopped = True
        if self.stopped:
            return
        if DISPLAY not in (entry.debit, entry.credit):
            if entry.debit == WAGERS and entry.why == OVERFLOW:
                self.over += entry.units if entry.generation == self.generation else 0
            return
        units = entry.units if entry.credit == DISPLAY else -entry.units
        other = entry.debit if entry.credit == DISPLAY else entry.credit
        if entry.generation < self.generation:
            self.carried += units
        elif entry.why == "award":
            self.earlier[entry.award] += units
        else:
            self.moved[entry.why, other] += units

    @property
    def wagered_units(self) -> int:
        return sum(cents * rate for (_, _, rate), cents in self.put.items())

    @property
    def contributed(self) -> int:
        """By the entries."""
        return self.moved["contribution", WAGERS]

    @property
    def held(self) -> int:
        """Units in the jackpot at the lock, contributions as the tables' wagers make them."""
        rest = sum(u for (why, _), u in self.moved.items() if why != "contribution")
        return self.carried + rest + sum(self.earlier.values()) + self.wagered_units - self.over

    @property
    def jackpot_cents(self) -> int:
        return to_cents(self.held) // self.takers


def derive(desk: Desk, awards: Iterable[AwardRow]) -> list[Derivation]:
    """Of every award that was locked."""
    found = [
        _begin(award, desk.mark, desk.past) for award in awards if award.award in desk.past.locks
    ]
    if not found:
        return []
    by_level: dict[tuple[str, str], list[Derivation]] = {}
    for one in found:
        by_level.setdefault((one.award.pool, one.award.level), []).append(one)
    for entry in desk.source.entries():
        for one in by_level.get((entry.pool, entry.level), ()):
            one.take(entry)
    _contributions(desk, found)
    return found


def _begin(award: AwardRow, mark: Mark, past: Past) -> Derivation:
    lock = past.locks[award.award]
    level = (award.pool, award.level)
    locked = [
        other for other in mark.awards
        if (other.pool, other.level) == level and past.locks.get(other.award) == lock
    ]  # fmt: skip
    message = [o for o in locked if (o.journal, o.round) == (award.journal, award.round)]
    if not award.percent:
        message = [award]
    message.sort(key=lambda other: other.order)
    rounds = {(o.journal, o.round) for o in locked if o.percent}
    takers = {(o.journal, o.round) for o in locked if o.percent == 100}
    with_it, many = message, 1
    if len(rounds) > 1 and award.percent and award.policy == "same_cycle_full":
        with_it = locked
    elif len(rounds) > 1 and award.policy == "share" and (award.journal, award.round) in takers:
        with_it = [o for o in locked if (o.journal, o.round) in takers]
        many = len(takers)
    generation = min(other.generation for other in with_it)
    names = frozenset(other.award for other in with_it)
    rule = past.levels[level].terms[generation - 1].meter_rule
    return Derivation(award, lock, message, names, many, generation, rule)


def _contributions(desk: Desk, found: Sequence[Derivation]) -> None:
    past = desk.past
    starts = []
    for one in found:
        level = past.levels[one.award.pool, one.award.level]
        starts.append(level.opened if one.generation == 1 else level.ends[one.generation - 2][0])
    last = max(one.lock for one in found)
    past.restart()
    for row in desk.source.events(min(starts) - 1):
        if row.id > last:
            return
        body = past.body(row)
        if isinstance(body, Claimed):
            _order_of(found, row.journal, body)
        if not isinstance(body, Contributed):
            continue
        pool = past.pool_of(row, body)
        day = desk.period.days.day_of(row.received_ms).isoformat()
        for one in found:
            if row.id > one.lock or one.award.pool != pool:
                continue
            level = past.levels[one.award.pool, one.award.level]
            for generation, terms, cents in level.spread(row.id, body.wagers):
                if generation == one.generation:
                    one.put[day, row.table, terms.rate_ppm] += cents


def _order_of(found: Sequence[Derivation], journal: str, body: Claimed) -> None:
    """Settlement order is that of the round's last claim."""
    seats = {claim.seat: place for place, claim in enumerate(body.claims)}
    for one in found:
        if (one.award.journal, one.award.round) == (journal, body.round):
            one.message.sort(key=lambda other: seats.get(other.seat, -1))


# --- the report -----------------------------------------------------------------------------------


def hits_report(desk: Desk, award: str | None = None) -> Report:
    """All awards locked in the period, or one whenever that was."""
    title = "Jackpots" if award is None else f"Jackpot {award}"
    report = Report("hits", title, desk.facts())
    steps = list(desk.source.steps())
    wanted = [
        row for row in desk.mark.awards
        if (row.award == award if award else desk.past.locks.get(row.award, 0) in desk.period)
    ]  # fmt: skip
    rows = [
        (row.award, f"{row.pool}/{row.level}", row.table, row.round, row.seat, row.hand,
         row.state, row.cents)
        for row in wanted
    ]  # fmt: skip
    head = columns("award", "pool", "table", "round:count", "seat:count", "hand", "state",
                   "amount:cents")  # fmt: skip
    report.sections.append(Section("awards", "Awards", head, rows))
    for one in derive(desk, wanted):
        report.sections.append(derivation_section(one, steps, report))
    for row in wanted:
        report.sections.append(steps_section(row, steps, desk.period))
    return report


def steps_section(award: AwardRow, steps: Sequence[AwardStep], period: Period) -> Section:
    rows = [
        (period.days.time_text(step.at_ms), step.state, step.by, step.role, step.note)
        for step in steps
        if step.award == award.award
    ]
    head = columns("when", "state", "by", "role", "note")
    return Section("steps", "Steps", head, rows, (("award", award.award),))


def derivation_section(one: Derivation, steps: Sequence[AwardStep], report: Report) -> Section:
    rows: list[Line] = []

    def line(what: str, units: int, how: str = "") -> None:
        rows.append((what, how, units))

    if one.generation > 1:
        line("carried over", one.carried, f"generation {one.generation - 1}")
    for (why, other), units in sorted(one.moved.items()):
        if why in ("base", "seed"):
            line(why, units, f"from {other}")
    for (day, table, rate), cents in sorted(one.put.items()):
        line(f"{day} {table}", cents * rate, f"{cents_text(cents)} at {rate_text(rate)}")
    if one.over:
        line("over the ceiling", -one.over)
    for name, units in sorted(one.earlier.items()):
        line("earlier award", units, name)
    for (why, other), units in sorted(one.moved.items()):
        if why not in ("base", "seed", "contribution") and units:
            line(why, units, f"{'from' if units > 0 else 'to'} {other}")
    line("in the jackpot at the lock", one.held)
    line("below a cent, stays", to_units(to_cents(one.held)) - one.held)
    shared = f"shared by {one.takers} rounds" if one.takers > 1 else ""
    line("jackpot of record", to_units(one.jackpot_cents), shared)
    if one.top_up:
        line("added by the house", one.top_up, "top-up at the lock")
    rows += _amounts(one, steps, report)
    _compare(one, report)
    head = columns("what", "how", "amount:units")
    return Section("derivation", "Derivation", head, rows, (("award", one.award.award),), sums=1)


def _compare(one: Derivation, report: Report) -> None:
    name, due = one.award.award, one.wagered_units - one.over
    if due != one.contributed:
        report.differs(
            f"award {name}: wagers of generation {one.generation} brought {money_text(due)}, its "
            f"entries say {money_text(one.contributed)}, {one.contributed - due} units apart"
        )
    stated = one.award.jackpot_cents
    if one.jackpot_cents != stated:
        report.differs(
            f"award {name}: the jackpot of record is {cents_text(stated)}, its contributions make "
            f"{cents_text(one.jackpot_cents)}, {stated - one.jackpot_cents} cents apart"
        )


def _amounts(one: Derivation, steps: Sequence[AwardStep], report: Report) -> list[Line]:
    """At the lock, and after every award of the round that went back."""
    award = one.award
    changes = [
        (step.event, int(found[1]))
        for step in steps
        if step.award == award.award and (found := _before.match(step.note))
    ]
    stated = [*(cents for _, cents in changes), award.cents]
    events = [one.lock, *(event for event, _ in changes)]
    gone = {s.award: s.event for s in steps if s.state in ("rejected", "withdrawn")}
    rows: list[Line] = []
    for place, (cents, event) in enumerate(zip(stated, events, strict=True)):
        standing = [o for o in one.message if not place or gone.get(o.award, event + 1) > event]
        share = f"{award.percent or 100} % for {award.hand}"
        how = f"{share}, another of the round went back" if place else share
        last = place == len(stated) - 1
        rows.append(("amount of record" if last else "amount before", how, to_units(cents)))
        made = _worth(one, standing)
        if made != cents:
            report.differs(
                f"award {award.award}: {share} of {cents_text(one.jackpot_cents)} is "
                f"{cents_text(made)}, the amount of record {cents_text(cents)}, "
                f"{cents - made} cents apart"
            )
    if one.from_jackpot + one.top_up != to_units(stated[0]):
        report.differs(
            f"award {award.award}: {money_text(one.from_jackpot + one.top_up)} was set aside at "
            f"the lock for {cents_text(stated[0])}"
        )
    return rows


def _worth(one: Derivation, standing: Sequence[AwardRow]) -> int:
    award = one.award
    if not award.percent:
        return one.jackpot_cents
    places = [other.award for other in standing]
    percents = [other.percent for other in standing]
    found = worths(one.jackpot_cents, award.reset_cents, one.rule, percents)
    return found[places.index(award.award)].cents
