"""Everything that is not as it should be, from a status: one line each, and what to do.

Pure. The texts are those of the pages under docs/; nothing here says them a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from controller.faults.catalogue import said
from controller.faults.status import Status
from controller.shell.answers import TroubleRow

Level = Literal["stopped", "degraded", "note"]
MARKS: Final[Mapping[Level, str]] = {"stopped": "!!", "degraded": "!", "note": "-"}
_ORDER: Final = tuple(MARKS)

FULL: Final = "E-TBL-001"
NEARLY_FULL: Final = "E-TBL-002"
LINK_LOST: Final = "E-TBL-003"
NO_LINK: Final = "E-TBL-004"
SAFE_MODE: Final = "E-TBL-005"
LOCKED_OUT: Final = "E-TBL-006"
CHANGES: Final[Mapping[str, tuple[str, Level]]] = {
    "wait": ("E-TBL-007", "note"),
    "restart": ("E-TBL-008", "degraded"),
    "refused": ("E-TBL-009", "degraded"),
}
OVERFLOW: Final = "E-TBL-010"
SILENT: Final = "E-TBL-011"
FRAMES_LOST: Final = "E-TBL-012"
LOW_SUPPLY: Final = "E-TBL-013"
POWER_FAILS: Final = "E-TBL-014"
DOOR: Final = "E-TBL-015"
NO_METRICS: Final = "E-TBL-016"
LOCKED_MODE: Final = "E-TBL-017"
LINK_HALTED: Final = "E-TBL-018"
STRANGER: Final = "E-TBL-020"
ROUND_STOPPED: Final = "E-TBL-021"
IN_TEST: Final = "E-TBL-019"
UNTOLD: Final = "E-TBL-022"
NO_CARD: Final = "no card can be dealt"


@dataclass(frozen=True, slots=True)
class Trouble:
    code: str
    about: str
    level: Level
    detail: str = ""

    @property
    def meaning(self) -> str:
        """What the code means."""
        return said(self.code).meaning or self.code

    @property
    def what(self) -> str:
        """What the code means, and what was seen here."""
        parts = [said(self.code).meaning, self.detail]
        return "; ".join(part for part in parts if part) or "not ready"

    @property
    def do(self) -> str:
        return said(self.code).action

    @property
    def line(self) -> str:
        return f"{MARKS[self.level]:>2} {self.code:10} {self.about}: {self.what} -> {self.do}"

    def row(self) -> TroubleRow:
        return {
            "level": self.level,
            "code": self.code,
            "about": self.about,
            "what": self.what,
            "do": self.do,
        }


def troubles(status: Status) -> list[Trouble]:
    """The worst first."""
    found = [*others_in(status), *devices_in(status)]
    return sorted(found, key=lambda one: _ORDER.index(one.level))


def ill(found: list[Trouble]) -> bool:
    """Is anything stopped or degraded?"""
    return any(one.level != "note" for one in found)


def others_in(status: Status) -> Iterator[Trouble]:
    """All but the devices'."""
    yield from _table(status)
    yield from _disk(status)
    yield from _link(status)


def _table(status: Status) -> Iterator[Trouble]:
    if status.get("mode") == "locked":
        yield Trouble(LOCKED_MODE, "table", "stopped")
    if status.get("locked"):
        yield Trouble(LOCKED_OUT, "table", "stopped", str(status["locked"]))
    if why := status.get("stopped"):
        yield Trouble(ROUND_STOPPED, f"round {status.get('round', '?')}", "stopped", str(why))
    if tester := status.get("test_mode"):
        yield Trouble(IN_TEST, "table", "note", f"{tester['user'] or tester['uid']} has it")
    if status.get("power_failing"):
        yield Trouble(POWER_FAILS, "power", "stopped")
    if status.get("supply_low"):
        yield Trouble(LOW_SUPPLY, "power", "stopped")
    if status.get("door_open"):
        yield Trouble(DOOR, "door", "degraded")
    for port, kind in status.get("strangers", {}).items():
        yield Trouble(STRANGER, f"USB {port}", "degraded", kind)
    if status.get("safe_mode"):
        by = status.get("safe_mode_by")
        yield Trouble(SAFE_MODE, "progressive", "degraded", f"ordered by {by}" if by else "")
    change = status.get("configuration_change", {})
    if change.get("verdict") in CHANGES:
        code, level = CHANGES[change["verdict"]]
        keys = ", ".join(one["key"] for one in change.get("changes", ()))
        yield Trouble(code, "configuration", level, change.get("why", "") or keys)
    if lost := status.get("overflows"):
        yield Trouble(OVERFLOW, "devices", "degraded", f"{lost} since the start")
    if lost := status.get("frames_lost"):
        yield Trouble(FRAMES_LOST, "frame log", "note", f"{lost} since the start")
    if fault := status.get("untold"):
        yield Trouble(UNTOLD, "pages", "degraded", fault)
    if why := status.get("http_error"):
        yield Trouble(NO_METRICS, "metrics", "degraded", str(why))


def _disk(status: Status) -> Iterator[Trouble]:
    disk = status.get("disk", {})
    if status.get("journal", {}).get("full"):
        yield Trouble(FULL, "disk", "stopped")
    elif disk.get("free_bytes", 1) < disk.get("low_bytes", 0):
        free = f"{disk['free_bytes'] / (1 << 20):.0f} MiB are free"
        yield Trouble(NEARLY_FULL, "disk", "degraded", free)


def _link(status: Status) -> Iterator[Trouble]:
    link = status.get("link") or {}
    if link.get("halted"):
        yield Trouble(LINK_HALTED, "link", "stopped", str(link["halted"]))
    if not status.get("progressive", True) or status.get("link_up", True):
        return
    if status.get("link_configured", True):
        yield Trouble(LINK_LOST, "link", "degraded", str(link.get("trouble", "")))
    else:
        yield Trouble(NO_LINK, "link", "note")


def devices_in(status: Status) -> Iterator[Trouble]:
    """One for each device that is not ready."""
    deals = status.get("card_devices", ())
    for name, told in status.get("devices", {}).items():
        if told["state"] == "ready":
            continue
        detail = [told["detail"]] if told["code"] and told["detail"] else []
        if name in deals:
            detail.append(NO_CARD)
        level: Level = "stopped" if name in deals else "degraded"
        yield Trouble(told["code"] or SILENT, name, level, "; ".join(detail))
