"""The layers of a configuration and what they say: defaults, site file, ``conf.d/*.toml``.

The later layer wins, key by key; a table that is a setting's value is one value. Each file is
checked by itself, so a wrong value is named even where a later file would hide it. Reads files and
nothing else; decides nothing about what is mandatory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from controller.config.options import OPTIONS, SECTIONS, TOP_LEVEL, a_path
from controller.rules.settings import ALL, MONEY_SPEC, TABLE_SPEC, Bad, convert
from record.kit.config import ConfigError, Problem, read_toml, unknown
from record.kit.words import did_you_mean, shown

SPEC: Final = {**MONEY_SPEC, **TABLE_SPEC}
DROP_IN_FOLDER: Final = "conf.d"


@dataclass(frozen=True, slots=True)
class Stated:
    """A value as it was written, and the file that has the last word on it."""

    value: Any
    file: Path


@dataclass(frozen=True, slots=True)
class Layers:
    """``stated`` is by whole name: ``game``, ``settings.seats``, ``journal.path``."""

    site: Path
    files: tuple[Path, ...]
    stated: Mapping[str, Stated]
    problems: tuple[Problem, ...]
    game: str | None

    def section(self, name: str) -> dict[str, Any]:
        """What is stated in one section, without its name."""
        prefix = f"{name}."
        return {
            key.removeprefix(prefix): one.value
            for key, one in self.stated.items()
            if key.startswith(prefix)
        }


def read(site: Path) -> Layers:
    """OSError if the site file cannot be read, ConfigError if a file is no TOML."""
    files = (site, *drop_ins(site))
    documents = []
    unusable: list[Problem] = []
    for path in files:
        try:
            documents.append((path, read_toml(path, "E-CFG-009")))
        except ConfigError as error:
            unusable += error.problems
        except OSError as error:
            if path == site:
                raise
            unusable.append(_left_out(error, path))
    if unusable:
        raise ConfigError(site, unusable)
    stated: dict[str, Stated] = {}
    for path, document in documents:
        for key, value in _leaves(document):
            stated[key] = Stated(value, path)
    game = stated["game"].value if "game" in stated else None
    known = game if isinstance(game, str) and game in ALL else None
    problems = [p for path, document in documents for p in _problems(path, document, known)]
    if "game" not in stated:
        problems.insert(0, Problem("E-CFG-005", "game", f"missing: {_games()}"))
    return Layers(site, files, stated, tuple(problems), known)


def drop_ins(site: Path) -> tuple[Path, ...]:
    """``conf.d`` beside the site file, in lexical order; hidden files are an editor's."""
    folder = site.parent / DROP_IN_FOLDER
    try:
        found = [p for p in folder.iterdir() if p.suffix == ".toml" and p.name[0] != "."]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise ConfigError(site, [_left_out(error, folder)]) from None
    return tuple(sorted(found))


def _left_out(error: OSError, path: Path) -> Problem:
    text = f"{error.strerror}; a drop-in that cannot be read is not left out"
    return Problem("E-CFG-011", "file", text, path)


def _leaves(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        if key in ("settings", *SECTIONS) and isinstance(value, dict):
            yield from ((f"{key}.{name}", one) for name, one in value.items())
            if not value:  # an empty [link] is a link without its options, not no link
                yield key, value
        else:
            yield key, value


# --- what is wrong in one file -----------------------------------------------------------------


def _problems(path: Path, document: Mapping[str, Any], game: str | None) -> Iterator[Problem]:
    for key, value in document.items():
        if key == "settings":
            continue
        if key == "game":
            if value not in ALL or not isinstance(value, str):
                yield Problem("E-CFG-005", "game", f"{shown(value)}: {_games()}", path)
        elif key == "layout":
            yield from _wrong(path, key, value, a_path)
        elif key in SECTIONS:
            yield from _section(path, key, value)
        else:
            yield Problem("E-CFG-001", key, f"{shown(value)}: {_no_such_key(key)}", path)
    values = document.get("settings", {})
    if isinstance(values, dict):
        yield from _bad_settings(path, game, values)
    else:
        text = f"{shown(values)}: expected a table, [settings]"
        yield Problem("E-CFG-002", "settings", text, path)


def _games() -> str:
    return f"expected one of {', '.join(shown(g) for g in ALL)}"


def _no_such_key(key: str) -> str:
    if key in SPEC:
        return "a setting; expected it below [settings]"
    homes = [name.split(".")[0] for name in OPTIONS if name.split(".")[1] == key]
    if homes:
        return f"expected it below {' or '.join(f'[{home}]' for home in homes)}"
    close = get_close_matches(key, TOP_LEVEL, n=1)
    if close:
        return f"no such key; did you mean {close[0]}?"
    sections = ", ".join(f"[{name}]" for name in ("settings", *SECTIONS))
    return f"no such key; expected game, layout, {sections}"


def _section(path: Path, section: str, value: object) -> Iterator[Problem]:
    if not isinstance(value, dict):
        text = f"{shown(value)}: expected a table, [{section}]"
        yield Problem("E-CFG-002", section, text, path)
        return
    known = [key.split(".")[1] for key in OPTIONS if key.startswith(f"{section}.")]
    for name, one in value.items():
        key = f"{section}.{name}"
        if key in OPTIONS:
            yield from _wrong(path, key, one, OPTIONS[key].metadata["convert"])
            continue
        yield unknown("E-CFG-001", key, one, known, path)


def _wrong(path: Path, key: str, value: object, converts: Any) -> Iterator[Problem]:
    try:
        converts(value)
    except Bad as bad:
        yield Problem("E-CFG-002", key, f"{shown(value)}: {bad}", path)


def _bad_settings(path: Path, game: str | None, values: Mapping[str, object]) -> Iterator[Problem]:
    for name, value in values.items():
        key = f"settings.{name}"
        spec = SPEC.get(name)
        if spec is None:
            text = f"{shown(value)}: {_no_such_setting(game, name)}"
            yield Problem("E-CFG-001", key, text, path)
            continue
        games = spec.metadata["games"]
        if game is not None and game not in games:
            text = f"{shown(value)}: no setting of {game}; it belongs to {', '.join(games)}"
            yield Problem("E-CFG-008", key, text, path)
        try:
            convert(name, value)
        except Bad as bad:
            yield Problem("E-CFG-002", key, f"{shown(value)}: {bad}", path)
        except ValueError:  # Python converts no text of more than 4300 digits to a number
            yield Problem("E-CFG-002", key, f"{shown(value)}: the number is too long", path)


def _no_such_setting(game: str | None, name: str) -> str:
    of_game = [n for n, spec in SPEC.items() if game is None or game in spec.metadata["games"]]
    return f"no such setting; {did_you_mean(name, of_game, 'expected one of')}"
