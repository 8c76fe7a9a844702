"""Card devices whose program was challenged and not proved: they stay locked over any restart.

Read from the journal's own records of devices. A lock-out belongs to a serial number, so another
device in its place is none of its business; only one that was ready again has proved itself.
"""

from __future__ import annotations

from typing import Final

from controller.history.entries import load
from drivers.cards.driver import UNPROVED, CardDriver
from drivers.rig import Rig

DEVICE: Final = "device"
"""The kind of the records."""
_CODE: Final = UNPROVED.encode()


class DeviceLockouts:
    def __init__(self) -> None:
        self._serials: dict[str, str] = {}
        """By device, as it said last."""
        self.locked: dict[str, str] = {}

    def take(self, body: bytes) -> None:
        """The next record; only few of them are worth reading."""
        if not (self.locked or _CODE in body or b'"serial"' in body):
            return
        told = load(body)
        device = str(told.get("device", ""))
        if serial := told.get("serial"):
            self._serials[device] = str(serial)
        elif told.get("code") == UNPROVED:
            self.locked.setdefault(device, self._serials.get(device, ""))
        elif told.get("state") == "ready":
            self.locked.pop(device, None)

    def lock(self, rig: Rig, serials: dict[str, str]) -> None:
        """``serials``: by line, as the layout expects them."""
        for name, serial in self.locked.items():
            driver = rig.lines.get(name)
            if isinstance(driver, CardDriver) and serial in ("", serials.get(name)):
                driver.lock_out()
