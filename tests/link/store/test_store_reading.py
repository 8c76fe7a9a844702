"""Reports read in pages, by time and table, while groups go on being committed."""

from __future__ import annotations

from contextlib import closing

import pytest
from msgspec.structs import replace

from link.rows import Group
from link.store.base import Store
from link.store.contract import Span
from tests.link.store.book import START_MS, Book, journal_id, led
from tests.link.store.conftest import Place


def received(book: Book, first: int, last: int) -> Span:
    """From event ``first`` up to and without event ``last``."""
    return Span(book.events[first - 1].received_ms, book.events[last - 1].received_ms)


def test_by_time_by_table_by_journal(store: Store) -> None:
    book = led(store, tables=3)
    for _ in range(4):
        store.commit(book.contributions([1, 2, 3, 2]))
    span = received(book, 6, 11)
    assert list(store.events(span)) == book.events[5:10]
    assert list(store.events(span, table="T-2")) == [
        row for row in book.events[5:10] if row.table == "T-2"
    ]
    assert list(store.events(journal=journal_id(3))) == [
        row for row in book.events if row.table == "T-3"
    ]
    assert list(store.events(table="")) == book.events[:1]
    assert list(store.events(table="T-9")) == []
    assert list(store.events(after=14)) == book.events[14:]
    assert list(store.events(Span(0, START_MS))) == []
    assert list(store.entries(span)) == [e for e in book.entries if 6 <= e.through < 11]
    assert list(store.entries(pool="mega", level="main", after=3)) == book.entries[3:]
    assert list(store.entries(pool="other")) == []


def test_a_clock_that_was_set_back_loses_no_event(store: Store) -> None:
    """Times are not in order of record; the order of record is what counts."""
    book = led(store)
    group = book.contributions([1, 1, 1])
    times = [START_MS + 5_000, START_MS - 5_000, START_MS + 5_001]
    spoilt = Book(book.epoch, store.load())
    again = Group(group.epoch)
    for row, time in zip(group.events, times, strict=True):
        made = spoilt.timed(row, time)
        again.events.append(made)
    again.entries, again.balances = group.entries, group.balances
    again.journals_before = group.journals_before
    again.journals = {
        key: replace(row, received_ms=times[-1]) for key, row in group.journals.items()
    }
    store.commit(again)
    store.check()
    late = list(store.events(Span(START_MS + 5_000, START_MS + 6_000)))
    assert [row.id for row in late] == [2, 4]
    assert [row.id for row in store.events(Span(0, START_MS))] == [3]


def test_any_event_of_a_journal_is_found(store: Store) -> None:
    """More than two marks of 256 and the way between them; other journals in between."""
    book = led(store, tables=3)
    store.commit(book.contributions([3]))
    for _ in range(75):
        store.commit(book.contributions([1, 2, 1, 1, 1, 1, 2, 1, 1]))
    mine = [row for row in book.events if row.table == "T-1"]
    assert len(mine) == 525
    for n in (1, 2, 255, 256, 257, 300, 511, 512, 513, 525):
        assert store.event(journal_id(1), n) == mine[n - 1]
    assert store.event("", 1) == book.events[0]
    assert store.event(journal_id(3), 1) == book.events[1]
    for journal, n in ((journal_id(1), 526), (journal_id(1), 0), (journal_id(3), 2), ("", 2)):
        assert store.event(journal, n) is None
    assert store.event(journal_id(9), 1) is None
    assert store.query("SELECT journal, n FROM marks ORDER BY journal, n") == [(1, 256), (1, 512)]
    store.check()


def test_pages_follow_each_other_while_groups_are_committed(store: Store) -> None:
    book = led(store)
    for _ in range(11):
        store.commit(book.contributions([1] * 100))
    rows = store.events()
    seen = [next(rows) for _ in range(3)]
    store.commit(book.contributions([1] * 100))
    seen += rows
    assert seen == book.events[:1101]
    assert list(store.events()) == book.events


def test_alarms_steps_awards_by_time(store: Store) -> None:
    book = led(store)
    store.commit(book.contributions())
    store.commit(book.award("mega/1/1", "claimed"))
    store.commit(book.award("mega/1/2", "claimed"))
    store.commit(book.award("mega/1/1", "locked"))
    store.commit(book.alarmed())
    assert [a.award for a in store.awards()] == ["mega/1/2", "mega/1/1"]
    assert [a.award for a in store.awards(received(book, 4, 5))] == ["mega/1/2"]
    assert list(store.awards(pool="other")) == []
    assert [s.step for s in store.steps(award="mega/1/1")] == [1, 2]
    assert list(store.steps(Span(6, 7))) == []
    assert len(list(store.steps(Span(5, 6)))) == 3
    assert [a.code for a in store.alarms(table="T-1")] == ["E-LNK-014"]
    assert list(store.alarms(Span(0, START_MS))) == []
    assert list(store.alarms(table="T-2")) == []


def test_the_newest_first_in_pages(store: Store) -> None:
    """More than a page of everything; a row that comes meanwhile shifts nothing."""
    book = led(store, tables=1_050)
    group = Group(book.epoch)
    for number in range(1_050):
        group.alarms += book.alarmed(f"alarm {number}").alarms
    store.commit(group)
    for number in range(1, 6):
        store.commit(book.award(f"mega/1/{number}", "claimed"))

    journals = [row.journal for row in store.latest_journals(1_000)]
    assert journals == [journal_id(number) for number in range(1_050, 50, -1)]
    rest = store.latest_journals(1_000, before=journals[-1])
    assert [row.journal for row in rest] == [journal_id(number) for number in range(50, 0, -1)]
    assert rest[-1] == next(iter(store.journals()))
    assert store.latest_journals(1_000, before=journal_id(1)) == []
    assert [row.table for row in store.latest_journals(5, prefix=journal_id(7))] == ["T-7"]
    beginning = journal_id(0x123)[:-1]
    found = [row.journal for row in store.latest_journals(5, prefix=beginning)]
    assert found == [journal_id(0x12F - place) for place in range(5)]
    assert store.latest_journals(5, prefix="f") == []

    alarms = store.latest_alarms(1_000)
    assert [row.id for row in alarms] == list(range(1_050, 50, -1))
    store.commit(book.alarmed("meanwhile"))
    rest_of_them = store.latest_alarms(1_000, before=alarms[-1].id)
    assert [row.id for row in rest_of_them] == list(range(50, 0, -1))
    assert [*rest_of_them[::-1], *alarms[::-1]] == list(store.alarms())[:-1]

    awards = store.latest_awards(3)
    assert [row.award for row in awards] == ["mega/1/5", "mega/1/4", "mega/1/3"]
    rest_of_awards = store.latest_awards(3, before="mega/1/3")
    assert [*rest_of_awards[::-1], *awards[::-1]] == list(store.awards())


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_a_backup_is_read_without_an_owner(store: Store, place: Place) -> None:
    """Reports of a running server: from the copy, by as many readers as like."""
    from pathlib import Path

    from link.store.sqlite import SqliteStore

    book = led(store)
    store.commit(book.contributions())
    copy = Path(place.where).with_name("copy.db")
    store.backup(copy, at_ms=5)
    with (
        closing(SqliteStore(copy, read_only=True)) as one,
        closing(SqliteStore(copy, read_only=True)) as two,
    ):
        assert list(one.events()) == list(two.events()) == book.events
        assert one.load() == store.load()
