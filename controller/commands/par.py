"""``underfelt par``: the exact par sheet of a game, by full enumeration."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from controller.commands.ending import ends
from controller.config import load
from controller.rules.settings import ALL, Settings, TableSettings
from record.kit.arguments import Arguments
from record.kit.config import ConfigError
from record.kit.verbs import Stop
from record.kit.words import shown


@ends("par")
def run(argv: list[str]) -> int:
    parser = Arguments(
        prog="underfelt par",
        description="Print the exact par sheet of a game: every wager against the house, over "
        "every deal there is, in whole numbers and fractions.",
        epilog="example: underfelt par MEGA --config table.toml --svg mega.svg",
    )
    parser.add_argument("game", metavar="GAME", choices=ALL, help=", ".join(ALL))
    parser.add_argument("--config", metavar="FILE", help="a table's settings, TOML")
    parser.add_argument("--json", action="store_true", help="exact fractions for machines")
    parser.add_argument("--svg", metavar="FILE", help="write the plots to FILE")
    arguments = parser.parse_args(argv)
    settings, table = _settings(arguments.game, arguments.config)
    if find_spec("numpy") is None:  # an optional extra: the Pi under a table does without it
        raise Stop("needs numpy; pip install 'underfelt[math]'", os.EX_UNAVAILABLE)
    return _print(arguments.game, settings, table, as_json=arguments.json, svg_file=arguments.svg)


def _settings(game: str, config: str | None) -> tuple[Settings, TableSettings]:
    if config is None:
        return Settings(), TableSettings()
    loaded = load(config)
    if loaded.game != game:
        text = f"{shown(loaded.game)}: expected {shown(game)}, the game asked for"
        raise ConfigError(Path(config), [("E-CFG-005", "game", text)])
    return loaded.with_defaults()


def _print(
    game: str, settings: Settings, table: TableSettings, *, as_json: bool, svg_file: str | None
) -> int:
    # numpy is loaded here, after the arguments are known to be good.
    from controller.math import sheet
    from controller.math.par import par_sheet
    from controller.math.svg import svg
    from controller.math.terminal import render

    made = par_sheet(game, settings, table)
    if svg_file is not None:
        try:
            Path(svg_file).write_text(svg(made), encoding="utf-8")
        except OSError as error:
            raise Stop(f"{svg_file}: {error.strerror}", os.EX_CANTCREAT) from None
    print(json.dumps(sheet.as_json(made), indent=2) if as_json else render(made), end="")
    if as_json:
        print()
        for warning in made.warnings:  # the other form has them in its own text
            print(f"underfelt par: WARNING: {warning}", file=sys.stderr)
    return os.EX_OK
