"""With ``--json`` every command tells its failures as JSON, whatever the failure and the command.

The commands and their arguments are found from the command table: a new command is tested here
without a word.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from controller.cli import COMMANDS, main
from controller.failures import problems, wanted
from docs.manual import Part, parts

PARTS = [part for command in COMMANDS for part in parts(command)]
NAMES = [" ".join(part.words) for part in PARTS]


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    """Exit code, and standard output as JSON."""
    code = main([*words])
    out = capsys.readouterr().out
    return code, json.loads(out)


def failure(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code, answer = told(capsys, *words)
    assert code != 0
    assert answer["ok"] is False
    assert answer["problems"]
    assert all(isinstance(row["text"], str) and row["text"] for row in answer["problems"])
    assert all("code" in row for row in answer["problems"])
    found: dict[str, Any] = answer
    return found


@pytest.fixture(autouse=True)
def _nothing_to_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No terminal, no password, and nothing of this folder is found by chance."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("part", PARTS, ids=NAMES)
def test_a_wrong_use(part: Part, capsys: pytest.CaptureFixture[str]) -> None:
    found = failure(capsys, *part.words, "--json", "--no-such-option")
    assert found["exit"] == 64


def filled(part: Part, missing: Path) -> list[str]:
    """Every argument that is needed; whatever may be a file is one that is not there."""
    words = []
    for action in part.positionals:
        if action.nargs not in ("?", "*"):
            words.append(_value(action, missing))
    for action in part.options:
        if action.required or "--config" in action.option_strings:
            words += [action.option_strings[-1], _value(action, missing)]
    return words


def _value(action: argparse.Action, missing: Path) -> str:
    if action.choices:
        return str(next(iter(action.choices)))
    return "1" if action.type is int else str(missing)


NO_FAILURE = {"sim", "doctor", "bundle", "config init"}
"""The doctor's answer is what it found wrong, a bundle holds what there is, a configuration can
begin anywhere, and a scenario of the simulator is no file."""
TAKES_FILES = [
    part for part in PARTS if filled(part, Path("x")) and " ".join(part.words) not in NO_FAILURE
]


@pytest.mark.parametrize("part", TAKES_FILES, ids=lambda part: " ".join(part.words))
def test_a_file_that_is_not_there(
    part: Part, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "nowhere" / "nothing"
    words = [*part.words, *filled(part, missing)]
    if not any("--json" in action.option_strings for action in part.options):
        words.append("--no-such-option")
    failure(capsys, *words, "--json")


@pytest.mark.parametrize("words", [["nosuch", "--json"], ["--json"], ["link", "nosuch", "--json"]])
def test_a_command_that_is_none(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert failure(capsys, *words)["exit"] == 64


def test_an_answer_stays_alone_on_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that answered and still fails, as one that lists problems, has said it all."""
    file = tmp_path / "table.toml"
    file.write_text("nonsense = 1\n", "utf-8")
    code, answer = told(capsys, "config", "check", str(file), "--json")
    assert code == 78
    assert answer["ok"] is False
    assert {row["code"] for row in answer["problems"]} >= {"E-CFG-001"}
    assert main(["identity", "--json"]) == 0
    json.loads(capsys.readouterr().out)


def test_without_it_nothing_is_added(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settle", "nowhere.json"]) == 66
    assert capsys.readouterr().out == ""
    assert not wanted(["settle", "--", "--json"])
    assert wanted(["settle", "x", "--js"])


def test_messages_become_problems() -> None:
    said = (
        "usage: underfelt link check [-h]\n"
        "underfelt link check: a.toml: pool x: wrong (E-POOL-033)\n"
        "underfelt link check: a.toml: and this\n"
    )
    assert problems(said) == [
        {"code": "E-POOL-033", "text": "a.toml: pool x: wrong (E-POOL-033)"},
        {"code": "", "text": "a.toml: and this"},
    ]
    assert problems("plain\n") == [{"code": "", "text": "plain"}]
