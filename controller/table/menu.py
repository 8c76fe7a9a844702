"""The console's menu as one literal table: a code, its arguments, the fact it declares.

Source: docs/protocols/console.md, section "The menu". Who may declare what is the engine's to say
(``engine.authority``); the codes that are no facts are supervisor calls and signing on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from controller.rules.cards import Card, HiddenCard
from controller.rules.engine import facts as f
from controller.rules.engine.state import TableState
from controller.rules.hands import Hand
from controller.table.cards import card_of

DECKS: Final[Mapping[str, str]] = {"1": "red", "2": "blue"}
FAULTS: Final = ("foreign", "short", "excess")
RULINGS: Final = ("resume", "play on", "void", "confirmed", "misread")
SEAT_RULINGS: Final = ("hand void", "ride", "play on", "stays live")
MISREAD: Final = "5"


class BadEntry(Exception):
    """What was typed means nothing here; ``key`` names the text that says so."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True, slots=True)
class SignOn:
    staff_id: str
    pin: str = field(repr=False)
    relief: bool


@dataclass(frozen=True, slots=True)
class Call:
    kind: Literal["table open", "table close", "day close"]


Meant = f.What | SignOn | Call
Build = Callable[..., Meant]


# --- arguments ---------------------------------------------------------------------------------


def spots_of(state: TableState) -> tuple[str, ...]:
    """The spots in the order of the book; Ricochet's play wager comes last."""
    book = state.rules.book
    return (*book.wagers, "play") if book.family == "ricochet" else book.wagers


def _seat(typed: str, state: TableState) -> int:
    if not 1 <= int(typed) <= state.rules.table.seats:
        raise BadEntry("no such seat")
    return int(typed)


def _seats(typed: str, state: TableState) -> tuple[int, ...]:
    found = tuple(_seat(digit, state) for digit in typed)
    if len(set(found)) != len(found):
        raise BadEntry("seat twice")
    return found


def _card(typed: str, _: TableState) -> Card:
    suit = int(typed[2]) - 1 if len(typed) == 3 else -1
    found = card_of(suit << 4 | int(typed[:2])) if 0 <= suit <= 3 and int(typed[:2]) < 16 else None
    if found is None:
        raise BadEntry("no such card")
    return found


def _spot(typed: str, state: TableState) -> str:
    names = spots_of(state)
    if not 1 <= int(typed) <= len(names):
        raise BadEntry("no such spot")
    return names[int(typed) - 1]


def _deck(typed: str, _: TableState) -> str:
    if typed not in DECKS:
        raise BadEntry("no such deck")
    return DECKS[typed]


def _up_to(most: int, least: int = 1) -> Callable[[str, TableState], int]:
    def read(typed: str, _: TableState) -> int:
        if not least <= int(typed) <= most:
            raise BadEntry("no such choice")
        return int(typed)

    return read


def _number(typed: str, _: TableState) -> int:
    return int(typed)


def _text(typed: str, _: TableState) -> str:
    return typed


ARGUMENTS: Final[Mapping[str, Callable[[str, TableState], Any]]] = {
    "seat": _seat,
    "seat or 0": lambda typed, state: None if typed == "0" else _seat(typed, state),
    "seats": _seats,
    "seats or 0": lambda typed, state: () if typed == "0" else _seats(typed, state),
    "count": _up_to(99, 0),
    "amount": _number,
    "round": _number,
    "card": _card,
    "hidden card": _card,
    "spot": _spot,
    "deck": _deck,
    "seal": _text,
    "fault": _up_to(3),
    "reason": _up_to(2),
    "viewed": _up_to(1, 0),
    "choice": _up_to(2),
    "class": _up_to(10),
    "ruling": _up_to(5),
    "seat ruling": _up_to(4),
    "place": _up_to(5),
    "sign": _up_to(2),
    "cause": _up_to(2),
    "staff": _text,
    "pin": _text,
}

MASKED: Final = frozenset(("pin", "hidden card"))
"""Shown as stars: a PIN, and a card that lies face down."""
LONGEST: Final = 12
"""Digits in one argument: more is a wrong entry."""


# --- codes -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    arguments: tuple[str, ...]
    build: Build
    supervisor: bool = False
    """Needs the key although it is no fact with an authority of its own."""


def _ruled(ruling: int, card: Card | None = None) -> f.What:
    hidden = None if card is None else HiddenCard(card)
    return f.SupervisorRuled(RULINGS[ruling - 1], "console", hidden)


def _limits(least: int, most: int) -> f.What:
    return f.LimitsChanged(least or None, most or None)


def _corrected(seat: int, spot: str, choice: int) -> f.What:
    return f.DecisionCorrected(seat, spot, "ride" if choice == 1 else "withdraw")


def _changed(deck: str, seal: str) -> f.What:
    return f.DeckChanged(deck, None if seal == "0" else seal)


MENU: Final[Mapping[str, Item]] = {
    "11": Item(("count",), f.CardExposed),
    "12": Item(("count",), lambda n: f.CardExposed(n, community=True)),
    "13": Item((), f.DealtWrong),
    "14": Item(("seat", "seat"), f.HandsRemapped),
    "15": Item(("seat",), f.StrayHandFound),
    "16": Item(("seat or 0", "count"), f.CountFound),
    "17": Item(("seat", "reason"), lambda s, r: f.HandVoided(s, ("sanction", "other")[r - 1])),
    "18": Item(("fault", "count"), lambda k, n: f.CardFaultReported(FAULTS[k - 1], n)),
    "19": Item(("seat", "viewed"), lambda s, v: f.PlayerAbsent(s, viewed=bool(v))),
    "21": Item(("seat",), f.RideAllSignalled),
    "22": Item(("seat", "amount"), f.WagersCorrected),
    "23": Item(("seat",), f.CorrectionRefused),
    "24": Item(("seat",), f.SeatLeftOut),
    "25": Item((), f.BonusCardTurned),
    "26": Item((), f.DealConfirmed),
    "27": Item(("seat", "spot", "choice"), _corrected),
    "28": Item(("seat", "class"), lambda s, c: f.SeatSettled(s, Hand(10 - c))),
    "31": Item(("deck",), lambda d: f.DeckChecked(d, passed=True)),
    "32": Item(("deck",), lambda d: f.DeckChecked(d, passed=False)),
    "33": Item((), f.DeckCut),
    "34": Item(("deck", "seal"), _changed),
    "35": Item((), f.CountOrdered),
    "36": Item(("deck",), f.DeckShuffled),
    "37": Item(("count",), f.DeckCounted),
    "51": Item(("ruling",), _ruled),
    "52": Item(
        ("seat", "seat ruling"), lambda s, r: f.SeatRuled(s, SEAT_RULINGS[r - 1], "console")
    ),
    "53": Item(("seat", "spot", "amount"), f.WagerDeclared),
    "54": Item(("seat",), lambda s: f.WagerRefused(s, "console")),
    "55": Item(("seat",), lambda s: f.SeatExcluded(s, "console")),
    "56": Item(("seat",), f.SeatReadmitted),
    "57": Item(("seats",), lambda seats: f.OrderDirected(seats, "console")),
    "58": Item(
        ("cause", "seats or 0"),
        lambda c, seats: f.OutcomeInvalidated("disruption" if c == 1 else "fraud", seats),
    ),
    "59": Item((), f.RulingSeconded),
    "61": Item(("seat",), lambda s: f.DisputeRaised(s, "console")),
    "62": Item(("seat",), lambda s: f.DisputeDecided(s, "console")),
    "63": Item(("round", "seat", "amount"), lambda n, s, c: f.PayCorrected(n, s, c, "console")),
    "64": Item(("seat", "place", "card"), f.CardCorrected),
    "65": Item(("seat",), lambda s: f.PlayerWarned(s, "console")),
    "66": Item(("seats",), lambda seats: f.BreachNoted(seats, "console")),
    "71": Item(("amount", "amount"), _limits),
    "72": Item(("sign",), lambda s: f.SignShown("higher minimum" if s == 1 else "closing")),
    "81": Item(("staff", "pin"), lambda i, pin: SignOn(i, pin, relief=False)),
    "82": Item(("staff", "pin"), lambda i, pin: SignOn(i, pin, relief=True)),
    "83": Item((), lambda: Call("table open"), supervisor=True),
    "84": Item((), lambda: Call("table close"), supervisor=True),
    "85": Item((), lambda: Call("day close"), supervisor=True),
}

VOIDS: Final = ("13", "16", "18", "58")
"""Reasons that ``VOID`` takes."""


def arguments_of(code: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments of a code; ruling 5 asks for the card besides."""
    wanted = MENU[code].arguments
    if code == "51" and given[:1] == (MISREAD,):
        return (*wanted, "hidden card")
    return wanted


def meaning(code: str, given: tuple[str, ...], state: TableState) -> Meant:
    """What a complete entry declares; raises ``BadEntry``."""
    names = arguments_of(code, given)
    values = [ARGUMENTS[name](typed, state) for name, typed in zip(names, given, strict=True)]
    return MENU[code].build(*values)
