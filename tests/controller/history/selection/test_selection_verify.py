"""``verify_draws``: every planted lie is found, in bodies and in real journal files."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from controller.commands import draws
from controller.history.codec import Hide
from controller.history.entries import encode_entry
from controller.history.selection.selector import Selector
from controller.rules.cards import DECK, Card, HiddenCard
from controller.rules.engine import facts as f
from record import verify_draws, verify_journal
from record.journal import Journal
from tests.controller.history.selection.desk import ONE, Source, seal, unseal

SEATS = (1, 3, 5)
SCRIPT = Path(verify_draws.__file__)
HIDE: Hide = lambda _card: {"commit": "00" * 32, "box": "11" * 105}  # noqa: E731

Line = tuple[str, bytes]


def fact(what: f.What) -> Line:
    return encode_entry(f.Fact(what, f.Measured("test"), 1), None, HIDE)


def told(selector: Selector, round_no: int) -> list[Line]:
    """One round as the daemon journals it."""
    committed = selector.commit(round_no, SEATS, ONE, ONE)
    lines = [fact(f.BetsOpened()), fact(f.BetsClosed())]
    lines += [("selection", body) for body in committed.bodies]
    lines.append(fact(f.SelectionCommitted(committed.digest)))
    lines.append(fact(f.CardDrawn(HiddenCard(DECK[round_no]))))
    revealed = selector.reveal(round_no)
    lines += [("selection", body) for body in revealed.bodies]
    picks = revealed.picks
    magic = None if picks.magic_card is None else Card(picks.magic_card)
    lines.append(fact(f.SelectionRevealed(magic, picks.lucky_seat)))
    return lines


Change = Callable[[list[Line]], None]


def written(folder: Path, change: Change | None = None, **options: Any) -> Path:
    """A real journal of three rounds, after something was done to its lines."""
    journal = Journal.open(folder, table="table-1", now_ms=1, **options)
    selector = Selector(journal.journal_id, Source(), seal, unseal)
    lines = [line for round_no in (1, 2, 3) for line in told(selector, round_no)]
    if change is not None:
        change(lines)
    for kind, body in lines:
        journal.append(kind, body, 1)
        journal.sync()
    journal.close()
    return folder


def edit(index: int, **fields: object) -> Change:
    """Change fields of the ``index``-th selection body."""

    def change(lines: list[Line]) -> None:
        at = [i for i, (kind, _) in enumerate(lines) if kind == "selection"][index]
        body = {**json.loads(lines[at][1]), **fields}
        lines[at] = "selection", json.dumps(body).encode()

    return change


def codes(folder: Path) -> list[str]:
    return [problem.code for problem in verify_draws.verify(folder).problems]


def test_a_sound_journal_is_reproduced(tmp_path: Path) -> None:
    report = verify_draws.verify(written(tmp_path / "j"))
    assert (report.problems, report.notes) == ([], [])
    assert (report.committed, report.revealed, report.table) == (3, 3, "table-1")
    assert [row["round"] for row in report.draws] == [1, 2, 3]
    assert all(row["magic_card"] and row["lucky_seat"] in SEATS for row in report.draws)


def swap(first: int, second: int) -> Change:
    def change(lines: list[Line]) -> None:
        lines[first], lines[second] = lines[second], lines[first]

    return change


def without(index: int) -> Change:
    return lambda lines: lines.__delitem__(index)


# One round is seven lines: opened, closed, committed, told, card, revealed, told.
LIES: dict[str, tuple[Change, list[str]]] = {
    "another seed": (edit(1, seed="5a" * 32), ["E-DRW-002"]),
    "another salt": (edit(0, salt="5a" * 16), ["E-DRW-002"]),
    "another card": (edit(1, magic_card=None), ["E-DRW-003", "E-DRW-008"]),
    "another seat": (edit(3, lucky_seat=7), ["E-DRW-003", "E-DRW-008"]),
    "other seats": (edit(2, seats=[2, 4, 6, 7]), ["E-DRW-003"]),
    "another rate": (edit(2, lucky_rate="0"), ["E-DRW-003"]),
    "commitment removed": (without(2), ["E-DRW-009", "E-DRW-004", "E-DRW-008"]),
    "reveal removed": (without(5), ["E-DRW-008", "E-DRW-005"]),
    "committed after the card": (
        lambda lines: lines.insert(2, lines.pop(4)),
        ["E-DRW-010"],
    ),
    "round committed twice": (
        lambda lines: lines.insert(7, lines[2]),
        ["E-DRW-006", "E-DRW-005"],
    ),
    "told before committed": (swap(2, 3), ["E-DRW-009"]),
    "used another draw": (
        lambda lines: lines.__setitem__(6, fact(f.SelectionRevealed(None, None))),
        ["E-DRW-008"],
    ),
    "not JSON": (lambda lines: lines.__setitem__(9, ("selection", b"{")), ["E-DRW-001"]),
    "later version": (edit(0, v=2), ["E-DRW-001"]),
}


@pytest.mark.parametrize("lie", LIES)
def test_every_lie_is_found(lie: str, tmp_path: Path) -> None:
    change, expected = LIES[lie]
    found = codes(written(tmp_path / "j", change))
    assert set(expected) <= set(found), found


def test_an_open_round_is_no_lie(tmp_path: Path) -> None:
    report = verify_draws.verify(
        written(tmp_path / "j", lambda lines: lines.__delitem__(slice(18, 21)))
    )
    assert report.ok
    assert report.open_round == 3


def torn(folder: Path) -> Path:
    """The last record was cut off while it was written."""
    last = max(folder.glob("*.ufj"))
    data = last.read_bytes()
    used = len(data.rstrip(b"\0"))
    last.write_bytes(data[: used - 20] + bytes(len(data) - used + 20))
    return folder


def repaired(folder: Path) -> Path:
    Journal.open(torn(folder), table="table-1", now_ms=2, segment_bytes=4096).close()
    return folder


def damage(folder: Path) -> str:
    """What is said of it; empty if nothing is."""
    try:
        verify_draws.verify(folder)
    except verify_draws.Damaged as error:
        return str(error)
    return ""


KEPT: dict[str, Callable[[Path], Path]] = {
    "whole": lambda folder: folder, "torn": torn, "repaired": repaired,
}  # fmt: skip


@pytest.mark.parametrize("state", KEPT)
def test_every_flipped_bit_is_found_and_its_place_is_named(state: str, tmp_path: Path) -> None:
    """Against the verifier of the journal itself, which shares no code with this one."""
    folder = KEPT[state](written(tmp_path / "j", segment_bytes=4096))
    report = verify_draws.verify(folder)
    assert report.ok
    assert bool(report.notes) == (state == "torn")
    files, differ, refused = sorted(folder.glob("*.ufj")), 0, 0
    for file in files:
        sound = file.read_bytes()
        for offset in range(0, len(sound), 13):
            broken = bytearray(sound)
            broken[offset] ^= 1 << (offset % 8)
            file.write_bytes(broken)
            found = damage(folder)
            assert (str(folder) in found) == bool(found)
            differ += bool(found) == verify_journal.verify(folder)["ok"]
            refused += bool(found)
        file.write_bytes(sound)
    assert differ == 0
    assert refused > 300


def test_the_command_and_its_twin_refuse_a_journal_with_a_flipped_bit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the middle of the last segment: what follows must not be taken for a torn write."""
    folder = written(tmp_path / "j")
    segment = next(folder.glob("*.ufj"))
    data = bytearray(segment.read_bytes())
    place = data.index(b'"what":"committed"', data.index(b'"what":"revealed"'))
    data[place] ^= 1
    segment.write_bytes(data)
    assert draws.run(["verify", str(folder)]) == 65
    assert re.search(r"00000001\.ufj: byte \d+: record \d+ is damaged", capsys.readouterr().err)
    alone = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), str(folder)], capture_output=True, check=False
    )
    assert alone.returncode == 65
    assert b"is damaged" in alone.stderr


def test_many_segments_are_one_journal(tmp_path: Path) -> None:
    folder = written(tmp_path / "j", segment_bytes=4096)
    files = sorted(folder.glob("*.ufj"))
    assert len(files) > 1
    assert verify_draws.verify(folder).revealed == 3
    files[1].rename(folder / "00000099.ufj")
    with pytest.raises(verify_draws.Damaged, match="E-DRW-020"):
        verify_draws.verify(folder)


def test_a_journal_whose_beginning_was_retired_is_read_from_where_it_begins(tmp_path: Path) -> None:
    """Cut at every segment: what is left is sound, wherever in a round it begins."""

    def spread(lines: list[Line]) -> None:
        filler = ("device", b"x" * 2900)
        lines[:] = [each for line in lines for each in (line, filler)]

    folder = written(tmp_path / "j", spread, segment_bytes=4096)
    files = sorted(folder.glob("*.ufj"))
    assert len(files) > 15
    seen = []
    for file in files[:-1]:
        file.unlink()
        report = verify_draws.verify(folder)
        assert report.ok, report.problems
        seen.append(report.revealed)
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] < 3


def test_the_command_says_it_in_words_and_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(written(tmp_path / "j"))
    assert draws.run(["verify", folder]) == 0
    assert "every revealed draw follows from its commitment" in capsys.readouterr().out
    assert draws.run(["verify", folder, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert sorted(answer) == [
        "committed", "draws", "journal_id", "lost", "notes", "ok", "open_round", "problems",
        "revealed", "table", "withdrawn",
    ]  # fmt: skip
    assert answer["ok"] is True


def test_the_command_refuses_with_the_right_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lying = str(written(tmp_path / "lie", edit(1, seed="5a" * 32)))
    assert draws.run(["verify", lying]) == 65
    assert "round 1, record 6: the seed is not the one committed to (E-DRW-002)" in (
        capsys.readouterr().out
    )
    assert main(["draws", "verify", str(tmp_path / "none"), "--json"]) == 66
    out, err = capsys.readouterr()
    assert json.loads(out)["problems"][0]["code"] == "E-DRW-021"
    assert "No such file" in err
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "00000001.ufj").write_bytes(b"x" * 600)
    assert draws.run(["verify", str(damaged)]) == 65
    with pytest.raises(SystemExit) as stopped:
        draws.run(["redraw", lying])
    assert stopped.value.code == 64


def test_the_single_file_runs_alone(tmp_path: Path) -> None:
    """Copied away from everything, with no site packages: only the standard library is there."""
    alone = tmp_path / "alone"
    alone.mkdir()
    script = alone / SCRIPT.name
    script.write_bytes(SCRIPT.read_bytes())
    folder = written(tmp_path / "j")

    def run(*arguments: str) -> int:
        call = [sys.executable, "-I", "-S", str(script), *arguments]
        return subprocess.run(call, capture_output=True, check=False, cwd=alone).returncode

    assert run(str(folder)) == 0
    assert run(str(folder), "--json") == 0
    assert run(str(tmp_path / "none")) == 66
    assert run() == 64
    assert run("--other", str(folder)) == 64
    assert run(str(written(tmp_path / "lie", edit(1, seed="5a" * 32)))) == 65


def test_it_imports_the_standard_library_alone() -> None:
    names = set()
    for node in ast.walk(ast.parse(SCRIPT.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    assert names <= sys.stdlib_module_names
