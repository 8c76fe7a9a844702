"""The simulator's own reader of the layout file (docs/protocols/layout.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

SEATS: Final = 7
LINE_KINDS: Final = ("feig", "cdp-shoe", "cdp-shuffler", "alpha")
BOARDS: Final = (
    "keys-1", "keys-2", "sensors", "acceptors", "lamps-1", "lamps-2",
    "prompt", "meter-1", "meter-2", "meter-3", "magic",
)  # fmt: skip
PINS: Final = ("supervisor_key", "door", "power_fail", "expander_int")
TABLE_KEYS: Final = ("name", "seats")
LINE_KEYS: Final = ("name", "kind", "port", "serial", "address", "antennas", "firmware")
TRANSPORT_KEYS: Final = ("bus", "bus_argument", "pin_factory", "pin_argument", "throttled")


Wrong = Callable[[str, object, str], None]
"""Notes a problem: the key, its value, and what was expected."""


class LayoutError(ValueError):
    """A layout that cannot be built; one line per problem."""


@dataclass(frozen=True, slots=True)
class Wired:
    """A device on a serial line."""

    name: str
    kind: str
    port: str
    serial: str = ""
    address: int = 0
    antennas: dict[tuple[int, int], tuple[int, str]] = field(default_factory=dict)
    """(mux, output) to (seat, spot)."""


@dataclass(frozen=True, slots=True)
class Layout:
    name: str
    seats: int
    lines: tuple[Wired, ...]
    boards: dict[str, int]
    pins: dict[str, int]
    throttled: str = ""

    def line_of_kind(self, *kinds: str) -> Wired | None:
        return next((line for line in self.lines if line.kind in kinds), None)

    def antenna_of(self, seat: int, spot: str) -> tuple[Wired, int, int] | None:
        for line in self.lines:
            for (mux, output), place in line.antennas.items():
                if place == (seat, spot):
                    return line, mux, output
        return None

    def spots_of(self, seat: int) -> list[str]:
        return [s for line in self.lines for (n, s) in line.antennas.values() if n == seat]


def load(path: str | Path) -> Layout:
    path = Path(path)
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise LayoutError(f"{path}: {error}; expected TOML in UTF-8") from None
    return read(document, str(path))


def read(document: dict[str, Any], source: str) -> Layout:
    problems: list[str] = []

    def wrong(key: str, value: object, expected: str) -> None:
        problems.append(f"{source}: {key} = {value!r}: expected {expected}")

    for key, value in document.items():
        if key not in ("table", "transport", "line", "chips", "pins"):
            wrong(key, value, "table, transport, line, chips or pins")
    table = _table(document, "table", TABLE_KEYS, wrong)
    transport = _table(document, "transport", TRANSPORT_KEYS, wrong)
    lines = []
    for number, entry in enumerate(document.get("line", []), 1):
        if not isinstance(entry, dict):
            wrong(f"line {number}", entry, "a table, [[line]]")
            continue
        lines.append(_line(entry, f"line {number}", wrong))
    names = [line.name for line in lines]
    for name in {n for n in names if names.count(n) > 1}:
        wrong("line.name", name, "a name used once")
    boards = _addresses(document, "chips", BOARDS, 0x77, wrong)
    pins = _addresses(document, "pins", PINS, 27, wrong)
    _unique_spots(lines, wrong)
    seats = table.get("seats", 7)
    if not isinstance(seats, int) or not 1 <= seats <= 7:
        wrong("table.seats", seats, "1 to 7")
        seats = 7
    if problems:
        raise LayoutError("\n".join(problems))
    return Layout(
        str(table.get("name", "table")), seats, tuple(lines), boards, pins,
        str(transport.get("throttled", "")),
    )  # fmt: skip


def _table(
    document: dict[str, Any], key: str, known: tuple[str, ...], wrong: Wrong
) -> dict[str, Any]:
    value = document.get(key, {})
    if not isinstance(value, dict):
        wrong(key, value, f"a table, [{key}]")
        return {}
    for name in value:
        if name not in known:
            wrong(f"{key}.{name}", value[name], f"one of {', '.join(known)}")
    return value


def _line(entry: dict[str, Any], where: str, wrong: Wrong) -> Wired:
    for name, value in entry.items():
        if name not in LINE_KEYS:
            wrong(f"{where}.{name}", value, f"one of {', '.join(LINE_KEYS)}")
    for name in ("name", "kind", "port"):
        if not isinstance(entry.get(name), str):
            wrong(f"{where}.{name}", entry.get(name), "a text")
    kind = entry.get("kind")
    if kind not in LINE_KINDS:
        wrong(f"{where}.kind", kind, f"one of {', '.join(LINE_KINDS)}")
    antennas: dict[tuple[int, int], tuple[int, str]] = {}
    listed = entry.get("antennas", {})
    for antenna, place in listed.items() if isinstance(listed, dict) else ():
        mux, _, output = str(antenna).partition("/")
        seat, _, spot = str(place).partition("/")
        good = mux.isdigit() and output.isdigit() and seat.isdigit() and spot
        if not good or not (int(mux) <= 15 and 1 <= int(output) <= 8 and int(seat) <= 7):
            wrong(f"{where}.antennas.{antenna}", place, '"mux/output" = "seat/spot"')
            continue
        antennas[int(mux), int(output)] = (int(seat), spot)
    address = entry.get("address", 0)
    if not isinstance(address, int) or not 0 <= address <= 254:
        wrong(f"{where}.address", address, "0 to 254")
        address = 0
    return Wired(
        str(entry.get("name")), str(kind), str(entry.get("port")),
        str(entry.get("serial", "")), address, antennas,
    )  # fmt: skip


def _addresses(
    document: dict[str, Any], key: str, known: tuple[str, ...], highest: int, wrong: Wrong
) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, value in _table(document, key, known, wrong).items():
        if not isinstance(value, int) or not 0 <= value <= highest:
            wrong(f"{key}.{name}", value, f"0 to {highest}")
        elif value in found.values():
            wrong(f"{key}.{name}", value, "a number used once")
        else:
            found[name] = value
    return found


def _unique_spots(lines: list[Wired], wrong: Wrong) -> None:
    seen: set[tuple[int, str]] = set()
    for line in lines:
        for place in line.antennas.values():
            if place in seen:
                wrong(f"{line.name}.antennas", f"{place[0]}/{place[1]}", "a spot used once")
            seen.add(place)
