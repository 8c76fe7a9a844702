"""A table's journal against what the server has of it: every event once, the same, nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from link.reports.model import Line, Report, Section, columns
from link.rows import EventRow
from record.kit.money import cents_text
from record.kit.words import counted
from record.link.codec import body_of
from record.link.events import AnyBody, Contributed, FixedAward, Reversed, RoundPlayed
from record.link.messages import Event

MOST_LISTED: Final = 100
COUNTS: Final = {"events": "events", "rounds": "rounds", "claims and requests": "claims"}
MONEY: Final = {
    "progressive wagers": "contributed",
    "reversed": "reversed",
    "paid at the table": "paid",
}


@dataclass(frozen=True, slots=True)
class JournalFolder:
    """What the folder holds."""

    journal: str
    table: str
    trimmed: bool
    """Its first records are past their retention."""
    events: Iterable[Event]
    """Its outbox, in order."""


@dataclass(slots=True)
class Side:
    events: int = 0
    contributed: int = 0
    reversed: int = 0
    claims: int = 0
    rounds: int = 0
    paid: int = 0
    """Fixed awards."""

    def take(self, body: AnyBody) -> None:
        self.events += 1
        match body:
            case Contributed():
                self.contributed += sum(wager.cents for wager in body.wagers)
            case Reversed():
                self.reversed += sum(wager.cents for wager in body.wagers)
            case RoundPlayed():
                self.rounds += 1
                self.paid += _paid(body.awards)
            case _:
                self.claims += 1


def _paid(awards: Iterable[FixedAward]) -> int:
    return sum(award.cents for award in awards)


class Reconciliation:
    def __init__(self, journal: JournalFolder) -> None:
        self.journal = journal
        self.here, self.there, self.waiting = Side(), Side(), Side()
        self.rows: list[tuple[int, int, str, int]] = []
        self.older = 0

    def run(self, stored: Iterator[EventRow]) -> None:
        """Both in the order of their numbers."""
        row = next(stored, None)
        old = self.journal.trimmed
        for event in self.journal.events:
            while row is not None and row.n < event.n:
                if old:
                    self.older += 1  # nothing is left to compare it with
                else:
                    self._alone(row)
                row = next(stored, None)
            old = False
            self.here.take(event.body)
            if row is None:
                self.waiting.take(event.body)
            elif row.n > event.n:
                self.rows.append((event.n, event.seq, "not at the server", -_money(event.body)))
            else:
                self.there.take(body_of(row.body))
                self._same(event, row)
                row = next(stored, None)
        while row is not None:
            self._alone(row)
            row = next(stored, None)

    def _alone(self, row: EventRow) -> None:
        body = body_of(row.body)
        self.there.take(body)
        self.rows.append((row.n, row.seq, "at the server alone", _money(body)))

    def _same(self, event: Event, row: EventRow) -> None:
        theirs = body_of(row.body)
        if theirs != event.body:
            apart = _money(theirs) - _money(event.body)
            self.rows.append((event.n, event.seq, "the body is another", apart))
        for name, mine, its in (
            ("the record's hash", event.hash, row.hash),
            ("the record's number", event.seq, row.seq),
            ("the time", event.at_ms, row.at_ms),
        ):
            if mine != its:
                text = f"{name} is {mine}, at the server {its}"
                self.rows.append((event.n, event.seq, text, 0))


def _money(body: AnyBody) -> int:
    """Cents that an event brings to the pools."""
    if isinstance(body, Contributed | Reversed):
        sign = 1 if isinstance(body, Contributed) else -1
        return sign * sum(wager.cents for wager in body.wagers)
    return 0


def reconcile_report(journal: JournalFolder, stored: Iterator[EventRow], place: str) -> Report:
    """``stored``: the server's rows of this journal."""
    found = Reconciliation(journal)
    found.run(stored)
    facts = [("Table", journal.table), ("Journal", journal.journal), ("Read from", place)]
    report = Report("reconcile", f"Reconciliation of {journal.table}", facts)
    report.sections.append(_sums("counts", "Counts", COUNTS, found, report))
    report.sections.append(_sums("money", "Money", MONEY, found, report))
    head = columns("event:count", "record:count", "difference", "server - journal:cents")
    report.sections.append(Section("differences", "Differences", head, found.rows))
    for n, seq, text, cents in found.rows[:MOST_LISTED]:
        money = f", {cents_text(cents)}" if cents else ""
        report.differs(f"{journal.table}: event {n}, record {seq}: {text}{money}")
    return report


def _sums(
    name: str, title: str, wanted: dict[str, str], found: Reconciliation, report: Report
) -> Section:
    kind = "count" if name == "counts" else "cents"
    rows: list[Line] = []
    for label, field in wanted.items():
        here, there, waits = (
            int(getattr(side, field)) for side in (found.here, found.there, found.waiting)
        )
        apart = there + waits - here
        rows.append((label, here, there, waits, apart))
        if apart:
            said = cents_text(apart) if kind == "cents" else str(apart)
            report.differs(f"{found.journal.table}: {label}: {said} apart")
    head = columns(
        "what", f"journal:{kind}", f"server:{kind}", f"waiting:{kind}", f"difference:{kind}"
    )
    older = (
        f" Not compared: {counted(found.older, 'event')} at the server, older than the "
        "journal's first record."
    )
    note = "Waiting: in the journal, not yet at the server." + (older if found.older else "")
    return Section(name, title, head, rows, note=note if name == "counts" else "")
