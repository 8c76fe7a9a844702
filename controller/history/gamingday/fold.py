"""One journal record after the other into a gaming day.

Nothing here refuses: a body that cannot be read is counted as that, because a report must not stop
a table. What is counted comes from records alone, so anyone with the journal has the same day.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from controller.history.gamingday.rounds import round_recorded
from controller.history.gamingday.sheet import (
    MINUTE_MS,
    MOST_KINDS,
    OTHER,
    Carry,
    Closing,
    Day,
    Dealer,
    Money,
    Pot,
    Total,
    count,
    listed,
)
from record.journal.format import Record
from record.shape import why

DAY: Final = "day"
VERSION: Final = 1
DEALER: Final = "dealer"
DAY_CLOSE: Final = "day close"
_NOTED: Final = ("player warned", "breach noted", "dispute raised")
"""Irregular, and no event of a round's record."""
_DECKS: Final[Mapping[str, str]] = {
    "deck changed": "brought into play",
    "deck shuffled": "shuffled",
    "deck counted": "counted",
    "count ordered": "count ordered",
}


class _Fact(msgspec.Struct):
    what: str
    of: dict[str, Any]
    by: dict[str, Any]


class _SignedOn(msgspec.Struct):
    person: str
    role: str


class _Call(msgspec.Struct):
    kind: str
    by: dict[str, str]


class _Alarm(msgspec.Struct):
    code: str


class _Device(msgspec.Struct):
    device: str
    state: str = "ready"
    code: str = ""


class _Opened(msgspec.Struct):
    game: str = ""
    configuration: str = ""
    program: str = ""
    rule_book: str = ""
    repaired_bytes: int = 0
    utc_offset_min: int = 0


class _Configuration(msgspec.Struct):
    in_force: str = ""


def take(day: Day, record: Record) -> Day:
    """The day with this record in it; after the record of a close, the day that follows."""
    if record.kind == DAY:
        return following(day, record.seq)
    act = _ACTS.get(record.kind)
    if act is None:
        return day
    if day.from_ms is None:
        day.from_ms = record.at_ms
    try:
        act(day, record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError):
        day.unread += 1
    return day


def following(day: Day, seq: int) -> Day:
    """The day after this one, whose record is ``seq``."""
    carry = day.carry
    fresh = Day(
        number=day.number + 1,
        first_seq=seq + 1,
        from_ms=None if day.closing is None else day.closing.at_ms,
        carry=msgspec.convert(msgspec.to_builtins(carry), Carry, str_keys=True),
        pot=Pot(carried_in=day.pot.carried_out, carried_out=day.pot.carried_out),
    )
    _in_force(fresh)
    return fresh


# --- what people and devices did ---------------------------------------------------------------


def _fact(day: Day, record: Record) -> None:
    fact = msgspec.json.decode(record.body, type=_Fact)
    person, role = fact.by.get("person"), fact.by.get("role")
    if isinstance(person, str) and role == DEALER:
        _stands(day, person, record.at_ms)
    elif isinstance(person, str):
        count(day.supervisors, person)
        if fact.what not in (*_DECKS, *_NOTED, "deck checked"):
            count(day.rulings, _ruling(fact))
    match fact.what:
        case "bets opened":
            day.rounds.opened += 1
            if day.bets_ms is None:
                day.bets_ms = record.at_ms
        case "deck checked":
            outcome = "passed" if fact.of.get("passed") is True else "failed"
            count(day.decks, f"{fact.of.get('deck')} checked: {outcome}")
        case "jackpot locked":
            day.progressive.locks += 1
        case "award changed":
            day.progressive.awards.setdefault(fact.of["state"], Money()).add(fact.of["cents"])
        case "mystery won":
            of = fact.of
            day.progressive.mystery.add(of["round_no"], of["seat"], of["level"], of["cents"])
        case what if what in _NOTED:
            count(day.irregularities, what)
        case what if what in _DECKS:
            named = f"{fact.of['deck']} " if "deck" in fact.of else ""
            count(day.decks, f"{named}{_DECKS[what]}")
        case _:
            pass


def _ruling(fact: _Fact) -> str:
    ruling = fact.of.get("ruling")
    if fact.what == "outcome invalidated":
        ruling = fact.of.get("reason")
    return f"{fact.what}: {ruling}" if isinstance(ruling, str) else fact.what


def _stands(day: Day, person: str, at_ms: int) -> None:
    """Somebody deals: a new turn if another person dealt before."""
    known = person if person in day.dealers or len(day.dealers) < MOST_KINDS else OTHER
    found = day.dealers.get(known)
    if found is None:
        found = day.dealers[known] = Dealer(at_ms, at_ms)
    if day.carry.dealer != person or not found.turns:
        found.turns += 1
    day.carry.dealer = person
    found.to_ms = max(found.to_ms, at_ms)


def _signed_on(day: Day, record: Record) -> None:
    one = msgspec.json.decode(record.body, type=_SignedOn)
    if one.role == DEALER:
        _stands(day, one.person, record.at_ms)


def _call(day: Day, record: Record) -> None:
    call = msgspec.json.decode(record.body, type=_Call)
    count(day.supervisors, call.by["person"])
    if call.kind == DAY_CLOSE:
        day.closing = Closing(
            record.seq, record.hash.hex(), record.at_ms, call.by["person"], call.by["role"]
        )


def _round(day: Day, record: Record) -> None:
    if round_recorded(day, record.body):
        dealer = day.dealers.get(day.carry.dealer, day.dealers.get(OTHER))
        if dealer is not None:
            dealer.rounds += 1


def _alarm(day: Day, record: Record) -> None:
    count(day.alarms, msgspec.json.decode(record.body, type=_Alarm).code)


def _device(day: Day, record: Record) -> None:
    told = msgspec.json.decode(record.body, type=_Device)
    if told.state != "ready":
        name = told.device
        name = name if name in day.devices or len(day.devices) < MOST_KINDS else OTHER
        count(day.devices.setdefault(name, {}), told.code or told.state)


def _opened(day: Day, record: Record) -> None:
    found = msgspec.json.decode(record.body, type=_Opened)
    day.starts.count += 1
    day.starts.repaired_bytes += found.repaired_bytes
    for name in ("game", "configuration", "program", "rule_book", "utc_offset_min"):
        setattr(day.carry, name, getattr(found, name))
    _in_force(day)


def _configuration(day: Day, record: Record) -> None:
    found = msgspec.json.decode(record.body, type=_Configuration)
    day.carry.configuration = found.in_force or day.carry.configuration
    _in_force(day)


def _in_force(day: Day) -> None:
    listed(day.configurations, day.carry.configuration)
    listed(day.programs, day.carry.program)
    listed(day.rule_books, day.carry.rule_book)


_ACTS: Final = {
    "fact": _fact,
    "signed-on": _signed_on,
    "table-call": _call,
    "round": _round,
    "alarm": _alarm,
    "device": _device,
    "opened": _opened,
    "configuration": _configuration,
}


# --- the close ---------------------------------------------------------------------------------


def total(day: Day) -> Total:
    """The bottom line. What a mis-pay moved is not in it: the results say what was due."""
    found = Total(capped=day.capped, ruled_anew=day.ruled_anew.house)
    for one in day.wagers.values():
        found.staked += one.staked
        found.returned += one.returned
        found.paid += one.paid
        found.held += one.held
    found.awards = sum(one.cents for one in day.awards.values())
    found.pot = day.pot.to_house - day.pot.put
    kept = found.staked - found.returned - found.paid - found.held
    found.house_net = kept - found.awards + found.capped + found.ruled_anew + found.pot
    return found


def local(at_ms: int, day: Day) -> datetime:
    """The time at the table, as its clock was set at the last start."""
    moved = at_ms + day.carry.utc_offset_min * MINUTE_MS
    return datetime.fromtimestamp(moved // 1000, UTC).replace(tzinfo=None)


def date_of(day: Day) -> str:
    """The day on which bets were first opened; of an idle day, that of its close."""
    at_ms = day.bets_ms if day.bets_ms is not None or day.closing is None else day.closing.at_ms
    try:
        return "" if at_ms is None else local(at_ms, day).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""  # a clock that is wrong by millennia


def closed(day: Day) -> bytes:
    """The body of the day's record; its closing call has been taken."""
    row = msgspec.to_builtins(day)
    row["total"], row["date"] = msgspec.to_builtins(total(day)), date_of(day)
    return msgspec.json.encode({"v": VERSION, **row})


def put(day: Day) -> dict[str, Any]:
    """An open day for the snapshot."""
    row: dict[str, Any] = msgspec.to_builtins(day)
    return row


def restored(row: Any) -> Day:
    """``msgspec.ValidationError`` names the field, the value and what is expected."""
    try:
        return msgspec.convert(row, Day, str_keys=True)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(why(error, row, Day, str_keys=True)) from None


def read(body: bytes) -> Day:
    """A closed day from its record; ``msgspec.DecodeError`` if it is none of this version."""
    row = msgspec.json.decode(body)
    if not isinstance(row, dict) or row.pop("v", None) != VERSION:
        raise msgspec.ValidationError(f"expected a day of version {VERSION}")
    return restored(row)
