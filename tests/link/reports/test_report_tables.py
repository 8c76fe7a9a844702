"""Tables, par sheets, whole days, and a table's journal against the server's rows."""

from __future__ import annotations

import json
import sqlite3
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.commands import par
from link.commands import report as command
from link.ledger.orders import Reject, Resume
from link.reports import table as table_module
from link.reports.day import day_report
from link.reports.days import GamingDays
from link.reports.model import ReportError
from link.reports.par import Sheet, par_report, read_sheet, tails, two_sided
from link.reports.pool import pool_report
from link.reports.table import fold_tables, table_report
from link.reports.text import report_text
from link.store.sqlite import SqliteStore
from record.journal.journal import Journal
from record.journal.reader import JournalReader
from record.link.events import AnyBody, Claim, Claimed, Contributed, RoundPlayed, Wager
from record.link.outbox import OUTBOX, event_of, outbox_body
from tests.link.ledger.support import BOTH, Table, pool
from tests.link.reports.shop import FIRST, NOON_MS, Shop
from tests.link.reports.test_report_money import rows


def wager(placed: int, to_player: int, status: str = "lose") -> dict[str, Any]:
    return {"placed": placed, "status": status, "to_player": to_player}


def round_of(number: int, *, hand: str = "one pair", paid: int = 0, **more: Any) -> RoundPlayed:
    """One seat: 10.00 on ``$``, 1.00 on the progressive."""
    wagers = {"$": wager(1_000, paid), "progressive": wager(100, 0)}
    seat = {"seat": 1, "hand": hand, "net": 0, "awards": [], "wagers": wagers, **more}
    record = {"game": "MBS3", "settings": {"jackpot": 100_000}}
    return RoundPlayed(number, record, {"round_status": "settled", "seats": [seat]})


def test_handle_payments_and_contributions(shop: Shop) -> None:
    shop.bet("T1", 1, 1, 2)
    shop.back("T1", 1, 2)
    shop.tell("T1", round_of(1, paid=2_000))
    envy = [{"kind": "envy", "amount": 30_000, "from_seat": 2}]
    shop.tell("T1", round_of(2, awards=envy))
    shop.tell("T1", round_of(1, paid=3_000))
    shop.bet("T2", 1, 1, 2, 3)
    report = table_report(shop.inputs())
    assert rows(report, "rounds") == [
        ("T1", "MBS3", 2, 0, 0, 1, 2_200, 33_000, -30_800),
        ("T2", "MBS3", 0, 0, 0, 0, 0, 0, 0),
    ]
    assert rows(report, "contributions") == [
        ("T1", 2, 200, 100, 100),
        ("T2", 3, 300, 0, 300),
        ("all tables", 5, 500, 100, 400),
    ]
    assert rows(report, "wagers", "T1") == [
        ("$", 2, 2_000, 3_000, -1_000),
        ("progressive", 2, 200, 0, 200),
        ("envy", None, None, 30_000, -30_000),
        ("all wagers", 4, 2_200, 33_000, -30_800),
    ]


def test_a_round_that_is_first_reported_late_is_counted_and_not_called_corrected(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "KEPT_ROUNDS", 2)
    for number in (5, 6, 9, 10, 4, 7, 8):
        shop.tell("T1", round_of(number))
    report = table_report(shop.inputs())
    assert rows(report, "rounds") == [("T1", "MBS3", 7, 0, 0, 0, 7_700, 0, 7_700)]
    assert report.findings == []
    for number in (4, 7, 10):
        shop.tell("T1", round_of(number, paid=1_000))
    report = table_report(shop.inputs())
    assert rows(report, "rounds") == [("T1", "MBS3", 7, 0, 0, 1, 7_700, 1_000, 6_700)]
    (finding,) = report.findings
    assert "T1: 2 rounds corrected, not among its last 2" in str(finding)


def test_a_round_from_before_the_period_is_not_called_corrected(shop: Shop) -> None:
    fold = table_module.Fold(from_start=False)
    for number in (5, 4):
        shop.tell("T1", round_of(number))
        fold.take(shop.store.events[-1], round_of(number), "MBS3")
    (sums,) = fold.sums.values()
    assert (sums.rounds, sums.late, sums.corrected, sums.earlier) == (1, 0, 0, 1)


@pytest.mark.parametrize(
    ("record", "result"),
    [
        ({}, {"seats": [{"wagers": {"$": {}}}]}),
        ({}, {"seats": 7}),
        ({}, {"seats": [{"wagers": {"$": wager(1_000, "all")}}]}),  # type: ignore[arg-type]
        ({}, {"seats": [{"wagers": {"progressive": wager(100, 0)}, "hand": ["a"]}]}),
        ({}, {"seats": [{"awards": [{"kind": {}, "amount": 1}]}]}),
        ({"settings": {"jackpot": "x"}}, {"seats": [{"wagers": {"progressive": wager(9**9, 0)}}]}),
        ({"round": []}, {"seats": []}),
        ({"round": {"events": [{}]}}, {"seats": []}),
    ],
)
def test_a_result_that_is_none_is_named_and_the_rest_is_reported(
    shop: Shop, record: dict[str, Any], result: dict[str, Any]
) -> None:
    """One table's nonsense does not keep the others from their report."""
    shop.tell("T1", RoundPlayed(1, record, result))
    shop.tell("T1", round_of(2))
    shop.tell("T2", round_of(1))
    for report in (table_report(shop.inputs()), day_report(shop.inputs(), [], 10_000)):
        (finding,) = report.findings
        assert finding.code == "E-RPT-006"
        assert "T1, round 1: no result of a round" in finding.text
    assert [row[2] for row in rows(table_report(shop.inputs()), "rounds")] == [1, 1]


# --- par ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trials", [1, 7, 30])
@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(1, 50)])
def test_tails_are_the_binomial_sums(trials: int, chance: Fraction) -> None:
    terms = [comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)]
    for hits in range(trials + 1):
        for found, exact in zip(
            tails(hits, trials, chance), (sum(terms[: hits + 1]), sum(terms[hits:])), strict=True
        ):
            wanted = Decimal(exact.numerator) / Decimal(exact.denominator)
            assert abs(found - wanted) < Decimal("1e-25")


def test_sums_and_the_normal_distribution_agree_where_they_meet() -> None:
    chance = Fraction(1, 4)
    exact, near = two_sided(20_000, 79_000, chance), two_sided(20_001, 79_000, chance)
    assert abs(exact - near) < Decimal("0.002")
    assert two_sided(0, 0, chance) == 1


SHEET = Sheet(
    game="MBS3",
    stake_cents=100,
    classes={"royal flush": Fraction(1, 649_740), "flush": Fraction(1, 500)},
    constant=Fraction(1, 2),
    slope=Fraction(1, 10**6),
    variance=Fraction(30),
    returns={"$": (Fraction(97, 100), Fraction(25))},
)


def test_drift_is_told_and_chance_is_not(shop: Shop) -> None:
    for number in range(1, 41):
        shop.tell("T1", round_of(number, hand="flush" if number in (3, 5, 7, 9) else "one pair"))
    desk = shop.inputs()
    report = par_report(desk, fold_tables(desk), [SHEET], 10_000)
    hits = rows(report, "hit frequency")
    assert hits[0] == ("royal flush", 0, "0.00", "-0.01", "1.000000")
    assert hits[1][:3] == ("flush", 4, "0.08")
    (finding,) = report.findings
    assert finding.code == "E-RPT-020"
    assert "4 of 40 progressive hands were flush, 0.08 are expected" in finding.text
    # 40 hands at a jackpot of 1,000.00: half, and a tenth for the jackpot.
    assert rows(report, "return")[1] == (
        "progressive", 4_000, 0, "0.00 %", "60.00 %", "-0.69",
    )  # fmt: skip
    assert par_report(desk, fold_tables(desk), [SHEET], 10**9).findings == []


def test_the_real_sheet_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert par.run(["MBS3", "--json"]) == 0
    sheet = read_sheet(capsys.readouterr().out.encode(), "par.json")
    assert sheet.classes["royal flush"] == Fraction(1, 649_740)
    assert (sheet.stake_cents, sheet.slope) == (100, Fraction(19, 649_740_000))
    assert set(sheet.returns) == {"$"}
    with pytest.raises(ReportError, match="E-RPT-005"):
        read_sheet(b"{}", "par.json")


# --- days -----------------------------------------------------------------------------------------


def test_a_gaming_day_begins_at_its_hour_also_when_clocks_change() -> None:
    days = GamingDays.of("Europe/Berlin", "06:00")
    spring = date(2026, 3, 28)
    assert days.begins_ms(spring + timedelta(days=1)) - days.begins_ms(spring) == 23 * 3_600_000
    start = days.begins_ms(spring)
    assert (days.day_of(start), days.day_of(start - 1)) == (spring, date(2026, 3, 27))
    assert days.time_text(start) == "2026-03-28 06:00:00"
    for zone, hour in (("Nowhere/Land", "06:00"), ("UTC", "25:00"), ("UTC", "6")):
        with pytest.raises(ReportError, match="E-RPT-001"):
            GamingDays.of(zone, hour)
    with pytest.raises(ReportError, match="E-RPT-002"):
        days.parse("yesterday")


def test_a_day_has_everything(shop: Shop) -> None:
    shop.hit("T1", 1)
    shop.tell("T1", round_of(1))
    shop.pay("pool/1/1")
    report = day_report(shop.inputs(), [SHEET], 10_000, full=True)
    names = list(dict.fromkeys(section.name for section in report.sections))
    assert names == [
        "totals", "levels", "tables", "jackpots", "alarm counts",
        "meters", "accounts", "jackpot", "checks", "awards", "derivation", "steps", "rounds",
        "contributions", "wagers", "hit frequency", "return", "orders", "alarms",
    ]  # fmt: skip
    assert [(row[1], row[2]) for row in rows(report, "orders")] == [
        ("verify pool/1/1", "anna (supervisor)"),
        ("approve pool/1/1", "anna (supervisor)"),
        ("approve pool/1/1", "ben (cage)"),
        ("pay pool/1/1", "anna (supervisor)"),
    ]


def test_a_normal_day_is_one_page_with_its_totals_first(tmp_path: Path) -> None:
    """Two tables of the pool and one without, 200 rounds, 12 jackpots, an alarm."""
    shop = Shop(tmp_path / "link.db", tables=("T1", "T2", "T5"))
    shop.grouped = False
    for number in range(1, 101):
        shop.bet("T1", number, 1, 2, 3)
        if number % 8 == 0:
            shop.claim("T1", number, (2, "straight flush"))
        shop.tell("T1", round_of(number, paid=500))
        shop.tell("T5", replace(round_of(number), record={"game": "RICO"}))
    shop.commit()
    shop.pay("pool/1/1")
    shop.order(Reject("pool/1/2", "no"), BOTH)
    shop.ledger.alarm("E-LNK-012", "T2", "a test", shop.now_ms)
    shop.commit()
    report = day_report(shop.inputs(), [SHEET], 10_000)
    text = report_text(report)
    lines = text.splitlines()
    assert len(lines) <= 66
    assert [x for x in lines if len(x) > 80 and not x.startswith("Read from")] == []
    assert report.sections[0].name == "totals"
    totals = {row[0]: row[1:] for row in rows(report, "totals")}
    awards = [award.cents for award in shop.store.awards.values()]
    assert totals == {
        "rounds": (200, None),
        "of them void": (0, None),
        "of them held for a supervisor": (0, None),
        "staked": (None, 220_000),
        "to players": (None, 50_000),
        "house": (None, 170_000),
        "progressive wagers, net of reversals": (300, 30_000),
        "jackpots locked": (12, sum(awards)),
        "of them paid": (1, awards[0]),
        "of them waiting for people": (10, sum(awards[2:])),
        "of them rejected or withdrawn": (1, awards[1]),
        "orders of people": (5, None),
        "alarms": (1, None),
    }
    assert [row[:3] for row in rows(report, "tables")] == [("T1", "MBS3", 100), ("T5", "RICO", 100)]
    assert len(rows(report, "jackpots")) == 10
    assert "2 more: see --full." in text
    whole = report_text(day_report(shop.inputs(), [SHEET], 10_000, full=True))
    assert len(whole.splitlines()) > 3 * len(lines)
    shop.real.close()


def test_many_tables_are_added_up_by_game(tmp_path: Path) -> None:
    names = tuple(f"T{n}" for n in range(1, 31))
    shop = Shop(tmp_path / "link.db", pool(tables=names), tables=names)
    for name in names:
        shop.tell(name, round_of(1))
    report = day_report(shop.inputs(), [], 10_000)
    assert rows(report, "tables") == [("MBS3 tables", "MBS3", 30, 0, 33_000, 0, 33_000)]
    shop.real.close()


# --- reconcile ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table's journal: three events sent, a fourth still waits; the store in ``link.db``."""
    path = tmp_path / "journal"
    journal = Journal.open(path, table="T1", now_ms=NOON_MS)
    told: list[AnyBody] = [
        Contributed(1, (Wager(1, 100), Wager(2, 100))),
        Claimed(1, (Claim(1, "straight flush", 10),)),
        round_of(1),
        Contributed(2, (Wager(1, 100),)),
    ]
    for n, body in enumerate(told, 1):
        journal.append("fact", b"{}", NOON_MS + n)
        journal.append(OUTBOX, outbox_body(n, body), NOON_MS + n)
    journal.sync()
    shop = Shop(tmp_path / "link.db", tables=())
    shop.tables["T1"] = Table("T1", journal.journal_id)
    assert shop.hello("T1").refused is None
    sent = [event_of(r) for r in JournalReader(path).records() if r.kind == OUTBOX]
    for event in sent[:3]:
        shop.send("T1", event)
    shop.real.close()
    journal.close()
    return path


def reconciled(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    copy = folder.parent / "copy.db"
    if not copy.exists():
        store = SqliteStore(folder.parent / "link.db")
        store.backup(copy, at_ms=1)
        store.close()
    argv = ["reconcile", "--journal", str(folder), "--backup", str(copy), "--json"]
    code = command.run(argv)
    return code, json.loads(capsys.readouterr().out)


def plant(folder: Path, sql: str) -> None:
    """Into the copy, past every check."""
    db = sqlite3.connect(folder.parent / "copy.db")
    assert db.execute(sql).rowcount == 1
    db.commit()
    db.close()


def test_a_journal_agrees_to_the_cent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = reconciled(folder, capsys)
    sections = {section["name"]: section["rows"] for section in found["sections"]}
    assert code == 0
    assert sections["counts"][0] == ["events", 4, 3, 1, 0]
    assert sections["money"][0] == ["progressive wagers", 300, 200, 100, 0]
    assert sections["differences"] == []


PENNY = (
    "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), '[2,100', '[2,101') AS BLOB) "
    "WHERE n = 1 AND seq > 0"
)


@pytest.mark.parametrize(
    ("planted", "cents", "said"),
    [
        (
            PENNY,
            1,
            "the body is another, 0.01",
        ),
        (
            "UPDATE events SET hash = zeroblob(32) WHERE n = 2 AND seq > 0",
            0,
            "the record's hash is",
        ),
        ("UPDATE events SET at_ms = at_ms + 1 WHERE n = 3 AND seq > 0", 0, "the time is"),
        ("UPDATE events SET n = 9 WHERE n = 3 AND seq > 0", -100, "not at the server"),
    ],
)
def test_a_difference_is_found_and_named(
    folder: Path, capsys: pytest.CaptureFixture[str], planted: str, cents: int, said: str
) -> None:
    reconciled(folder, capsys)
    plant(folder, planted)
    code, found = reconciled(folder, capsys)
    assert code == 65
    assert any(said in finding["text"] for finding in found["findings"]), found["findings"]
    money = next(s["rows"] for s in found["sections"] if s["name"] == "money")
    assert money[0][4] == cents


def test_no_journal_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["reconcile", "--journal", str(tmp_path), "--backup", str(tmp_path / "none.db")]
    assert command.run(argv) == 66
    assert "E-JRN-021" in capsys.readouterr().err


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shop", ["sqlite"], indirect=True)
def test_the_command_on_a_backup(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.hit("T1", 1)
    copy, page = tmp_path / "copy.db", tmp_path / "day.html"
    shop.real.backup(copy, at_ms=1)
    here = ["--backup", str(copy), "--from", str(FIRST), "--time-zone", "Asia/Singapore"]
    assert command.run(["day", *here, "--html", "--output", str(page)]) == 0
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert command.run(["day", *here, "--html", "--output", str(page)]) == 73
    assert command.run(["hits", "pool/1/1", *here]) == 0
    assert "1,000.00" in capsys.readouterr().out
    assert command.run(["pool", "other", *here]) == 65
    assert command.run(["hits", "pool/9/9", *here]) == 65
    assert command.run(["pool", *here, "--to", "2026-03-01"]) == 65
    assert command.run(["pool", *here, "--section", "meters"]) == 64
    with pytest.raises(SystemExit, match="64"):
        command.run(["pool"])
    assert command.run(["pool", "--backup", str(tmp_path / "none.db")]) == 66
    assert command.run(["table", *here, "--par", str(tmp_path / "none.json")]) == 66
    assert command.run(["table", *here, "--alarm-one-in", "1"]) == 64
    said = capsys.readouterr().err
    for code in ("E-RPT-004", "E-RPT-002", "expected --config FILE"):
        assert code in said


CONFIG = """
[server]
name = "link-1"
store = "sqlite:link.db"
[[door]]
tables = "tcp://127.0.0.1:*"
secret_key = "link.key"
[reports]
time_zone = "Asia/Singapore"
"""


@pytest.mark.parametrize("shop", ["sqlite"], indirect=True)
def test_the_store_is_read_while_no_server_runs_and_only_then(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "link.toml"
    file.write_text(CONFIG)
    argv = ["hits", "--from", str(FIRST), "--config", str(file)]
    shop.hit("T1", 1)
    assert command.run(argv) == 75  # the shop has it open
    assert "E-STO-" in capsys.readouterr().err
    shop.real.close()
    before = (tmp_path / "link.db").read_bytes()
    assert command.run(argv) == 0
    said = capsys.readouterr().out
    assert "Asia/Singapore, from 06:00" in said
    assert "link.db" in said
    assert (tmp_path / "link.db").read_bytes() == before


def test_an_event_left_without_effect_is_not_expected(shop: Shop) -> None:
    """A wager that no rule allows halts the journal; two people leave it out, and it plays on."""
    poison = shop.tables["T1"].event(Contributed(1, (Wager(1, 12_345),)))
    shop.send("T1", poison)
    shop.order(Resume(shop.tables["T1"].journal, "no such wager", poison.n, poison.hash), BOTH)
    shop.send("T1", poison)
    shop.bet("T1", 2, 1)
    report = pool_report(shop.inputs())
    assert rows(report, "jackpot")[-2] == ("contribution", "wagers", 1, 370_000)
    assert report.findings == []


def test_a_later_resume_takes_back_what_was_left_without_effect(shop: Shop) -> None:
    """Halted and resumed again before the event came: only the last resume counts."""
    table = shop.tables["T1"]
    shop.bet("T1", 1, 1)
    event = table.event(Contributed(2, (Wager(1, 100, 1),)))
    poison = replace(event, hash="ab" * 32, body=Contributed(2, (Wager(1, 12_345),)))
    shop.send("T1", poison)
    shop.order(Resume(table.journal, "leave it out", event.n, event.hash), BOTH)
    shop.send("T1", poison)
    shop.order(Resume(table.journal, "it was right after all"), BOTH)
    shop.send("T1", event)
    shop.claim("T1", 2, (1, "straight flush"))
    report = pool_report(shop.inputs())
    assert rows(report, "jackpot")[-2] == ("contribution", "wagers", 2, 740_000)
    assert report.findings == []
    shop.check()
