"""Records that are no facts of a round, in words: starts, devices, alarms, the link's events."""

from __future__ import annotations

from typing import Any, Final

from controller.history.entries import load
from controller.history.errors import BodyError
from controller.history.replay import TEST
from controller.replay.words import Sentence, cents, corrector
from drivers.cards.codec import parts_of
from drivers.cards.messages import Type
from record.journal.format import Record

QUIET: Final = frozenset(("standing", "deckwatch", "day", "checkpoint"))
"""Book-keeping of the program: nothing that anybody at the table could see."""
BESIDE: Final = frozenset(("shown", "revealed", "round", "outbox", "odometer"))
"""Told with the moment before them."""
COMPUTER: Final = "the table's computer"
CARD_TYPES: Final = {int(one): one.name.lower().replace("_", " ") for one in Type}


def body_of(record: Record) -> dict[str, Any]:
    """The fields of a record, or none: what cannot be read is said, not refused."""
    try:
        return load(record.body)
    except BodyError:
        return {}


def told(record: Record) -> str:
    """What a record of its own says."""
    body = body_of(record)
    match record.kind:
        case "opened":
            return f"THE TABLE'S COMPUTER STARTED (program {body.get('version', '?')})"
        case "closed":
            return f"The table's computer was stopped: {body.get('why', '?')}"
        case "repair":
            return "A write was cut off by the power; nobody had acted upon it"
        case "lock":
            return f"THE TABLE IS LOCKED OUT: {body.get('why', '?')}"
        case "unlock":
            return f"The lock-out is cleared by {', '.join(map(str, body.get('by', ())))}"
        case "alarm":
            return f"ALARM {_alarm(body)}"
        case "device":
            return _device(body)
        case "configuration":
            return f"Configuration: {body.get('verdict', '?')}"
        case "attempt":
            return f"Sign-on: {body.get('what', '?')}, {body.get('who', '?')}"
        case "witness":
            orders = f"{body.get('staff', '?')} staff orders; their head is kept here"
            end = f"event {body['event']} and " if "event" in body else ""
            return f"The server has {end}{orders}"
        case "selection":
            return f"The draw, in writing: {body.get('what', 'entry')}"
        case "test":
            return _test(body)
        case _:
            fields = ", ".join(f"{name} {value}" for name, value in body.items())
            return f"{record.kind.replace('-', ' ').capitalize()}: {fields}"


def _test(body: dict[str, Any]) -> str:
    """Test mode. Which card it was is not written down, so nobody can tell."""
    match body.get("event"):
        case "begin":
            return "TEST MODE BEGINS: nothing that is read or pressed from here on counts"
        case "reading":
            key = body.get("key")
            kind, _, number = parts_of(key if isinstance(key, int) else 0)
            sort = CARD_TYPES.get(kind, f"type {kind:02X}")
            device = body.get("device", "?")
            return f"Test mode: {device} told '{sort}', number {number}, for the test alone"
        case "end":
            return f"TEST MODE ENDS: {body.get('why', '?')}"
        case other:
            return f"Test mode: {other}"


def by(record: Record) -> str:
    """Who said what a record of its own says."""
    body = body_of(record)
    if record.kind != TEST:
        return COMPUTER
    who = body.get("by")
    if isinstance(who, dict):
        name = who.get("user") or f"uid {who.get('uid', '?')}"
        return f"{name}, {who.get('role', '?')}, in the shell"
    return f"measured by {body['device']}" if "device" in body else COMPUTER


def test_state(record: Record) -> str:
    """The digest that the begin and the end of a test mode state; it is stepped to and compared."""
    return str(body_of(record).get("state", "")) if record.kind == TEST else ""


def _alarm(body: dict[str, Any]) -> str:
    seat = body.get("seat")
    about = f"seat {seat}: " if seat is not None else ""
    detail = body.get("detail") or ", ".join(
        f"{k} {v}" for k, v in body.items() if k not in ("code", "seat", "clause", "detail")
    )
    return f"{body.get('code', '?')}: {about}{detail}"


def _device(body: dict[str, Any]) -> str:
    name = body.get("device", "?")
    if "state" in body:
        why = " ".join(str(body[k]) for k in ("code", "detail") if body.get(k))
        return f"Device {name}: {body['state']}{f' ({why})' if why else ''}"
    fields = ", ".join(f"{k} {v}" for k, v in body.items() if k != "device")
    return f"Device {name}: {fields}"


def same_alarm(record: Record, followed: tuple[Sentence, ...]) -> bool:
    """Has the moment before said this already?"""
    said = f"ALARM {_alarm(body_of(record))}"
    return any(one.text == said for one in followed)


def beside(record: Record) -> list[Sentence]:
    """What a record adds to the moment before it; displays are kept apart."""
    body = body_of(record)
    match record.kind:
        case "revealed":
            rows = body.get("cards", ())
            faces = " ".join(str(row.get("card", "?")) for row in rows)
            why = str(rows[0].get("moment", "")) if rows else ""
            return [Sentence(f"now public: {faces} ({why})")]
        case "round":
            corrections = body.get("corrections") or ()
            said = f"written down: round {body.get('round', '?')}"
            if corrections:
                told = ", ".join(
                    f"seat {s} {cents(c)} by {corrector(w)}" for s, c, w in corrections
                )
                said += f", corrections: {told}"
            if body.get("ruled_anew"):
                said += ", ruled again"
            return [Sentence(said)]
        case "outbox":
            event = body.get("event", {})
            return [
                Sentence(f"for the link server, event {body.get('n', '?')}: {event.get('what')}")
            ]
        case "odometer":
            pace = f"{cents(body.get('from', 0))} to {cents(body.get('to', 0))}"
            return [Sentence(f"the meter counts up from {pace} in {body.get('over_ms', 0)} ms")]
        case _:
            return []


def round_of(record: Record) -> int | None:
    """The round that a written round or an event for the link server is about."""
    body = body_of(record)
    if record.kind == "round":
        found = body.get("round")
    elif record.kind == "outbox":
        found = body.get("event", {}).get("round")
    else:
        return None
    return found if isinstance(found, int) else None
