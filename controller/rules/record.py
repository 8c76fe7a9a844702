"""The round record: one neutral description of a finished or broken-off round.

Here is what a record is, and how it is written; ``decode`` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from controller.rules import events as ev
from controller.rules.book import SPOT_1, SPOT_2, Book
from controller.rules.cards import NAMES, Card
from controller.rules.hands import HAND_NAMES
from controller.rules.settings import DEFAULTS, MONEY_SPEC, Settings

Cards = tuple[Card | None, ...]
"""Cards as recorded; ``None`` for one that never became public."""

NOTHING_WITHDRAWN: frozenset[str] = frozenset()


class SeatRecord(NamedTuple):
    seat: int
    wagers: Mapping[str, int]
    """What lies on each spot, empty spots left out."""
    cards: Cards = ()
    withdrawn: frozenset[str] = NOTHING_WITHDRAWN
    action: str | None = None
    draw: Cards = ()
    place: int = 0
    """Where the seat stands in the record, for messages."""

    @property
    def path(self) -> str:
        return f"$.round.seats[{self.place}]"


class RoundRecord(NamedTuple):
    book: Book
    settings: Settings
    seats: tuple[SeatRecord, ...]
    """In ascending order."""
    community: Cards = ()
    bonus_card: Card | None = None
    dealer: Cards = ()
    ante: int = 0
    events: tuple[ev.Event, ...] = ()


def _names(held: Cards) -> list[str | None]:
    return [None if c is None else NAMES[c] for c in held]


def _settings_to_json(settings: Settings) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name in MONEY_SPEC:
        value = getattr(settings, name)
        if value == getattr(DEFAULTS, name):
            continue
        if name == "magic_card":
            value = NAMES[value]
        elif name == "hedge_pay":
            value = {HAND_NAMES[hand]: odds for hand, odds in value.items()}
        row[name] = value
    return row


def encode_record(record: RoundRecord) -> dict[str, Any]:
    """The record as JSON values; decoding gives the same record back."""
    ricochet = record.book.family == "ricochet"
    seats = []
    for s in record.seats:
        row: dict[str, Any] = {"seat": s.seat, "wagers": dict(s.wagers), "cards": _names(s.cards)}
        if ricochet:
            row |= {"action": s.action, "draw": _names(s.draw) or None}
        else:
            row["decisions"] = {
                spot: "withdraw" if spot in s.withdrawn else "ride"
                for spot in (SPOT_1, SPOT_2)
                if spot in s.wagers or spot in s.withdrawn
            }
        seats.append(row)
    body: dict[str, Any] = {"seats": seats}
    if ricochet:
        body |= {"dealer": _names(record.dealer), "ante": record.ante}
    else:
        body["community"] = _names(record.community)
    if record.bonus_card is not None:
        body["bonus_card"] = NAMES[record.bonus_card]
    body["events"] = [ev.event_to_json(e) for e in record.events]
    return {
        "game": record.book.key,
        "settings": _settings_to_json(record.settings),
        "round": body,
    }
