"""A shoe in a session with its driver, and what the driver made of it."""

from __future__ import annotations

from drivers.cards.devices import ShoeDriver
from drivers.readings import CardEvent, CardRead
from tests.drivers.cards.wire import Bench, card, status

HELLO, STATUS, BEAT, CHALLENGE = 0x01, 0x03, 0x04, 0x05
CARD, BURN, LOADED, JAM, JAM_CLEARED = 0x20, 0x21, 0x30, 0x32, 0x33
LOCK, UNLOCK, ACK, NAK = 0x60, 0x61, 0x7E, 0x7F


def bench(**more: object) -> Bench:
    return Bench(ShoeDriver("shoe", "SH-000001", **more))  # type: ignore[arg-type]


def in_session(number: int = 0, **more: object) -> Bench:
    at = bench(**more)
    at.open()
    at.session(status(number=number))
    at.clear()
    return at


def cards(at: Bench) -> list[tuple[int, int]]:
    return [(it.draw_no, it.card.unseal()) for it in at.readings if isinstance(it, CardRead)]


def events(at: Bench) -> list[tuple[str, int]]:
    return [(it.kind, it.number) for it in at.readings if isinstance(it, CardEvent)]


def read_card(at: Bench, seq: int, draw: int, **more: int) -> CardRead:
    at.event(CARD, seq, card(draw, **more))
    reading = at.readings[-1]
    assert isinstance(reading, CardRead)
    return reading
