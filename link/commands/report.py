"""``underfelt report``: what the link server's rows add up to, by gaming day."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Final

from link.commands.io import (
    EX_CANTCREAT,
    EX_DATAERR,
    EX_OK,
    EX_TROUBLE,
    EX_USAGE,
    Stop,
    load_config,
)
from link.commands.report_source import opened
from link.commands.verbs import Verb, run_verb
from link.config import LinkConfig
from link.reports.days import GamingDays
from link.reports.desk import Desk
from link.reports.export import report_csv, report_json
from link.reports.hits import hits_report
from link.reports.model import DIFFERENCE, Report, ReportError
from link.reports.page import report_html
from link.reports.pool import pool_report
from link.reports.text import report_text

Make = Callable[[argparse.Namespace, Desk], Report]


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="first", metavar="DAY", help="first gaming day (today)")
    parser.add_argument("--to", dest="last", metavar="DAY", help="last gaming day (the first)")
    parser.add_argument("--config", metavar="FILE", help="link.toml")
    parser.add_argument("--socket", metavar="PATH", help="the server's control socket, instead")
    parser.add_argument("--backup", metavar="FILE", help="a backup of a SQLite store, instead")
    parser.add_argument("--time-zone", metavar="NAME", help="such as Asia/Singapore")
    parser.add_argument("--day-start", metavar="HH:MM", help="when a gaming day begins")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--html", action="store_true", help="one page that needs nothing else")
    form.add_argument("--csv", action="store_true", help="for a spreadsheet")
    form.add_argument("--json", action="store_true", help="for other programs")
    parser.add_argument("--section", metavar="NAME", help="with --csv: one section alone")
    parser.add_argument("--output", metavar="FILE", help="a new file instead of the terminal")


def _declare_pool(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pool", metavar="POOL", nargs="?", help="one pool; all if not given")
    _declare(parser)


def _declare_hits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("award", metavar="AWARD", nargs="?", help="one award, whenever it was")
    _declare(parser)


def _act(make: Make) -> Callable[[argparse.Namespace], int]:
    def act(options: argparse.Namespace) -> int:
        try:
            report = _report(options, make)
            return _write(options, report)
        except ReportError as error:
            raise Stop(str(error), EX_DATAERR) from None

    return act


def _report(options: argparse.Namespace, make: Make) -> Report:
    if not (options.config or options.socket or options.backup):
        raise Stop("expected --config FILE, --socket PATH or --backup FILE", EX_USAGE)
    config = load_config(options.config) if options.config else None
    days = _days(options, config)
    with opened(config, options.socket, options.backup) as source:
        return make(options, Desk.of(source, days, *_span(options, days)))


def _days(options: argparse.Namespace, config: LinkConfig | None) -> GamingDays:
    zone = options.time_zone or (config.reports["time_zone"] if config else "UTC")
    start = options.day_start or (config.reports["day_start"] if config else "06:00")
    return GamingDays.of(zone, start)


def _span(options: argparse.Namespace, days: GamingDays) -> tuple[date, date]:
    first = days.parse(options.first) if options.first else days.day_of(time.time_ns() // 10**6)
    last = days.parse(options.last) if options.last else first
    if last < first:
        raise ReportError("E-RPT-002", f"--to {last} is before --from {first}")
    return first, last


def _write(options: argparse.Namespace, report: Report) -> int:
    if options.section and not options.csv:
        raise Stop("--section goes with --csv", EX_USAGE)
    if options.html:
        text = report_html(report)
    elif options.csv:
        text = report_csv(report, options.section)
    elif options.json:
        text = report_json(report) + "\n"
    else:
        text = report_text(report) + "\n"
    if options.output:
        try:
            with Path(options.output).open("x", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise Stop(f"{options.output}: {error.strerror}", EX_CANTCREAT) from None
    else:
        sys.stdout.write(text)
    for finding in report.findings:
        print(f"underfelt report: {finding.text} ({finding.code})", file=sys.stderr)
    if any(finding.code == DIFFERENCE for finding in report.findings):
        return EX_DATAERR
    return EX_TROUBLE if report.findings else EX_OK


def _pool(options: argparse.Namespace, desk: Desk) -> Report:
    known = sorted({pool for pool, _ in desk.past.levels})
    if options.pool is not None and options.pool not in known:
        said = f'no pool "{options.pool}"; expected one of {", ".join(known)}'
        raise ReportError("E-RPT-004", said)
    return pool_report(desk, options.pool)


def _hits(options: argparse.Namespace, desk: Desk) -> Report:
    if options.award is not None and all(row.award != options.award for row in desk.mark.awards):
        raise ReportError("E-RPT-004", f'no award "{options.award}"')
    return hits_report(desk, options.award)


VERBS: Final = {
    "pool": Verb(
        _declare_pool,
        _act(_pool),
        "meters, accounts and the jackpot of every level, opening to closing",
        "pool --from 2026-03-10 --config link.toml",
    ),
    "hits": Verb(
        _declare_hits,
        _act(_hits),
        "jackpots, each amount derived from its contributions",
        "hits main/1/1 --config link.toml",
    ),
}


def run(argv: list[str]) -> int:
    return run_verb("report", "Reports of the link server by gaming day.", VERBS, argv)
