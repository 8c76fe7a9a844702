"""Awards that reports stumble over: several in a round, awards of nothing, hundreds of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from link.commands.link_store import history_of
from link.ledger.history import check_history
from link.ledger.orders import Verify
from link.reports.day import day_report
from link.reports.hits import hits_report
from link.reports.model import Report, Value
from link.rows import Group
from link.server import feed_parts, feed_words
from tests.link.ledger.support import pool, terms
from tests.link.reports.shop import Shop

TWO = ("straight flush", "four of a kind")
SHARES = {"royal flush": 100, "straight flush": 10, "four of a kind": 20}


def rows(report: Report, name: str) -> list[tuple[Value, ...]]:
    return [row for section in report.sections if section.name == name for row in section.rows]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Shop]:
    """Seats 1 and 2 win shares of one jackpot of 1,000.00 in one round."""
    made = Shop(tmp_path / "link.db", pool(terms(shares=SHARES)))
    made.bet("T1", 1, 1, 2)
    made.claim("T1", 1, (1, TWO[0]), (2, TWO[1]))
    yield made
    made.real.close()


def test_two_seats_win_in_a_round_that_is_void(two: Shop) -> None:
    """One event takes both back; the second one was revalued in between."""
    two.withdraw("T1", 1, 1, 2)
    two.back("T1", 1, 1, 2)
    desk = two.inputs()
    for report in (hits_report(desk), day_report(desk, [], 10_000), hits_report(desk, "pool/1/2")):
        assert report.findings == []
    derived = [
        row for row in rows(hits_report(desk, "pool/1/2"), "derivation") if "amount" in str(row[0])
    ]
    assert derived == [
        ("amount before", "20 % for four of a kind", 18_000_000_000),
        (
            "amount of record",
            "20 % for four of a kind, another of the round went back",
            20_000_000_000,
        ),
    ]


def test_an_amount_that_changed_is_stored_as_ever_and_shown_as_money(two: Shop) -> None:
    two.withdraw("T1", 1, 1)
    (award,) = [row for row in two.inputs().mark.awards if row.award == "pool/1/2"]
    steps = list(two.real.steps(award=award.award))
    # The checks of every store and of every evidence pack make this text again and compare it.
    assert steps[-1].note == "18000 cents before; pool/1/1 is withdrawn"
    shown = "$180.00 before; pool/1/1 is withdrawn"
    assert rows(hits_report(two.inputs(), award.award), "steps")[-1][-1] == shown
    group = Group(epoch=1, steps=steps[-1:], awards={award.award: award})
    (entry,) = feed_words.steps(group)
    assert entry["text"].endswith(f"$200.00, table T1, round 1, seat 2: {shown}")
    (told,) = [
        row
        for row in feed_parts.awards(two.ledger.state, [], {award.award: steps})
        if row["award"] == award.award
    ]
    assert told["steps"][-1]["note"] == shown


def test_the_same_words_by_a_person_are_only_a_note(two: Shop) -> None:
    words = "5 cents before; pool/1/1 is paid"
    two.order(Verify("pool/1/2", words))
    report = hits_report(two.inputs(), "pool/1/2")
    assert report.findings == []
    assert rows(report, "steps")[-1][-1] == words
    amounts = [row[0] for row in rows(report, "derivation") if "amount" in str(row[0])]
    assert amounts == ["amount of record"]


def test_three_seats_where_the_middle_one_goes_back_later(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "link.db", pool(terms(shares=SHARES)))
    shop.bet("T1", 1, 1, 2, 3)
    shop.claim("T1", 1, (1, TWO[0]), (2, TWO[1]), (3, "royal flush"))
    shop.withdraw("T1", 1, 2)
    shop.withdraw("T1", 1, 1, 3)
    assert hits_report(shop.inputs()).findings == []
    shop.real.close()


def test_a_history_with_two_awards_in_one_round_replays(two: Shop) -> None:
    """A store gives the steps of one event by award, the ledger by time: both are the same."""
    check_history(history_of(two.real), two.sealer)


def test_an_award_of_nothing_is_explained(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """10 % of less than ten cents are nothing; contributions around it are in one group."""
    shop = Shop(tmp_path / "link.db", pool(terms(base_cents=0, reset_cents=0)))
    request.addfinalizer(shop.real.close)
    shop.grouped = False
    shop.bet("T1", 1, 1)
    shop.claim("T1", 1, (1, "straight flush"))
    shop.bet("T2", 1, 1, 2)
    shop.commit()
    shop.hit("T2", 2)
    shop.commit()
    report = hits_report(shop.inputs())
    assert [row[7] for row in rows(report, "awards")] == [0, 1]
    assert report.findings == []


@pytest.mark.parametrize("policy", ["share", "same_cycle_full"])
def test_awards_of_nothing_among_ties(
    tmp_path: Path, request: pytest.FixtureRequest, policy: str
) -> None:
    """One round takes nothing, another takes all, both in one lock."""
    made: dict[str, Any] = {"base_cents": 9, "reset_cents": 0, "ties": policy, "tie_ms": 10}
    shop = Shop(tmp_path / "link.db", pool(terms(**made)))
    request.addfinalizer(shop.real.close)
    shop.bet("T1", 1, 1)
    shop.bet("T2", 1, 1)
    shop.claim("T1", 1, (1, "royal flush"))
    shop.claim("T2", 1, (1, "straight flush"))
    shop.tick(10)
    report = hits_report(shop.inputs())
    assert [row[7] for row in rows(report, "awards")] == [9, 0]
    assert report.findings == []


# --- many -----------------------------------------------------------------------------------------


def work(shop: Shop) -> int:
    """Lines of ``link/reports`` that a report of all awards runs: the same on every machine."""
    desk, count = shop.inputs(), 0

    def local(_frame: FrameType, event: str, _arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return local

    def enter(frame: FrameType, _event: str, _arg: object) -> Any:
        return local if "/link/reports/" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        report = hits_report(desk)
    finally:
        sys.settrace(before)
    assert report.findings == []
    assert len(rows(report, "awards")) > 0
    return count


def test_the_work_of_a_report_grows_with_the_rows(tmp_path: Path) -> None:
    """Four times the rounds and awards are four times the lines run, not sixteen."""
    counted = []
    for many in (20, 80):
        shop = Shop(tmp_path / f"{many}.db", pool(terms()))
        shop.grouped = False
        for number in range(1, many + 1):
            shop.bet("T2", number, 1, 2, 3)
            shop.hit("T1", number, "straight flush" if number % 3 else "royal flush")
            shop.commit()
        counted.append(work(shop))
        shop.real.close()
    assert counted[1] < 4.5 * counted[0]
