"""Cards, and the line between a public card and one that nobody may know yet.

A ``Card`` is public: it may appear in an effect, a record or a prompt. A ``HiddenCard`` is known to
the process only. The two are different types, so an effect that holds an unopened card does not
type-check, and ``reveal`` is the one door between them: it asks which public moment has come.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, NewType, NoReturn

Card = NewType("Card", int)
"""A public card: four times its rank (0 = two, 12 = ace) plus its suit (0 = clubs, 3 = spades)."""

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
DECK_SIZE: Final = 52
DECK: Final[tuple[Card, ...]] = tuple(Card(i) for i in range(DECK_SIZE))
NAMES: Final[tuple[str, ...]] = tuple(r + s for r in RANKS for s in SUITS)
BY_NAME: Final[dict[str, Card]] = {name: Card(i) for i, name in enumerate(NAMES)}


class PublicMoment(Enum):
    """When a card becomes public. A burnt card has no such moment."""

    DEALT_FACE_UP = "dealt face up"
    COMMUNITY_TURNED = "community card turned"
    BONUS_CARD_TURNED = "bonus card turned"
    HAND_OPENED = "hand opened in settlement"


CardDoubt = Literal[
    "", "foreign", "misread", "double feed", "returned", "gap", "burn", "restarted", "unasked"
]
"""Why nobody knows a card; empty in journals from before it was told."""


class HiddenCard:
    """A card that has been dealt and not opened; it shows itself to nobody."""

    __slots__ = ("_card",)

    def __init__(self, card: Card) -> None:
        self._card = card

    def __repr__(self) -> str:
        return "HiddenCard(?)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HiddenCard) and self._card == other._card

    def __hash__(self) -> int:
        # Constant on purpose: an order of iteration must not depend on a card nobody has seen.
        return hash(HiddenCard)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a hidden card cannot be serialised")


def reveal(hidden: HiddenCard, moment: PublicMoment) -> Card:
    """Open a card because its public moment has come."""
    if not isinstance(moment, PublicMoment):
        raise TypeError(f"{moment!r} is not a public moment")
    return hidden._card


def card(name: str) -> Card:
    """``card("Th")``; raises KeyError for anything that is not a card of the deck."""
    return BY_NAME[name]


def cards(names: str) -> tuple[Card, ...]:
    """``cards("Ts 2h")`` or ``cards("Ts2h")``."""
    packed = names.replace(" ", "")
    return tuple(BY_NAME[packed[i : i + 2]] for i in range(0, len(packed), 2))


def name(of: Card) -> str:
    return NAMES[of]
