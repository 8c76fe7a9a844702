"""Serial lines: is every port of the layout there, ours to use, and nobody else's?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from controller.doctor.machine import Machine
from controller.faults.troubles import Trouble
from drivers.layout import LineLayout, TableLayout

MISSING: Final = "E-DOC-010"
NO_DEVICE: Final = "E-DOC-011"
NOT_OURS: Final = "E-DOC-012"
CONSOLE: Final = "E-DOC-013"
SLOW: Final = "E-DOC-014"
SHARED: Final = "E-DOC-015"
BY_PORT: Final = "/dev/underfelt"
BY_CHANCE: Final = ("ttyUSB", "ttyACM")
UNNAMED: Final = "E-DOC-016"


def lines(machine: Machine, layout: TableLayout) -> Iterator[Trouble]:
    ends: dict[Path, str] = {}
    for line in layout.lines:
        path = machine.path(line.port)
        if not machine.is_there(line.port):
            yield Trouble(MISSING, line.name, "stopped", _missing(machine, line))
            continue
        end = path.resolve()
        if end in ends:
            yield Trouble(SHARED, line.name, "stopped", f"{line.port} is {ends[end]}'s too")
        ends[end] = line.name
        yield from _line(machine, line, end)


def _missing(machine: Machine, line: LineLayout) -> str:
    there = machine.names(BY_PORT)
    listed = f"{BY_PORT} has {', '.join(there)}" if there else f"{BY_PORT} is empty"
    return f"{line.port}; {listed}"


def _line(machine: Machine, line: LineLayout, end: Path) -> Iterator[Trouble]:
    if not machine.is_device(line.port):
        yield Trouble(NO_DEVICE, line.name, "stopped", line.port)
        return
    if not machine.may_use(line.port):
        yield Trouble(NOT_OURS, line.name, "stopped", machine.owned(line.port))
    if Path(line.port).name.startswith(BY_CHANCE):
        yield Trouble(UNNAMED, line.name, "degraded", line.port)
    if end.name in _consoles(machine):
        yield Trouble(CONSOLE, line.name, "stopped", f"/dev/{end.name}")
    latency = machine.text(f"/sys/bus/usb-serial/devices/{end.name}/latency_timer")
    if latency is not None and latency.strip() != "1":
        yield Trouble(SLOW, line.name, "degraded", f"latency_timer is {latency.strip()} ms")


def _consoles(machine: Machine) -> set[str]:
    """Lines that the kernel or a login talks on."""
    command = machine.text("/proc/cmdline") or ""
    words = [word.removeprefix("console=") for word in command.split() if "console=" in word]
    found = {word.partition(",")[0].removeprefix("/dev/") for word in words}
    aliases = {"serial0", "serial1"} & found
    found |= {machine.path(f"/dev/{alias}").resolve().name for alias in aliases}
    for place in ("/run/systemd/generator", "/etc/systemd/system"):
        for unit in machine.names(f"{place}/getty.target.wants"):
            found.add(unit.removeprefix("serial-getty@").removesuffix(".service"))
    return found
