"""``underfelt jackpot``: from the lock to the payment, by named people.

Verified by one person, approved by two with different roles, paid; or rejected by two, which puts
the jackpot back. Every order is proved with a password and is answered when it is durable.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import asdict

from link.commands.io import (
    add_people,
    add_place,
    asked,
    command,
    control_of,
    listed,
    load_config,
    ordered,
    passwords,
    present,
    print_answer,
)
from link.commands.report_source import ControlSource
from link.config import ReportOptions
from link.reports.days import GamingDays
from link.reports.hits import hits_report
from link.reports.model import ReportError
from link.reports.past import ReportInputs
from link.reports.text import findings_text, section_text
from link.rows import AwardRow, AwardStep
from link.server.clock import SYSTEM_CLOCK
from link.server.replies import AwardsReply, Ordered
from record.kit.money import cents_text
from record.kit.verbs import Stop, Verb
from record.kit.words import counted

OPEN: Final = ("claimed", "locked", "verified", "approved")
WANTS: Final = {
    "claimed": "waits for its lock",
    "locked": "to be verified",
    "verified": "to be approved by two people with different roles",
    "approved": "to be paid",
}
_LINE: Final = "{:16} {:10} {:>15}  {:10} {:>8} {:>4}  {:9}"


# --- list and show --------------------------------------------------------------------------------


def _declare_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="also those paid, rejected, withdrawn")
    add_place(parser)


def _list(options: argparse.Namespace) -> int:
    now_ms = SYSTEM_CLOCK.now_ms()
    told = []
    for page in listed(control_of(options), "awards", AwardsReply):
        steps: dict[str, list[AwardStep]] = {award.award: [] for award in page.awards}
        for step in page.steps:
            steps[step.award].append(step)
        for award in page.awards:
            if options.all or award.state in OPEN:
                told.append(_told(award, steps[award.award], now_ms))
    return print_answer(options, {"awards": told}, _listed(told, all_of_them=options.all))


def _told(award: AwardRow, mine: Sequence[AwardStep], now_ms: int) -> dict[str, Any]:
    """``mine``: the steps of this award."""
    waits = now_ms - mine[0].at_ms if mine and award.state in OPEN else 0
    return {**asdict(award), "approved_by": approvals(mine), "waits_ms": max(0, waits)}


def approvals(steps: Sequence[AwardStep]) -> list[list[str]]:
    """Who approved what stands now: a first approval is a second step in ``verified``, and an
    amount that changed needs both again."""
    found: list[list[str]] = []
    before = ""
    for step in steps:
        again = step.state == "verified" == before
        if not step.role and again:
            found = []
        elif step.state == "approved" or (again and step.role):
            found.append([step.by, step.role])
        before = step.state
    return found


def _listed(rows: Sequence[dict[str, Any]], *, all_of_them: bool) -> str:
    if not rows:
        return "no jackpots" if all_of_them else "no jackpot waits"
    lines = [_LINE.format("award", "level", "amount", "table", "round", "seat", "state")]
    for row in rows:
        line = _LINE.format(
            row["award"],
            row["level"],
            cents_text(row["cents"]),
            row["table"],
            row["round"],
            row["seat"],
            row["state"],
        )
        lines += [line.rstrip(), f"    {_second(row)}"]
    return "\n".join(lines)


def _second(row: dict[str, Any]) -> str:
    parts = [row["hand"]]
    if row["approved_by"]:
        parts.append("approved by " + " and ".join(f"{n} ({r})" for n, r in row["approved_by"]))
    if row["state"] in OPEN:
        wants = WANTS[row["state"]]
        if row["state"] == "verified" and row["approved_by"]:
            wants = "to be approved by another role"
        parts.append(f"{wants}, {_ago(row['waits_ms'])}")
    return "; ".join(parts)


def _ago(ms: int) -> str:
    minutes = ms // 60_000
    if minutes < 1:
        return f"{ms // 1000} s"
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 2 * 24 * 60 else counted(minutes // (24 * 60), "day")


def _declare_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("award", metavar="AWARD")
    add_place(parser)


def _show(options: argparse.Namespace) -> int:
    """Who did what when, and how the amount came about."""
    source = ControlSource(control_of(options))
    known = {award.award: award for award in source.mark().awards}
    award = known.get(options.award)
    if award is None:
        raise Stop(f"there is no award {options.award} (E-POOL-021)", os.EX_DATAERR)
    stated = load_config(options.config).reports if options.config else ReportOptions()
    try:
        days = GamingDays.of(stated.time_zone, stated.day_start)
    except ReportError as error:
        raise Stop(str(error), os.EX_DATAERR) from None
    steps = [step for step in source.steps() if step.award == award.award]
    today = days.day_of(SYSTEM_CLOCK.now_ms())
    report = hits_report(ReportInputs.of(source, days, today, today), award.award)
    told = _told(award, steps, SYSTEM_CLOCK.now_ms())
    lines = [_listed([told], all_of_them=True), ""]
    derived = []
    for section in report.sections:
        if section.name in ("derivation", "steps"):
            lines += section_text(section)
        if section.name == "derivation":
            derived = [list(row) for row in section.rows]
    lines += findings_text(report)
    answer = {
        **told,
        "steps": [asdict(step) for step in steps],
        "derivation": derived,
        "findings": [finding.text for finding in report.findings],
    }
    print_answer(options, answer, "\n".join(lines))
    return os.EX_DATAERR if report.findings else os.EX_OK


# --- orders ---------------------------------------------------------------------------------------


def _declare_order(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("award", metavar="AWARD")
    parser.add_argument("--note", default="", help="for the record")
    _declare_people(parser)


def _declare_reject(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("award", metavar="AWARD")
    parser.add_argument("--why", required=True, help="for the record")
    _declare_people(parser)


def _declare_people(parser: argparse.ArgumentParser) -> None:
    add_people(parser)
    add_place(parser)


def _one(options: argparse.Namespace, order: dict[str, Any], done: str) -> int:
    wanted = 2 if order["what"] == "reject" else 1
    if len(options.by) != wanted:
        many = "two --by, with different roles" if wanted == 2 else "one --by"
        raise Stop(f"{order['what']}: expected {many}", os.EX_USAGE)
    answer = ordered(options, order)
    return print_answer(options, {**answer, "award": options.award}, f"{options.award}: {done}")


def _order(options: argparse.Namespace, what: str) -> dict[str, Any]:
    note = {"note": options.note} if options.note else {}
    return {"what": what, "award": options.award, **note}


def _verify(options: argparse.Namespace) -> int:
    return _one(options, _order(options, "verify"), "verified")


def _pay(options: argparse.Namespace) -> int:
    return _one(options, _order(options, "pay"), "paid")


def _reject(options: argparse.Namespace) -> int:
    order = {"what": "reject", "award": options.award, "why": options.why}
    return _one(options, order, "rejected; the jackpot is as if it had not been")


def _approve(options: argparse.Namespace) -> int:
    """One person now and another later, or both at once: each gives an order of his own."""
    if len(options.by) > 2:
        raise Stop("approve: expected one --by, or two", os.EX_USAGE)
    control = control_of(options)
    given: list[str] = []
    secrets = passwords(options, *map(present, options.by))
    for person in zip(options.by, secrets, strict=True):
        try:
            order = {"verb": "order", "by": [list(person)], "order": _order(options, "approve")}
            asked(control, order, Ordered)
        except Stop as stop:
            stands = f"; the approval by {given[0]} stands" if given else ""
            raise Stop(f"{person[0]}: {stop.text}{stands}", stop.code) from None
        given.append(person[0])
    state = {a.award: a.state for a in ControlSource(control).mark().awards}[options.award]
    wants = "" if state == "approved" else "; another person with another role must approve too"
    said = f"{options.award}: approved by {' and '.join(given)}{wants}"
    return print_answer(
        options, {"ok": True, "by": given, "award": options.award, "state": state}, said
    )


VERBS: Final = {
    "list": Verb(_declare_list, _list, "jackpots that wait for people", "list --config link.toml"),
    "show": Verb(
        _declare_show,
        _show,
        "one award: its steps, and how its amount came about",
        "show main/1/1 --config link.toml",
    ),
    "verify": Verb(
        _declare_order,
        _verify,
        "deck and hand were checked",
        "verify main/1/1 --by k.lee --config link.toml",
    ),
    "approve": Verb(
        _declare_order,
        _approve,
        "two people with different roles, together or one after the other",
        "approve main/1/1 --by k.lee --by m.ng --config link.toml",
    ),
    "paid": Verb(
        _declare_order,
        _pay,
        "the money was handed over",
        "paid main/1/1 --by m.ng --config link.toml",
    ),
    "reject": Verb(
        _declare_reject,
        _reject,
        "it was no jackpot: everything goes back; two people with different roles",
        "reject main/1/1 --why 'dead hand' --by m.ng --by k.lee --config link.toml",
    ),
}

run: Final = command("jackpot", "Jackpots of the link, from lock to payment.", VERBS).run
