"""A group is committed whole or not at all, and comes back as it went in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest

from link.rows import BalanceRow, Group
from link.store.base import SqlStore
from link.store.errors import Broken, Conflict, Fenced, NotStorable, StoreError
from tests.link.store.book import DISPLAY_UNITS, LEVEL, POOL, RESERVE_UNITS, Book, journal_id
from tests.link.store.conftest import Place


def led(store: SqlStore, tables: int = 1) -> Book:
    """A book whose epoch leads and whose level is open."""
    epoch = store.lead("one", 60_000)
    assert epoch is not None
    book = Book(epoch)
    store.commit(book.opening(tables))
    return book


def test_what_is_committed_comes_back(store: SqlStore, place: Place) -> None:
    book = led(store, tables=2)
    groups = [
        book.contributions([1, 2, 1]),
        book.contributions([2]),
        book.checkpoint(1, 77, "ab" * 32),
        book.award("mega/1/1", "claimed"),
        book.award("mega/1/1", "locked"),
        book.alarmed(),
        book.people(),
    ]
    for group in groups:
        store.commit(group)
    store.close()
    with closing(place.open()) as again:
        counts = again.check()
        saved = again.load()
        assert list(again.events()) == book.events
        assert list(again.entries()) == book.entries
        assert list(again.journals()) == [book.journals[journal_id(n)] for n in (1, 2)]
    assert (counts.events, counts.entries, counts.journals) == (8, 4, 2)
    assert (saved.last_event, saved.last_order, saved.last_entry, saved.last_alarm) == (8, 4, 4, 1)
    assert saved.chain == counts.chain == book.chain
    assert {(r.pool, r.level, r.account): r.units for r in saved.balances} == {
        (POOL, LEVEL, "display"): 4 * DISPLAY_UNITS,
        (POOL, LEVEL, "reserve"): 4 * RESERVE_UNITS,
        (POOL, LEVEL, "wagers"): -4 * (DISPLAY_UNITS + RESERVE_UNITS),
    }
    assert [(j.n, j.head_seq, j.head_hash) for j in saved.journals] == [
        (2, 77, "ab" * 32),
        (2, 0, ""),
    ]
    assert saved.awards == [groups[4].awards["mega/1/1"]]
    assert [s.state for s in saved.steps] == ["claimed", "locked"]
    assert saved.keys == list(groups[6].keys.values())
    assert saved.accounts == list(groups[6].accounts.values())


def stored(store: SqlStore) -> tuple[object, ...]:
    return (store.load(), list(store.events()), list(store.entries()), list(store.alarms()))
