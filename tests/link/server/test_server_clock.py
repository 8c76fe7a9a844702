"""A clock that was set back: an alarm of its own, and nobody's key is refused for it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from link import registry
from link.ledger.ledger import Ledger
from link.registry import Stamp, Wanted
from link.server.clock import SteadyClock
from link.store import open_store
from link.store.backup import restore
from link.store.base import Store
from tests.link.server.house import House
from tests.link.server.test_server_receipts import played
from tests.link.store.book import restore_order

NOON_MS = 1_773_100_000_000
DAY_MS = 86_400_000


class Hands:
    """A clock that goes with the system's own steps, from wherever it is set to."""

    def __init__(self, wall_ms: int) -> None:
        self.wall_ms, self.ticks_ms = wall_ms, 5_000

    def now_ms(self) -> int:
        self.wall_ms += 1
        return self.wall_ms

    def mono_ms(self) -> int:
        self.ticks_ms += 1
        return self.ticks_ms


def test_time_never_goes_back_and_follows_the_clock_when_it_is_right_again() -> None:
    hands = Hands(NOON_MS)
    clock = SteadyClock(hands)
    clock.not_before(NOON_MS - DAY_MS)
    assert clock.behind_ms() < 10
    clock.not_before(NOON_MS + DAY_MS)
    hands.ticks_ms += 500
    assert NOON_MS + DAY_MS + 500 <= clock.now_ms() < NOON_MS + DAY_MS + 600
    hands.wall_ms -= DAY_MS
    assert clock.behind_ms() >= 2 * DAY_MS
    hands.wall_ms = NOON_MS + 9 * DAY_MS
    assert clock.now_ms() == NOON_MS + 9 * DAY_MS + 1
    assert clock.behind_ms() <= 0


def enrolled_at(store: Store, house: House, at_ms: int) -> None:
    """The key of table-1 is valid from this moment on."""
    epoch = store.lead("test", 1_000)
    assert epoch is not None
    group = Ledger((), store.load()).group(epoch)
    stamp = Stamp("test", at_ms)
    new = Wanted(house.public("table-1"), "table-1", "table", at_ms, 0)
    group.keys = {row.public: row for row in registry.enrol({}, [new], stamp)}
    store.commit(group)
    store.resign(epoch)


def test_a_restart_a_day_back_serves_the_floor_and_says_so(house: House) -> None:
    with closing(house.store()) as store:
        enrolled_at(store, house, NOON_MS - 1_000)
    live = house.start(clock=Hands(NOON_MS))
    table = house.stranger("table-1", live)
    table.join()
    played(table, 1, 3)
    live.stop()
    live = house.start(clock=Hands(NOON_MS - DAY_MS))
    table.endpoint = live.endpoint
    assert table.join()["t"] == "welcome"
    played(table, 4, 6)
    live.until(lambda: [a["code"] for a in live.alarms()] == ["E-LNK-043"])
    status = live.ask("status")
    assert status["clock_behind_ms"] > DAY_MS - 100_000
    live.stop()
    with closing(house.store()) as store:
        times = [row.received_ms for row in store.events()]
        assert times == sorted(times)
        store.check()


def test_a_clock_that_is_right_raises_no_alarm(house: House) -> None:
    for start in (NOON_MS, NOON_MS + 1_000_000):
        live = house.start(clock=Hands(start))
        table = house.stranger("table-1", live, journal="ab" * 16)
        table.join()
        live.until(lambda live=live: live.counts()["published"] > 0)  # type: ignore[misc]
        assert live.alarms() == []
        live.stop()
        table.close()
        house.strangers.clear()


def test_the_epoch_never_falls_after_a_restore(house: House, tmp_path: Path) -> None:
    """From a backup of epoch 1, when epoch 5 had been given."""
    with closing(house.store()) as store:
        store.backup(tmp_path / "backup", at_ms=5)
    for _ in range(4):
        live = house.start()
        last = live.ask("status")["epoch"]
        live.stop()
    house.where = str(tmp_path / "new.db")
    with closing(open_store(house.where, create=True)) as store:
        store.migrate(at_ms=6)
        by = (("m.ng", "manager"), ("k.lee", "supervisor"))
        restore(store, tmp_path / "backup", explain=restore_order(by, "disk", 7))
        store.check()
    assert house.start().ask("status")["epoch"] > last
