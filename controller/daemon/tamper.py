"""What is plugged into the board and was switched off there: a keyboard, a disk, a network stick.

The udev rules refuse it (systemd/udev/60-underfelt-usb.rules); here it becomes an alarm of record
and stays in the status as long as it is plugged in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

DEVICES: Final = Path("/sys/bus/usb/devices")
LOOK_S: Final = 5.0
CLASSES: Final = {
    "01": "sound",
    "02": "modem or network",
    "03": "keyboard or mouse",
    "06": "camera",
    "08": "disk",
    "0a": "modem or network",
    "0e": "camera",
    "e0": "radio",
    "ff": "of a maker unknown here",
}


def strangers(devices: Path = DEVICES) -> dict[str, str]:
    """Port to what it is, of everything that was refused; nothing where there is no USB."""
    found = {}
    for switch in sorted(devices.glob("*/authorized")):
        if _read(switch) == "0":
            kind = _read(switch.with_name("bInterfaceClass")) or "?"
            found[switch.parent.name] = CLASSES.get(kind, f"class {kind}")
    return found


def _read(path: Path) -> str:
    """What is pulled while we look is not there any more."""
    try:
        return path.read_text("ascii", "replace").strip()
    except OSError:
        return ""


class Sockets:
    """Looks now and then. ``alarm`` is called once for whatever is new."""

    def __init__(self, alarm: Callable[[Mapping[str, Any]], None], devices: Path = DEVICES) -> None:
        self._alarm, self._devices = alarm, devices
        self.plugged: dict[str, str] = {}

    def take(self, found: Mapping[str, str]) -> None:
        for port, kind in found.items():
            if self.plugged.get(port) != kind:
                self._alarm({"code": "usb refused", "detail": f"{port}: {kind}"})
        self.plugged = dict(found)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self.take(await loop.run_in_executor(None, strangers, self._devices))
            await asyncio.sleep(LOOK_S)
