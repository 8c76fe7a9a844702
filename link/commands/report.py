"""``underfelt report``: what the link server's rows add up to, by gaming day."""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from link.commands.io import command, load_config
from link.commands.report_source import opened
from link.config import LinkConfig, ReportOptions
from link.reports.day import day_report
from link.reports.days import GamingDays
from link.reports.export import report_csv, report_json
from link.reports.hits import hits_report
from link.reports.model import DIFFERENCE, UNREADABLE, Report, ReportError
from link.reports.page import report_html
from link.reports.par import Sheet, par_report, read_sheet
from link.reports.past import ReportInputs
from link.reports.pool import pool_report
from link.reports.reconcile import JournalFolder, reconcile_report
from link.reports.table import fold_tables, table_report
from link.reports.text import report_text
from link.server.clock import SYSTEM_CLOCK
from record.journal.errors import JournalError
from record.journal.reader import JournalReader
from record.kit.arguments import add_config
from record.kit.exits import TROUBLE
from record.kit.outside import printable, printable_json, printable_lines
from record.kit.places import LINK
from record.kit.verbs import Stop, Verb
from record.link.codec import WireError
from record.link.messages import Event
from record.link.outbox import OUTBOX, event_of

Make = Callable[[argparse.Namespace, ReportInputs], Report]


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="first", metavar="DAY", help="first gaming day (today)")
    parser.add_argument("--to", dest="last", metavar="DAY", help="last gaming day (the first)")
    add_config(parser, LINK, "link.toml", "socket", "backup")
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
            raise Stop(str(error), os.EX_DATAERR) from None

    return act


def _report(options: argparse.Namespace, make: Make) -> Report:
    config = _place(options)
    days = _days(options, config)
    with opened(config, options.socket, options.backup) as source:
        return make(options, ReportInputs.of(source, days, *_span(options, days)))


def _place(options: argparse.Namespace) -> LinkConfig | None:
    return load_config(options.config) if options.config else None


def _days(options: argparse.Namespace, config: LinkConfig | None) -> GamingDays:
    reports = config.reports if config else ReportOptions()
    return GamingDays.of(
        options.time_zone or reports.time_zone, options.day_start or reports.day_start
    )


def _span(options: argparse.Namespace, days: GamingDays) -> tuple[date, date]:
    first = days.parse(options.first) if options.first else days.day_of(SYSTEM_CLOCK.now_ms())
    last = days.parse(options.last) if options.last else first
    if last < first:
        raise ReportError("E-RPT-002", f"--to {last} is before --from {first}")
    return first, last


def _write(options: argparse.Namespace, report: Report) -> int:
    if options.section and not options.csv:
        raise Stop("--section goes with --csv", os.EX_USAGE)
    if options.html:
        text = report_html(report)
    elif options.csv:
        text = report_csv(report, options.section)
    elif options.json:
        text = report_json(report) + "\n"
    else:
        text = report_text(report) + "\n"
    text = printable_json(text) if options.json else printable_lines(text)
    if options.output:
        try:
            with Path(options.output).open("x", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise Stop(f"{options.output}: {error.strerror}", os.EX_CANTCREAT) from None
    else:
        sys.stdout.write(text)
    for finding in report.findings:
        said = printable(f"underfelt report: {finding.text} ({finding.code})")
        print(said, file=sys.stderr)
    if any(finding.code in (DIFFERENCE, UNREADABLE) for finding in report.findings):
        return os.EX_DATAERR
    return TROUBLE if report.findings else os.EX_OK


def _pool(options: argparse.Namespace, inputs: ReportInputs) -> Report:
    known = sorted({pool for pool, _ in inputs.past.levels})
    if options.pool is not None and options.pool not in known:
        said = f'no pool "{options.pool}"; expected one of {", ".join(known)}'
        raise ReportError("E-RPT-004", said)
    return pool_report(inputs, options.pool)


def _hits(options: argparse.Namespace, inputs: ReportInputs) -> Report:
    if options.award is not None and all(row.award != options.award for row in inputs.mark.awards):
        raise ReportError("E-RPT-004", f'no award "{options.award}"')
    return hits_report(inputs, options.award)


def _declare_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", nargs="?", help="one table; all if not given")
    _declare_par(parser)
    _declare(parser)


def _declare_day(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--full", action="store_true", help="every section of the other reports, orders, alarms"
    )
    _declare_par(parser)
    _declare(parser)


def _declare_par(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--par",
        metavar="FILE",
        action="append",
        default=[],
        help="a par sheet (underfelt par GAME --json), besides those of link.toml",
    )
    parser.add_argument(
        "--alarm-one-in", metavar="N", type=int, help="tell what chance makes once in N"
    )


def _table(options: argparse.Namespace, inputs: ReportInputs) -> Report:
    folded = fold_tables(inputs)
    if options.table is not None:
        folded = {key: sums for key, sums in folded.items() if key[0] == options.table}
    report = table_report(inputs, options.table, folded)
    report.add(par_report(inputs, folded, _sheets(options), _one_in(options)))
    return report


def _day(options: argparse.Namespace, inputs: ReportInputs) -> Report:
    full = options.full or options.json or options.csv  # a program picks what it needs
    return day_report(inputs, _sheets(options), _one_in(options), full=full)


def _one_in(options: argparse.Namespace) -> int:
    stated = options.alarm_one_in
    if stated is None:
        config = _place(options)
        stated = (config.reports if config else ReportOptions()).alarm_one_in
    if stated < 10:
        raise Stop(f"--alarm-one-in: {stated}; expected 10 or more", os.EX_USAGE)
    return int(stated)


def _sheets(options: argparse.Namespace) -> list[Sheet]:
    """One for each game; a sheet of the command line takes the place of the configuration's."""
    files = [*(_of_config(Path(options.config)) if options.config else ()), *options.par]
    found: dict[str, Sheet] = {}
    for file in files:
        try:
            text = Path(file).read_bytes()
        except OSError as error:
            raise Stop(f"{file}: {error.strerror}", os.EX_NOINPUT) from None
        sheet = read_sheet(text, str(file))
        found[sheet.game] = sheet
    return list(found.values())


def _of_config(path: Path) -> list[Path]:
    pools = tomllib.loads(path.read_text("utf-8")).get("pools", {})
    sheets = [game["par"] for pool in pools.values() for game in pool.get("games", {}).values()]
    return [path.absolute().parent / sheet for sheet in dict.fromkeys(sheets)]


# --- reconcile ------------------------------------------------------------------------------------


def _declare_reconcile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--journal", metavar="DIR", required=True, help="the table's journal")
    _declare(parser)


def _reconcile(options: argparse.Namespace) -> int:
    """The whole journal, or what the table wrote in the gaming days given."""
    config = _place(options)
    days = _days(options, config)
    try:
        span = None
        if options.first or options.last:
            first, last = _span(options, days)
            span = (days.begins_ms(first), days.begins_ms(last + timedelta(days=1)))
        reader = JournalReader(Path(options.journal))
        about = reader.report()
        journal = JournalFolder(
            about.journal_id, about.table, about.first_seq > 1, _outbox(reader, span)
        )
        with opened(config, options.socket, options.backup) as source:
            source.mark()
            stored = (
                row for row in source.events(journal=journal.journal) if _within(row.at_ms, span)
            )
            report = reconcile_report(journal, stored, source.place)
    except (ReportError, WireError) as error:
        raise Stop(str(error), os.EX_DATAERR) from None
    except JournalError as error:
        raise Stop(str(error), error.exit_code) from None
    return _write(options, report)


def _within(at_ms: int, span: tuple[int, int] | None) -> bool:
    return span is None or span[0] <= at_ms < span[1]


def _outbox(reader: JournalReader, span: tuple[int, int] | None) -> Iterator[Event]:
    for record in reader.records():
        if record.kind == OUTBOX and _within(record.at_ms, span):
            yield event_of(record)


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
    "table": Verb(
        _declare_table,
        _act(_table),
        "rounds, handle, payments and contributions of the tables; par sheets",
        "table --from 2026-03-01 --to 2026-03-31 --config link.toml --csv",
    ),
    "reconcile": Verb(
        _declare_reconcile,
        _reconcile,
        "a table's journal against the server's rows, to the cent",
        "reconcile --journal /mnt/table-7/journal --config link.toml",
    ),
    "day": Verb(
        _declare_day,
        _act(_day),
        "a gaming day on one page, totals first; --full for everything",
        "day --from 2026-03-10 --config link.toml --html --output day.html",
    ),
}

run: Final = command("report", "Reports of the link server by gaming day.", VERBS).run
