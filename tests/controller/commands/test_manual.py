"""Man pages, completion and help: printed from the parsers, and read by the real tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pexpect
import pytest

from controller.cli import COMMANDS
from docs.manual import Part, completion, manual, parts
from tests.conformance.clauses import ROOT
from tests.patience import PATIENCE_S

TALK = ("table", "sim", "demo", "web")
"""They run until they are stopped; what they print is for people."""
EVERY: list[Part] = [part for command in COMMANDS for part in parts(command)]


def name(part: Part) -> str:
    return " ".join(part.words)


def answers(part: Part) -> bool:
    return part.words[0] not in TALK and part.words != ("link",)


@pytest.mark.parametrize("part", [p for p in EVERY if answers(p)], ids=name)
def test_every_command_answers_machines_too(part: Part) -> None:
    assert "--json" in {text for action in part.options for text in action.option_strings}


@pytest.mark.parametrize("part", EVERY, ids=name)
def test_every_help_has_a_sentence_an_example_and_a_word_for_each_argument(part: Part) -> None:
    told = part.parser.format_help()
    assert told.startswith("usage: underfelt ")
    assert part.parser.description
    assert "example" in told
    assert [a.dest for a in part.options if not a.help] == []
    # Lines of examples are to be copied whole.
    assert [line for line in told.splitlines() if len(line) > 96 and "underfelt" not in line] == []


def groff() -> str:
    found = shutil.which("groff")
    assert found is not None, "groff is missing; run: apt-get install -y groff-base"
    return found


@pytest.mark.parametrize("file", sorted(manual()))
def test_a_man_page_is_set_without_a_complaint(file: str) -> None:
    page = manual()[file]
    ran = subprocess.run(
        [groff(), "-man", "-Tutf8", "-ww", "-P-cbou"], input=page, text=True, capture_output=True,
        check=True,
    )  # fmt: skip
    assert ran.stderr == ""
    assert "NAME" in ran.stdout
    assert file.removesuffix(".1") in ran.stdout


def completed(*words: str) -> list[str]:
    """What a real bash offers for the last of these words."""
    script = (
        f'source {Path(ROOT) / "docs/completion/underfelt.bash"}; COMP_WORDS=("$@");'
        ' COMP_CWORD=$(($# - 1)); _underfelt; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    ran = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", *words], text=True, capture_output=True, check=True
    )
    assert ran.stderr == ""
    return [line for line in ran.stdout.splitlines() if line]


def test_the_completion_that_is_installed_is_the_one_printed() -> None:
    assert (Path(ROOT) / "docs/completion/underfelt.bash").read_text("utf-8") == completion()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("underfelt", "jac"), ["jackpot"]),
        (("underfelt", "jackpot", "app"), ["approve"]),
        (("underfelt", "journal", "ver"), ["verify"]),
        (("underfelt", "link", "retire", "--w"), ["--why"]),
        (("underfelt", "doctor", "--j"), ["--json"]),
        (("underfelt", "config", "init", "--game", "R"), ["RICO"]),
        (("underfelt", "nothing", "x"), []),
        (("underfelt", "par", ""), ["MBS3", "PP6", "NSW", "MEGA", "RICO"]),
        (("underfelt", "draws", "veri"), ["verify"]),
        (("underfelt", "sim", "l"), ["look", "list"]),
        (("underfelt", "accounts", "add", "x", "--role", "s"), ["supervisor"]),
        (("underfelt", "keys", "enrol", "--role", "si"), ["sign"]),
        (("underfelt", "link", "accept", "8b0d", "--by", ""), []),
        (("underfelt", "link", "--c"), ["--config"]),
        (("underfelt", "doctor", ""), ["--config", "--json", "--help"]),
    ],
)
def test_a_real_bash_completes_commands_verbs_options_and_choices(
    words: tuple[str, ...], offered: list[str]
) -> None:
    assert completed(*words) == offered


def test_files_are_completed_where_a_file_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert completed("underfelt", "status", "--config", "ta") == ["table.toml"]
    assert completed("underfelt", "journal", "verify", "ta") == ["table.toml"]
    assert completed("underfelt", "settle", "ta") == ["table.toml"]
    assert completed("underfelt", "report", "day", "--from", "ta") == []
    (tmp_path / "a b.json").touch()
    assert completed("underfelt", "settle", "a") == ["a b.json"]


def test_a_command_is_no_folder_of_the_same_name(tmp_path: Path) -> None:
    """A real bash at a terminal, beside a folder that is called like a command."""
    (tmp_path / "link").mkdir()
    shell = pexpect.spawn(
        "bash", ["--norc", "--noprofile", "-i"], cwd=str(tmp_path), encoding="utf-8",
        timeout=PATIENCE_S,
        env={"PATH": os.environ["PATH"], "TERM": "dumb", "PS1": "", "INPUTRC": "/dev/null"},
    )  # fmt: skip
    try:
        shell.sendline(f"source {Path(ROOT) / 'docs/completion/underfelt.bash'}; echo rea''dy")
        shell.expect("ready")
        shell.send("underfelt lin\tX")
        shell.expect("underfelt link(.)X")
        assert shell.match.group(1) == " "
    finally:
        shell.close(force=True)
