"""A complete, commented configuration for a new table: ``underfelt config init``.

What must be stated is marked ``REQUIRED`` and left open; everything else is a comment with its
default. For a simulated table the required ones are filled in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path
from textwrap import wrap
from typing import Any, Final, NamedTuple

from controller.config.live import plain_default
from controller.config.options import OPTIONAL_SECTIONS, SECTIONS, when_of
from controller.config.toml import toml_value
from controller.rules.books import BOOKS
from controller.rules.settings import MONEY_SPEC, PER_ROUND, TABLE_SPEC
from drivers.layout import TableLayout

WIDTH: Final = 96
REQUIRED: Final = "REQUIRED: "
_MOMENTS: Final = {
    "round": "",
    "closed": " [changes while the table is closed]",
    "restart": " [changes at a restart]",
}
_SIMULATED_SETTINGS: Final[dict[str, Any]] = {"ante": 500, "orphan_pot": "last_player"}
"""Required settings without any default; a demonstration needs some value."""
_SIMULATED_RATES: Final = {"magic_rate": "1/4", "lucky_rate": "1/20"}
"""A selection in every round would pay back more than is wagered, and no table opens with that."""

BY_SHUFFLER: Final = ("dealer_packet", "packet_bottom", "community_order", "bonus_index")
"""Required as soon as packets are dealt."""


def template(game: str, simulator: Path | None = None, layout: TableLayout | None = None) -> str:
    """The file's text; ``simulator`` is the run folder of a simulator, ``layout`` its layout."""
    filled = {} if simulator is None else _simulated(game, simulator, layout)
    book = BOOKS[game]
    lines = [
        f"# Configuration of a table: {book.title}.",
        "# What is marked REQUIRED must be stated: take away the '#' below it and fill in the",
        "# value. The others show their default. Files in conf.d/ beside this one are read after",
        "# it, in the order of their names; the last one wins. Relative paths begin at this file's",
        "# folder; {table} in a path is the table's name in the layout file.",
        "# Check with: underfelt config check FILE",
        "",
        f"game = {toml_value(game)}",
        "",
        *_entry(_Entry("layout", "the table's layout file", None, True, "layout.toml"), filled),
        "",
        "[settings]",
    ]
    for name, spec in {**MONEY_SPEC, **TABLE_SPEC}.items():
        if game not in spec.metadata["games"] or name in PER_ROUND:
            continue
        key, must = f"settings.{name}", game in spec.metadata["required"]
        default = plain_default(spec)
        lines += _entry(_Entry(key, _said(spec), default, must), filled)
    for section in SECTIONS:
        lines += ["", *_section(section, filled)]
    return "\n".join(lines) + "\n"


def _section(section: str, filled: dict[str, Any]) -> Iterator[str]:
    kind = SECTIONS[section]
    yield from _comment(kind.__doc__ or "")
    optional = section in OPTIONAL_SECTIONS
    yield f"#[{section}]" if optional else f"[{section}]"
    for spec in fields(kind):
        key = f"{section}.{spec.name}"
        must = spec.default is MISSING and not optional
        default = None if spec.default is MISSING else spec.default
        example = spec.metadata["example"]
        yield from _entry(_Entry(key, _said(spec), default, must, example), filled)


def _said(spec: Field[Any]) -> str:
    """The meaning and, where there is a choice, what to choose between."""
    converts = spec.metadata["convert"]
    if not converts.__qualname__.startswith("choice."):
        return str(spec.metadata["text"])
    return f"{spec.metadata['text']} ({converts.__doc__})"


class _Entry(NamedTuple):
    key: str
    text: str
    default: Any
    must: bool
    example: str = ""


def _entry(entry: _Entry, filled: dict[str, Any]) -> list[str]:
    key, default, example = entry.key, entry.default, entry.example
    name = key.rpartition(".")[2]
    said = f"{entry.text}{_MOMENTS[when_of(key)]}"
    lines = list(_comment(f"{REQUIRED}{said}" if entry.must else said))
    if key in filled:
        return [*lines, f"{name} = {toml_value(filled[key])}"]
    offered = example or (None if entry.must else default)
    if key == "link.endpoints":
        offered = [offered]
    # Without a space: that is a line to make use of, not one to read.
    return [*lines, f"#{name} =" if offered is None else f"#{name} = {toml_value(offered)}"]


def _comment(text: str) -> Iterator[str]:
    for line in wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False):
        yield f"# {line}"


def _simulated(game: str, run: Path, layout: TableLayout | None) -> dict[str, Any]:
    """Everything a simulated table needs; registers and keys beside the simulator's own files."""
    filled: dict[str, Any] = {"layout": str(run / "layout.toml")}
    kinds = set() if layout is None else {line.kind for line in layout.lines}
    shuffler = "cdp-shuffler" in kinds and "cdp-shoe" not in kinds
    for name, spec in {**MONEY_SPEC, **TABLE_SPEC}.items():
        by_shuffler = name in BY_SHUFFLER and game in spec.metadata["games"] and shuffler
        if game in spec.metadata["required"] or by_shuffler:
            default = plain_default(spec)
            filled[f"settings.{name}"] = _SIMULATED_SETTINGS[name] if default is None else default
        elif name in _SIMULATED_RATES and game in spec.metadata["games"]:
            filled[f"settings.{name}"] = _SIMULATED_RATES[name]
    if shuffler:
        filled |= {"settings.card_device": "shuffler", "settings.deal_pattern": "packets"}
    if layout is not None:
        filled["settings.seats"] = layout.seats
    files = {
        "journal.path": "journal",
        "chips.register": "house.chips",
        "chips.public_key": "chips.pub",
        "keys.sealing": "sealing.key",
        "service.socket": "service.sock",
    }
    filled |= {key: str(run / name) for key, name in files.items()}
    filled |= {"chips.house": "SIM-1", "staff.register": "none", "staff.public_key": "none"}
    return filled
