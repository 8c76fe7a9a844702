"""Readings that shoe and shuffler have in common (docs/protocols/card-devices.md section 9)."""

from __future__ import annotations

from collections.abc import Iterable

from drivers.cards import messages as m
from drivers.cards.continuity import Break
from drivers.cards.messages import Event
from drivers.machines import LineAction
from drivers.readings import CardEvent, MetersRead


def common_reading(device: str, event: Event, key: int, at_us: int) -> CardEvent | None:
    """The reading of an event that both devices have, or None."""
    match event:
        case m.Jam(jam_no=number):
            place = m.PLACES[event.place]
            return CardEvent(device, "jam", number, result=place, at_us=at_us, key=key)
        case m.JamCleared(jam_no=number):
            return CardEvent(device, "jam cleared", number, at_us=at_us, key=key)
        case m.Door(door_no=number, open=1):
            door = m.DOORS[event.door]
            return CardEvent(device, "door opened", number, result=door, at_us=at_us, key=key)
        case m.Door(door_no=number):
            door = m.DOORS[event.door]
            return CardEvent(device, "door closed", number, result=door, at_us=at_us, key=key)
    return None


def break_readings(device: str, breaks: Iterable[Break], at_us: int) -> list[LineAction]:
    out: list[LineAction] = []
    for it in breaks:
        if it.kind == "gap":
            out.append(CardEvent(device, "gap", it.number, count=it.count, at_us=at_us))
        else:
            out.append(epoch_reading(device, it.number, it.expected, "backwards", at_us))
    return out


def epoch_reading(device: str, number: int, expected: int, why: str, at_us: int) -> CardEvent:
    return CardEvent(device, "new epoch", number, expected=expected, result=why, at_us=at_us)


def meters_reading(device: str, meters: m.Meters, at_us: int) -> MetersRead:
    return MetersRead(
        device,
        (
            ("shuffles ok", meters.shuffles_ok),
            ("shuffles failed", meters.shuffles_failed),
            ("cards", meters.cards),
            ("door openings", meters.door_openings),
        ),
        at_us,
    )
