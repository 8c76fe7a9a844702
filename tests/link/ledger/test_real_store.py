"""The ledger over a real store: what comes back from SQLite is what the ledger handed over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from link.commands.link_store import history_of
from link.ledger.history import check_history
from link.ledger.ledger import Ledger
from link.ledger.orders import (
    Accept,
    Approve,
    Change,
    Pay,
    Reject,
    Restore,
    Resume,
    Transfer,
    Verify,
)
from link.ledger.rounds import OPEN
from link.ledger.terms import MustHit, Terms
from link.rows import AwardRow, EventRow, Group, Saved
from link.store import open_store
from link.store.base import Store
from record.link.events import Claim, Claimed
from tests.link.ledger.support import (
    ANNA,
    BEN,
    BOTH,
    Floor,
    MemoryStore,
    Table,
    mystery,
    pool,
    refused,
    terms,
)

ROYAL, STRAIGHT = "royal flush", "straight flush"


class Beside(MemoryStore):
    """Commits to both; what the ledger loads is the real one's."""

    def __init__(self, real: Store) -> None:
        super().__init__()
        self.real = real
        epoch = real.lead("test", 3_600_000)
        assert epoch is not None
        self.epoch = epoch

    def commit(self, group: Group) -> None:
        group.epoch = self.epoch
        super().commit(group)
        self.real.commit(group)

    def saved(self) -> Saved:
        found, expected = self.real.load(), super().saved()
        for name in ("balances", "levels", "journals", "awards"):
            mine, theirs = (_told(getattr(s, name)) for s in (expected, found))
            assert mine == theirs, name
        for name in ("last_event", "last_order", "last_entry", "last_alarm", "chain"):
            assert getattr(found, name) == getattr(expected, name), name
        return found

    def recall(self, journal: str, n: int) -> EventRow | None:
        return self.real.event(journal, n)


def _told(rows: Iterable[Any]) -> list[Any]:
    """What must be there: accounts that hold something, awards that are not final."""
    told = [r for r in rows if getattr(r, "units", 1) and getattr(r, "award", "") == ""]
    told += [r for r in rows if isinstance(r, AwardRow) and r.state in OPEN]
    return sorted(told, key=repr)


class RealFloor(Floor):
    def __init__(self, real: Store, *levels: Terms) -> None:
        self._real = real
        super().__init__(pool(*levels), pool(name="two", tables=()), tables=("T1", "T2"))

    def start(self) -> None:
        if not isinstance(self.store, Beside):
            self.store = Beside(self._real)
        super().start()


@pytest.fixture
def floor(tmp_path: Path) -> Iterator[RealFloor]:
    real = open_store(str(tmp_path / "link.sqlite"), create=True)
    real.migrate(at_ms=1)
    level = terms(
        ties="share", tie_ms=10, hidden_ppm=900, ceiling_cents=100_002, fixed_awards="pool",
        overflow="reserve", reserve_max_cents=1,
    )  # fmt: skip
    hidden = mystery(must_hit=MustHit(1_003, 1_005), ties="share", tie_ms=10)
    yield RealFloor(real, level, hidden)
    real.close()


def test_a_day_on_sqlite(floor: RealFloor) -> None:
    """Everything that writes a row, with a restart after each; then every row is checked."""
    store = floor.store
    assert isinstance(store, Beside)
    floor.bet("T1", 1, 1, 2, 3)
    floor.start()
    floor.claim("T1", 1, (2, STRAIGHT), (1, ROYAL))
    floor.start()
    floor.bet("T2", 1, 1, 2, 3, 4)  # past the ceiling, and the mystery's trigger
    floor.start()
    floor.tick(10)
    floor.start()
    percent = [a.award for a in store.awards.values() if a.percent]
    hidden = [a.award for a in store.awards.values() if not a.percent]
    assert (len(percent), len(hidden)) == (2, 1)
    for order, by in ((Verify, ANNA), (Approve, ANNA), (Approve, BEN), (Pay, BEN)):
        floor.order(order(hidden[0]), by)
        floor.start()
    floor.back("T1", 1, 3)
    floor.start()
    floor.order(Reject(percent[1], "deck short"), BOTH)
    floor.start()
    floor.withdraw("T1", 1, 2)
    floor.played("T2", 1, (1, "flush", 500))
    floor.start()
    told = refused(floor.tell("T1", Claimed(9, (Claim(1, ROYAL, 100),))))
    assert told.code == "E-LNK-017"
    floor.start()
    floor.order(Resume(floor.tables["T1"].journal, "seen", 5, floor.tables["T1"].head), BOTH)
    floor.start()
    floor.send("T1", floor.tables["T1"].sent[4])
    table = floor.tables["T2"]
    table.record()
    floor.ledger.checkpoint("T2", table.journal, table.checkpoint(), floor.now_ms)
    floor.commit()
    floor.order(Restore("image", table.journal, table.seq, table.head), BOTH)
    floor.order(Change("pool", terms(ties="share", tie_ms=10)), BOTH)
    floor.order(Transfer("pool", "main", "two", "main", "why", 100), BOTH)
    floor.start()
    floor.tables["T1"] = Table("T1", "ab" * 16)
    floor.hello("T1")
    for by in (ANNA, BEN):
        floor.order(Accept("ab" * 16), by)
        floor.start()
    floor.bet("T1", 1, 1)
    floor.start()
    check_stored(store.real, floor)


def check_stored(real: Store, floor: RealFloor) -> Ledger:
    counts = real.check()
    assert counts.chain == floor.ledger.state.chain
    return check_history(history_of(real), floor.sealer)
