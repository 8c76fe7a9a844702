"""A card device that did not prove its program stays locked over a restart: read from records."""

from __future__ import annotations

from controller.daemon.device_lockouts import DeviceLockouts
from controller.history.entries import dump

IDENTIFIED = {"device": "shoe", "vendor": "UFELT", "model": "SHOE-1", "serial": "SH-1"}
LOCKED = {"device": "shoe", "state": "locked", "code": "E-CDP-024", "detail": "answered wrongly"}
CLOSED = {"device": "shoe", "state": "unknown", "code": "E-CDP-011", "detail": "line reopened"}
AGAIN = {"device": "shoe", "state": "unknown", "code": "E-CDP-024", "detail": "challenged again"}
READY = {"device": "shoe", "state": "ready", "code": "", "detail": ""}
OTHER = {"device": "sign", "state": "ready", "code": "", "detail": ""}


def barred(*records: dict[str, str]) -> dict[str, str]:
    lockouts = DeviceLockouts()
    for one in records:
        lockouts.take(dump(one))
    return lockouts.locked


def test_locked_then_anything_but_ready_is_barred_with_its_serial() -> None:
    assert barred(IDENTIFIED, READY, LOCKED, CLOSED, OTHER) == {"shoe": "SH-1"}
    assert barred(IDENTIFIED, LOCKED, CLOSED, LOCKED, AGAIN, IDENTIFIED) == {"shoe": "SH-1"}


def test_ready_again_is_proved() -> None:
    assert barred(IDENTIFIED, LOCKED, AGAIN, IDENTIFIED, READY) == {}


def test_another_device_in_its_place_does_not_take_the_bar_over() -> None:
    other = {**IDENTIFIED, "serial": "SH-2"}
    assert barred(IDENTIFIED, LOCKED, other) == {"shoe": "SH-1"}
