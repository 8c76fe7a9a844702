"""The checker can fail: a server that is wrong on purpose, and findings one by one."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.kills.checker import (
    Book,
    Sent,
    Stored,
    check_book,
    check_once,
    check_promises,
    check_sums,
)
from tests.kills.floor import Floor
from tests.kills.sums import expected
from tests.kills.witness import Notebook, Witness

JOURNAL = "ab" * 16
WAGERED = {"what": "contributed", "round": 1, "wagers": [[1, 100, 1], [2, 200, 2], [7, 300, 3]]}
BACK = {"what": "reversed", "round": 1, "wagers": [[2, 100, 1]]}
CLAIMED = {"what": "claimed", "round": 1, "claims": [[7, "straight flush", 10]]}
BODIES = (WAGERED, BACK, CLAIMED)
BALANCES = {
    ("grand", "display"): 90_007_500_000,
    ("grand", "house"): -100_000_000_000,
    ("grand", "pending"): 10_000_000_000,
    ("grand", "reserve"): 2_500_000,
    ("grand", "wagers"): -10_000_000,
    ("minor", "display"): 100_001_850_000,
    ("minor", "house"): -100_000_000_000,
    ("minor", "wagers"): -1_850_000,
}
"""5.00 stand: 1.5 % and 0.5 % of it, and 0.37 %; a tenth of 1,000.07 is 100.00."""


def events(*numbers: int) -> list[tuple[Any, ...]]:
    return [(JOURNAL, n, bytes([n]) * 32, json_of(n)) for n in numbers]


def json_of(n: int) -> bytes:
    return repr(BODIES[n - 1]).replace("'", '"').encode()


def stored(*numbers: int, mark: int = 3, **changed: int) -> Stored:
    held = Counter(BALANCES)
    for name, units in changed.items():
        level, _, account = name.partition("_")
        held[level, account] += units
    return Stored(events(*numbers), {"": 4, JOURNAL: mark}, held)


@pytest.fixture
def book(tmp_path: Path) -> Book:
    notebook = Notebook(tmp_path / "witness")
    for n in (1, 2, 3):
        notebook.note("w", n)
    notebook.note("h", 0)
    notebook.heard(b'{"t":"ack","n":3}')
    notebook.heard(b'{"t":"beat","at_ms":5}')
    witness = Witness(tmp_path / "witness")
    witness.look()
    sent = [Sent(f"{n:02x}" * 32, body) for n, body in enumerate(BODIES, 1)]
    return Book("load-1", JOURNAL, sent, witness)


def findings(found: Stored, book: Book) -> list[str]:
    return check_once(found) + check_book(book, found) + check_sums(found, [book])


def test_the_sum_is_exact() -> None:
    assert expected(BODIES) == Counter(BALANCES)


def test_what_is_as_it_must_be_has_no_findings(book: Book) -> None:
    assert findings(stored(1, 2, 3), book) == []
    assert (book.witness.written, book.witness.promised, book.witness.words) == (3, 3, 2)


def test_an_acknowledged_event_that_is_not_there(book: Book) -> None:
    found = findings(stored(1, 2, mark=2), book)
    assert "lost: load-1: 3 was acknowledged, the store has 2" in found
    assert "load-1: the journal has 3 events, the store 2" in found


def test_a_hole_below_the_watermark(book: Book) -> None:
    assert f"lost: journal {JOURNAL}: [2] below 3" in findings(stored(1, 3), book)


def test_an_event_that_is_stored_twice(book: Book) -> None:
    found = findings(stored(1, 2, 3, 1), book)
    assert found == [f"twice: event 1 of journal {JOURNAL} is stored 2 times"]


def test_wagers_that_count_twice(book: Book) -> None:
    found = findings(stored(1, 2, 3, grand_display=9_000_000, grand_wagers=-9_000_000), book)
    assert found == [
        "sum: grand/display holds 90016500000 units, the journals say 90007500000",
        "sum: grand/wagers holds -19000000 units, the journals say -10000000",
    ]


def test_another_hash_another_body_and_a_journal_of_nobody(book: Book) -> None:
    right = stored(1, 2, 3)
    rows = [(JOURNAL, 1, bytes(32), json_of(1)), (JOURNAL, 2, b"\2" * 32, json_of(1))]
    found = findings(Stored([*rows, *events(3)], right.watermarks, right.balances), book)
    assert found == [
        "load-1: event 1 is stored with another hash",
        "load-1: event 2 is stored with another body",
    ]
    other = Stored([("ff" * 16, 1, b"", b"{}")], {"ff" * 16: 1}, right.balances)
    assert check_sums(other, [book]) == [f"events of journals that no table has: ['{'ff' * 16}']"]


def test_a_promise_that_is_taken_back_is_seen_though_the_table_sends_again(book: Book) -> None:
    notebook = Notebook(book.witness.path)
    notebook.heard(b'{"t":"welcome","n":1}')
    notebook.heard(b'{"t":"ack","n":3}')
    book.witness.look()
    said = "load-1: lost: 3 was acknowledged, then the server said it has 1"
    assert findings(stored(1, 2, 3), book) == [said]


def test_a_server_that_acknowledges_early_and_counts_twice_is_found(tmp_path: Path) -> None:
    """Real processes; its own books balance, and its tables send again what it has lost."""
    wrong = (sys.executable, "-m", "tests.kills.broken")
    floor = Floor(tmp_path / "wrong", loads=2, server=wrong)
    lost: list[str] = []
    try:
        floor.open()
        for _ in range(8):
            floor.await_load()
            floor.kill(["server"])
            lost = check_promises(floor.where, {t.journal: t.witness for t in floor.tables})
            floor.start(["server"])
            if lost:
                break
        floor.await_load()
        floor.drain()
        floor.check()
    finally:
        floor.close()
    assert [text for text in lost if text.startswith("lost: load-")] == lost != []
    assert any("then the server said it has" in text for text in floor.problems)
    wanted = ("sum: grand/display", "sum: grand/reserve", "sum: grand/wagers")
    assert [any(text.startswith(one) for text in floor.problems) for one in wanted] == [True] * 3
    assert not any(text.startswith("twice") for text in floor.problems)
    assert not any("link check" in text for text in floor.problems)
