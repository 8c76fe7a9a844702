"""How an amount of record came about, line by line, from the wagers of the tables.

What the jackpot held at the lock (``derive``) must give the jackpot of record, and the shares of
the round's claims the amount of record. Any difference is reported, to the unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from link.ledger.amounts import worths
from link.ledger.units import money_text, rate_text, to_cents, to_units
from link.reports.derive import Derivation, derive
from link.reports.model import Line, Report, Section, columns
from link.reports.past import ReportInputs
from link.reports.source import Period
from link.rows import AwardRow, AwardStep
from record.kit.money import cents_text, dollars
from record.kit.words import counted
from record.link.notes import read_revalued, shown_note

Steps = Mapping[str, Sequence[AwardStep]]
"""By award."""


def hits_report(inputs: ReportInputs, award: str | None = None) -> Report:
    """All awards locked in the period, or one whenever that was."""
    title = "Jackpots" if award is None else f"Jackpot {award}"
    report = Report("hits", title, inputs.facts())
    steps: dict[str, list[AwardStep]] = {row.award: [] for row in inputs.mark.awards}
    for step in inputs.source.steps():
        steps[step.award].append(step)
    wanted = [
        row for row in inputs.mark.awards
        if (row.award == award if award else inputs.past.locks.get(row.award, 0) in inputs.period)
    ]  # fmt: skip
    rows = [
        (row.award, f"{row.pool}/{row.level}", row.table, row.round, row.seat, row.hand,
         row.state, row.cents)
        for row in wanted
    ]  # fmt: skip
    head = columns("award", "pool", "table", "round:count", "seat:count", "hand", "state",
                   "amount:cents")  # fmt: skip
    report.sections.append(Section("awards", "Awards", head, rows))
    for one in derive(inputs, wanted):
        report.sections.append(derivation_section(one, steps, report))
    for row in wanted:
        report.sections.append(steps_section(row, steps[row.award], inputs.period))
    return report


def steps_section(award: AwardRow, steps: Sequence[AwardStep], period: Period) -> Section:
    rows = [
        (
            period.days.time_text(step.at_ms),
            step.state,
            step.by,
            step.role,
            shown_note(step.role, step.note),
        )
        for step in steps
    ]
    head = columns("when", "state", "by", "role", "note")
    return Section("steps", "Steps", head, rows, (("award", award.award),))


def derivation_section(one: Derivation, steps: Steps, report: Report) -> Section:
    rows: list[Line] = []
    jackpot = one.jackpot

    def line(what: str, units: int, how: str = "") -> None:
        rows.append((what, how, units))

    if jackpot.generation > 1:
        line("carried over", jackpot.carried, f"generation {jackpot.generation - 1}")
    for (why, other), units in sorted(jackpot.moved.items()):
        if why in ("base", "seed"):
            line(why, units, f"from {other}")
    for (day, table, rate), cents in sorted(jackpot.put.items()):
        line(f"{day} {table}", cents * rate, f"{cents_text(cents)} at {rate_text(rate)}")
    if jackpot.over:
        line("over the ceiling", -jackpot.over)
    for name, units in sorted(jackpot.earlier.items()):
        line("earlier award", units, name)
    for (why, other), units in sorted(jackpot.moved.items()):
        if why not in ("base", "seed", "contribution") and units:
            line(why, units, f"{'from' if units > 0 else 'to'} {other}")
    line("in the jackpot at the lock", jackpot.held)
    line("below a cent, stays", to_units(to_cents(jackpot.held)) - jackpot.held)
    shared = f"shared by {counted(jackpot.takers, 'round')}" if jackpot.takers > 1 else ""
    line("jackpot of record", to_units(jackpot.cents), shared)
    if one.top_up:
        line("added by the house", one.top_up, "top-up at the lock")
    rows += _amounts(one, steps, report)
    _compare(one, report)
    head = columns("what", "how", "amount:units")
    return Section("derivation", "Derivation", head, rows, (("award", one.award.award),), sums=1)


def _compare(one: Derivation, report: Report) -> None:
    jackpot = one.jackpot
    name, due = one.award.award, jackpot.wagered_units - jackpot.over
    if due != jackpot.contributed:
        report.differs(
            f"award {name}: wagers of generation {jackpot.generation} brought {money_text(due)}, "
            f"its entries say {money_text(jackpot.contributed)}, {jackpot.contributed - due} units "
            "apart"
        )
    stated = one.award.jackpot_cents
    if jackpot.cents != stated:
        report.differs(
            f"award {name}: the jackpot of record is {dollars(stated)}, its contributions make "
            f"{dollars(jackpot.cents)}, {dollars(abs(stated - jackpot.cents))} apart"
        )


def _amounts(one: Derivation, steps: Steps, report: Report) -> list[Line]:
    """At the lock, and after every award of the round that went back."""
    award, jackpot = one.award, one.jackpot
    changes = [
        (step.event, found.gone, found.cents)
        for step in steps[award.award]
        if (found := read_revalued(step.role, step.note))
    ]
    stated = [*(cents for _, _, cents in changes), award.cents]
    moments = [(jackpot.lock, ""), *((event, gone) for event, gone, _ in changes)]
    rows: list[Line] = []
    for place, (cents, (event, gone)) in enumerate(zip(stated, moments, strict=True)):
        standing = _standing(one, steps, event, gone) if place else one.message
        share = f"{award.percent or 100} % for {award.hand}"
        how = f"{share}, another of the round went back" if place else share
        last = place == len(stated) - 1
        rows.append(("amount of record" if last else "amount before", how, to_units(cents)))
        made = _worth(one, standing)
        if made != cents:
            report.differs(
                f"award {award.award}: {share} of {dollars(jackpot.cents)} is "
                f"{dollars(made)}, the amount of record {dollars(cents)}, "
                f"{dollars(abs(cents - made))} apart"
            )
    if one.from_jackpot + one.top_up != to_units(stated[0]):
        report.differs(
            f"award {award.award}: {money_text(one.from_jackpot + one.top_up)} was set aside at "
            f"the lock for {cents_text(stated[0])}"
        )
    return rows


def _standing(one: Derivation, steps: Steps, event: int, gone: str) -> list[AwardRow]:
    """The claims of the round that stood when this award changed because ``gone`` went back. One
    event can withdraw several, in settlement order: those behind ``gone`` still stood."""
    names = [other.award for other in one.message]
    until = names.index(gone) if gone in names else len(names)
    found = []
    for place, other in enumerate(one.message):
        ends = [s.event for s in steps[other.award] if s.state in ("rejected", "withdrawn")]
        before = bool(ends) and (ends[0] < event or (ends[0] == event and place <= until))
        if other.award == one.award.award or not before:
            found.append(other)
    return found


def _worth(one: Derivation, standing: Sequence[AwardRow]) -> int:
    award = one.award
    if not award.percent:
        return one.jackpot.cents
    places = [other.award for other in standing]
    percents = [other.percent for other in standing]
    found = worths(one.jackpot.cents, award.reset_cents, one.rule, percents)
    return found[places.index(award.award)].cents
