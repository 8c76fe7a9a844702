"""The command itself: help, version, unknown commands, and the demo."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from controller.cli import COMMANDS, main

COMMAND = [sys.executable, "-m", "controller.cli"]
GAMES = ("MBS3", "PP6", "NSW", "MEGA", "RICO")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)


def test_help_lists_every_command_with_an_example() -> None:
    done = run("--help")
    assert done.returncode == 0
    for name in ("settle", "check-wagers", "par", "demo"):
        assert f"  {name}" in done.stdout
    assert "examples:" in done.stdout


def test_no_command_is_a_usage_error() -> None:
    assert run().returncode == 64


def test_an_unknown_command_is_a_usage_error_that_names_the_known_ones() -> None:
    done = run("xyzzy")
    assert done.returncode == 64
    assert "'xyzzy'" in done.stderr
    assert "commands: settle, " in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_slip_in_a_command_s_name_is_understood(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command[:2] + command[3:]]) == 64
    assert f"did you mean {command}?" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["status", "identity", "retire", "table"])
def test_a_file_that_cannot_be_used_is_named_and_no_output_is_blamed(
    command: str, tmp_path: Path
) -> None:
    done = run(command, "--config", str(tmp_path))
    assert done.returncode == 66
    code = " (E-CFG-011)" if command == "table" else ""
    assert done.stderr == f"underfelt {command}: {tmp_path}: Is a directory{code}\n"


def test_a_file_that_somebody_may_not_read_is_a_matter_of_rights(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(path: str, *_more: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("controller.commands.status.load_live", load)
    monkeypatch.setattr("controller.commands.table.load_live", load)
    monkeypatch.setattr("controller.commands.table.keep_memory_private", lambda: None)
    assert main(["status", "--config", "t.toml"]) == 77
    assert capsys.readouterr().err == "underfelt status: t.toml: Permission denied\n"
    assert main(["table", "--config", "t.toml"]) == 77
    assert "underfelt doctor" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--meter", "-5"), "--meter -5: expected whole cents, 0 to 10000000000000"),
        (("--meter", "99999999999999"), "--meter 99999999999999: expected whole cents"),
        (("--selection", "Qs/42"), "--selection 'Qs/42': expected a card and a seat from 1 to 7"),
        (("--selection", "Qs/x"), "--selection 'Qs/x': expected a card and a seat"),
        (("--selection", "Zz/4"), "--selection 'Zz/4': expected a card and a seat"),
    ],
)
def test_what_a_simulated_table_is_told_must_be_possible(
    wrong: tuple[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["table", "--config", "t.toml", "=".join(wrong)])
    assert left.value.code == 64
    assert said in capsys.readouterr().err


def test_version_is_that_of_the_package() -> None:
    from record import __version__

    assert run("--version").stdout == f"underfelt {__version__}\n"


def test_help_imports_no_command() -> None:
    """Cheap help: neither numpy nor msgspec nor a rule book is loaded for it."""
    code = (
        "import sys; from controller.cli import COMMANDS, main; main(['--help']);"
        "loaded = {m.split('.')[0] for m in sys.modules};"
        "assert not loaded & {'numpy', 'msgspec', 'argparse'}, loaded;"
        "assert 'controller.rules' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("game", GAMES)
def test_the_demo_plays_a_round_whose_record_pays_the_same(game: str) -> None:
    done = run("demo", "--game", game)
    assert done.returncode == 0, done.stderr
    assert "No more bets: the closing call" in done.stdout
    assert "settled: " in done.stdout
    assert done.stdout.endswith("Settling the exported record gives the same amounts.\n")


def test_the_demo_tells_the_straight_flush_to_the_cent() -> None:
    """10 % of 123,456.78 is 12,345.67; the stake of 1.00 comes back; envy is 300.00."""
    told = run("demo", "--game", "MBS3").stdout
    assert "the progressive: win at 10% of the jackpot, to player 12,346.67" in told
    assert "seat 5: envy 300.00" in told


def test_the_demo_plays_all_five_games_in_80_columns() -> None:
    done = run("demo", "--seed", "12")
    assert done.returncode == 0
    for game in GAMES:
        assert f"\n{game}  " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
