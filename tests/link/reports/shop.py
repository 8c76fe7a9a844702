"""A floor of the ledger tests whose every group is committed to a real store too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from link.commands.report_source import StoreSource
from link.ledger.orders import Approve, Pay, Verify
from link.ledger.terms import Pool
from link.reports.days import GamingDays
from link.reports.past import ReportInputs
from link.store.base import Store
from link.store.sqlite import SqliteStore
from tests.link.ledger.support import ANNA, BEN, Floor

DAYS = GamingDays.of("Asia/Singapore", "06:00")
FIRST = date(2026, 3, 10)
NOON_MS = DAYS.begins_ms(FIRST) + 6 * 3_600_000
DAY_MS = 24 * 3_600_000


class Shop(Floor):
    def __init__(
        self, place: Path | Store, *pools: Pool, tables: Sequence[str] = ("T1", "T2")
    ) -> None:
        """At a path, on SQLite."""
        self.real = (
            SqliteStore(place, create=True, flush=False) if isinstance(place, Path) else place
        )
        self.real.migrate(at_ms=1)
        epoch = self.real.lead("test", 1_000)
        assert epoch is not None
        self.epoch = epoch
        super().__init__(*pools, tables=tables)

    def start(self) -> None:
        self.now_ms = NOON_MS
        super().start()

    def commit(self) -> None:
        group = self.ledger.group(self.epoch)
        self.store.commit(group)
        self.real.commit(group)

    def pay(self, award: str) -> None:
        self.order(Verify(award))
        self.order(Approve(award), ANNA)
        self.order(Approve(award), BEN)
        self.order(Pay(award))

    def inputs(self, first: date = FIRST, last: date | None = None) -> ReportInputs:
        return ReportInputs.of(StoreSource(self.real), DAYS, first, last or first)
