"""A gaming day on one page: totals first, a line for each level, table and jackpot.

Every check of the other reports runs for it, and what differs is listed at the end. ``full`` adds
their sections, orders of people and alarms one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from link.ledger.level import DISPLAY, PENDING
from link.ledger.orders import Given, Office, read_given
from link.ledger.units import to_cents
from link.reports.hits import hits_report
from link.reports.model import Line, Report, Section, columns
from link.reports.par import Sheet, par_report
from link.reports.past import ReportInputs
from link.reports.pool import books_of, pool_report
from link.reports.table import Sums, fold_tables, table_report
from link.rows import AlarmRow, AwardRow

MOST: Final = 10
"""Lines of a section on the page; what is left out is counted."""
WAITING: Final = ("claimed", "locked", "verified", "approved")
ABOUT: Final = ("award", "pool", "journal", "topic", "name", "which", "role")

Folded = Mapping[tuple[str, str], Sums]


def day_report(
    inputs: ReportInputs, sheets: Sequence[Sheet], one_in: int, *, full: bool = False
) -> Report:
    report = Report("day", f"Gaming day {inputs.period.name}", inputs.facts())
    folded = fold_tables(inputs)
    checked = [
        pool_report(inputs),
        hits_report(inputs),
        table_report(inputs, None, folded),
        par_report(inputs, folded, sheets, one_in),
    ]
    awards = [a for a in inputs.mark.awards if inputs.past.locks.get(a.award, 0) in inputs.period]
    alarms = list(inputs.source.alarms(inputs.period.from_ms, inputs.period.to_ms))
    orders = _orders(inputs)
    report.sections += [
        _totals(folded, awards, alarms, orders),
        _levels(inputs),
        _tables(folded),
        _jackpots(awards),
        _alarm_counts(alarms),
    ]
    for one in checked:
        report.findings += one.findings
        if full:
            report.sections += one.sections
    if full:
        report.sections += [orders, _alarms(inputs, alarms)]
    else:
        report.facts.append(("Details", "--full"))
    return report


# --- the page -------------------------------------------------------------------------------------


def _totals(
    folded: Folded, awards: Sequence[AwardRow], alarms: Sequence[AlarmRow], orders: Section
) -> Section:
    sums = list(folded.values())
    staked, paid = sum(s.staked for s in sums), sum(s.to_players for s in sums)
    net = sum(s.contributed - s.reversed for s in sums)
    gone = [a for a in awards if a.state in ("rejected", "withdrawn")]
    out = [a for a in awards if a.state == "paid"]
    waits = [a for a in awards if a.state in WAITING]
    rows: list[Line] = [
        ("rounds", sum(s.rounds for s in sums), None),
        ("of them void", sum(s.void for s in sums), None),
        ("of them held for a supervisor", sum(s.held for s in sums), None),
        ("staked", None, staked),
        ("to players", None, paid),
        ("house", None, staked - paid),
        ("progressive wagers, net of reversals", sum(s.wagers for s in sums), net),
        ("jackpots locked", len(awards), sum(a.cents for a in awards)),
        ("of them paid", len(out), sum(a.cents for a in out)),
        ("of them waiting for people", len(waits), sum(a.cents for a in waits)),
        ("of them rejected or withdrawn", len(gone), sum(a.cents for a in gone)),
        ("orders of people", len(orders.rows), None),
        ("alarms", len(alarms), None),
    ]
    return Section("totals", "Totals", columns("total", "count:count", "amount:cents"), rows)


def _levels(inputs: ReportInputs) -> Section:
    books = books_of(inputs.source.entries(), inputs.period)
    rows: list[Line] = []
    for key in inputs.past.levels:
        book = books.get(key)
        if book is None:
            continue
        opening, closing = book.opening[DISPLAY], book.closing(DISPLAY)
        won = sum(book.won.values())
        pending = book.closing(PENDING)
        rows.append(("/".join(key), *map(to_cents, (opening, won, pending, closing))))
    head = columns(
        "level", "jackpot at first:cents", "won:cents", "to be paid:cents", "at last:cents"
    )
    return _short(Section("levels", "Pools", head, rows))


def _tables(folded: Folded) -> Section:
    """By table; with more than a page has room for, by game."""
    lines: dict[tuple[str, str], list[int]] = {}
    many = len(folded) > MOST
    for (table, game), sums in folded.items():
        staked, paid = sums.staked, sums.to_players
        line = lines.setdefault((f"{game} tables" if many else table, game), [0] * 5)
        for place, value in enumerate((sums.rounds, sums.void, staked, paid, staked - paid)):
            line[place] += value
    rows: list[Line] = [(*name, *line) for name, line in lines.items()]
    head = columns(
        "table", "game", "rounds:count", "void:count", "staked:cents", "to players:cents",
        "house:cents",
    )  # fmt: skip
    return Section("tables", "Tables", head, rows)


def _jackpots(awards: Sequence[AwardRow]) -> Section:
    """The largest first."""
    rows: list[Line] = [
        (a.award, a.table, a.hand, a.state, a.cents)
        for a in sorted(awards, key=lambda award: (-award.cents, award.order))
    ]
    head = columns("award", "table", "hand", "state", "amount:cents")
    return _short(Section("jackpots", "Jackpots", head, rows))


def _alarm_counts(alarms: Sequence[AlarmRow]) -> Section:
    counted = Counter(alarm.code for alarm in alarms)
    last = {alarm.code: alarm.table for alarm in alarms}
    rows: list[Line] = [(code, last[code], times) for code, times in counted.most_common()]
    head = columns("code", "last at", "times:count")
    return _short(Section("alarm counts", "Alarms", head, rows))


def _short(section: Section) -> Section:
    left = len(section.rows) - MOST
    if left <= 0:
        return section
    note = f"{left:,} more: see --full."
    return replace(section, rows=section.rows[:MOST], note=note)


# --- in full --------------------------------------------------------------------------------------


def _orders(inputs: ReportInputs) -> Section:
    """What people ordered; the server's own orders and the clock's are left out."""
    rows: list[Line] = []
    for row in inputs.source.events(inputs.period.after, journal=""):
        if row.id > inputs.period.last:
            break
        given = read_given(row.body)
        people = [person for person in given.by if person.role]
        if people:
            by = " and ".join(f"{p.account} ({p.role})" for p in people)
            rows.append((inputs.period.days.time_text(row.received_ms), _what(given), by))
    return Section("orders", "Orders of people", columns("when", "order", "by"), rows)


def _what(given: Given) -> str:
    order = given.order
    found = msgspec.to_builtins(order)
    if isinstance(order, Office):
        found = msgspec.json.decode(order.text)
    about = [str(found[name]) for name in ABOUT if found.get(name)]
    return " ".join([str(found["what"]), *about])


def _alarms(inputs: ReportInputs, alarms: Sequence[AlarmRow]) -> Section:
    rows: list[Line] = [
        (inputs.period.days.time_text(alarm.at_ms), alarm.code, alarm.table, alarm.text)
        for alarm in alarms
    ]
    return Section("alarms", "Alarms", columns("when", "code", "table", "text"), rows)
