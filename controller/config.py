"""A table's configuration file: TOML with the game and its settings.

    game = "MEGA"

    [settings]
    seats = 7
    lucky_rate = "1/500"

The names are those of ``controller.rules.settings``. Nothing unknown passes: a setting that is
misspelt, that belongs to another game, or whose value is wrong is refused with its file, key and
value, and what is expected; all problems are listed at once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from controller.rules import errors
from controller.rules.errors import SettingsError, UnderfeltError
from controller.rules.settings import (
    ALL,
    MONEY_SPEC,
    TABLE_SPEC,
    Bad,
    Settings,
    TableSettings,
    convert,
    open_settings,
)

SPEC: Final = {**MONEY_SPEC, **TABLE_SPEC}
TOP_LEVEL: Final = ("game", "settings")

Problem = tuple[str, str, str]
"""(code, key, text)."""


class ConfigError(UnderfeltError, ValueError):
    """A configuration file that cannot be used: exit 78."""

    def __init__(self, path: Path, problems: list[Problem]) -> None:
        lines = (f"{path}: {key}: {text} ({code})" for code, key, text in problems)
        super().__init__("\n".join(lines))
        self.code = problems[0][0]
        self.path = path
        self.problems = problems


def shown(value: object) -> str:
    """A value as the file has it, cut to a readable length."""
    try:
        return errors.shown(value)
    except ValueError:  # a hexadecimal number of more than 4300 decimal digits
        return "a number too long to show"


@dataclass(frozen=True, slots=True)
class TableConfig:
    """What the file says, checked value by value; ``values`` are as they were written."""

    path: Path
    game: str
    values: Mapping[str, object]

    def with_defaults(self) -> tuple[Settings, TableSettings]:
        """The settings with defaults for all that is not stated, as for a par sheet."""
        money: dict[str, Any] = {}
        table: dict[str, Any] = {}
        for name, value in self.values.items():
            (money if name in MONEY_SPEC else table)[name] = convert(name, value)
        return Settings(**money), TableSettings(**table)

    def for_live_table(self) -> tuple[Settings, TableSettings]:
        """The settings of a live table: those without a safe default must be stated."""
        try:
            return open_settings(self.game, self.values)
        except SettingsError as error:
            listed = [(code, f"settings.{key}", text) for code, key, text in error.problems]
            raise ConfigError(self.path, listed) from None


def load(path: str | Path) -> TableConfig:
    """Read and check a file; OSError if it cannot be read, ConfigError if it cannot be used."""
    path = Path(path)
    document = _parse(path, path.read_bytes())
    problems = _unknown_keys(document)
    game = document.get("game")
    if not isinstance(game, str) or game not in ALL:
        problems.append(_no_game(document))
        game = None
    values = document.get("settings", {})
    if isinstance(values, dict):
        problems += _bad_settings(game, values)
    else:
        text = f"{shown(values)}: expected a table, [settings]"
        problems.append(("E-CFG-002", "settings", text))
    if problems or game is None:
        raise ConfigError(path, problems)
    return TableConfig(path, game, values)


def _parse(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        text = f"byte {error.start} is not UTF-8; expected a TOML file in UTF-8"
        raise ConfigError(path, [("E-CFG-009", "file", text)]) from None
    except (ValueError, RecursionError) as error:  # a number too long is a plain ValueError
        text = f"{error or 'nested too deeply'}; expected TOML"
        raise ConfigError(path, [("E-CFG-009", "file", text)]) from None


def _unknown_keys(document: Mapping[str, object]) -> list[Problem]:
    problems = []
    for key, value in document.items():
        if key in TOP_LEVEL:
            continue
        if key in SPEC:
            text = f"{shown(value)}: a setting; expected it below [settings]"
        else:
            text = f"{shown(value)}: no such key; expected game and [settings]"
        problems.append(("E-CFG-001", key, text))
    return problems


def _no_game(document: Mapping[str, object]) -> Problem:
    found = shown(document["game"]) if "game" in document else "missing"
    listed = ", ".join(shown(g) for g in ALL)
    return ("E-CFG-005", "game", f"{found}: expected one of {listed}")


def _bad_settings(game: str | None, values: Mapping[str, object]) -> list[Problem]:
    problems = []
    for name, value in values.items():
        key = f"settings.{name}"
        spec = SPEC.get(name)
        if spec is None:
            problems.append(("E-CFG-001", key, f"{shown(value)}: {_no_such_setting(game, name)}"))
            continue
        games = spec.metadata["games"]
        if game is not None and game not in games:
            text = f"{shown(value)}: no setting of {game}; it belongs to {', '.join(games)}"
            problems.append(("E-CFG-008", key, text))
        try:
            convert(name, value)
        except Bad as bad:
            problems.append(("E-CFG-002", key, f"{shown(value)}: {bad}"))
        except ValueError:  # Python converts no text of more than 4300 digits to a number
            problems.append(("E-CFG-002", key, f"{shown(value)}: the number is too long"))
    return problems


def _no_such_setting(game: str | None, name: str) -> str:
    of_game = [n for n, spec in SPEC.items() if game is None or game in spec.metadata["games"]]
    close = get_close_matches(name, of_game, n=1)
    if close:
        return f"no such setting; did you mean {close[0]}?"
    return f"no such setting; expected one of {', '.join(of_game)}"
