"""``underfelt journal day``: what it prints, that it recomputes, what it says if it cannot."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from controller.commands.journal import run
from controller.history.entries import dump
from controller.history.gamingday import fold, report
from controller.history.gamingday.sheet import Money, Wagers
from record.journal import Journal, Record
from tests.clauses.tables import table
from tests.controller.history.desk import Desk, OnDisk, desk, opening_of, play_rounds
from tests.controller.history.gamingday.test_day_fold import JACKPOT, Book
from tests.controller.history.test_history_day import close
from tests.controller.table.test_table_any_round import WAGERS

OPENED = {"game": "MEGA", "configuration": "ab" * 32, "program": "cd" * 32, "rule_book": "ef" * 32}


def written(folder: Path, game: str = "MEGA", rounds: int = 3) -> tuple[Desk, Journal]:
    """Some random rounds, a close, one round more."""
    journal = Journal.open(folder, table="table-7", now_ms=1, segment_bytes=1 << 16)
    croupier = table(game)
    rng = random.Random(f"{game} report")
    made = desk(croupier, opening_of(game), WAGERS[game], paper=OnDisk(journal=journal))
    made.table_log.append("opened", dump({**OPENED, "repaired_bytes": 0, "utc_offset_min": 480}))
    play_rounds(made, rng, list(croupier.deck), rounds)
    close(made)
    made.hand.table.as_supervisor("83")
    play_rounds(made, rng, list(croupier.deck), 1)
    journal.sync()
    return made, journal


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("day") / "journal"
    written(path)[1].close()
    return path


def test_it_is_recomputed_and_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["day", str(folder)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "GAMING DAY 1   2026-03-10" + "table table-7, MEGA".rjust(53)
    assert said[-1] == "Recomputed from these records: the same, to the cent."
    assert max(map(len, said)) <= 80
    assert run(["day", str(folder), "1", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["ok"], row["recomputed"], row["differences"]) == (True, True, [])
    assert row["day"]["rounds"]["opened"] == 3


def test_the_day_under_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["day", str(folder), "now", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["seq"], row["day"]["number"], row["day"]["closing"]) == (None, 2, None)
    assert row["day"]["rounds"]["opened"] == 1
    assert row["day"]["total"]["staked"] > 0


@pytest.mark.parametrize("game", ["MBS3", "NSW", "PP6", "RICO"])
def test_no_line_is_wider_than_a_terminal(game: str, tmp_path: Path, capsys: Any) -> None:
    written(tmp_path / "j", game, 2)[1].close()
    assert run(["day", str(tmp_path / "j"), "last"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_record_that_is_not_what_its_records_make(tmp_path: Path, capsys: Any) -> None:
    """A day that somebody wrote by hand, with a sound chain around it."""
    made, journal = written(tmp_path / "j")
    by = {"person": "S9", "role": "casino supervisor"}
    made.table_log.append(
        "table-call", dump({"kind": "day close", "by": by, "at_ms": 1, "key": None})
    )
    body = json.loads(fold.closed(made.table_log.memory.day))
    body["total"]["house_net"] += 100
    journal.append("day", json.dumps(body).encode(), 5)
    journal.sync()
    journal.close()
    assert run(["day", str(tmp_path / "j")]) == 65
    said = capsys.readouterr().out
    found = f"  total.house_net: the record says {body['total']['house_net']}, its records make "
    assert f"{found}{body['total']['house_net'] - 100}\n" in said
    assert "(E-JRN-064)" in said
    assert run(["day", str(tmp_path / "j"), "1"]) == 0


def test_days_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "j"
    journal = Journal.open(folder, table="T", now_ms=1)
    journal.append("opened", b"{}", 1)
    journal.sync()
    assert run(["day", str(folder)]) == 66
    assert "none is closed; now shows today (E-JRN-062)" in capsys.readouterr().err
    journal.append("day", b'{"v":9}', 1)
    journal.sync()
    journal.close()
    assert run(["day", str(folder), "3", "--json"]) == 65
    told = capsys.readouterr()
    assert json.loads(told.out)["problems"][0]["code"] == "E-JRN-063"
    with pytest.raises(SystemExit):
        run(["day", str(folder), "yesterday"])


def test_records_past_their_retention_are_said_to_be(tmp_path: Path, capsys: Any) -> None:
    """The first days' records are gone: the second day has nothing to begin from."""
    folder, month = tmp_path / "j", 31 * 86_400_000
    book = Book()
    journal = Journal.open(folder, table="T", now_ms=1, segment_bytes=1 << 14, retention_days=30)

    def write(kind: str, body: bytes, at_ms: int) -> None:
        at = journal.append(kind, body, at_ms)
        journal.sync()
        book.day = fold.take(book.day, Record(at.seq, kind, body, at_ms, at.hash))

    by = {"person": "S9", "role": "casino supervisor"}
    for number in range(1, 5):
        for _ in range(8):
            write("alarm", b'{"code":"x","pad":"%s"}' % (b"x" * 3000), number * month)
        write("table-call", dump({"kind": "day close", "by": by}), number * month)
        write("day", fold.closed(book.day), number * month)
    first = next(iter(journal.records())).seq
    journal.close()
    assert first > 1
    outcomes = {}
    for number in range(1, 5):
        code = run(["day", str(folder), str(number)])
        outcomes[number] = (code, capsys.readouterr().out.strip().splitlines()[-1:])
    past = ["Not recomputed: its records are past their retention."]
    assert outcomes[4] == (0, ["Recomputed from these records: the same, to the cent."])
    assert (0, past) in outcomes.values()
    assert outcomes[1] == (66, [])


# --- the page ----------------------------------------------------------------------------------

PAGE = """\
GAMING DAY 1   2026-03-10                                  table table-7, MBS3
------------------------------------------------------------------------------
From        2026-03-10 20:00:00   first bets 2026-03-10 20:00:00
Closed      2026-03-10 20:00:00   by S9, casino supervisor

Rounds           1   settled 1   void 0   ruled by hand 0   called off 0
Hands            2   void 0                                     numbers 1 to 1

                           staked       returned           paid          house
1 (2)                       35.00          35.00          10.00         -10.00
2 (2)                       35.00          35.00       5,010.00      -5,010.00
$ (2)                       35.00          35.00       5,010.00      -5,010.00
Progressive (2)              2.00           1.00      12,345.67     -12,344.67
------------------------------------------------------------------------------
All wagers                 107.00         106.00      22,375.67     -22,374.67
  envy (1)                                                             -300.00
NET TO THE HOUSE                                                    -22,674.67

Progressive
  posted (2)                                                              2.00
  reversed (0)                                                            0.00
  paid for straight flush (1)                                        12,345.67
  of that from the jackpot (1)                                       12,345.67
  claim round 1       seat 2  straight flush, 10% of the jackpot: 12,345.67

Balance: the parts of every round make its total
Mis-pays put right: none

Irregularities      none
Supervisor rulings  none
Decks               none
Device faults       none
Alarms              none

Dealers             from                 to                     turns   rounds
  D7                2026-03-10 20:00:00  2026-03-10 20:00:00        1        1
Declared by         S9 1

Starts        1
Configuration abab
Records       1 to 4
Head          """


def test_the_page_of_a_literal_day() -> None:
    book = Book()
    book.write("opened", {"game": "MBS3", "configuration": "abab", "utc_offset_min": 480})
    book.fact("bets opened")
    book.round(1, JACKPOT)
    day = fold.read(json.dumps(book.close()).encode())
    assert report.page(day, "table-7") == PAGE + (4).to_bytes(32).hex()


def test_what_people_typed_steers_no_terminal_and_no_spreadsheet() -> None:
    book = Book()
    book.round(1, JACKPOT)
    book.round(1, JACKPOT, corrections=[[5, -100, "=1+1\x1b[2J"]])
    page = report.page(book.day, "t")
    assert "\x1b" not in page
    rows = dict(csv.reader(io.StringIO(report.as_csv(book.day))))
    assert rows["corrections.cases.rows[1][3]"] == "-100"
    assert rows["corrections.cases.rows[1][4]"] == "'=1+1\x1b[2J"
    assert rows["wagers.progressive.staked"] == "200"


def test_a_long_day_stays_on_the_page() -> None:
    book = Book()
    day = book.day
    day.wagers["$"] = Wagers(99_999, 123_456_789_00, 1, 1, 123_456_789_00 - 2, 0)
    day.awards["lucky player"] = Money(12_345, 1_234_567_89)
    for number in range(30):
        day.voids.add(number, "hand_dealt_no_wager, shuffler_malfunction", "NSW-12.1, NSW-13.2")
        day.rulings[f"supervisor ruled: {number}"] = 1_000_000
    lines = report.page(day, "a-table-with-a-name-that-is-very-long-for-a-table").split("\n")
    assert max(map(len, lines)) <= 80
    assert "  ... and 18 more" in lines
