"""I2C and GPIO: are they switched on, ours to use, and is the library behind them a real one?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Final

from controller.doctor.board import throttled_at
from controller.doctor.machine import Machine
from controller.faults.troubles import Trouble
from drivers.layout import TableLayout

NO_BUS: Final = "E-DOC-020"
BUS_NOT_OURS: Final = "E-DOC-021"
NO_PINS: Final = "E-DOC-022"
PINS_NOT_OURS: Final = "E-DOC-023"
STUB: Final = "E-DOC-024"
NO_SUPPLY: Final = "E-DOC-055"
SYMBOL: Final = "gpiochip_open"
"""A function that the real lgpio has: the package without its C part imports too, and is empty."""
CHIPS: Final = ("/dev/gpiochip4", "/dev/gpiochip0")
"""Raspberry Pi 5 with older kernels, and all others."""

Load = Callable[[str], object]


def buses(machine: Machine, layout: TableLayout, load: Load = import_module) -> Iterator[Trouble]:
    transport = layout.transport
    if layout.boards and transport.bus == "smbus2.SMBus":
        bus = transport.bus_argument
        if not machine.is_there(bus):
            yield Trouble(NO_BUS, "I2C", "stopped", _missing(machine, bus))
        elif not machine.may_use(bus):
            yield Trouble(BUS_NOT_OURS, "I2C", "stopped", machine.owned(bus))
    if transport.throttled and not machine.is_there(transport.throttled):
        there = next(throttled_at(machine), "this board has none")
        yield Trouble(NO_SUPPLY, "supply", "degraded", f"{transport.throttled}; {there}")
    if layout.pins and transport.pin_factory.startswith("gpiozero.pins.lgpio"):
        yield from _pins(machine, load)


def _missing(machine: Machine, bus: str) -> str:
    """Switched on in config.txt is one half; the other is the module that makes the device."""
    if machine.is_there(f"/sys/bus/i2c/devices/{bus.rpartition('/')[2]}"):
        return f"{bus}; the kernel has the bus, but i2c-dev is not loaded"
    others = [name for name in machine.names("/dev") if name.startswith("i2c-")]
    return f"{bus}; there is {', '.join(others)}" if others else bus


def _pins(machine: Machine, load: Load) -> Iterator[Trouble]:
    there = [chip for chip in CHIPS if machine.is_there(chip)]
    if not there:
        yield Trouble(NO_PINS, "GPIO", "stopped", " and ".join(CHIPS))
    elif not machine.may_use(there[0]):
        yield Trouble(PINS_NOT_OURS, "GPIO", "stopped", machine.owned(there[0]))
    try:
        real = hasattr(load("lgpio"), SYMBOL)
        said = f"lgpio has no {SYMBOL}"
    except ImportError as error:
        real, said = False, str(error)
    if not real:
        yield Trouble(STUB, "GPIO", "stopped", said)
