"""The money of every level over some gaming days: opening, what moved and why, closing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from link.ledger.level import ACCOUNTS, DEFICIT, DISPLAY, NEXT, PENDING, RESERVE, REVENUE, WAGERS
from link.ledger.units import UNITS, money_text, to_cents, to_units
from link.reports.model import Line, Report, Section, columns
from link.reports.past import Key, ReportInputs
from link.reports.source import Period
from link.rows import Entry
from record.link.events import Contributed

VISIBLE: Final = ("contribution", "overflow")
HIDDEN: Final = ("hidden", "reserve full")
ENVY_FUND: Final = ("envy fund",)
ROUTES: Final = (NEXT, RESERVE, REVENUE)


@dataclass(slots=True)
class Book:
    """One level."""

    opening: Counter[str] = field(default_factory=Counter)
    moved: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Debit, credit, why to units."""
    times: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    """What moved after the period: closing and this are the balances of record."""
    won: Counter[str] = field(default_factory=Counter)
    """Award to units set aside for it."""

    def take(self, entry: Entry, period: Period) -> None:
        if entry.through in period:
            key = (entry.debit, entry.credit, entry.why)
            self.moved[key] += entry.units
            self.times[key] += 1
            if entry.credit == PENDING and entry.why in ("award", "top-up"):
                self.won[entry.award] += entry.units
            return
        place = self.opening if entry.through <= period.after else self.after
        place[entry.debit] -= entry.units
        place[entry.credit] += entry.units

    def into(self, account: str) -> int:
        return sum(units for (_, credit, _), units in self.moved.items() if credit == account)

    def out_of(self, account: str) -> int:
        return sum(units for (debit, _, _), units in self.moved.items() if debit == account)

    def closing(self, account: str) -> int:
        return self.opening[account] + self.into(account) - self.out_of(account)

    def from_wagers(self, whys: Iterable[str]) -> int:
        """By contributions; reversals stand for themselves."""
        return sum(
            units for (debit, _, why), units in self.moved.items()
            if debit == WAGERS and why in whys
        )  # fmt: skip


def books_of(entries: Iterable[Entry], period: Period) -> dict[Key, Book]:
    found: dict[Key, Book] = {}
    for entry in entries:
        found.setdefault((entry.pool, entry.level), Book()).take(entry, period)
    return found


@dataclass(slots=True)
class Due:
    """What the wagers of the tables should have brought to a level."""

    wagers: int = 0
    cents: int = 0
    visible: int = 0
    hidden: int = 0
    envy: int = 0


def due_of(inputs: ReportInputs) -> dict[Key, Due]:
    past, period = inputs.past, inputs.period
    found: dict[Key, Due] = {key: Due() for key in past.levels}
    past.restart()
    for row in inputs.source.events(period.after):
        if row.id > period.last:
            break
        body = past.body(row)
        if not isinstance(body, Contributed):
            continue
        for level in past.levels_of(past.pool_of(row, body)):
            due = found[level.pool, level.level]
            spread = level.spread(row.id, body.wagers)
            due.wagers += len(body.wagers) if spread else 0
            for _, terms, cents in spread:
                due.cents += cents
                due.visible += cents * terms.rate_ppm
                due.hidden += cents * terms.hidden_ppm
                due.envy += cents * terms.envy_ppm
    return found


def pool_report(inputs: ReportInputs, pool: str | None = None) -> Report:
    title = "Pools" if pool is None else f"Pool {pool}"
    report = Report("pool", title, inputs.facts())
    books = books_of(inputs.source.entries(pool), inputs.period)
    due = due_of(inputs)
    stored: dict[Key, Counter[str]] = {}
    for row in inputs.mark.balances:
        stored.setdefault((row.pool, row.level), Counter())[row.account] = row.units
    for key in inputs.past.levels:
        if pool is not None and key[0] != pool:
            continue
        book = books.get(key, Book())
        report.sections.append(_meters(key, book, due[key], inputs))
        report.sections.append(_accounts(key, book))
        report.sections.append(_statement(key, book))
        report.sections.append(_checks(key, book, due[key], stored.get(key, Counter()), report))
    return report


def _about(key: Key) -> tuple[tuple[str, str], ...]:
    return (("pool", key[0]), ("level", key[1]))


def _meters(key: Key, book: Book, due: Due, inputs: ReportInputs) -> Section:
    past, period = inputs.past, inputs.period
    generation = past.levels[key].of(period.last + 1)[0]
    locked = [
        award for award in inputs.mark.awards
        if (award.pool, award.level) == key and past.locks.get(award.award, 0) in period
    ]  # fmt: skip
    gone = [award for award in locked if award.state in ("rejected", "withdrawn")]
    overflow = sum(
        units for (_, credit, why), units in book.moved.items()
        if why == "overflow" or (why in ("restored", "correction") and credit in ROUTES)
    )  # fmt: skip
    rows = [
        ("generation at the end", generation, None),
        ("progressive wagers", due.wagers, None),
        ("wagered", None, to_units(due.cents)),
        ("in, net of reversals", None, book.out_of(WAGERS) - book.into(WAGERS)),
        ("display at the end", None, book.closing(DISPLAY)),
        ("shown at the end", None, to_units(to_cents(book.closing(DISPLAY)))),
        ("hits locked", len(locked), None),
        ("of them rejected or withdrawn since", len(gone), None),
        ("wins locked", None, sum(book.won.values())),
        ("overflow", None, overflow),
        ("reserve at the end", None, book.closing(RESERVE)),
        ("pending at the end", None, book.closing(PENDING)),
        ("deficit at the end", None, -book.closing(DEFICIT)),
    ]
    return Section(
        "meters", "Meters", columns("meter", "count:count", "amount:units"), rows, _about(key)
    )


def _accounts(key: Key, book: Book) -> Section:
    rows: list[Line] = []
    sums = [0, 0, 0, 0]
    for account in ACCOUNTS:
        line = [
            book.opening[account],
            book.into(account),
            -book.out_of(account),
            book.closing(account),
        ]
        if any(line):
            rows.append((account, *line))
        sums = [a + b for a, b in zip(sums, line, strict=True)]
    rows.append(("all accounts", *sums))
    return Section(
        "accounts",
        "Accounts",
        columns("account", "opening:units", "in:units", "out:units", "closing:units"),
        rows,
        _about(key),
        sums=1,
        note="Sources are below zero, so that all accounts of a level add up to nothing.",
    )


def _statement(key: Key, book: Book) -> Section:
    """The jackpot alone, line by line."""
    rows: list[Line] = [("opening", None, None, book.opening[DISPLAY])]
    for (debit, credit, why), units in sorted(book.moved.items()):
        if credit == DISPLAY:
            rows.append((why, debit, book.times[debit, credit, why], units))
        elif debit == DISPLAY:
            rows.append((why, credit, book.times[debit, credit, why], -units))
    rows.append(("closing", None, None, book.closing(DISPLAY)))
    return Section(
        "jackpot",
        "The jackpot",
        columns("what", "from or to", "entries:count", "amount:units"),
        rows,
        _about(key),
        sums=1,
    )


def _checks(key: Key, book: Book, due: Due, stored: Counter[str], report: Report) -> Section:
    rows: list[Line] = []

    def equal(what: str, expected: int, found: int) -> None:
        rows.append((what, expected, found, found - expected))
        if expected != found:
            report.differs(
                f"{'/'.join(key)}: {what}: {money_text(expected)} expected, {money_text(found)} "
                f"found, {found - expected} units apart"
            )

    equal("jackpot and overflow from wagers", due.visible, book.from_wagers(VISIBLE))
    equal("reserve from wagers", due.hidden, book.from_wagers(HIDDEN))
    equal("envy fund from wagers", due.envy, book.from_wagers(ENVY_FUND))
    for account in ACCOUNTS:
        found = book.closing(account) + book.after[account]
        if found or stored[account]:
            equal(f"{account}: balance and entries", stored[account], found)
    equal("all accounts together", 0, sum(book.closing(account) for account in ACCOUNTS))
    whole = all(units % UNITS == 0 for units in book.won.values())
    equal("awards in parts of a cent", 0, 0 if whole else 1)
    return Section(
        "checks",
        "Checks",
        columns("check", "expected:units", "found:units", "difference:units"),
        rows,
        _about(key),
    )
