"""From a layout to a rig: which machine drives which device; vendors' by entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Final

from drivers.alpha.driver import AlphaDriver
from drivers.bus import BusMachine
from drivers.cards.shoe import ShoeDriver
from drivers.cards.shuffler import ShufflerDriver
from drivers.chips.field import ChipField
from drivers.contained import Contained, MakeLine
from drivers.feig.driver import FeigReader
from drivers.gpio.driver import PINS, PinsDriver, SupplyDriver
from drivers.hd44780.driver import PromptDriver
from drivers.ht16k33.driver import MagicCardDriver, MeterDriver
from drivers.layout import OUR_KINDS, LineLayout, TableLayout
from drivers.machines import BoardDriver, LineDriver
from drivers.mcp23017.acceptors import AcceptorsDriver, SensorsDriver
from drivers.mcp23017.desk import CreditDesk
from drivers.mcp23017.keys import KEYS_1, KEYS_2, KeysDriver
from drivers.mcp23017.lamps import LampsDriver
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
    desk = CreditDesk("acceptors")
    boards: list[BoardDriver] = []
    for name, address in addresses.items():
        match name:
            case "keys-1" | "keys-2":
                caps = KEYS_1 if name == "keys-1" else KEYS_2
                boards.append(KeysDriver(name, address, caps))
            case "sensors":
                boards.append(SensorsDriver(name, address, desk))
            case "acceptors":
                boards.append(AcceptorsDriver(name, address, desk))
            case "lamps-1":
                boards.append(LampsDriver(name, address, (1, 2, 3, 4)))
            case "lamps-2":
                boards.append(LampsDriver(name, address, (5, 6, 7), signals=True))
            case "prompt":
                boards.append(PromptDriver(name, address))
            case "magic":
                boards.append(MagicCardDriver(name, address))
            case _:
                boards.append(MeterDriver(name, address, int(name[-1]) - 1))
    return boards


def _feig(line: LineLayout) -> LineDriver:
    return FeigReader(line.name, line.serial, line.address)


def _shoe(line: LineLayout) -> LineDriver:
    return ShoeDriver(line.name, line.serial, line.firmware or None)


def _shuffler(line: LineLayout) -> LineDriver:
    return ShufflerDriver(line.name, line.serial, line.firmware or None)


def _alpha(line: LineLayout) -> LineDriver:
    return AlphaDriver(line.name)


_OURS: Final[Mapping[str, MakeLine]] = {
    "feig": _feig,
    "cdp-shoe": _shoe,
    "cdp-shuffler": _shuffler,
    "alpha": _alpha,
}
assert frozenset(_OURS) == OUR_KINDS
