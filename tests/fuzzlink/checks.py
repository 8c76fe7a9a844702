"""What must hold over every generated history, whatever was said to the server."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from controller.evidence.server import server_half
from link.commands.link_store import history_of
from link.commands.report_source import StoreSource
from link.ledger.history import check_history
from link.ledger.level import WAGERS
from link.reports.day import day_report
from link.reports.days import GamingDays
from link.reports.export import report_csv, report_json
from link.reports.hits import hits_report
from link.reports.model import Report
from link.reports.page import report_html
from link.reports.past import ReportInputs
from link.reports.pool import pool_report
from link.reports.table import fold_tables, table_report
from link.reports.text import report_text
from link.rows import EventRow
from link.store.base import Store
from record.link.codec import body_of
from record.link.events import Contributed, Reversed
from tests.fuzzlink.world import START_MS, World

DAYS = GamingDays.of("UTC", "06:00")
DIFFERENCE = "E-RPT-010"
TOLD = ("not among its last 256", "from before this period")


def check(world: World) -> dict[str, int]:
    """Over the store, as a person would after the server was stopped."""
    store = world.reopen()
    try:
        store.check()
        store.check_sums()
        history = history_of(store)
        check_history(history, world.sealer)
        check_history(history)
        _acknowledged(world, history.events)
        _readable(history.events)
        _money(store, history.events)
        _sums(store)
        _reports(world, store)
        _evidence(store)
        paid = sum(row.state == "paid" for row in history.awards)
        halts = sum(b'"what":"halt"' in row.body for row in history.events)
        return {"events": len(history.events), "awards": len(history.awards), "paid": paid,
                "halts": halts}  # fmt: skip
    finally:
        store.close()


def _acknowledged(world: World, events: Sequence[EventRow]) -> None:
    stored = Counter(row.journal for row in events if row.table)
    for table in world.tables:
        for journal, n in table.acked.items():
            assert stored[journal] >= n, f"{table.name}: {n} acknowledged, {stored[journal]} stored"


def _readable(events: Sequence[EventRow]) -> None:
    for row in events:
        text = row.body.decode()
        assert text.isprintable() or not row.table
        if row.table:
            body_of(row.body)
        else:
            json.loads(text)


def _money(store: Store, events: Sequence[EventRow]) -> None:
    """Wagers that stand, added up again from the bodies alone, against the accounts."""
    skipped = _skipped(events)
    found: Counter[str] = Counter()
    pool_of = _pools(events)
    for row in events:
        if not row.table or (row.journal, row.n, row.hash) in skipped:
            continue
        body = body_of(row.body)
        if isinstance(body, Contributed | Reversed):
            sign = 1 if isinstance(body, Contributed) else -1
            found[pool_of[row.table]] += sign * sum(wager.cents for wager in body.wagers)
    for level in store.load().levels:
        wagered = json.loads(level.state).get("wagered_cents", 0)
        assert wagered == found[level.pool], f"{level.pool}/{level.level}: {wagered}, {found}"
        balance = next(
            (
                b.units for b in store.load().balances
                if (b.pool, b.level, b.account) == (level.pool, level.level, WAGERS)
            ),
            0,
        )  # fmt: skip
        assert (balance == 0) == (found[level.pool] == 0) or balance < 0


def _sums(store: Store) -> None:
    """Sums by time, all of them together, against the accounts and meters of each level."""
    units, hits, wins = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[object]()
    for row in store.sums():
        key = (row.pool, row.level)
        units[key] += row.in_units
        hits[key] += row.hits
        wins[key] += row.win_units
    balances = {(b.pool, b.level, b.account): b.units for b in store.load().balances}
    for level in store.load().levels:
        key = (level.pool, level.level)
        assert units[key] == -balances.get((*key, WAGERS), 0)
        assert hits[key] == level.hits
        assert wins[key] == 1_000_000 * json.loads(level.state).get("wins_cents", 0)


def _skipped(events: Sequence[EventRow]) -> set[tuple[str, int, str]]:
    """What people left without effect: the last resume of a journal before the event counts."""
    now: dict[str, tuple[int, str]] = {}
    found = set()
    for row in events:
        if row.table:
            if now.get(row.journal) == (row.n, row.hash):
                found.add((row.journal, row.n, row.hash))
            continue
        order = json.loads(row.body).get("order", {})
        if order.get("what") == "resume":
            now[order["journal"]] = (order.get("skip", 0), order.get("skip_hash", ""))
    return found


def _pools(events: Sequence[EventRow]) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in events:
        if not row.table:
            order = json.loads(row.body).get("order", {})
            if order.get("what") == "link":
                found |= dict.fromkeys(order["terms"].get("tables", {}), order["pool"])
    return found


def _reports(world: World, store: Store) -> None:
    first, last = DAYS.day_of(START_MS), DAYS.day_of(world.clock.wall_ms)
    inputs = ReportInputs.of(StoreSource(store), DAYS, first, last)
    reports = [pool_report(inputs), hits_report(inputs), day_report(inputs, [], 10_000)]
    reports.append(table_report(inputs, None, fold_tables(inputs)))
    reports += [hits_report(inputs, row.award) for row in inputs.mark.awards[-3:]]
    for report in reports:
        _read(report)


def _read(report: Report) -> None:
    text = report_text(report)
    assert "\x1b" not in text
    assert report_html(report)
    assert report_csv(report, None)
    json.loads(report_json(report))
    # A table that jumps ahead and comes back, or reports a round of another day, is told so; that
    # is no difference.
    differences = [f.text for f in report.findings if f.code == DIFFERENCE]
    wrong = [text for text in differences if not any(known in text for known in TOLD)]
    assert wrong == [], wrong


def _evidence(store: Store) -> None:
    source = StoreSource(store)
    for row in source.mark().awards[-3:]:
        half = server_half(source, row.award)
        assert half.wrong == [], f"{row.award}: {half.wrong}"
