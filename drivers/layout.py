"""The layout file (docs/protocols/layout.md): which device sits where, checked first of all.

Every problem is listed with its file, key, value and what was expected; nothing unknown passes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from drivers.readings import Antenna

SEATS: Final = 7
MAX_MUX: Final = 15
MAX_OUTPUT: Final = 8
BOARD_NAMES: Final = frozenset(
    [
        "keys-1",
        "keys-2",
        "sensors",
        "acceptors",
        "lamps-1",
        "lamps-2",
        "prompt",
        "meter-1",
        "meter-2",
        "meter-3",
        "magic",
    ]
)
PIN_NAMES: Final = frozenset(("supervisor_key", "door", "power_fail", "expander_int"))
OUR_KINDS: Final = frozenset(("feig", "cdp-shoe", "cdp-shuffler", "alpha"))
_LINE_KEYS: Final = {
    "name": str, "kind": str, "port": str, "serial": str, "firmware": str,
    "address": int, "antennas": dict,
}  # fmt: skip
_TRANSPORT_KEYS: Final = ("bus", "bus_argument", "pin_factory", "pin_argument", "throttled")
_PATHS: Final = ("bus_argument", "pin_argument", "throttled")


class LayoutError(ValueError):
    """A layout that cannot be used; ``problems`` are (code, key, text)."""

    def __init__(self, source: str, problems: list[tuple[str, str, str]]) -> None:
        super().__init__("\n".join(f"{source}: {k}: {t} ({c})" for c, k, t in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class LineLayout:
    name: str
    kind: str
    port: str
    serial: str = ""
    firmware: str = ""
    address: int = 0
    antennas: Mapping[Antenna, tuple[int, str]] = field(default_factory=dict)
    """Antenna to (seat, spot); seat 0 is the dealer's."""


@dataclass(frozen=True, slots=True)
class Transport:
    bus: str = "smbus2.SMBus"
    bus_argument: str = "/dev/i2c-1"
    pin_factory: str = "gpiozero.pins.lgpio.LGPIOFactory"
    pin_argument: str = ""
    throttled: str = ""


@dataclass(frozen=True, slots=True)
class TableLayout:
    name: str
    seats: int
    transport: Transport
    lines: tuple[LineLayout, ...]
    boards: Mapping[str, int]
    pins: Mapping[str, int]

    @property
    def spots(self) -> dict[Antenna, tuple[int, str]]:
        return {a: place for line in self.lines for a, place in line.antennas.items()}


def load(path: str | Path, kinds: frozenset[str] = OUR_KINDS) -> TableLayout:
    """Read a file; ``kinds`` are the line drivers there are, vendors' entry points included."""
    path = Path(path)
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        problem = ("E-LAY-001", "file", f"{error}; expected TOML in UTF-8")
        raise LayoutError(str(path), [problem]) from None
    return _Reader(str(path), kinds, path.absolute().parent).read(document)


def beside(folder: Path, text: str) -> str:
    """A path of the file: a relative one is beside the file, wherever the table is started. The
    number of a bus or chip, and an address such as ``ftdi://``, are no paths."""
    if not text or text.isdecimal() or "://" in text:
        return text
    return str(folder / text)


class _Reader:
    """One pass over the document that gathers every problem."""

    def __init__(self, source: str, kinds: frozenset[str], folder: Path) -> None:
        self.source = source
        self.folder = folder
        self.kinds = kinds
        self.problems: list[tuple[str, str, str]] = []

    def read(self, document: Mapping[str, Any]) -> TableLayout:
        for key, value in document.items():
            if key not in ("table", "transport", "line", "chips", "pins"):
                self._wrong("E-LAY-002", key, value, "table, transport, line, chips, pins")
        table = self._section(document, "table", ("name", "seats"))
        transport = self._section(document, "transport", _TRANSPORT_KEYS)
        for key, value in transport.items():
            if not isinstance(value, str):
                self._wrong("E-LAY-003", f"transport.{key}", value, "a text")
        lines = self._lines(document.get("line", []))
        boards = self._numbers(document, "chips", BOARD_NAMES, range(0x08, 0x78))
        pins = self._numbers(document, "pins", PIN_NAMES, range(28))
        seats = table.get("seats", SEATS)
        if type(seats) is not int or not 1 <= seats <= SEATS:
            self._wrong("E-LAY-003", "table.seats", seats, "1 to 7")
        name = table.get("name")
        if not isinstance(name, str) or not name:
            self._wrong("E-LAY-003", "table.name", name, "the table's name")
        if self.problems:
            raise LayoutError(self.source, self.problems)
        placed = {
            key: beside(self.folder, value) if key in _PATHS else value
            for key, value in transport.items()
        }
        return TableLayout(str(name), int(seats), Transport(**placed), tuple(lines), boards, pins)

    def _lines(self, entries: Any) -> list[LineLayout]:
        if not isinstance(entries, list):
            self._wrong("E-LAY-003", "line", entries, "tables, [[line]]")
            return []
        lines: list[LineLayout] = []
        places: dict[tuple[int, str], str] = {}
        for number, entry in enumerate(entries, 1):
            line = self._line(f"line[{number}]", entry)
            if line is None:
                continue
            for other in lines:
                for attribute in ("name", "port"):
                    if getattr(other, attribute) == getattr(line, attribute):
                        value = getattr(line, attribute)
                        self._wrong("E-LAY-004", f"line[{number}].{attribute}", value, "a new one")
            for antenna, place in line.antennas.items():
                if place in places:
                    text = f"a spot of its own; {places[place]} has it"
                    self._wrong("E-LAY-004", str(antenna), f"{place[0]}/{place[1]}", text)
                places[place] = str(antenna)
            lines.append(line)
        return lines

    def _line(self, where: str, entry: Any) -> LineLayout | None:
        if not isinstance(entry, dict):
            self._wrong("E-LAY-003", where, entry, "a table, [[line]]")
            return None
        before = len(self.problems)
        for key, value in entry.items():
            kind = _LINE_KEYS.get(key)
            if kind is None:
                self._wrong("E-LAY-002", f"{where}.{key}", value, ", ".join(_LINE_KEYS))
            elif type(value) is not kind:
                self._wrong("E-LAY-003", f"{where}.{key}", value, f"type {kind.__name__}")
        for key in ("name", "kind", "port"):
            if not entry.get(key):
                self._wrong("E-LAY-003", f"{where}.{key}", entry.get(key), "a text")
        if isinstance(entry.get("kind"), str) and entry["kind"] and entry["kind"] not in self.kinds:
            known = ", ".join(sorted(self.kinds))
            self._wrong("E-LAY-005", f"{where}.kind", entry["kind"], f"a driver: {known}")
        if len(self.problems) > before:
            return None
        values = {k: v for k, v in entry.items() if k != "antennas"}
        values["port"] = beside(self.folder, values["port"])
        antennas = self._antennas(where, entry["name"], entry.get("antennas", {}))
        return LineLayout(**values, antennas=antennas)

    def _antennas(
        self, where: str, reader: str, listed: Mapping[str, Any]
    ) -> dict[Antenna, tuple[int, str]]:
        found: dict[Antenna, tuple[int, str]] = {}
        for key, value in listed.items():
            mux, _, output = key.partition("/")
            seat, _, spot = value.partition("/") if isinstance(value, str) else ("", "", "")
            numbers = all(n.isdecimal() and len(n) <= 4 for n in (mux, output, seat))
            if (
                not numbers
                or not spot
                or int(mux) > MAX_MUX
                or not 1 <= int(output) <= MAX_OUTPUT
                or int(seat) > SEATS
            ):
                text = '"mux/output" = "seat/spot", mux 0 to 15, output 1 to 8, seat 0 to 7'
                self._wrong("E-LAY-003", f"{where}.antennas.{key}", value, text)
                continue
            found[Antenna(reader, int(mux), int(output))] = (int(seat), spot)
        return found

    def _section(
        self, document: Mapping[str, Any], key: str, known: tuple[str, ...]
    ) -> Mapping[str, Any]:
        value = document.get(key, {})
        if not isinstance(value, dict):
            self._wrong("E-LAY-003", key, value, f"a table, [{key}]")
            return {}
        for name, entry in value.items():
            if name not in known:
                self._wrong("E-LAY-002", f"{key}.{name}", entry, ", ".join(known))
        return {name: entry for name, entry in value.items() if name in known}

    def _numbers(
        self, document: Mapping[str, Any], key: str, known: frozenset[str], within: range
    ) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, value in self._section(document, key, tuple(sorted(known))).items():
            if type(value) is not int or value not in within:
                text = f"{within.start} to {within.stop - 1}"
                self._wrong("E-LAY-003", f"{key}.{name}", value, text)
            elif value in found.values():
                self._wrong("E-LAY-004", f"{key}.{name}", value, "a number of its own")
            else:
                found[name] = value
        return found

    def _wrong(self, code: str, key: str, value: object, expected: str) -> None:
        try:
            shown = repr(value)
        except (ValueError, RecursionError):
            shown = "too long"
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        self.problems.append((code, key, f"{shown}: expected {expected}"))
