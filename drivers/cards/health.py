"""What a device's words about itself mean: the right one or not, well or not (section 7)."""

from __future__ import annotations

from typing import Final

from drivers.base import Fault
from drivers.cards import messages as m
from drivers.cards.messages import Err, HelloR

PROTO: Final = 1

_ERRS: Final = (
    (Err.READER, Fault("E-CDP-032", "reader fault")),
    (Err.MEMORY, Fault("E-CDP-033", "non-volatile memory fault")),
    (Err.MOTOR, Fault("E-CDP-034", "motor fault")),
    (Err.REFUSED | Err.QUEUE, Fault("E-CDP-035", "event refused or queue full")),
    (Err.DECK, Fault("E-CDP-036", "wrong deck inside")),
)


def fault_of(state: int, switches: int, err: int) -> Fault | None:
    """The first reason why a device works only in part, or None."""
    if switches & m.SWITCH_JAM or err & Err.JAM:
        return Fault("E-CDP-030", "jam")
    if switches & m.SWITCH_DOOR:
        return Fault("E-CDP-031", "door or lid open")
    for bits, fault in _ERRS:
        if err & bits:
            return fault
    return Fault("E-CDP-037", "fault without a reason") if state == m.STATE_FAULT else None


def identity_fault(hello: HelloR, serial: str, firmware: str | None) -> Fault | None:
    """Why this is not the device that belongs here, or None. An empty serial is not compared."""
    if hello.proto != PROTO:
        return Fault("E-CDP-023", f"protocol {hello.proto}, {PROTO} expected")
    if serial and hello.serial != serial:
        return Fault("E-CDP-020", f"serial {hello.serial}, {serial} expected")
    if firmware is not None and hello.firmware != firmware.upper():
        return Fault("E-CDP-021", f"firmware {hello.firmware}, {firmware.upper()} expected")
    return None
