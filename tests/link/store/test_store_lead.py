"""Row 46 of the fault table: two servers believe they lead. One epoch commits, the other cannot."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from link.store.base import Store
from link.store.errors import Fenced, Locked
from link.store.postgres import PostgresStore
from link.store.sqlite import SqliteStore
from tests.link.store.book import Book, led
from tests.link.store.conftest import Place, places

LONG_MS = 600_000


def test_the_first_leads_and_every_lead_is_a_new_epoch(store: Store) -> None:
    assert store.leader() is None
    assert store.lead("one", LONG_MS) == 1
    leader = store.leader()
    assert leader is not None
    assert (leader.epoch, leader.holder) == (1, "one")
    assert 0 < leader.left_ms <= LONG_MS
    assert store.lead("one", LONG_MS) == 2
    assert store.lead("one", LONG_MS) == 3
    assert store.check().events == 0


def test_a_lease_keeps_others_out_until_it_ends(store: Store) -> None:
    epoch = store.lead("one", LONG_MS)
    assert epoch == 1
    assert store.lead("two", LONG_MS) is None
    store.renew(epoch)
    assert store.lead("two", LONG_MS) is None
    store.resign(epoch)
    assert store.lead("two", LONG_MS) == 2
    store.resign(epoch)  # not one's own any more: nothing
    assert store.lead("one", LONG_MS) is None
    with pytest.raises(Fenced, match="epoch 1 is over: epoch 2 of two leads"):
        store.renew(epoch)


def test_a_lease_ends_by_the_database_s_clock(store: Store) -> None:
    assert store.lead("one", LONG_MS) == 1
    store.attempt(lambda: store.query("UPDATE leader SET renewed_ms = renewed_ms - 600001"))
    leader = store.leader()
    assert leader is not None
    assert leader.left_ms < 0
    assert store.lead("two", LONG_MS) == 2


def test_row_46_nothing_of_an_old_epoch_is_committed(store: Store) -> None:
    book = led(store)
    store.commit(book.contributions())
    store.resign(book.epoch)
    late = book.contributions()
    epoch = store.lead("two", LONG_MS)
    assert epoch == 2
    with pytest.raises(Fenced):
        store.commit(late)
    with pytest.raises(Fenced):
        store.settle(late)
    other = Book(epoch, store.load())
    store.commit(other.contributions())
    with pytest.raises(Fenced):
        store.commit(late)
    assert store.check().events == 3
    history = store.query("SELECT epoch, holder, after_event FROM epochs ORDER BY epoch")
    assert history == [(1, "one", 0), (2, "two", 2)]


# --- SQLite: one process ----------------------------------------------------------------------

SECOND = """
import sys
from pathlib import Path
from link.store.sqlite import SqliteStore
try:
    SqliteStore(Path(sys.argv[1]))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_row_46_sqlite_has_one_owner(tmp_path: Path) -> None:
    """Neither another process nor this one opens it a second time; after a death it is free."""
    path = tmp_path / "link.db"
    with closing(SqliteStore(path, create=True)) as store:
        store.migrate(at_ms=1)
        book = led(store)
        done = subprocess.run(
            [sys.executable, "-c", SECOND, str(path)], capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith("Locked ")
        assert "another process has this store open (E-STO-007)" in done.stdout
        with pytest.raises(Locked):
            SqliteStore(path)
        store.commit(book.contributions())
    with closing(SqliteStore(path)) as again:
        assert again.lead("two", LONG_MS) == 2, "the lease of a dead process holds nobody up"
        assert again.lead("three", LONG_MS) is None, "that of a live one does"
        assert again.check().events == 2


# --- PostgreSQL: two servers ------------------------------------------------------------------


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> Place:
    return places("postgresql", request)()


@pytest.fixture
def two(pair: Place) -> Iterator[tuple[Store, Store]]:
    with closing(pair.open()) as one, closing(pair.open()) as other:
        yield one, other


def test_row_46_a_thawed_leader_cannot_commit(two: tuple[Store, Store]) -> None:
    """Frozen before its transaction; meanwhile its lease ends and another takes over."""
    one, other = two
    book = led(one)
    frozen = book.contributions()
    assert other.lead("two", LONG_MS) is None
    one.query("UPDATE leader SET renewed_ms = renewed_ms - 60001")
    epoch = other.lead("two", LONG_MS)
    assert epoch == 2
    theirs = Book(epoch, other.load())
    other.commit(theirs.contributions())
    with pytest.raises(Fenced):
        one.commit(frozen)
    with pytest.raises(Fenced):
        one.renew(book.epoch)
    assert list(other.events()) == book.events[:1] + theirs.events


def test_row_46_an_epoch_is_raised_before_or_after_a_group(
    two: tuple[Store, Store],
) -> None:
    """Frozen in the middle of its transaction: the other waits for it; then the group counts."""
    one, other = two
    book = led(one)
    group = book.contributions()
    given: list[int | None] = []
    one.query("UPDATE leader SET renewed_ms = renewed_ms - 60001")

    def take_over() -> None:
        given.append(other.lead("two", LONG_MS))

    waiting = threading.Thread(target=take_over)
    write = one._move

    def in_the_middle(rows: object) -> int:
        waiting.start()
        while not one.query(
            "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND datname = current_database()"
        ):
            assert waiting.is_alive()
        assert given == []
        return write(rows)  # type: ignore[arg-type]

    one._move = in_the_middle  # type: ignore[method-assign]
    one.commit(group)
    waiting.join()
    assert given == [2]
    assert other.query("SELECT after_event FROM epochs WHERE epoch = 2") == [(group.events[-1].id,)]


def test_row_46_a_leader_that_stays_frozen_is_cut_off(pair: Place) -> None:
    """It holds the leader's row in an open transaction; the database ends that after a while."""
    with closing(PostgresStore(pair.where)) as one:
        book = led(one)
        group = book.contributions()
        one.query("SET idle_in_transaction_session_timeout = 1500")
        one.query("UPDATE leader SET renewed_ms = renewed_ms - 60001")
        with closing(pair.open()) as other:
            taken: list[int | None] = []

            def frozen(rows: object) -> int:
                taken.append(other.lead("two", LONG_MS))  # waits until the row is free
                return len(list(rows))  # type: ignore[call-overload]

            one._move = frozen  # type: ignore[method-assign]
            with pytest.raises(Fenced):
                one.commit(group)
            assert taken[0] == 2
            assert other.check().events == 1


def test_two_servers_that_start_together_get_different_epochs(
    two: tuple[Store, Store],
) -> None:
    given: list[int | None] = []
    threads = [
        threading.Thread(target=lambda s=store, n=name: given.append(s.lead(n, LONG_MS)))
        for store, name in zip(two, ("one", "two"), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given, key=str) == [1, None]
