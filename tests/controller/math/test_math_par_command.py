"""``underfelt par``: exit codes, both outputs, and the plot file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from controller.cli import main
from controller.commands.par import run

MEGA = 'game = "MEGA"\n[settings]\nseats = 7\njackpot_reset = 1000000\n'


def test_the_sheet_of_a_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["par", "NSW"]) == 0
    out, err = capsys.readouterr()
    assert "37963/1082900" in out
    assert err == ""


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["NSW", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["wagers"]["main"]["figures"]["house_edge"] == "37963/1082900"
    assert told["warnings"] == []


def test_a_configuration_changes_the_sheet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "table.toml"
    file.write_text(MEGA + 'lucky_rate = "1/500"\n')
    assert run(["MEGA", "--config", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["settings"]["lucky_rate"] == "1/500"
    assert err == ""


def test_a_warning_of_the_json_form_goes_to_stderr_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "table.toml"
    file.write_text(MEGA)
    assert run(["MEGA", "--config", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    assert "WARNING: the progressive wager returns up to 687.24 %" in err
    assert len(json.loads(out)["warnings"]) == 1


@pytest.mark.parametrize("argv", [[], ["BINGO"], ["MEGA", "--colour"], ["NSW", "RICO"]])
def test_usage_errors_exit_64(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run(argv)
    assert stop.value.code == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert "usage: underfelt par" in err


def test_an_unreadable_file_exits_66(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "missing.toml"
    assert main(["par", "MEGA", "--config", str(missing)]) == 66
    assert str(missing) in capsys.readouterr().err
    assert main(["par", "MEGA", "--config", str(tmp_path)]) == 66


def test_a_bad_configuration_exits_78(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "table.toml"
    file.write_text('game = "MEGA"\n[settings]\nlucky_pool = "dealer"\nlucky_rat = "1/2"\n')
    assert run(["MEGA", "--config", str(file)]) == 78
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert f"{file}: settings.lucky_pool" in first
    assert '"dealer": expected one of "progressive_seats", "all_seats"' in first
    assert "lucky_rat" in second
    assert "did you mean lucky_rate?" in second


def test_the_file_of_another_game_exits_78(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "table.toml"
    file.write_text(MEGA)
    assert run(["RICO", "--config", str(file)]) == 78
    assert f'{file}: game: "MEGA": expected "RICO"' in capsys.readouterr().err


def test_the_plot_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plot.svg"
    assert run(["MBS3", "--svg", str(file)]) == 0
    assert ElementTree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert capsys.readouterr().out.startswith("Let It Ride (MBS): par sheet of MBS3")


def test_a_plot_that_cannot_be_written_exits_73(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nowhere" / "plot.svg"
    assert run(["RICO", "--svg", str(file)]) == 73
    assert str(file) in capsys.readouterr().err


def test_without_numpy_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert run(["RICO"]) == 69
    assert "underfelt[math]" in capsys.readouterr().err
