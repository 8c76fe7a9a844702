"""The configuration of a live table: everything stated, everything checked, one hash.

``load_live`` refuses with all problems at once: unknown keys, wrong values, missing mandatory
ones, contradictions, and a layout that does not fit. It opens the files of the configuration and
the layout; registers and keys are their owners' to open.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, cast

from controller.config import layers
from controller.config import options as o
from controller.config.layers import SPEC, Layers, Stated
from controller.rules.books import BOOKS
from controller.rules.engine.opening import sound_settings
from controller.rules.errors import SettingsError
from controller.rules.settings import (
    PER_ROUND,
    Settings,
    TableSettings,
    default_of,
)
from controller.table.spots import missing_spots, named
from drivers.layout import OUR_KINDS, LayoutError, TableLayout
from drivers.layout import load as load_layout
from record.kit.config import ConfigError, Problem
from record.kit.words import shown

HASH_FORMAT: Final = 1
BUILT_IN: Final = "built-in"
SIMULATED: Final = "hw_sim."


@dataclass(frozen=True, slots=True)
class Value:
    """An effective value as plain data; ``file`` is None for a built-in default."""

    value: Any
    file: Path | None

    def origin(self, key: str) -> str:
        return BUILT_IN if self.file is None else f"{self.file}:{key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveConfig:
    """What a table runs on. Paths are absolute or relative to the working folder, as given."""

    path: Path
    files: tuple[Path, ...]
    game: str
    settings: Settings
    table: TableSettings
    layout: TableLayout
    layout_path: Path
    layout_sha256: str
    language_sha256: str
    """Of the language file's bytes; empty for a built-in language."""
    journal: o.JournalOptions
    chips: o.ChipsOptions
    staff: o.StaffOptions
    keys: o.KeysOptions
    display: o.DisplayOptions
    link: o.LinkOptions | None
    service: o.ServiceOptions
    shell: o.ShellOptions
    policy: o.PolicyOptions
    values: Mapping[str, Value]
    effective_hash: str

    @property
    def name(self) -> str:
        """The table's name, from its layout."""
        return self.layout.name

    @property
    def simulated(self) -> bool:
        return is_simulated(self.layout)

    def secret_path(self, key: str, secret: o.Secret, credentials: Path | None) -> Path:
        """The file of a secret; ``credentials`` is the service's CREDENTIALS_DIRECTORY."""
        if isinstance(secret, Path):
            return secret
        if credentials is None:
            text = f"{shown(secret.name)}: no credentials directory; run it as a service, "
            text += "or give the path of a key file"
            problem = Problem("E-CFG-015", key, text, self.values[key].file)
            raise ConfigError(self.path, [problem])
        return credentials / secret.name


def is_simulated(layout: TableLayout) -> bool:
    return layout.transport.bus.startswith(SIMULATED)


def line_kinds() -> frozenset[str]:
    """The kinds of lines a layout may name: ours, and those of installed vendors' drivers."""
    return OUR_KINDS | {entry.name for entry in entry_points(group="underfelt.drivers")}


def layout_in(run: Path) -> TableLayout | None:
    """A running simulator's layout; None if none runs there yet."""
    try:
        return load_layout(run / "layout.toml", line_kinds())
    except (OSError, LayoutError):
        return None


def load_live(path: str | Path, kinds: frozenset[str] = OUR_KINDS) -> LiveConfig:
    """OSError if the site file cannot be read, ConfigError with every problem otherwise."""
    return _Reading(layers.read(Path(path)), kinds).config()


class _Reading:
    """One pass over the layers that gathers every problem."""

    def __init__(self, found: Layers, kinds: frozenset[str]) -> None:
        self.found = found
        self.kinds = kinds
        self.problems = list(found.problems)
        self.folder = found.site.parent
        self.layout_sha256 = ""
        self.language_sha256 = ""

    def config(self) -> LiveConfig:
        layout_path, layout = self._layout()
        self._language(layout)
        opened = self._settings()
        link = any(key == "link" or key.startswith("link.") for key in self.found.stated)
        wanted = [name for name in o.SECTIONS if name != "link" or link]
        self._missing(wanted)
        self._contradictions(opened, layout, layout_path, link)
        game = self.found.game
        if self.problems or layout is None or layout_path is None or opened is None or not game:
            raise ConfigError(self.found.site, self.problems)
        sections = {name: self._section(name, layout.name) for name in wanted}
        values = effective(self.found, game, wanted)
        return LiveConfig(
            path=self.found.site,
            files=self.found.files,
            game=game,
            settings=opened[0],
            table=opened[1],
            layout=layout,
            layout_path=layout_path,
            layout_sha256=self.layout_sha256,
            language_sha256=self.language_sha256,
            values=values,
            effective_hash=hash_of(game, values, self.layout_sha256, self.language_sha256),
            **{"link": None, **sections},
        )

    def _stated(self, key: str) -> Stated | None:
        """What is stated for a key, if it is a sound value."""
        one = self.found.stated.get(key)
        return None if one is None or any(p.key == key for p in self.problems) else one

    def _layout(self) -> tuple[Path | None, TableLayout | None]:
        if "layout" not in self.found.stated:
            text = "missing: expected the path of the table's layout file"
            self.problems.append(Problem("E-CFG-003", "layout", text))
        stated = self._stated("layout")
        if stated is None:
            return None, None
        path = self.folder / stated.value
        try:
            raw = path.read_bytes()
            layout = load_layout(path, self.kinds)
            if path.read_bytes() != raw:  # the hash must be of what is in use
                text = f"{shown(stated.value)}: changed while it was read; try again"
                self.problems.append(Problem("E-CFG-012", "layout", text, stated.file))
        except OSError as error:
            text = f"{shown(stated.value)}: {error.strerror}; expected a layout file"
            self.problems.append(Problem("E-CFG-012", "layout", text, stated.file))
            return path, None
        except LayoutError as error:
            self.problems += [Problem(code, key, text, path) for code, key, text in error.problems]
            return path, None
        self.layout_sha256 = sha256(raw).hexdigest()
        return path, layout

    def _language(self, layout: TableLayout | None) -> None:
        """A language file's bytes count like any value; its texts are for the table to read."""
        stated = self._stated("display.language")
        if stated is None or stated.value in o.LANGUAGES or layout is None:
            return
        try:
            raw = self._path(stated.value, layout.name).read_bytes()
            self.language_sha256 = sha256(raw).hexdigest()
        except OSError as error:
            text = f"{shown(stated.value)}: {error.strerror}; expected a language file"
            self.problems.append(Problem("E-CFG-017", "display.language", text, stated.file))

    def _path(self, stated: str | Path, table: str) -> Path:
        return self.folder / str(stated).replace(o.TABLE, table)

    def _settings(self) -> tuple[Settings, TableSettings] | None:
        """What the layers have said is not said again."""
        game = self.found.game
        if game is None:
            return None
        try:
            return sound_settings(game, self.found.section("settings"))
        except SettingsError as error:
            told = {p.key for p in self.problems}
            for code, name, text in error.problems:
                key = f"settings.{name}"
                if key not in told or code not in ("E-CFG-001", "E-CFG-002"):
                    stated = self.found.stated.get(key)
                    file = None if stated is None else stated.file
                    self.problems.append(Problem(code, key, text, file))
        except ValueError:  # a number too long; the layers have named it
            pass
        return None

    def _missing(self, wanted: list[str]) -> None:
        for section in wanted:
            for spec in fields(o.SECTIONS[section]):
                key = f"{section}.{spec.name}"
                if spec.default is MISSING and key not in self.found.stated:
                    text = f"missing and has no default: {spec.metadata['text']}"
                    if spec.metadata["example"]:
                        text += f', e.g. "{spec.metadata["example"]}"'
                    self.problems.append(Problem("E-CFG-003", key, text))

    def _contradictions(
        self,
        opened: tuple[Settings, TableSettings] | None,
        layout: TableLayout | None,
        layout_path: Path | None,
        link: bool,
    ) -> None:
        register, key = (self._stated(f"staff.{name}") for name in ("register", "public_key"))
        if register and key and (register.value == o.NONE) != (key.value == o.NONE):
            text = f'{shown(key.value)}: expected "none" with no register, and a key with one'
            self._contradiction("staff.public_key", text)
        point, thousands = (self._effective(f"display.{n}") for n in ("decimal_point", "thousands"))
        if point == thousands:
            text = f"{shown(thousands)}: the same as display.decimal_point"
            self._contradiction("display.thousands", text)
        if opened is not None and opened[1].selector == "server" and not link:
            text = '"server" draws over the link; expected a [link] section, or "table"'
            self._contradiction("settings.selector", text)
        if layout is None:
            return
        if register is not None and register.value == o.NONE and not is_simulated(layout):
            text = '"none": expected a staff register; only a simulated table has none'
            self._contradiction("staff.register", text)
        if opened is not None and self.found.game is not None and layout_path is not None:
            self._fits(self.found.game, opened[1], layout, layout_path)

    def _fits(
        self, game: str, table: TableSettings, layout: TableLayout, layout_path: Path
    ) -> None:
        if table.seats > layout.seats:
            text = f"{table.seats}: the layout has {layout.seats} seats"
            self._contradiction("settings.seats", text)
        elif missing := missing_spots(BOOKS[game], table.seats, layout.spots.values()):
            text = f"no antenna for {'; '.join(map(named, missing))}; "
            text += f"expected one for every spot of {game}"
            self.problems.append(Problem("E-RUN-001", "line.antennas", text, layout_path))
        kinds = {line.kind for line in layout.lines}
        vendors = kinds - OUR_KINDS  # what a vendor's line is, only its driver knows
        if not vendors and f"cdp-{table.card_device}" not in kinds:
            text = f"{shown(table.card_device)}: the layout has no line of kind "
            text += shown(f"cdp-{table.card_device}")
            self._contradiction("settings.card_device", text)

    def _effective(self, key: str) -> object:
        stated = self.found.stated.get(key)
        return o.OPTIONS[key].default if stated is None else stated.value

    def _contradiction(self, key: str, text: str) -> None:
        stated = self.found.stated.get(key)
        file = None if stated is None else stated.file
        self.problems.append(Problem("E-CFG-004", key, text, file))

    def _section(self, section: str, table: str) -> Any:
        made = {}
        for spec in fields(o.SECTIONS[section]):
            value = spec.metadata["convert"](self._effective(f"{section}.{spec.name}"))
            if isinstance(value, Path):
                value = self._path(value, table)
            made[spec.name] = value
        return o.SECTIONS[section](**made)


# --- the effective configuration as plain data -------------------------------------------------


def effective(found: Layers, game: str, wanted: list[str]) -> dict[str, Value]:
    """Every key that counts at this table, with its value as written or its default."""
    values: dict[str, Value] = {}
    for key in ("game", "layout"):
        values[key] = _value(found, key, None)
    for name, spec in SPEC.items():
        if game in spec.metadata["games"] and name not in PER_ROUND:
            key = f"settings.{name}"
            values[key] = _value(found, key, plain_default(spec))
    for section in wanted:
        for spec in fields(o.SECTIONS[section]):
            key = f"{section}.{spec.name}"
            default = list(spec.default) if isinstance(spec.default, tuple) else spec.default
            values[key] = _value(found, key, default)
    return values


def _value(found: Layers, key: str, default: object) -> Value:
    stated = found.stated.get(key)
    return Value(default, None) if stated is None else Value(stated.value, stated.file)


def plain_default(spec: Field[Any]) -> object:
    """A setting's default as a file would have it: a fraction is text."""
    default = default_of(spec)
    if default is None or isinstance(default, bool | int | str):
        return default
    return f"{cast(Any, default).numerator}/{cast(Any, default).denominator}"


def hash_of(
    game: str, values: Mapping[str, Value], layout_sha256: str, language_sha256: str = ""
) -> str:
    """SHA-256 of the effective configuration, the layout's bytes and the rule book's name.

    The bytes of a language file count where there is one. Paths count as written, so that a table's
    files may move; where a value was stated, and whether it was stated at all, does not count.
    """
    book = BOOKS[game]
    effective_date = None if book.effective is None else book.effective.isoformat()
    row = {
        "format": HASH_FORMAT,
        "book": [book.key, book.version, effective_date],
        "layout_sha256": layout_sha256,
        "values": {key: one.value for key, one in values.items()},
    }
    if language_sha256:
        row["language_sha256"] = language_sha256
    text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode("utf-8")).hexdigest()
