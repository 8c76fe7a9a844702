"""``underfelt journal``: what it prints, what it refuses, with which exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.commands import journal as command
from record.journal import Journal
from tests.record.journal.making import open_at, segments, snapshot

NOON = 1_762_000_000_000
ROUND = b'{"round":%d,"record":{"game":"MBS3","n":1.50},"result":{"paid":%d}}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    journal = open_at(tmp_path, NOON)
    journal.append("opened", b'{"program":"0.1.0"}', NOON)
    journal.append("fact", b'{"card":{"commit":"00","box":"ff"}}', NOON + 1)
    journal.append("round", ROUND % (7, 100), NOON + 2)
    journal.append("round", ROUND % (8, 200), NOON + 3)
    journal.append("round", ROUND % (7, 150), NOON + 86_400_000)
    journal.append("device", b"\x1b[2J\xff", NOON + 86_400_001)
    journal.sync()
    journal.close()
    return tmp_path


def asked(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = command.run(list(argv))
    out, err = capsys.readouterr()
    return code, out, err


def test_verify(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = snapshot(folder)
    code, out, err = asked(capsys, "verify", str(folder))
    assert (code, err) == (0, "")
    assert "of table T-1" in out
    assert "records 6 (1 to 6), segments 1" in out
    code, out, _ = asked(capsys, "verify", str(folder), "--json")
    row = json.loads(out)
    assert (code, row["ok"], row["records"], row["segments"]) == (0, True, 6, 1)
    assert list(row) == [
        "ok",
        "journal_id",
        "table",
        "records",
        "first_seq",
        "last_seq",
        "segments",
        "bytes",
        "head",
        "repairs",
        "torn_bytes",
        "sealed",
        "opened",
        "witnessed",
    ]
    assert asked(capsys, "verify", str(folder), "--expect", f"6:{row['head']}")[0] == 0
    code, _, err = asked(capsys, "verify", str(folder), "--expect", f"5:{row['head']}")
    assert code == 65
    assert "E-JRN-053" in err
    assert snapshot(folder) == before


def test_verify_while_the_table_has_it_open(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal: Journal = open_at(folder)
    assert asked(capsys, "verify", str(folder))[0] == 0
    journal.close()


def test_verify_finds_a_flipped_bit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (segment,) = segments(folder)
    data = bytearray(segment.read_bytes())
    data[600] ^= 4
    segment.write_bytes(data)
    code, out, err = asked(capsys, "verify", str(folder), "--json")
    assert code == 65
    assert json.loads(out)["problems"][0]["code"] == "E-JRN-004"
    assert "byte 512" in err


def test_verify_says_that_a_tail_is_torn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (segment,) = segments(folder)
    data = segment.read_bytes()
    segment.write_bytes(data.rstrip(b"\0")[:-9].ljust(len(data), b"\0"))
    code, out, _ = asked(capsys, "verify", str(folder))
    assert code == 0
    assert "records 5" in out
    assert "bytes of a torn write at the end" in out


def test_tail(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, "tail", str(folder), "-n", "2")
    assert code == 0
    assert out.splitlines() == [
        "       5  2025-11-02T12:26:40.000Z  round          " + (ROUND % (7, 150)).decode(),
        "       6  2025-11-02T12:26:40.001Z  device         \\x1b[2J\\xff",
    ]
    assert len(asked(capsys, "tail", str(folder))[1].splitlines()) == 6
    assert asked(capsys, "tail", str(folder), "-n", "0")[1] == ""
    rows = [
        json.loads(line)
        for line in asked(capsys, "tail", str(folder), "--json")[1].split("\n")
        if line
    ]
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows[1]["body"] == {"card": {"commit": "00", "box": "ff"}}
    assert rows[5]["body_base64"] == "G1sySv8="


def test_tail_follows(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = open_at(folder)

    def happenings() -> Iterator[None]:
        for number in range(20):
            journal.append("fact", b'{"n":%d,"x":"%s"}' % (number, b"x" * 300), NOON)
            journal.sync()
            yield
        raise KeyboardInterrupt

    story = happenings()
    monkeypatch.setattr(command, "pause", lambda _: next(story))
    code, out, _ = asked(capsys, "tail", str(folder), "-n", "1", "--follow")
    assert code == 0
    assert [int(line.split()[0]) for line in out.splitlines()] == list(range(6, 27))
    assert len(segments(folder)) > 1


def export(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    code, out, _ = asked(capsys, "export-round", *argv)
    assert code == 0
    return json.loads(out)


def test_export_round(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = export(capsys, str(folder), "7")
    assert (row["round_no"], row["seq"], row["result"]) == (7, 5, {"paid": 150})
    assert export(capsys, str(folder), "8", "--record") == {"game": "MBS3", "n": 1.5}
    assert export(capsys, str(folder), "8", "--result") == {"paid": 200}
    code, _, err = asked(capsys, "export-round", str(folder), "9")
    assert code == 66
    assert "no round 9 in this journal; it has 7 to 8 (E-JRN-060)" in err


def test_export_gives_the_bytes_as_they_are(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1.50 stays 1.50: evidence is not rewritten by a reader."""
    assert "1.50" in asked(capsys, "export-round", str(folder), "8", "--record")[1]


def test_rounds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Newest first, each as it was last recorded."""
    rows = json.loads(asked(capsys, "rounds", str(folder), "--json")[1])["rounds"]
    assert rows == [
        {"round": 8, "at_ms": NOON + 3, "seq": 4, "recorded": 1},
        {"round": 7, "at_ms": NOON + 86_400_000, "seq": 5, "recorded": 2},
    ]
    one = json.loads(asked(capsys, "rounds", str(folder), "-n", "1", "--json")[1])["rounds"]
    assert one == rows[:1]
    assert asked(capsys, "rounds", str(folder), "-n", "1")[1].split()[0] == "8"


def test_stats(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = json.loads(asked(capsys, "stats", str(folder), "--json")[1])
    assert row["by_kind"]["round"]["records"] == 3
    assert row["per_day"] == {"2025-11-01": 4, "2025-11-02": 2}
    assert (row["oldest_ms"], row["newest_ms"]) == (NOON, NOON + 86_400_001)
    code, out, _ = asked(capsys, "stats", str(folder))
    assert code == 0
    assert "2025-11-02" in out


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("verify", "tail", "stats"):
        assert asked(capsys, verb, str(tmp_path / "none"))[0] == 66
    assert asked(capsys, "mend", str(tmp_path))[0] == 64
    assert asked(capsys)[0] == 64
    assert asked(capsys, "--help")[0] == 0
    for wrong in (["tail"], ["tail", "x", "-n", "-1"], ["verify", "x", "--expect", "1:2"]):
        with pytest.raises(SystemExit) as left:
            command.run(wrong)
        assert left.value.code == 64
    capsys.readouterr()


def test_a_damaged_round_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = open_at(tmp_path)
    journal.append("round", b'{"round":1}', 1)
    journal.sync()
    journal.close()
    code, _, err = asked(capsys, "export-round", str(tmp_path), "1")
    assert code == 65
    assert "E-JRN-061" in err
