"""docs/rules/par-sheets.md shows real output: every line of it is printed again here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.commands.par import run

DOCS = Path(__file__).parents[3] / "docs" / "rules"
PAGE = (DOCS / "par-sheets.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(toml|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> list[tuple[str, str, str]]:
    """(game, configuration or "", what is shown) of each command on the page."""
    made, toml = [], ""
    for kind, body in FENCE.findall(PAGE):
        if kind == "toml":
            toml = body
            continue
        command, _, shown = body.partition("\n")
        words = command.split()
        assert words[:3] == ["$", "underfelt", "par"], command
        made.append((words[3], toml if "--config" in words else "", shown))
    return made


def arguments(game: str, toml: str, folder: Path, *more: str) -> list[str]:
    argv = [game, *more]
    if toml:
        (folder / "table.toml").write_text(toml)
        argv += ["--config", str(folder / "table.toml")]
    return argv


@pytest.mark.parametrize(("game", "toml", "shown"), examples())
def test_an_example_is_what_the_command_prints(
    game: str, toml: str, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments(game, toml, tmp_path)) == 0
    out = capsys.readouterr().out
    parts = [part.strip("\n") for part in shown.split("...\n")]
    assert parts
    place = 0
    for part in parts:
        place = out.find(part, place)
        assert place >= 0, part


def test_the_page_has_the_examples_it_speaks_of() -> None:
    games = [game for game, _, _ in examples()]
    assert games == ["NSW", "PP6", "MBS3", "MEGA", "MEGA", "RICO"]
    over, sane = (shown for game, _, shown in examples() if game == "MEGA")
    assert "WARNING" in over
    assert "WARNING" not in sane


def test_the_picture_is_that_of_the_last_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toml = [toml for game, toml, _ in examples() if game == "MEGA"][-1]
    drawn = tmp_path / "drawn.svg"
    assert run(arguments("MEGA", toml, tmp_path, "--svg", str(drawn))) == 0
    assert capsys.readouterr().err == ""
    assert drawn.read_text() == (DOCS / "par-sheets-mega.svg").read_text()
