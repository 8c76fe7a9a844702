"""``config check`` finds what ``table`` would refuse: the same codes, before the night begins."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from controller.commands import config as config_command
from controller.commands import table as table_command
from controller.config.toml import toml_value
from controller.math.ricochet import rapid_fire_counts
from controller.rules import progressive_return as pr
from hw_sim.scenario import find, load
from tests.clauses.tables import SETTINGS
from tests.e2e.table import configure

TABLES = Path(__file__).parents[3] / "hw_sim" / "tables"
Capture = pytest.CaptureFixture[str]
NOTHING: Mapping[str, object] = {}
FILES = """
[chips]
register = "house.chips"
public_key = "chips.pub"
house = "SYD-1"

[staff]
register = "none"
public_key = "none"

[keys]
sealing = "credential:sealing"
"""


def codes(
    capsys: Capture, run: Callable[[list[str]], int], *arguments: object
) -> tuple[int, list[str]]:
    code = run([str(one) for one in arguments])
    return code, sorted(re.findall(r"\((E-[A-Z]+-\d+)\)", capsys.readouterr().err))


def site(
    folder: Path, game: str, changes: Mapping[str, object] = NOTHING, layout: str = ""
) -> Path:
    text = (TABLES / f"{game.lower()}.toml").read_text("utf-8")
    for line in layout.splitlines():
        assert line in text
        text = text.replace(line + "\n", "")
    (folder / "layout.toml").write_text(text, "utf-8")
    stated = {**SETTINGS[game], **changes}
    rows = "".join(f"{k} = {toml_value(v)}\n" for k, v in stated.items() if v is not None)
    file = folder / "table.toml"
    file.write_text(f'game = "{game}"\nlayout = "layout.toml"\n[settings]\n{rows}{FILES}', "utf-8")
    return file


IMPOSSIBLE: list[tuple[str, dict[str, object], str, str]] = [
    ("MEGA", {"allow_over_100_percent": None}, "E-CFG-007", "allow_over_100_percent"),
    ("NSW", {"min_wager": 1000, "max_wager": 500}, "E-CFG-004", "min_wager"),
    ("NSW", {"max_payout": 0}, "E-CFG-004", "max_payout"),
    ("RICO", {"hedge_pay": {}}, "E-CFG-004", "hedge_pay"),
    ("RICO", {"rapid_fire_pay": {"win": 6, "tie": 0}}, "E-CFG-007", "rapid_fire_pay"),
    ("RICO", {"hedge_pay": {"one pair": 1, "high card": 0}}, "E-CFG-007", "hedge_pay"),
]


@pytest.mark.parametrize("game", SETTINGS)
def test_the_settings_of_the_tests_are_sound(tmp_path: Path, capsys: Capture, game: str) -> None:
    found = codes(capsys, config_command.run, "check", "--no-files", site(tmp_path, game))
    assert found == (0, [])


@pytest.mark.parametrize("wrong", IMPOSSIBLE)
def test_settings_that_no_table_should_open_with(
    tmp_path: Path, capsys: Capture, wrong: tuple[str, dict[str, object], str, str]
) -> None:
    game, changes, code, key = wrong
    file = site(tmp_path, game, changes)
    checked = codes(capsys, config_command.run, "check", "--no-files", file)
    assert checked == (78, [code])
    assert codes(capsys, table_command.run, "--config", file) == checked
    config_command.run(["check", "--no-files", str(file)])
    assert f"settings.{key}: " in capsys.readouterr().err


def test_a_layout_without_an_antenna(tmp_path: Path, capsys: Capture) -> None:
    text = (TABLES / "nsw.toml").read_text("utf-8")
    one = next(line for line in text.splitlines() if line.endswith('= "3/2"'))
    file = site(tmp_path, "NSW", layout=one)
    assert codes(capsys, config_command.run, "check", "--no-files", file) == (78, ["E-RUN-001"])
    assert codes(capsys, table_command.run, "--config", file) == (78, ["E-RUN-001"])
    config_command.run(["check", "--no-files", str(file)])
    said = f"{tmp_path}/layout.toml: line.antennas: no antenna for seat 3, wager 2; expected one"
    assert capsys.readouterr().err.startswith(said)


def test_a_bonus_wager_that_is_not_offered_may_have_any_odds(
    tmp_path: Path, capsys: Capture
) -> None:
    changes: dict[str, object] = {"hedge": False, "hedge_pay": {"high card": 9}}
    file = site(tmp_path, "RICO", changes)
    assert codes(capsys, config_command.run, "check", "--no-files", file) == (0, [])


def test_the_gate_of_rapid_fire_stands_on_every_deal() -> None:
    lose, tie, win = rapid_fire_counts()
    assert (tie, win) == (pr.RAPID_FIRE_TIES, pr.RAPID_FIRE_WINS)
    assert lose + tie + win == pr.RAPID_FIRE_DEALS


# --- files -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("made")
    shutil.copy(TABLES / "mbs3.toml", run / "layout.toml")
    chips = "uid,value,class,series\nE004010100000001,100,cash,sim\n"
    (run / "chips.csv").write_text(chips, "utf-8")
    configure(run, "MBS3", load(find("mbs3-plain")).settings)
    return run


def test_registers_and_keys_are_opened_as_the_start_does(
    made: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_command, "keep_memory_private", lambda: None)
    run = tmp_path / "run"
    assert codes(capsys, config_command.run, "check", made / "table.toml") == (0, [])
    broken = 0
    for name in sorted(p.name for p in made.iterdir() if p.suffix in (".chips", ".pub", ".key")):
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(made, run)
        text = (run / "table.toml").read_text("utf-8").replace(str(made), str(run))
        (run / "table.toml").write_text(text, "utf-8")
        if name not in text:
            continue
        (run / name).chmod(0o600)
        (run / name).write_bytes(b"x" + (run / name).read_bytes()[1:])
        (run / name).chmod(0o400)
        exit_code, said = codes(capsys, config_command.run, "check", run / "table.toml")
        refused, told = codes(capsys, table_command.run, "--config", run / "table.toml")
        assert exit_code == refused != 0, name
        assert said == told, name
        broken += 1
    assert broken >= 3
