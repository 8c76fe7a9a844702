"""``underfelt config``: check, show, diff, init, with their exits and their JSON."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from controller.commands import config as command
from controller.config.keys import load_key
from controller.config.live import load_live
from controller.config.toml import toml_value
from controller.rules.engine.opening import open_table
from controller.rules.settings import ALL
from tests.controller.config.conftest import LINK, Folder

Capture = pytest.CaptureFixture[str]
TABLES = Path(__file__).parents[3] / "hw_sim" / "tables"


def run(capsys: Capture, *arguments: object) -> tuple[int, str, str]:
    try:
        code = command.run([str(one) for one in arguments])
    except SystemExit as left:
        code = int(str(left.code))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_check(folder: Folder, capsys: Capture) -> None:
    code, out, err = run(capsys, "check", folder.site, "--json")
    assert code == 66
    assert [p["key"] for p in json.loads(out)["problems"]] == [
        "chips.register", "staff.register", "chips.register", "staff.register",
    ]  # fmt: skip
    assert err.count("E-CFG-013") == 2
    for name in ("house.chips", "chips.pub", "house.staff", "staff.pub"):
        assert name in err
        folder.write("", name)
    code, out, _ = run(capsys, "check", folder.site, "--json")
    row = json.loads(out)
    assert (code, row["ok"]) == (78, False)
    assert {p["key"] for p in row["problems"]} == {"chips.register", "staff.register"}
    code, out, _ = run(capsys, "check", "--no-files", folder.site, "--json")
    row = json.loads(out)
    assert (code, row["ok"], row["table"]) == (0, True, "pit-3")
    assert row["hash"] == folder.load().effective_hash


def test_check_without_files_for_a_machine_that_has_none(folder: Folder, capsys: Capture) -> None:
    assert run(capsys, "check", "--no-files", folder.site)[0] == 0


def test_show(folder: Folder, capsys: Capture) -> None:
    folder.write("[policy]\nsettle_ms = 250\n", "conf.d/10.toml")
    code, out, _ = run(capsys, "show", folder.site)
    assert code == 0
    shown = tomllib.loads(out)
    assert shown["policy"] == {"settle_ms": 250}
    assert "journal" not in shown
    code, out, _ = run(capsys, "show", "--effective", "--origin", folder.site)
    assert tomllib.loads(out)["journal"]["segment_mib"] == 4
    assert f"settle_ms = 250  # {folder.path}/conf.d/10.toml:policy.settle_ms\n" in out
    assert "segment_mib = 4  # built-in\n" in out
    code, out, _ = run(capsys, "show", "--effective", "--json", folder.site)
    rows = {row["key"]: row for row in json.loads(out)["values"]}
    assert rows["policy.late_grace_ms"] == {
        "key": "policy.late_grace_ms", "value": 0, "origin": "built-in", "default": True,
    }  # fmt: skip


def test_what_show_prints_is_the_same_configuration(folder: Folder, capsys: Capture) -> None:
    folder.write(LINK, "conf.d/10.toml")
    _, out, _ = run(capsys, "show", "--effective", folder.site)
    before = folder.load().effective_hash
    (folder.path / "conf.d" / "10.toml").unlink()
    folder.write(out)
    assert folder.load().effective_hash == before


def test_diff(folder: Folder, capsys: Capture) -> None:
    text = folder.site.read_text().replace('selector = "table"', 'selector = "table"\nseats = 6')
    new = folder.write(text.replace("seats = 7\n", "", 1), "new.toml")
    code, out, _ = run(capsys, "diff", folder.site, new)
    assert code == 0
    assert f"settings.seats: 7 -> 6  (at a restart; {new}:settings.seats)\n" in out
    assert out.endswith("all of it takes effect at a restart\n")
    code, out, _ = run(capsys, "diff", folder.site, new, "--json")
    row = json.loads(out)
    assert (row["same"], row["needs"], len(row["changes"])) == (False, "restart", 1)
    assert "no change" in run(capsys, "diff", new, new)[1]


@pytest.mark.parametrize("game", ALL)
def test_init_is_complete_once_the_marked_ones_are_filled(
    folder: Folder, game: str, capsys: Capture
) -> None:
    """Fill in as a person would: below every mark, take away the '#' and give a value."""
    new = folder.path / "new.toml"
    folder.write((TABLES / f"{game.lower()}.toml").read_text("utf-8"), "layout.toml")
    code, _, _ = run(capsys, "init", "--game", game.lower(), "--output", new)
    assert code == 0
    # Every round with both draws would return more than 100 %: nobody has to mark that.
    new.write_text(re.sub(r'#(\w+_rate) = "1/1"', r'\1 = "1/20"', new.read_text("utf-8")))
    values: dict[str, Any] = {
        "orphan_pot": "house", "ante": 500, "seats": 7, "deal_pattern": "passes",
        "selector": "table", "meter_rule": "snapshot", "progressive_stake_returned": False,
        "irregularity_profile": "MBS",
    }  # fmt: skip
    marked, lines = False, []
    for line in new.read_text().splitlines():
        marked |= line.startswith("# REQUIRED: ")
        option = re.fullmatch(r"#([a-z_]+) =( .*)?", line)
        if marked and option:
            value = option[2] or f" {toml_value(values[option[1]])}"
            line, marked = f"{option[1]} ={value}", False
        lines.append(line)
    refused = run(capsys, "check", "--no-files", new)
    new.write_text("\n".join(lines))
    done = run(capsys, "check", "--no-files", new)
    assert (refused[0], done[0]) == (78, 0), done[2]


@pytest.mark.parametrize("game", ALL)
def test_every_default_that_init_shows_is_a_value_that_passes(
    folder: Folder, game: str, capsys: Capture
) -> None:
    """All '#' taken away where a value stands: nothing is unknown, nothing wrong."""
    _, out, _ = run(capsys, "init", "--game", game)
    text = re.sub(r"(?m)^#((?:[a-z_]+ = |\[).*)$", r"\1", out)
    assert "[link]\n" in text
    new = folder.write(text, "new.toml")
    _, out, _ = run(capsys, "check", "--no-files", "--json", new)
    problems = json.loads(out).get("problems", [])
    assert {problem["code"] for problem in problems} <= {"E-CFG-003"}, problems


@pytest.mark.parametrize("table", sorted(path.stem for path in TABLES.glob("*.toml")))
def test_init_for_a_simulator_passes_at_once(tmp_path: Path, table: str, capsys: Capture) -> None:
    game = "MBS3" if table == "full" else table.split("-", maxsplit=1)[0].upper()
    (tmp_path / "layout.toml").write_bytes((TABLES / f"{table}.toml").read_bytes())
    new = tmp_path / "table.toml"
    assert run(capsys, "init", "--game", game, "--simulator", tmp_path, "--output", new)[0] == 0
    assert run(capsys, "check", "--no-files", new)[0] == 0, capsys.readouterr().err
    config = load_live(new)
    assert config.simulated
    assert config.journal.path == tmp_path / "journal"
    settings = tomllib.loads(new.read_text("utf-8"))["settings"]
    assert open_table(game, settings, date(2026, 1, 1)).rules.book.key == game  # it would start
    if "shuffler" in table:
        assert config.table.card_device == "shuffler"


def test_exits(folder: Folder, capsys: Capture) -> None:
    assert run(capsys)[0] == 64
    assert run(capsys, "--help")[0] == 0
    assert run(capsys, "grow")[0] == 64
    assert run(capsys, "init", "--game", "POKER")[0] == 64
    assert run(capsys, "check", folder.path / "none.toml")[0] == 66
    code, _, err = run(capsys, "init", "--game", "NSW", "--output", folder.site)
    assert (code, "never overwritten" in err) == (73, True)
    folder.write("game = 3\n")
    code, out, err = run(capsys, "show", folder.site, "--json")
    assert (code, json.loads(out)["ok"]) == (78, False)
    assert "Traceback" not in err


@pytest.mark.parametrize("value", ['a"b\\c\n\x7fé', 7, True, ["a", 1], {"a b": 1, "c": "d"}])
def test_values_as_toml_are_read_back_as_they_were(value: object) -> None:
    assert tomllib.loads(f"x = {toml_value(value)}") == {"x": value}


def test_key_makes_a_key_that_the_table_takes_and_never_overwrites_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sealing.key"
    assert command.run(["key", str(path)]) == 0
    assert load_key(path) is not None
    made = path.read_text("ascii")
    assert made.split()[1] not in capsys.readouterr().out
    assert command.run(["key", str(path)]) == 73
    assert path.read_text("ascii") == made
