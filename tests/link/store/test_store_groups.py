"""A group is committed whole or not at all, and comes back as it went in."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from msgspec.structs import replace

from link.rows import BalanceRow, EventRow, Group, JournalRow
from link.store.base import Store
from link.store.errors import Broken, Conflict, Failed, Fenced, NotStorable, StoreError
from tests.link.store.book import (
    DISPLAY_UNITS,
    LEVEL,
    POOL,
    RESERVE_UNITS,
    START_MS,
    Book,
    journal_id,
    led,
)
from tests.link.store.conftest import Place, places


def stored(store: Store) -> tuple[object, ...]:
    return (
        store.load(),
        list(store.events()),
        list(store.entries()),
        list(store.awards()),
        list(store.steps()),
        list(store.alarms()),
    )


def test_what_is_committed_comes_back(store: Store, place: Place) -> None:
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
        assert list(again.alarms()) == groups[5].alarms
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


def test_only_open_awards_are_loaded_with_the_others_of_their_round(store: Store) -> None:
    book = led(store)
    store.commit(book.contributions())
    for name, state, round_ in (
        ("mega/1/1", "paid", 1),
        ("mega/1/2", "paid", 2),
        ("mega/1/3", "locked", 2),
        ("mega/1/4", "rejected", 3),
        ("mega/1/5", "approved", 4),
    ):
        store.commit(book.award(name, state, round_=round_))  # type: ignore[arg-type]
    saved = store.load()
    assert [a.award for a in saved.awards] == ["mega/1/2", "mega/1/3", "mega/1/5"]
    assert {s.award for s in saved.steps} == {"mega/1/2", "mega/1/3", "mega/1/5"}
    assert len(list(store.awards())) == 5


def wrong_groups() -> list[tuple[str, Callable[[Group], None], type[StoreError]]]:
    """What a ledger that has gone wrong might hand over, and what the store says to it."""

    def event(group: Group, **changed: object) -> None:
        group.events[0] = replace(group.events[0], **changed)

    def journal(group: Group, **changed: object) -> None:
        key, row = next(iter(group.journals.items()))
        group.journals[key] = replace(row, **changed)

    def entry(group: Group, **changed: object) -> None:
        group.entries[0] = replace(group.entries[0], **changed)

    def balance(group: Group, units: int) -> None:
        key = (POOL, LEVEL, "display")
        group.balances[key] = BalanceRow(*key, units)

    def stranger(group: Group) -> None:
        row = JournalRow(journal_id(9), "T-9", "active", 3, 0, "", 0, "", START_MS)
        group.journals[row.journal] = row
        group.journals_before[row.journal] = 0

    def unknown_journal(group: Group) -> None:
        last = group.events[-1]
        group.events.append(
            EventRow(last.id + 1, "T-9", journal_id(9), 1, 1, "", 1, 1, b"{}", last.chain)
        )

    def before(group: Group, n: int) -> None:
        group.journals_before = dict.fromkeys(group.journals_before, n)

    huge = 1 << 63
    return [
        ("another epoch", lambda g: setattr(g, "epoch", g.epoch + 1), Fenced),
        ("an old epoch", lambda g: setattr(g, "epoch", g.epoch - 1), Fenced),
        ("watermark ahead", lambda g: before(g, 5), Conflict),
        ("watermark behind", lambda g: before(g, 0), Conflict),
        ("event id again", lambda g: event(g, id=1), Conflict),
        ("event id leaps", lambda g: event(g, id=90), Conflict),
        ("number again", lambda g: event(g, n=1), Conflict),
        ("number leaps", lambda g: event(g, n=4), Conflict),
        ("journal of another table", lambda g: event(g, table="T-2"), Conflict),
        ("row ends elsewhere", lambda g: journal(g, n=7), NotStorable),
        ("no row for the journal", lambda g: g.journals.clear(), NotStorable),
        ("a new journal that begins at 3", stranger, NotStorable),
        ("an event of no journal", unknown_journal, NotStorable),
        ("a journal given to another table", lambda g: journal(g, table="T-2"), NotStorable),
        ("an entry for an event to come", lambda g: entry(g, through=99), NotStorable),
        ("entry id leaps", lambda g: entry(g, id=90), Conflict),
        ("units that no balance has", lambda g: entry(g, units=1), Broken),
        ("an account without a balance", lambda g: entry(g, credit="nowhere"), Broken),
        ("a balance that no entry explains", lambda g: balance(g, 1), Broken),
        ("money out of the air", lambda g: balance(g, 2 * DISPLAY_UNITS + 1), Broken),
        ("an account that begins with money", air, Broken),
        ("a hash that is none", lambda g: event(g, hash="xyz"), NotStorable),
        ("a number beyond 64 bits", lambda g: event(g, seq=huge), NotStorable),
        ("a number below 64 bits", lambda g: event(g, at_ms=-huge - 1), NotStorable),
        ("a text with a NUL", lambda g: entry(g, why="a\0b"), NotStorable),
        ("half a character", lambda g: entry(g, why="\ud800"), NotStorable),
        ("from an account to itself", itself, NotStorable),
        ("a step without an award", orphan, NotStorable),
    ]


def air(group: Group) -> None:
    key = (POOL, LEVEL, "paid")
    group.balances[key] = BalanceRow(*key, 5)


def itself(group: Group) -> None:
    first = group.entries[0]
    group.entries.append(replace(first, id=group.entries[-1].id + 1, debit="display"))


def orphan(group: Group) -> None:
    made = Book(1)
    made.opening()
    group.steps.extend(made.award("mega/9/9", "claimed").steps)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest) -> Iterator[Store]:
    """One store for all wrong groups: nothing of them stays."""
    with closing(places(request.param, request)().open()) as opened:
        opened.commit(led(opened).contributions())
        yield opened


@pytest.mark.parametrize("case", wrong_groups(), ids=lambda case: case[0])
def test_nothing_of_a_wrong_group_is_stored(
    shared: Store,
    case: tuple[str, Callable[[Group], None], type[StoreError]],
) -> None:
    _, spoil, expected = case
    store = shared
    before = stored(store)
    group = Book(1, store.load()).contributions()
    spoil(group)
    with pytest.raises(expected) as raised:
        store.commit(group)
    assert type(raised.value) is expected
    assert expected.code in str(raised.value)
    assert stored(store) == before
    store.check()


def test_the_right_group_is_taken_after_a_wrong_one(store: Store) -> None:
    book = led(store)
    wrong = book.contributions()
    right = Group(wrong.epoch)
    for name in ("events", "entries", "balances", "journals", "journals_before"):
        setattr(right, name, getattr(wrong, name).copy())
    wrong.events[0] = replace(wrong.events[0], seq=1 << 63)
    with pytest.raises(NotStorable):
        store.commit(wrong)
    store.commit(right)
    assert store.check().events == 2


def test_a_group_is_not_taken_twice(store: Store, place: Place) -> None:
    """The same rows again, from memory and after a new start: refused, counted once."""
    book = led(store)
    group = book.contributions()
    store.commit(group)
    with pytest.raises(Conflict):
        store.commit(group)
    store.close()
    with closing(place.open()) as again:
        with pytest.raises(Conflict):
            again.commit(group)
        assert again.settle(group)
        assert [r.units for r in again.load().balances if r.account == "display"] == [DISPLAY_UNITS]


def test_a_memory_that_is_wrong_commits_nothing(store: Store) -> None:
    """Watermarks and balances are compared in the transaction, whatever the store remembers."""
    book = led(store, tables=2)
    store.commit(book.contributions([1]))
    known = store.know()
    store.commit(book.contributions([1, 2]))
    before = stored(store)
    stale = Book(book.epoch, store.load())
    group = stale.contributions([2])
    group.journals_before[journal_id(2)] = 0
    row = group.journals[journal_id(2)]
    group.journals[journal_id(2)] = replace(row, n=1)
    group.events[0] = replace(group.events[0], n=1)
    store._known = dataclasses.replace(known, event=stale.event - 1, entry=stale.entry - 2)
    with pytest.raises(Conflict, match="a watermark is not what"):
        store.commit(group)
    fresh = Book(book.epoch, store.load())
    group = fresh.contributions([2])
    group.balances = {key: replace(row, units=row.units + 1) for key, row in group.balances.items()}
    with pytest.raises(Broken, match="a stored balance is not"):
        store.commit(group)
    assert stored(store) == before


def test_a_journal_changes_its_state(store: Store, place: Place) -> None:
    book = led(store)
    store.commit(book.contributions())
    group = book.checkpoint(1, 5, "cd" * 32)
    row = replace(
        group.journals[journal_id(1)], state="halted", why="fork", accepted_by=("anna", "ben")
    )
    group.journals[journal_id(1)] = row
    store.commit(group)
    assert list(store.journals()) == [row]
    store.close()
    with closing(place.open()) as again:
        assert list(again.journals()) == [row]
        again.check()


def test_a_closed_store_stays_closed(store: Store) -> None:
    book = led(store)
    store.close()
    with pytest.raises(Failed, match="closed"):
        store.commit(book.contributions())
    with pytest.raises(Failed, match="closed"):
        store.load()


def test_a_long_mix_of_groups_equals_the_book(store: Store, place: Place) -> None:
    """Two hundred groups of every kind, some of them refused and given again, some starts."""
    seed = 20_261
    chance = random.Random(seed)
    book = led(store, tables=5)
    opened = store
    for number in range(200):
        kind = chance.randrange(12)
        if kind == 0:
            group = book.award(f"mega/1/{chance.randrange(1, 6)}", "locked")
        elif kind == 1:
            group = book.alarmed(f"number {number}")
        elif kind == 2:
            group = book.checkpoint(chance.randrange(1, 6), number, f"{number:064x}")
        else:
            tables = [chance.randrange(1, 6) for _ in range(chance.randrange(1, 9))]
            group = book.contributions(tables)
        if kind == 3:
            group.epoch += 1
            with pytest.raises(Fenced):
                opened.commit(group)
            group.epoch -= 1
        opened.commit(group)
        if kind == 4:
            opened.close()
            opened = place.open()
    with closing(opened):
        counts = opened.check()
        saved = opened.load()
        assert list(opened.events()) == book.events, f"seed {seed}"
        assert list(opened.entries()) == book.entries, f"seed {seed}"
    assert counts.chain == book.chain
    assert {(r.pool, r.level, r.account): r.units for r in saved.balances} == book.units
    assert {r.journal: r for r in saved.journals} == book.journals
