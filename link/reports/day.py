"""Everything of some gaming days on one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from link.ledger.orders import Given
from link.reports.desk import Desk
from link.reports.hits import hits_report
from link.reports.model import Line, Report, Section, columns
from link.reports.par import Sheet, par_report
from link.reports.pool import pool_report
from link.reports.table import fold_tables, table_report

_given: Final = msgspec.json.Decoder(Given)


def day_report(desk: Desk, sheets: Sequence[Sheet], one_in: int) -> Report:
    report = Report("day", f"Gaming day {desk.period.name}", desk.facts())
    folded = fold_tables(desk)
    report.add(pool_report(desk))
    report.add(hits_report(desk))
    report.add(table_report(desk, None, folded))
    report.add(par_report(desk, folded, sheets, one_in))
    report.sections.append(_orders(desk))
    report.sections.append(_alarms(desk))
    return report


def _orders(desk: Desk) -> Section:
    """What people ordered; the server's own orders and the clock's are left out."""
    rows: list[Line] = []
    for row in desk.source.events(desk.period.after, journal=""):
        if row.id > desk.period.last:
            break
        given = _given.decode(row.body)
        people = [person for person in given.by if person.role]
        if people:
            by = " and ".join(f"{p.account} ({p.role})" for p in people)
            rows.append((desk.period.days.time_text(row.received_ms), _what(given), by))
    return Section("orders", "Orders of people", columns("when", "order", "by"), rows)


def _what(given: Given) -> str:
    order = given.order
    found = msgspec.to_builtins(order)
    about = [str(found[name]) for name in ABOUT if found.get(name)]
    return " ".join([str(found["what"]), *about])


ABOUT: Final = ("award", "pool", "journal", "topic")


def _alarms(desk: Desk) -> Section:
    rows: list[Line] = [
        (desk.period.days.time_text(alarm.at_ms), alarm.code, alarm.table, alarm.text)
        for alarm in desk.source.alarms(desk.period.from_ms, desk.period.to_ms)
    ]
    return Section("alarms", "Alarms", columns("when", "code", "table", "text"), rows)
