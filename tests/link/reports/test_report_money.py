"""Pool and jackpot reports over a SQLite store: literal amounts, and one unit that is not right."""

from __future__ import annotations

import csv
import io
import json
import random
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from link.ledger.errors import PoolError
from link.ledger.orders import Change, Reject
from link.ledger.terms import MustHit, Terms
from link.reports.export import report_csv, report_json
from link.reports.hits import hits_report
from link.reports.model import Report, ReportError, Value
from link.reports.page import report_html
from link.reports.pool import pool_report
from link.reports.text import report_text
from tests.link.ledger.support import BOTH, mystery, pool, terms
from tests.link.reports.shop import DAY_MS, FIRST, Shop

NEXT_DAY = FIRST + timedelta(days=1)
BOTH_DAYS = (FIRST, NEXT_DAY)


@pytest.fixture
def night(shop: Shop) -> Shop:
    """Two days: a straight flush for 10 % on the first, a royal flush on the second.

    1,000.00 to begin with and 0.37 % of each 1.00: 1 wager is 370,000 units, 0.37 cents.
    """
    shop.bet("T1", 1, 1, 2, 3)
    shop.bet("T2", 1, 1, 2)
    shop.claim("T1", 1, (2, "straight flush"))
    shop.pay("pool/1/1")
    shop.now_ms += DAY_MS
    shop.bet("T1", 2, 1, 2, 3, 4)
    shop.back("T1", 2, 4)
    shop.hit("T2", 2)
    return shop


def rows(report: Report, name: str, about: str = "") -> list[tuple[Value, ...]]:
    (found,) = [
        section
        for section in report.sections
        if section.name == name and (not about or about in [value for _, value in section.about])
    ]
    return list(found.rows)


def test_the_jackpot_from_opening_to_closing_to_the_unit(night: Shop) -> None:
    first = pool_report(night.inputs())
    assert rows(first, "jackpot") == [
        ("opening", None, None, 0),
        ("award", "pending", 1, -10_000_000_000),
        ("base", "house", 1, 100_000_000_000),
        ("contribution", "wagers", 2, 1_850_000),
        ("closing", None, None, 90_001_850_000),
    ]
    second = pool_report(night.inputs(NEXT_DAY))
    assert rows(second, "jackpot") == [
        ("opening", None, None, 90_001_850_000),
        ("award", "pending", 1, -90_003_000_000),
        ("reversal", "wagers", 1, -370_000),
        ("seed", "house", 1, 50_000_000_000),
        ("contribution", "wagers", 2, 1_850_000),
        ("closing", None, None, 50_000_330_000),
    ]
    assert first.findings == second.findings == []


def test_accounts_and_meters(night: Shop) -> None:
    report = pool_report(night.inputs(*BOTH_DAYS))
    assert rows(report, "accounts") == [
        ("wagers", 0, 370_000, -3_700_000, -3_330_000),
        ("display", 0, 150_003_700_000, -100_003_370_000, 50_000_330_000),
        ("house", 0, 0, -150_000_000_000, -150_000_000_000),
        ("pending", 0, 100_003_000_000, -10_000_000_000, 90_003_000_000),
        ("paid", 0, 10_000_000_000, 0, 10_000_000_000),
        ("all accounts", 0, 260_007_070_000, -260_007_070_000, 0),
    ]
    meters = {row[0]: row[1] or row[2] for row in rows(report, "meters")}
    assert meters["generation at the end"] == 2
    assert meters["progressive wagers"] == 10
    assert meters["in, net of reversals"] == 3_330_000
    assert meters["hits locked"] == 2
    assert meters["wins locked"] == 100_003_000_000
    assert meters["shown at the end"] == 50_000_000_000


def test_an_amount_of_record_line_by_line(night: Shop) -> None:
    report = hits_report(night.inputs(NEXT_DAY))
    assert rows(report, "awards") == [
        ("pool/1/2", "pool/main", "T2", 2, 1, "royal flush", "locked", 90_003),
    ]
    assert rows(report, "derivation") == [
        ("base", "from house", 100_000_000_000),
        ("2026-03-10 T1", "3.00 at 0.37 %", 1_110_000),
        ("2026-03-10 T2", "2.00 at 0.37 %", 740_000),
        ("2026-03-11 T1", "4.00 at 0.37 %", 1_480_000),
        ("2026-03-11 T2", "1.00 at 0.37 %", 370_000),
        ("earlier award", "pool/1/1", -10_000_000_000),
        ("reversal", "to wagers", -370_000),
        ("in the jackpot at the lock", "", 90_003_330_000),
        ("below a cent, stays", "", -330_000),
        ("jackpot of record", "", 90_003_000_000),
        ("amount of record", "100 % for royal flush", 90_003_000_000),
    ]
    assert report.findings == []


def test_one_award_whenever_it_was(night: Shop) -> None:
    report = hits_report(night.inputs(NEXT_DAY), "pool/1/1")
    assert rows(report, "derivation")[-1] == (
        "amount of record", "10 % for straight flush", 10_000_000_000,
    )  # fmt: skip
    assert [row[1] for row in rows(report, "steps")] == [
        "claimed", "locked", "verified", "verified", "approved", "paid",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        (
            "UPDATE entries SET units = units + 1 WHERE why = 'contribution' AND id = 2",
            "jackpot and overflow from wagers: 0.037 expected, 0.03700001 found, 1 units apart",
        ),
        (
            "UPDATE balances SET units = units - 1 WHERE account = 'display'",
            "display: balance and entries: 500.00329999 expected, 500.0033 found, 1 units apart",
        ),
        (
            "UPDATE awards SET cents = cents + 1 WHERE award = 'pool/1/2'",
            "of $900.03 is $900.03, the amount of record $900.04, $0.01 apart",
        ),
        (
            "UPDATE awards SET jackpot_cents = jackpot_cents - 1 WHERE award = 'pool/1/2'",
            "the jackpot of record is $900.02, its contributions make $900.03, $0.01 apart",
        ),
        (
            "UPDATE entries SET units = units - 1 WHERE why = 'award' AND id > 4",
            "900.02999999 was set aside at the lock for 900.03",
        ),
    ],
)
def test_one_unit_is_found_and_named(night: Shop, planted: str, said: str) -> None:
    assert night.real.change(planted, [()]) == 1
    desk = night.inputs(*BOTH_DAYS)
    found = [f.text for f in (pool_report(desk).findings + hits_report(desk).findings)]
    assert any(said in text for text in found), found


def test_text_fits_and_the_page_needs_nothing(night: Shop) -> None:
    report = hits_report(night.inputs(*BOTH_DAYS))
    report.add(pool_report(night.inputs(*BOTH_DAYS)))
    text = report_text(report)
    assert [x for x in text.splitlines() if len(x) > 80 and not x.startswith("Read from")] == []
    assert text.endswith("Everything agrees.")
    page = report_html(report)
    assert "http" not in page
    assert "<script" not in page
    assert "900.0300" in page
    assert page.count("<table>") == page.count("</table>") == len(report.sections)


def test_html_and_csv_defuse_what_a_table_says(shop: Shop) -> None:
    report = Report("pool", "<b>", [("a", "&")])
    report.add(pool_report(shop.inputs()))
    assert "<title>&lt;b&gt;</title>" in report_html(report)
    shop.hit("T1", 1)
    shop.order(Reject("pool/1/1", "=1+1"), BOTH)
    made = hits_report(shop.inputs())
    assert "'=1+1" in report_csv(made, "steps")


def test_csv_parses_and_adds_up(night: Shop) -> None:
    report = pool_report(night.inputs(*BOTH_DAYS))
    text = report_csv(report, "accounts")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["account"] for line in lines] == ["wagers", "display", "house", "pending", "paid"]
    assert sum(int(line["closing (units)"]) for line in lines) == 0
    whole = list(csv.reader(io.StringIO(report_csv(report))))
    assert {line[0] for line in whole} == {"section", "meters", "accounts", "jackpot", "checks"}
    with pytest.raises(ReportError, match="E-RPT-003"):
        report_csv(report, "nothing")


def test_json_is_the_same_report(night: Shop) -> None:
    report = pool_report(night.inputs())
    found: dict[str, Any] = json.loads(report_json(report))
    assert list(found) == ["schema", "report", "title", "facts", "sections", "findings"]
    assert found["schema"] == "underfelt.report/1"
    assert [
        (s["name"], s["about"], [(c["name"], c["kind"]) for c in s["columns"]])
        for s in found["sections"]
    ] == [
        (
            "meters",
            {"pool": "pool", "level": "main"},
            [("meter", "text"), ("count", "count"), ("amount", "units")],
        ),
        (
            "accounts",
            {"pool": "pool", "level": "main"},
            [
                ("account", "text"),
                ("opening", "units"),
                ("in", "units"),
                ("out", "units"),
                ("closing", "units"),
            ],
        ),
        (
            "jackpot",
            {"pool": "pool", "level": "main"},
            [
                ("what", "text"),
                ("from or to", "text"),
                ("entries", "count"),
                ("amount", "units"),
            ],
        ),
        (
            "checks",
            {"pool": "pool", "level": "main"},
            [
                ("check", "text"),
                ("expected", "units"),
                ("found", "units"),
                ("difference", "units"),
            ],
        ),
    ]
    assert found["sections"][2]["rows"][-1] == ["closing", None, None, 90_001_850_000]


def test_a_day_ends_with_the_group_that_was_written(shop: Shop) -> None:
    """One entry sums up wagers of both days; it is counted whole, once."""
    shop.grouped = False
    shop.bet("T1", 1, 1)
    shop.now_ms += DAY_MS
    shop.bet("T1", 2, 1, 2)
    shop.commit()
    shop.bet("T1", 3, 1)
    shop.commit()
    days = [pool_report(shop.inputs(day)) for day in BOTH_DAYS]
    assert [rows(day, "jackpot")[-2][3] for day in days] == [1_110_000, 370_000]
    assert [day.findings for day in days] == [[], []]


def test_settlement_order_is_that_of_the_last_claim(tmp_path: Path) -> None:
    """The royal flush claims first; then the table puts a straight flush before it."""
    shop = Shop(tmp_path / "ties.db", pool(terms(ties="same_cycle_full", tie_ms=1_000)))
    shop.bet("T1", 1, 1, 2)
    shop.claim("T1", 1, (1, "royal flush"))
    shop.claim("T1", 1, (2, "straight flush"), (1, "royal flush"))
    shop.tick(1_000)
    report = hits_report(shop.inputs())
    assert [(row[5], row[7]) for row in rows(report, "awards")] == [
        ("royal flush", 90_000),
        ("straight flush", 10_000),
    ]
    assert report.findings == []
    shop.real.close()


# --- any history ----------------------------------------------------------------------------------


def _levels(chance: random.Random) -> tuple[list[Terms], dict[str, Any]]:
    stated: dict[str, Any] = {
        "base_cents": 1_000,
        "reset_cents": 500,
        "hidden_ppm": chance.choice((0, 1_300)),
        "envy_ppm": chance.choice((0, 100)),
        "meter_rule": chance.choice(("sequential", "snapshot")),
    }
    if chance.random() < 0.5:
        stated["ceiling_cents"] = chance.choice((1_001, 1_003, 1_010))
        stated["overflow"] = chance.choice(("next", "reserve", "revenue"))
    ties = chance.choice(("strict_order", "same_cycle_full", "share"))
    if ties != "strict_order":
        stated |= {"ties": ties, "tie_ms": 1_000}
    levels = [terms(rate_ppm=40_000, **stated)]
    if chance.random() < 0.5:
        small = {"base_cents": 10, "reset_cents": 5, "must_hit": MustHit(20, 60)}
        levels.append(mystery(rate_ppm=30_000, meter_rule=stated["meter_rule"], **small))
    return levels, stated


def _step(shop: Shop, chance: random.Random, stated: dict[str, Any], number: int) -> None:
    table, what = chance.choice(("T1", "T2")), chance.random()
    awards = [h for h in shop.ledger.state.awards.values() if h.state in ("claimed", "locked")]
    if what < 0.55:
        seats = chance.sample(range(1, 8), chance.randint(1, 7))
        shop.bet(table, number, *seats)
        if chance.random() < 0.3:
            claiming = chance.sample(seats, min(len(seats), chance.randint(1, 2)))
            hands = [(seat, chance.choice(("royal flush", "straight flush"))) for seat in claiming]
            shop.claim(table, number, *hands)
        elif chance.random() < 0.2:
            shop.back(table, number, seats[0])
    elif what < 0.7 and awards:
        shop.order(Reject(chance.choice(awards).award, "no"), BOTH)
    elif what < 0.85 and awards:
        shop.pay(chance.choice(awards).award)
    elif what < 0.9:
        shop.order(Change("pool", terms(**stated, rate_ppm=chance.choice((37_000, 41_000)))), BOTH)
    else:
        shop.tick(chance.randint(1, 2_000))


@pytest.mark.parametrize("seed", range(12))
def test_any_history_is_explained_to_the_unit(tmp_path: Path, seed: int) -> None:
    """Ceilings, mysteries, ties, rejections, reversals, new terms, groups across days."""
    chance = random.Random(seed)
    levels, stated = _levels(chance)
    shop = Shop(tmp_path / "link.db", pool(*levels))
    shop.grouped = False
    for number in range(1, 120):
        with suppress(PoolError):  # an order that cannot be leaves no trace
            _step(shop, chance, stated, number)
        shop.now_ms += chance.randint(0, DAY_MS // 40)
        if chance.random() < 0.5:
            shop.commit()
    shop.tick(5_000)
    shop.commit()
    for day in range(3):
        assert pool_report(shop.inputs(FIRST + timedelta(days=day))).findings == []
    report = hits_report(shop.inputs(FIRST, FIRST + timedelta(days=9)))
    assert len(rows(report, "awards")) > 5
    assert report.findings == []
    shop.real.close()
