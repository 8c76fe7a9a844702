"""A reading as a row for ``watch``: no card, no digit of a PIN.

Every kind of reading is listed with the fields that may be shown; one that is not listed is shown
as ``other``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from drivers.base import DeviceIdentified, Fault, Identity, StateReported
from drivers.readings import (
    Antenna,
    AntennaFailed,
    AntennaRead,
    CardEvent,
    CardRead,
    CreditOffered,
    CreditReturned,
    CreditTaken,
    KeyPressed,
    MetersRead,
    PacketRead,
    Reading,
    Shown,
    SpotLost,
    SpotMoving,
    SpotSettled,
    SupplyRead,
    SweepAgreed,
    SwitchRead,
    TagOnTwoSpots,
)

UNLISTED: Final = ("other", ())
DIGIT: Final = "digit"
"""Stands for any digit key: it may be one of a PIN."""
_TOLD: Final[Mapping[type, tuple[str, tuple[str, ...]]]] = {
    AntennaFailed: ("AntennaFailed", ("antenna", "code")),
    SpotSettled: ("SpotSettled", ("antenna", "tags")),
    SpotMoving: ("SpotMoving", ("antenna",)),
    SpotLost: ("SpotLost", ("antenna", "code")),
    TagOnTwoSpots: ("TagOnTwoSpots", ("tag", "antennas")),
    SweepAgreed: ("SweepAgreed", ("number", "uncertain")),
    CardRead: ("CardRead", ("draw_no",)),
    PacketRead: ("PacketRead", ("packet_no", "deck")),
    CardEvent: ("CardEvent", ("kind", "number", "count", "expected", "result", "deck")),
    MetersRead: ("MetersRead", ("meters",)),
    KeyPressed: ("KeyPressed", ("key",)),
    SwitchRead: ("SwitchRead", ("name", "on")),
    CreditOffered: ("CreditOffered", ("seat", "number")),
    CreditTaken: ("CreditTaken", ("seat", "number")),
    CreditReturned: ("CreditReturned", ("seat", "number")),
    Shown: ("Shown", ("content",)),
    SupplyRead: ("SupplyRead", ("flags",)),
    StateReported: ("StateReported", ("state", "reason")),
    DeviceIdentified: ("DeviceIdentified", ("identity",)),
}
"""The name of each reading in an answer, and its fields that are shown."""
_NAMED_AFTER: Final = (SpotSettled, SpotMoving, SpotLost)


def row_of(reading: Reading) -> dict[str, Any] | None:
    """None for a single inventory: only what has settled is shown."""
    kind = type(reading)
    if kind is AntennaRead:
        return None
    called, fields = _TOLD.get(kind, UNLISTED)
    told = {name: _plain(getattr(reading, name)) for name in fields}
    if isinstance(reading, KeyPressed) and reading.key.isdecimal():
        told["key"] = DIGIT
    return {
        "device": _device(reading),
        "reading": called,
        "at_us": getattr(reading, "at_us", 0),
        **told,
    }


def _device(reading: Reading) -> str:
    if isinstance(reading, _NAMED_AFTER):
        return reading.antenna.reader
    return str(getattr(reading, "device", "chips"))


def _plain(value: object) -> Any:
    match value:
        case bool() | int() | str() | None:
            return value
        case Antenna():
            return str(value)
        case Enum():
            return value.value
        case Fault(code, detail):
            return f"{code} {detail}".strip()
        case Identity():
            return f"{value.vendor} {value.model} {value.serial} {value.firmware}"
        case frozenset():
            return sorted(str(one) for one in value)
        case tuple():
            return [_plain(one) for one in value]
        case _:
            raise TypeError(f"{type(value).__name__} is not told")
