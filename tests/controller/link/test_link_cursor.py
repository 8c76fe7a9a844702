"""The cursor over the journal: every event by its number, over segments, restarts and retention."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.link.cursor import MOST_PLACES, STRIDE, Cursor, Places
from record.journal import Journal
from record.link.messages import Event
from record.link.outbox import OUTBOX, event_of, outbox_body
from tests.controller.link.model import contributed

DAY_MS = 86_400_000
EVENTS = 700


class Book:
    """A journal of small segments: an event in every third record."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = self.open()
        self.events: list[Event] = []

    def open(self, *, now_ms: int = 0, keep: int | None = None, days: int | None = None) -> Journal:
        return Journal.open(
            self.folder, table="t", segment_bytes=8192, reserve_bytes=4096,
            now_ms=now_ms, keep_from_seq=keep, retention_days=days,
        )  # fmt: skip

    def write(self, count: int, at_ms: int = 1) -> list[Event]:
        first = len(self.events)
        for n in range(first + 1, first + count + 1):
            self.journal.append("fact", b"{}", at_ms)
            self.journal.append("shown", b"{}", at_ms)
            self.journal.append(OUTBOX, outbox_body(n, contributed(n)), at_ms)
            if n % 16 == 0 or n == first + count:
                self.journal.sync()
            self.events.append(Event(
                n, self.journal.next_seq - 1, self.journal.head.hex(), at_ms, contributed(n)
            ))  # fmt: skip
        return self.events[first:]

    def places(self) -> Places:
        found = Places()
        for record in self.journal.records():
            if record.kind == OUTBOX:
                found.take(record)
        return found


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    made = Book(tmp_path / "journal")
    yield made
    made.journal.close()


def test_every_event_is_found_by_its_number(book: Book) -> None:
    book.write(EVENTS)
    assert len(list(book.folder.glob("*.ufj"))) > 20
    places = book.places()
    assert (places.last, places.after_seq) == (EVENTS, book.events[-1].seq)
    cursor = Cursor(book.folder, places)
    for first in (1, 2, STRIDE, STRIDE + 1, 2 * STRIDE, EVENTS):
        last = min(first + 31, EVENTS)
        assert cursor.read(first, last) == book.events[first - 1 : last]
        assert cursor.seq_after(first - 1) <= book.events[first - 1].seq


def test_reading_on_goes_on_and_sees_what_is_written_meanwhile(book: Book) -> None:
    book.write(100)
    cursor = Cursor(book.folder, book.places())
    found: list[Event] = []
    while len(found) < 300:
        if len(found) == 96:
            cursor.add(book.write(200))
        wanted = range(len(found) + 1, min(len(found) + 32, 300) + 1)
        found += cursor.read(wanted[0], wanted[-1])
    assert found == book.events


def test_what_the_server_may_still_need_is_exact_if_the_next_event_is_held(book: Book) -> None:
    cursor = Cursor(book.folder, book.places())
    cursor.add(book.write(STRIDE + 10))
    assert cursor.seq_after(STRIDE + 10) == book.events[-1].seq + 1
    assert cursor.seq_after(STRIDE + 9, book.events[-1]) == book.events[-1].seq
    assert cursor.seq_after(STRIDE + 9) == book.events[STRIDE].seq


def test_an_event_that_is_not_there_is_not_made_up(book: Book) -> None:
    book.write(3)
    cursor = Cursor(book.folder, book.places())
    assert cursor.read(4, 9) == []
    assert cursor.read(2, 9) == book.events[1:]


def test_retention_removes_nothing_that_the_server_lacks(book: Book) -> None:
    book.write(300, at_ms=1)
    needed = Cursor(book.folder, book.places()).seq_after(270)
    book.journal.close()
    later = 100 * DAY_MS
    book.journal = book.open(now_ms=later, keep=1, days=30)
    assert next(book.journal.records()).seq == 1
    book.write(200, at_ms=later)
    assert next(book.journal.records()).seq == 1
    book.journal.keep_from_seq = needed
    book.write(200, at_ms=later)
    first = next(book.journal.records()).seq
    assert 1 < first <= needed
    places = book.places()
    assert places.last == 700
    cursor = Cursor(book.folder, places)
    assert cursor.read(271, 290) == book.events[270:290]
    assert cursor.read(1, 2) != book.events[:2]


def test_the_record_of_an_event_is_the_message_for_ever(book: Book) -> None:
    book.write(5)
    records = [r for r in book.journal.records() if r.kind == OUTBOX]
    assert [event_of(record) for record in records] == book.events


def test_the_places_of_a_long_journal_are_thinned_out_and_still_lead_to_every_event() -> None:
    places = Places()
    for number in range(1, 20 * MOST_PLACES * STRIDE, STRIDE // 2):
        places.add(number, 3 * number)
        assert len(places._places) <= MOST_PLACES
    asked = range(1, places.last, STRIDE)
    found = [places.before(number) for number in asked]
    assert found == sorted(found)
    assert all(seq <= 3 * number for number, seq in zip(asked, found, strict=True))
    assert len(set(found)) > MOST_PLACES // 4
