"""The check finds whatever does not hold together; each rule is broken once, by hand."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import closing

import pytest

from link.store.base import Store
from link.store.errors import Broken
from link.store.tables import KEYS, SEALED, listed, sealed
from tests.link.store.book import journal_id, led
from tests.link.store.conftest import places

# What is done to the rows, and words of the finding. A row that is changed on purpose gets the seal
# that belongs to it, so that the rule itself is tested and not the seal.
DAMAGE = [
    ("UPDATE balances SET units = units + 1 WHERE account = 'display'", "display: balance"),
    ("UPDATE balances SET units = units + 1 WHERE account = 'display'", "add up to 1, not to 0"),
    ("DELETE FROM balances WHERE account = 'reserve'", "reserve: balance 0, entries"),
    ("UPDATE entries SET units = units + 1 WHERE id = 1", "display: balance"),
    ("DELETE FROM entries WHERE id = 1", "entries: 5 rows numbered 2 to 6"),
    ("UPDATE entries SET through_event = 999 WHERE id = 6", "entry 6: names events that"),
    ("UPDATE entries SET first_event = 0 WHERE id = 6", "entry 6: names events that"),
    ("DELETE FROM levels", "mega/main: has entries and is no level"),
    ("UPDATE events SET body = hash WHERE id = 4", "event 4: its chain value"),
    ("UPDATE events SET at_ms = at_ms + 1 WHERE id = 2", "event 2: its chain value"),
    ("UPDATE events SET chain = hash WHERE id = 5", "event 5: its chain value"),
    ("UPDATE events SET n = n + 1 WHERE id = 5", "event 5: number"),
    ("UPDATE events SET previous = 1 WHERE id = 5", "event 5: number"),
    ("DELETE FROM events WHERE id = 3", "event 4: follows 2"),
    ("DELETE FROM events WHERE id = 3", "events: the ids have gaps"),
    ("UPDATE journals SET table_id = 'T-9' WHERE id = 1", "its chain value"),
    ("UPDATE watermarks SET n = n - 1 WHERE id = 1", "watermark (1, 4), its events end at (2, 4)"),
    ("UPDATE watermarks SET seq = 1 WHERE id = 1", "journal 1: its watermark is not its last"),
    ("UPDATE watermarks SET hash = head_hash WHERE id = 2", "journal 2: its watermark is not"),
    ("UPDATE watermarks SET n = 3, event = 6 WHERE id = 3", "and it has no event"),
    ("DELETE FROM watermarks WHERE id = 3", "journal 3: no watermark"),
    ("INSERT INTO marks VALUES (1, 2, 4)", "marks: not those of the events"),
    ("UPDATE awards SET state = 'paid'", "award mega/1/1: paid, and its last step"),
    ("DELETE FROM steps WHERE step_no = 1", "award mega/1/1: its steps have gaps"),
    ("UPDATE awards SET event = 77", "award mega/1/1: its claim is event 77"),
    ("UPDATE alarms SET id = 3 WHERE id = 1", "alarms: 2 rows numbered 2 to 3"),
    ("UPDATE leader SET epoch = 9", "leader: epoch"),
    ("UPDATE epochs SET after_event = 100000", "the events end after event"),
    ("INSERT INTO epochs VALUES (0, 'x', 1, 100000)", "begins after event 0, the epoch before"),
]


class Undone(Exception):
    pass


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def whole(request: pytest.FixtureRequest) -> Iterator[Store]:
    """A store with something in every table, for all tests of this file."""
    with closing(places(request.param, request)().open()) as store:
        book = led(store, tables=3)
        for group in (
            book.contributions([1, 2]),
            book.contributions([1]),
            book.contributions([2]),
            book.award("mega/1/1", "claimed"),
            book.award("mega/1/1", "locked"),
            book.alarmed(),
            book.alarmed(),
            book.people(),
        ):
            store.commit(group)
        store.check()
        yield store
        store.check()


@pytest.fixture
def filled(whole: Store) -> Iterator[Store]:
    """What a test does to it is undone."""
    with contextlib.suppress(Undone), whole.transaction():
        yield whole
        raise Undone


def damage(store: Store, statement: str) -> None:
    """As somebody with the database's own tools would, and with the right seals."""
    store.query(statement)
    for table in SEALED:
        for row in store.query(f"SELECT {listed(table)} FROM {table}"):
            right = sealed(row[:-1])[-1]
            where = " AND ".join(f"{key} = ?" for key in KEYS[table])
            place = {key: row[i] for i, key in enumerate(columns(table))}
            values = [place[key] for key in KEYS[table]]
            store.query(f"UPDATE {table} SET seal = ? WHERE {where}", (right, *values))


def columns(table: str) -> Iterator[str]:
    yield from listed(table).split(", ")


@pytest.mark.parametrize(("statement", "finding"), DAMAGE, ids=[f"{s} -> {f}" for s, f in DAMAGE])
def test_every_rule_is_checked(filled: Store, statement: str, finding: str) -> None:
    damage(filled, statement)
    with pytest.raises(Broken) as raised:
        filled.checked(None)
    assert any(finding in text for text in raised.value.findings), raised.value.findings


CHANGES = [
    ("journals", "why = 'x'"),
    ("watermarks", "received_ms = 1"),
    ("entries", "why = 'x'"),
    ("levels", "hits = 9"),
    ("awards", "cents = cents + 1"),
    ("steps", "by_whom = 'x'"),
    ("alarms", "said = 'x'"),
    ("keys", "until_ms = 5"),
    ("accounts", "failures = 1"),
]


@pytest.mark.parametrize(("table", "change"), CHANGES)
def test_every_row_that_no_rule_covers_is_sealed(filled: Store, table: str, change: str) -> None:
    filled.query(f"UPDATE {table} SET {change}")
    with pytest.raises(Broken, match=rf"{table}: the row with \w+ .* is damaged"):
        filled.checked(None)


def test_sealed_tables_are_all_that_need_it() -> None:
    assert sorted(SEALED) == sorted(table for table, _ in CHANGES)


def test_every_finding_is_told(filled: Store) -> None:
    damage(filled, "UPDATE events SET at_ms = at_ms + 1")
    with pytest.raises(Broken, match="and 3 more") as raised:
        filled.checked(None)
    assert len(raised.value.findings) == 8


def test_a_short_check_looks_at_the_last_events_only(filled: Store) -> None:
    assert filled.checked(3).events == 8
    damage(filled, "UPDATE events SET at_ms = at_ms + 1 WHERE id = 5")
    assert filled.checked(3).events == 8
    with pytest.raises(Broken, match="event 5"):
        filled.checked(4)
    with pytest.raises(Broken, match="event 5"):
        filled.checked(None)


def test_a_short_check_knows_the_watermarks_of_the_rest(filled: Store) -> None:
    damage(filled, "UPDATE watermarks SET n = n + 1 WHERE id = 2")
    with pytest.raises(Broken, match="journal 2"):
        filled.checked(1)
    assert filled.event(journal_id(2), 3) is None
