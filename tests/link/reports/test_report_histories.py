"""Reports over generated histories: each is readable in every form, agrees with the ledger, and
shows what an independent model counted from the messages alone.

The play is that of the ledger's state machine, spread over some days: ceilings, ties, mysteries,
awards of nothing, several awards in a round, voids before and after payment, rejections, transfers,
changed terms, tables that change pools, poison left without effect.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from link.ledger.state import Reply
from link.reports.day import day_report
from link.reports.days import GamingDays
from link.reports.export import report_csv, report_json
from link.reports.hits import hits_report
from link.reports.model import Report, Value
from link.reports.page import report_html
from link.reports.past import ReportInputs
from link.reports.pool import pool_report
from link.reports.source import Mark
from link.reports.table import table_report
from link.reports.text import report_text
from link.rows import AlarmRow, AwardStep, Entry, EventRow
from record.link.events import (
    AnyBody,
    Claim,
    Claimed,
    Contributed,
    Reversed,
    RoundPlayed,
    Wager,
    Withdrawn,
)
from record.link.messages import AwardChanged, Locked, MysteryWon
from tests.link.ledger.support import MemoryStore
from tests.link.ledger.test_machine import HANDS, TABLES, Play, tables

DAYS = GamingDays.of("UTC", "00:00")
FIRST = date(1970, 1, 1)
HOUR_MS = 3_600_000


class MemorySource:
    """The rows of the store in memory, in the order in which a real store gives them."""

    place = "memory"

    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def mark(self) -> Mark:
        held = self.store
        awards = sorted(held.awards.values(), key=lambda row: (row.event, row.order))
        last = len(held.events)
        return Mark(last, tuple(held.balances.values()), tuple(held.levels.values()), tuple(awards))

    def events(
        self, after: int = 0, *, from_ms: int = 0, journal: str | None = None
    ) -> Iterator[EventRow]:
        for row in self.store.events[after:]:
            if row.received_ms >= from_ms and journal in (None, row.journal):
                yield row

    def entries(self, pool: str | None = None) -> Iterator[Entry]:
        return (row for row in self.store.entries if pool in (None, row.pool))

    def steps(self) -> Iterator[AwardStep]:
        return iter(sorted(self.store.steps, key=lambda row: (row.event, row.award, row.step)))

    def alarms(self, from_ms: int, to_ms: int) -> Iterator[AlarmRow]:
        return (row for row in self.store.alarms if from_ms <= row.at_ms < to_ms)


class Reported(Play):
    """``told``: award to its state and cents, from what the tables were told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, tuple[str, int]] = {}
        self.wagered = dict.fromkeys(TABLES, 0)
        self.reversed = dict.fromkeys(TABLES, 0)
        self.reported: dict[str, dict[int, RoundPlayed]] = {name: {} for name in TABLES}

    def hear(self, replies: Sequence[Reply]) -> None:
        for _, message in replies:
            match message:
                case Locked():
                    for award in message.awards:
                        self.told.setdefault(award.award, ("locked", award.cents))
                case MysteryWon():
                    self.told.setdefault(message.award, ("locked", message.cents))
                case AwardChanged():
                    self.told[message.award] = (message.state, message.cents)
                case _:
                    pass

    def tell(self, name: str, body: AnyBody) -> bool:
        taken = super().tell(name, body)
        if taken and isinstance(body, Contributed):
            self.wagered[name] += sum(wager.cents for wager in body.wagers)
        if taken and isinstance(body, Reversed):
            self.reversed[name] += sum(wager.cents for wager in body.wagers)
        if taken and isinstance(body, RoundPlayed):
            self.reported[name][body.round] = body
        return taken

    def play(self, name: str, back: int, kinds: dict[int, str], cents: int) -> None:
        """A table reports its rounds in their order, and corrects what it has reported."""
        number, known = self.known(name, back)[0], self.reported[name]
        if number in known or number > max(known, default=0):
            super().play(name, back, kinds, cents)

    @rule(hours=st.integers(1, 30))
    def wait(self, hours: int) -> None:
        self.floor.now_ms += hours * HOUR_MS

    @rule(
        name=tables,
        who=st.permutations((1, 2, 3)),
        hand=st.sampled_from(("full house", "straight flush")),
    )
    def share_and_void(self, name: str, who: Sequence[int], hand: str) -> None:
        """Several seats win shares in one round, and all of it is void."""
        self.bet(name, {1, 2, 3}, 1, True)
        number = self.rounds[name]
        claims = [Claim(seat, hand, HANDS[hand]) for seat in who]
        if not self.tell(name, Claimed(number, tuple(claims))):
            return
        self.hear(self.floor.tick(10))
        self.tell(name, Withdrawn(number, (1, 2, 3)))
        self.tell(name, Reversed(number, tuple(Wager(seat, 100, 1) for seat in (1, 2, 3))))
        home, put = self.put[name, number]
        put.update(dict.fromkeys(put, 0))
        self.standing[home] -= 300

    # --- at the end -----------------------------------------------------------------------------

    def inputs(self, first: date, last: date) -> ReportInputs:
        return ReportInputs.of(MemorySource(self.floor.store), DAYS, first, last)

    def teardown(self) -> None:
        if not hasattr(self, "floor"):
            return
        self.floor.commit()
        last = DAYS.day_of(self.floor.now_ms)
        inputs = self.inputs(FIRST, last)
        self.same_pools(pool_report(inputs))
        self.same_awards(hits_report(inputs))
        self.same_tables(table_report(inputs))
        readable(day_report(inputs, [], 10_000, full=True))
        self.same_totals(day_report(inputs, [], 10_000))
        sums: dict[tuple[str, str], int] = {}
        day = FIRST
        while day <= last:  # what the days say adds up to the whole
            report = day_report(self.inputs(day, day), [], 10_000, full=True)
            readable(report)
            for key, row in meters(report, "in, net of reversals"):
                sums[key] = sums.get(key, 0) + row
            day += timedelta(days=1)
        assert sums == {
            (pool, level): cents * rate
            for pool, cents in self.standing.items()
            for level, rate in self.rates.items()
        }
        for award in self.floor.store.awards:
            readable(hits_report(inputs, award))

    def same_pools(self, report: Report) -> None:
        readable(report)
        for (pool, level), units in meters(report, "in, net of reversals"):
            assert units == self.standing[pool] * self.rates[level]

    def same_awards(self, report: Report) -> None:
        readable(report)
        found = {str(row[0]): (row[6], row[7]) for row in rows(report, "awards")}
        locked = {name: said for name, said in self.told.items() if name in found}
        assert found == locked
        never = self.told.keys() - found.keys()
        assert {self.told[name] for name in never} <= {("withdrawn", 0), ("rejected", 0)}

    def same_totals(self, report: Report) -> None:
        readable(report)
        totals = {row[0]: row[1:] for row in rows(report, "totals")}
        found = [said for name, said in self.told.items() if name in desk_awards(self.floor.store)]
        assert totals["rounds"] == (sum(len(r) for r in self.reported.values()), None)
        net = sum(self.wagered.values()) - sum(self.reversed.values())
        assert totals["progressive wagers, net of reversals"][1] == net
        assert totals["jackpots locked"] == (len(found), sum(cents for _, cents in found))
        paid = [cents for state, cents in found if state == "paid"]
        assert totals["of them paid"] == (len(paid), sum(paid))

    def same_tables(self, report: Report) -> None:
        readable(report)
        put = {row[0]: row[2:4] for row in rows(report, "contributions")}
        for name in TABLES:
            wagered, back = self.wagered[name], self.reversed[name]
            assert put.get(name, (0, 0)) == (wagered, back)
        fixed: dict[Value, int] = {}
        for section in report.sections:
            if section.name == "fixed":
                fixed[section.about[0][1]] = int(section.rows[-1][2] or 0)
        for name, rounds in self.reported.items():
            cents = sum(award.cents for body in rounds.values() for award in body.awards)
            assert fixed.get(name, 0) == cents
        counted = {row[0]: row[2] for row in rows(report, "rounds")}
        for name in TABLES:
            assert counted.get(name, 0) == len(self.reported[name])


def desk_awards(store: MemoryStore) -> set[str]:
    return {step.award for step in store.steps if step.state == "locked"}


def rows(report: Report, name: str) -> list[tuple[Value, ...]]:
    return [row for section in report.sections if section.name == name for row in section.rows]


def meters(report: Report, what: str) -> list[tuple[tuple[str, str], int]]:
    found = []
    for section in report.sections:
        if section.name == "meters":
            (units,) = [row[2] for row in section.rows if row[0] == what]
            found.append(((section.about[0][1], section.about[1][1]), int(units or 0)))
    return found


def readable(report: Report) -> None:
    """Nothing disagrees, and every form says the same."""
    assert report.findings == []
    assert report_text(report).endswith("Everything agrees.")
    assert report_html(report).count("<h2>") == len(report.sections)
    stated = json.loads(report_json(report))
    assert [s["name"] for s in stated["sections"]] == [s.name for s in report.sections]
    lines = list(csv.reader(io.StringIO(report_csv(report))))
    known = len({s.name for s in report.sections})
    assert len(lines) == known + sum(len(s.rows) - s.sums for s in report.sections)


many = int(os.environ.get("UNDERFELT_REPORT_RUNS", "15"))
TestReported = Reported.TestCase
TestReported.settings = settings(
    max_examples=many,
    stateful_step_count=40,
    deadline=None,
    derandomize="UNDERFELT_REPORT_RUNS" not in os.environ,  # a long run plays other histories
)
