"""Reads a round record: parsed JSON in, a ``RoundRecord`` or a ``RecordError`` out.

The error names the JSON path, the value and what is expected. Whether a round that must be settled
has all its cards is asked later (``settle``), because an event may explain a gap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final, NoReturn

from controller.rules import events as ev
from controller.rules.book import BASE_SPOTS, SPOT_1, SPOT_2, Book
from controller.rules.books import BOOKS
from controller.rules.cards import BY_NAME, NAMES, Card
from controller.rules.errors import RecordError
from controller.rules.record import NOTHING_WITHDRAWN, Cards, RoundRecord, SeatRecord
from controller.rules.settings import DEFAULTS, MONEY_SPEC, MOST, Bad, Settings, convert
from record.kit.words import shown

_LIR_SEAT: Final = frozenset(("seat", "wagers", "cards", "decisions"))
_RICO_SEAT: Final = frozenset(("seat", "wagers", "cards", "action", "draw"))
_DECIDABLE: Final = frozenset((SPOT_1, SPOT_2))
_WAGERS: Final = {key: frozenset(book.wagers) for key, book in BOOKS.items()}
_TOP: Final = frozenset(("game", "settings", "round"))
_ROUND: Final = {
    key: frozenset(
        ("seats", "dealer", "ante", "events")
        if book.family == "ricochet"
        else ("seats", "community", "events", *(("bonus_card",) if book.bonus_card else ()))
    )
    for key, book in BOOKS.items()
}
_ELSEWHERE: Final = frozenset().union(
    _LIR_SEAT, _RICO_SEAT, *_WAGERS.values(), *_ROUND.values()
) - {"seat"}
"""Fields and wagers that some game has."""


# --- small decoders ----------------------------------------------------------------------------


def _object(value: object) -> dict[str, Any]:
    if type(value) is not dict:
        raise RecordError("E-REC-002", "", f"{shown(value)} is not an object; expected {{...}}")
    return value


def _list(value: object) -> list[Any]:
    if type(value) is not list:
        raise RecordError("E-REC-002", "", f"{shown(value)} is not a list; expected [...]")
    return value


def _known(row: dict[str, Any], allowed: frozenset[str], what: str = "field") -> None:
    """Refuse a key that is not allowed; one that another game has may stand there saying null."""
    for key, value in row.items():
        if key not in allowed and not (value is None and key in _ELSEWHERE):
            listed = ", ".join(sorted(allowed))
            raise RecordError("E-REC-003", f".{key}", f"unknown {what}; expected one of {listed}")


def _amount(value: object) -> int:
    if type(value) is not int or not 0 <= value <= MOST:
        expected = f"expected whole minor units (cents), 0 to {MOST}"
        raise RecordError("E-REC-004", "", f"{shown(value)} is not money; {expected}")
    return value


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise RecordError("E-REC-004", "", f"{shown(value)} is not a count; expected 0, 1, 2, ...")
    return value


def _seat_number(value: object) -> int:
    if type(value) is not int or value < 1:
        raise RecordError(
            "E-REC-005", "", f"{shown(value)} is not a seat; expected a whole number from 1"
        )
    return value


def _card(value: object) -> Card | None:
    if value is None:
        return None
    found = BY_NAME.get(value) if type(value) is str else None
    if found is None:
        expected = 'expected rank 23456789TJQKA then suit cdhs, e.g. "Th"'
        raise RecordError("E-REC-006", "", f"{shown(value)} is not a card; {expected}")
    return found


def _cards(value: object) -> Cards:
    if value is None:
        return ()
    listed = _list(value)
    try:
        # The plain case: a list of known cards.
        return tuple([BY_NAME[name] for name in listed])
    except (KeyError, TypeError):
        return tuple(_each(_card, listed))


def _each(decode: Callable[[object], Any], listed: list[object]) -> list[Any]:
    found = []
    for i, one in enumerate(listed):
        try:
            found.append(decode(one))
        except RecordError as error:
            raise error.under(f"[{i}]") from None
    return found


def _part(row: Mapping[str, object], name: str, decode: Callable[[object], Any]) -> Any:
    try:
        return decode(row.get(name))
    except RecordError as error:
        raise error.under(f".{name}") from None


# --- settings ----------------------------------------------------------------------------------


def decode_settings(value: object) -> Settings:
    if value is None:
        return DEFAULTS
    row = _object(value)
    found: dict[str, Any] = {}
    for name, one in row.items():
        if name not in MONEY_SPEC:
            listed = ", ".join(MONEY_SPEC)
            raise RecordError("E-REC-003", f".{name}", f"unknown setting; expected one of {listed}")
        if one is None:
            continue
        try:
            found[name] = convert(name, one)
        except Bad as wrong:
            raise RecordError("E-REC-007", f".{name}", f"{shown(one)}: {wrong}") from None
    return Settings(**found) if found else DEFAULTS


# --- seats -------------------------------------------------------------------------------------


def decode_wagers(value: object, book: Book) -> dict[str, int]:
    if value is None:
        return {}
    allowed = _WAGERS[book.key]
    wagers: dict[str, int] = {}
    for spot, amount in _object(value).items():
        if spot in allowed and type(amount) is int and 0 < amount <= MOST:
            wagers[spot] = amount
        elif amount is not None or spot not in _ELSEWHERE:
            _known({spot: amount}, allowed, "wager")
            _part({spot: amount}, spot, _amount)
    return wagers


_BACK: Final[Mapping[object, frozenset[str]]] = {
    (one, two): frozenset(s for s, d in ((SPOT_1, one), (SPOT_2, two)) if d == "withdraw")
    for one in ("ride", "withdraw", None)
    for two in ("ride", "withdraw", None)
}
"""The spots taken back, by the two decisions."""


def _withdrawn(value: object) -> frozenset[str]:
    if value is None:
        return NOTHING_WITHDRAWN
    row = _object(value)
    if not row.keys() <= _DECIDABLE:
        _known(row, _DECIDABLE, "decision")
    decisions = (row.get(SPOT_1), row.get(SPOT_2))
    try:
        return _BACK[decisions]
    except (KeyError, TypeError):
        spot = SPOT_2 if decisions[0] in ("ride", "withdraw", None) else SPOT_1
        problem = f'{shown(row[spot])} is no decision; expected "ride" or "withdraw"'
        raise RecordError("E-REC-008", f".{spot}", problem) from None


def _action(value: object) -> str | None:
    if value in ("play", "fold"):
        return str(value)
    if value is not None:
        raise RecordError("E-REC-008", "", f'{shown(value)}; expected "play" or "fold"')
    return None


def _draw(value: object, action: str | None) -> Cards:
    cards = _cards(value)
    if cards and action == "fold":
        raise RecordError("E-REC-009", "", "a folded hand draws no cards; expected null")
    return cards


def _decode_seat(value: object, book: Book, place: int) -> SeatRecord:
    row = _object(value)
    ricochet = book.family == "ricochet"
    allowed = _RICO_SEAT if ricochet else _LIR_SEAT
    if not row.keys() <= allowed:
        _known(row, allowed)
    number = row.get("seat")
    if type(number) is not int or not 1 <= number <= book.max_seats:
        _part(row, "seat", _seat_number)
        problem = f"{number}: a {book.key} table has {book.max_seats} seats at most"
        raise RecordError("E-REC-005", ".seat", problem)
    part = ".wagers"
    try:
        wagers = decode_wagers(row.get("wagers"), book)
        part = ".cards"
        cards = _cards(row.get("cards"))
        if not ricochet:
            part = ".decisions"
            back = _withdrawn(row.get("decisions"))
            return SeatRecord(number, wagers, cards, back, None, (), place)
        part = ".action"
        action = _action(row.get("action"))
        part = ".draw"
        draw = _draw(row.get("draw"), action)
    except RecordError as error:
        raise error.under(part) from None
    return SeatRecord(number, wagers, cards, NOTHING_WITHDRAWN, action, draw, place)


def _decode_seats(value: object, book: Book) -> tuple[SeatRecord, ...]:
    seats: list[SeatRecord] = []
    for i, row in enumerate(_list(value)):
        try:
            seats.append(_decode_seat(row, book, i))
        except RecordError as error:
            raise error.under(f"[{i}]") from None
    seats.sort(key=itemgetter(0))
    for one, following in pairwise(seats):
        if one.seat == following.seat:
            later = max(one.place, following.place)
            raise RecordError("E-REC-010", f"[{later}].seat", f"seat {one.seat} appears twice")
    return tuple(seats)


# --- events ------------------------------------------------------------------------------------


def _text(value: object) -> str:
    if type(value) is not str:
        raise RecordError("E-REC-007", "", f"{shown(value)} is not text")
    return value


def _flag(value: object) -> bool:
    if type(value) is not bool:
        raise RecordError("E-REC-007", "", f"{shown(value)}: expected true or false")
    return value


def _resolution(value: object) -> object:
    if value not in ("corrected", "fold", "refused"):
        problem = f'{shown(value)}: expected "corrected", "fold" or "refused"'
        raise RecordError("E-REC-007", "", problem)
    return value


def _seat_list(value: object) -> tuple[int, ...]:
    return tuple(_each(_seat_number, _list(value)))


_EVENT_FIELD: Final[Mapping[str, Callable[[object], Any]]] = {
    "seat": _seat_number,
    "count": _count,
    "cards_dealt": _count,
    "amount": _amount,
    "corrected_to": _amount,
    "spot": _text,
    "from_spot": _text,
    "by": _text,
    "what": _text,
    "resolution": _resolution,
    "forfeit_seats": _seat_list,
}
"""Every other field of an event is a flag."""


def _decode_event(value: object, book: Book, seats: Mapping[int, SeatRecord]) -> ev.Event:
    row = dict(_object(value))
    kind = row.pop("type", None)
    cls = ev.EVENTS.get(kind) if type(kind) is str else None
    if cls is None:
        listed = ", ".join(ev.EVENTS)
        problem = f"{shown(kind)} is no event; expected one of {listed}"
        raise RecordError("E-REC-011", ".type", problem)
    fields = ev.FIELDS[cls]
    _known(row, frozenset(fields))
    found: dict[str, Any] = {}
    for name, required in fields.items():
        if row.get(name) is not None:
            found[name] = _part(row, name, _EVENT_FIELD.get(name, _flag))
        elif required:
            raise RecordError("E-REC-012", f".{name}", f"missing; {kind} needs it")
    event = cls(**found)
    _check_event(event, book, seats)
    return event


def _check_event(event: ev.Event, book: Book, seats: Mapping[int, SeatRecord]) -> None:
    """What an event names must exist: its seat, its spot, its forfeits."""
    number = getattr(event, "seat", None)
    if number is not None and number not in seats and not isinstance(event, ev.ANY_SEAT):
        raise RecordError("E-REC-013", ".seat", f"seat {number} is not in this round")
    for name, allowed in (("spot", book.wagers), ("from_spot", BASE_SPOTS)):
        spot = getattr(event, name, None)
        if spot is not None and spot not in allowed:
            listed = ", ".join(allowed)
            raise RecordError("E-REC-013", f".{name}", f"{shown(spot)}: expected one of {listed}")
    for i, forfeit in enumerate(getattr(event, "forfeit_seats", ())):
        if forfeit not in seats:
            problem = f"seat {forfeit} is not in this round"
            raise RecordError("E-REC-013", f".forfeit_seats[{i}]", problem)
    if (
        isinstance(event, ev.UnequalWagers)
        and event.resolution == "corrected"
        and not event.corrected_to
        and book.correct_unequal
    ):
        problem = "missing; a correction needs the amount it was corrected to"
        raise RecordError("E-REC-012", ".corrected_to", problem)


def _decode_events(
    value: object, book: Book, seats: tuple[SeatRecord, ...]
) -> tuple[ev.Event, ...]:
    if value is None or value == []:
        return ()
    by_number = {s.seat: s for s in seats}
    found: list[ev.Event] = _each(lambda row: _decode_event(row, book, by_number), _list(value))
    late: dict[tuple[int, str], int] = {}
    for i, event in enumerate(found):
        if isinstance(event, ev.LateWager):
            key = (event.seat, event.spot)
            late[key] = late.get(key, 0) + event.amount
            stake = by_number[event.seat].wagers.get(event.spot, 0)
            if late[key] > stake:
                problem = f"{late[key]} late on a stake of {stake}; expected at most the stake"
                raise RecordError("E-REC-014", f"[{i}].amount", problem)
    return tuple(found)


# --- the whole ---------------------------------------------------------------------------------


def decode_book(value: object) -> Book:
    book = BOOKS.get(value) if type(value) is str else None
    if book is None:
        listed = ", ".join(BOOKS)
        problem = f"{shown(value)} is no game; expected one of {listed}"
        raise RecordError("E-REC-001", "", problem)
    return book


def _decode_round(value: object, book: Book, settings: Settings) -> RoundRecord:
    if value is None:
        raise RecordError("E-REC-012", "", "missing; a record needs its round")
    row = _object(value)
    _known(row, _ROUND[book.key])
    if row.get("seats") is None:
        raise RecordError("E-REC-012", ".seats", "missing; expected a list, perhaps empty")
    seats = _part(row, "seats", lambda v: _decode_seats(v, book))
    return RoundRecord(
        book,
        settings,
        seats,
        _part(row, "community", _cards),
        _part(row, "bonus_card", _card),
        _part(row, "dealer", _cards),
        0 if row.get("ante") is None else _part(row, "ante", _amount),
        _part(row, "events", lambda v: _decode_events(v, book, seats)),
    )


def decode_record(value: object) -> RoundRecord:
    try:
        top = _object(value)
        _known(top, _TOP)
        book = _part(top, "game", decode_book)
        settings = _part(top, "settings", decode_settings)
        record: RoundRecord = _part(top, "round", lambda v: _decode_round(v, book, settings))
    except RecordError as error:
        raise error.under("$") from None
    _check_cards(record)
    return record


def _check_cards(record: RoundRecord) -> None:
    """A broken-off round explains cards that are missing, never too many or the same one twice."""
    most = record.book.card_count
    dealt: list[Card | None] = [*record.community, *record.dealer, record.bonus_card]
    for seat in record.seats:
        if len(seat.cards) > most and not _counted(record, seat.seat):
            raise _too_many(f"{seat.path}.cards", len(seat.cards), most)
        if len(seat.draw) > 3:
            raise _too_many(f"{seat.path}.draw", len(seat.draw), 3)
        dealt += seat.cards
        dealt += seat.draw
    if len(record.community) > 2 and not _counted(record, None):
        raise _too_many("$.round.community", len(record.community), 2)
    if len(record.dealer) > 5:
        raise _too_many("$.round.dealer", len(record.dealer), 5)
    unknown = dealt.count(None)
    different = len(set(dealt)) - (1 if unknown else 0)
    if different != len(dealt) - unknown and not any(map(ev.faults_deck, record.events)):
        _raise_at_the_second(record)


def _counted(record: RoundRecord, seat: int | None) -> bool:
    """Does an event tell how many cards the seat (or None: the community) was dealt?"""
    kind = ev.CommunityCount if seat is None else ev.PlayerCardCount
    return any(isinstance(e, kind) and getattr(e, "seat", None) == seat for e in record.events)


def _too_many(path: str, found: int, most: int) -> RecordError:
    problem = f"{found} cards; expected {most}, or an event that explains it"
    return RecordError("E-REC-016", path, problem)


def _raise_at_the_second(record: RoundRecord) -> NoReturn:
    """One deck: name the second place of a card that appears twice."""
    seen: set[Card] = set()
    for where, held in _places(record):
        for i, one in enumerate(held):
            if one in seen:
                raise RecordError(
                    "E-REC-015",
                    where if where.endswith("bonus_card") else f"{where}[{i}]",
                    f"{NAMES[one]} appears twice; expected each card once, "
                    "or an event that names a foreign_card or a wrong deck_count",
                )
            if one is not None:
                seen.add(one)
    raise AssertionError("no card appears twice")


def _places(record: RoundRecord) -> list[tuple[str, Sequence[Card | None]]]:
    places: list[tuple[str, Sequence[Card | None]]] = [
        ("$.round.community", record.community),
        ("$.round.dealer", record.dealer),
    ]
    for seat in sorted(record.seats, key=lambda s: s.place):
        places += [(f"{seat.path}.cards", seat.cards), (f"{seat.path}.draw", seat.draw)]
    return [*places, ("$.round.bonus_card", (record.bonus_card,))]
