"""The game and its settings: the part of a configuration that a par sheet needs.

    game = "MEGA"

    [settings]
    seats = 7
    lucky_rate = "1/500"

The names are those of ``controller.rules.settings``. Nothing unknown passes: a setting that is
misspelt, that belongs to another game, or whose value is wrong is refused with its file, key and
value, and what is expected; all problems are listed at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.config import layers
from controller.rules.settings import MONEY_SPEC, Settings, TableSettings, convert
from record.kit.config import ConfigError


@dataclass(frozen=True, slots=True)
class TableConfig:
    """What the files say, checked value by value; ``values`` are as they were written."""

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


def load(path: str | Path) -> TableConfig:
    """Read and check; OSError if it cannot be read, ConfigError if it cannot be used."""
    found = layers.read(Path(path))
    if found.problems or found.game is None:
        raise ConfigError(found.site, found.problems)
    return TableConfig(found.site, found.game, found.section("settings"))
