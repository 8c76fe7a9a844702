"""The board itself: supply, heat, clock, sockets that take anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controller.doctor.machine import Machine
from controller.faults.troubles import Level, Trouble
from drivers.gpio.codec import parse_throttled

PLATFORM: Final = "/sys/devices/platform"
HWMON: Final = "/sys/class/hwmon"
HEAT: Final = "/sys/class/thermal/thermal_zone0/temp"
HOT_C: Final = 80
BITS: Final[tuple[tuple[int, str, Level, str], ...]] = (
    (0, "E-DOC-050", "stopped", "now"),
    (16, "E-DOC-051", "degraded", "since the start of the board"),
    (2, "E-DOC-052", "degraded", "now"),
    (18, "E-DOC-053", "note", "since the start of the board"),
)
"""Of the firmware's word: bit, code, level, when."""
TOO_HOT: Final = "E-DOC-054"
UNSYNCED: Final = "E-DOC-030"
BEHIND: Final = "E-DOC-031"
NO_RTC: Final = "E-DOC-032"
OPEN_USB: Final = "E-DOC-080"
DUMPS: Final = "E-DOC-081"
SYNCED: Final = "/run/systemd/timesync/synchronized"
OTHER_CLOCKS: Final = ("/run/chrony/chronyd.pid", "/run/ntpd.pid")


def board(machine: Machine) -> Iterator[Trouble]:
    flags = supply(machine) or 0
    for bit, code, level, when in BITS:
        if flags >> bit & 1:
            yield Trouble(code, "board", level, when)
    heat = machine.text(HEAT)
    if heat is not None and heat.isdigit() and int(heat) >= HOT_C * 1000:
        yield Trouble(TOO_HOT, "board", "degraded", f"{int(heat) // 1000} degrees")


def supply(machine: Machine) -> int | None:
    """The firmware's flags; None if this board says nothing about its supply.

    A kernel without that file has the alarm of the supply alone.
    """
    for path in throttled_at(machine):
        flags = parse_throttled(machine.text(path) or "")
        if isinstance(flags, int):
            return flags
    for name in machine.names(HWMON):
        if machine.text(f"{HWMON}/{name}/name") == "rpi_volt":
            return int(machine.text(f"{HWMON}/{name}/in0_lcrit_alarm") == "1")
    return None


def throttled_at(machine: Machine) -> Iterator[str]:
    """The folder's name is the board's: ``soc`` up to the Pi 4, ``soc@107c000000`` on the Pi 5."""
    for soc in machine.names(PLATFORM):
        for part in machine.names(f"{PLATFORM}/{soc}") if soc.startswith("soc") else ():
            path = f"{PLATFORM}/{soc}/{part}/get_throttled"
            if machine.is_there(path):
                yield path


def clock(machine: Machine, now_ms: int, last_record_ms: int | None) -> Iterator[Trouble]:
    if not any(machine.is_there(name) for name in (SYNCED, *OTHER_CLOCKS)):
        yield Trouble(UNSYNCED, "clock", "degraded")
    if last_record_ms is not None and now_ms < last_record_ms:
        behind = (last_record_ms - now_ms) / 1000
        yield Trouble(BEHIND, "clock", "degraded", f"{behind:.0f} s behind the journal")
    if not machine.names("/sys/class/rtc"):
        yield Trouble(NO_RTC, "clock", "note")


def sockets(machine: Machine) -> Iterator[Trouble]:
    """A device that somebody plugs in must not become a keyboard or a network."""
    usb = machine.names("/sys/bus/usb/devices")
    for hub in (name for name in usb if name.startswith("usb")):
        allowed = machine.text(f"/sys/bus/usb/devices/{hub}/authorized_default")
        if allowed == "1":
            yield Trouble(OPEN_USB, hub, "degraded", "authorized_default is 1")
    pattern = machine.text("/proc/sys/kernel/core_pattern") or ""
    if pattern.startswith("|") or "/" in pattern:
        kept = machine.text("/etc/systemd/coredump.conf.d/underfelt.conf") or ""
        if "Storage=none" not in kept:
            yield Trouble(DUMPS, "core dumps", "degraded", pattern[:60])
