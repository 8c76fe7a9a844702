"""From a layout to a rig: which machine drives which device; vendors' by entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Final

from drivers.alpha.driver import AlphaDriver
from drivers.bus import BusMachine
from drivers.cards.devices import ShoeDriver, ShufflerDriver
from drivers.chips.field import ChipField
from drivers.contained import Contained, MakeLine
from drivers.feig.driver import FeigReader
from drivers.gpio.driver import PINS, PinsDriver, SupplyDriver
from drivers.hd44780.driver import PromptDriver
from drivers.ht16k33.driver import MagicCardDriver, MeterDriver
from drivers.layout import OUR_KINDS, TableLayout
from drivers.machines import BoardDriver
from drivers.mcp23017.acceptors import AcceptorsDriver, SensorsDriver
from drivers.mcp23017.handshakes import CreditHandshakes
from drivers.mcp23017.keys import KEYS_1, KEYS_2, KeysDriver
from drivers.mcp23017.lamps import LAMPS_1, LAMPS_2, LampsDriver
from drivers.rig import Rig

GROUP: Final = "underfelt.drivers"
LoadMaker = Callable[[], MakeLine]
"""Imports a vendor's package and gives its entry point. It may do anything: see ``Contained``."""


def vendor_kinds() -> dict[str, LoadMaker]:
    """Line drivers of installed packages, by the name they are registered under; not loaded."""
    return {entry.name: entry.load for entry in entry_points(group=GROUP)}


def build(layout: TableLayout, vendors: Mapping[str, LoadMaker] | None = None) -> Rig:
    lines = [
        _OURS[line.kind](line)
        if line.kind in _OURS
        else Contained(line, (vendors or {})[line.kind])
        for line in layout.lines
    ]
    pins = {name: PINS[name] for name in layout.pins if name in PINS}
    return Rig(
        lines,
        BusMachine(_boards(layout.boards)),
        ChipField(),
        PinsDriver("pins", pins) if pins else None,
        SupplyDriver("supply") if layout.transport.throttled else None,
    )


def _boards(addresses: Mapping[str, int]) -> list[BoardDriver]:
    handshakes = CreditHandshakes("acceptors")
    boards: list[BoardDriver] = []
    for name, address in addresses.items():
        match name:
            case "keys-1" | "keys-2":
                caps = KEYS_1 if name == "keys-1" else KEYS_2
                boards.append(KeysDriver(name, address, caps))
            case "sensors":
                boards.append(SensorsDriver(name, address, handshakes))
            case "acceptors":
                boards.append(AcceptorsDriver(name, address, handshakes))
            case "lamps-1":
                boards.append(LampsDriver(name, address, LAMPS_1))
            case "lamps-2":
                boards.append(LampsDriver(name, address, LAMPS_2, signals=True))
            case "prompt":
                boards.append(PromptDriver(name, address))
            case "magic":
                boards.append(MagicCardDriver(name, address))
            case _:
                boards.append(MeterDriver(name, address, int(name[-1]) - 1))
    return boards


_OURS: Final[Mapping[str, MakeLine]] = {
    "feig": lambda line: FeigReader(line.name, line.serial, line.address),
    "cdp-shoe": lambda line: ShoeDriver(line.name, line.serial, line.firmware or None),
    "cdp-shuffler": lambda line: ShufflerDriver(line.name, line.serial, line.firmware or None),
    "alpha": lambda line: AlphaDriver(line.name),
}
assert frozenset(_OURS) == OUR_KINDS
