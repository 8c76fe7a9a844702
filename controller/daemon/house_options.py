"""What a configuration chooses besides its rules: texts, options, and who may use the shell.

The only reader of language files. What is wrong with one is said with file, key and what is
expected; a table does not start with it, and a running one keeps what it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

import controller.table
from controller.config.live import LiveConfig, Value
from controller.config.people import ShellPerson
from controller.table.amounts import Amounts
from controller.table.options import Options
from controller.table.texts import BUILT_IN, LanguageError, Texts, parse_texts
from record.kit.config import ConfigError, Problem

FOLDER: Final = Path(controller.table.__file__).parent / "texts"
BAD_LANGUAGE: Final = "E-CFG-017"
MS: Final = 1_000
"""Microseconds: the configuration speaks of milliseconds."""


@dataclass(frozen=True, slots=True)
class HouseOptions:
    texts: Texts
    options: Options
    people: tuple[ShellPerson, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    """Every effective value, to be shown."""


def house_options(config: LiveConfig) -> HouseOptions:
    """OSError or ConfigError if the language file cannot be used."""
    return HouseOptions(texts_of(config), options_of(config), config.shell.people, config.values)


def options_of(config: LiveConfig) -> Options:
    shows, policy = config.display, config.policy
    amounts = Amounts(shows.currency, shows.decimals, shows.decimal_point, shows.thousands)
    return Options(
        settle_us=policy.settle_ms * MS,
        late_grace_us=policy.late_grace_ms * MS,
        take_back_us=policy.take_back_limit_ms * MS,
        safe_mode=policy.safe_mode,
        odometer_us=shows.odometer_ms * MS,
        amounts=amounts,
    )


def texts_of(config: LiveConfig) -> Texts:
    every = parse_texts(_built_in(BUILT_IN[0]))
    language = config.display.language
    if not isinstance(language, Path):
        return parse_texts(_built_in(language), every)
    problems: list[tuple[str, str]]
    raw = language.read_bytes()
    if sha256(raw).hexdigest() != config.language_sha256:
        problems = [("file", "changed while it was read; try again")]
    else:
        try:
            return parse_texts(raw.decode("utf-8"), every)
        except UnicodeDecodeError as error:
            problems = [("file", f"byte {error.start} is not UTF-8; expected TOML in UTF-8")]
        except LanguageError as error:
            problems = error.problems
    raise ConfigError(
        config.path, [Problem(BAD_LANGUAGE, key, text, language) for key, text in problems]
    )


def _built_in(name: str) -> str:
    return (FOLDER / f"{name}.toml").read_text("utf-8")
