"""Ricochet's showdown as pure steps: the live table and the settlement walk the same ones.

Rules 3 to 9: the dealer may be kicked out, players act from the lowest two cards up, a new
five-card hand discards what it beats and is discarded by what beats it, the best live hand takes
the pot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from controller.rules.books.rico import KICKOUT_LIMITS
from controller.rules.cards import Card
from controller.rules.hands import (
    CLASS_OF,
    HAND_NAMES,
    Hand,
    two_card_order,
    two_card_value_of_five,
    two_cards_top_five,
)

Final = Literal["live", "discarded", "folded"]
TwoCards = tuple[int, int, int]


@dataclass(slots=True)
class Showdown:
    """Who is still in, and what lies in the pot.

    The steps below change it in place; the live table, whose states are values, steps a ``copy``.
    """

    ante: int
    waiting: dict[int, TwoCards]
    """Seats that have not acted, with their two cards' value."""
    order: tuple[int, ...]
    """All seats, lowest two cards first: computed once (RICO-4)."""
    five: dict[int, int]
    """Live players' five-card hands by seat, as strengths."""
    dealer: int | None
    """The dealer's strength while the dealer is in."""
    kickout: bool
    pot: int
    final: dict[int, Final]
    log: list[str]

    def copy(self) -> Showdown:
        return replace(
            self,
            waiting=dict(self.waiting),
            five=dict(self.five),
            final=dict(self.final),
            log=list(self.log),
        )

    @property
    def to_act(self) -> int | None:
        acted = len(self.order) - len(self.waiting)
        return self.order[acted] if self.waiting else None


def open_showdown(
    ante: int, two: Mapping[int, Sequence[Card]], dealer: int, carried: int
) -> Showdown:
    """After the deal: kickout by the number of hands with an ante, and the order of action.

    ``carried`` lies in the pot from earlier rounds that nobody won.
    """
    kickout = bool(two) and dealer >= KICKOUT_LIMITS[len(two)]
    name = HAND_NAMES[CLASS_OF[dealer]]
    log = f"dealer has {name} against {len(two)} hands: " + (
        "kickout, the dealer's ante stays in the pot" if kickout else "the dealer plays"
    )
    in_order = sorted((two_card_order(*held), seat) for seat, held in two.items())
    return Showdown(
        ante=ante,
        waiting={seat: value[:3] for value, seat in in_order},
        order=tuple(seat for _, seat in in_order),
        five={},
        dealer=None if kickout else dealer,
        kickout=kickout,
        pot=ante + carried,
        final={},
        log=[log],
    )


def fold(table: Showdown, seat: int) -> None:
    """The ante goes to the pot, the cards are discarded (RICO-4a)."""
    del table.waiting[seat]
    table.pot += table.ante
    table.final[seat] = "folded"
    table.log.append(f"seat {seat} folds: {table.ante} to the pot")


def play(table: Showdown, seat: int, strength: int, *, must_top_all: bool) -> None:
    """A new five-card hand meets all the others (RICO-5 to RICO-8)."""
    del table.waiting[seat]
    five, lost = table.five, 2 * table.ante
    table.log.append(f"seat {seat} plays: {HAND_NAMES[CLASS_OF[strength]]}")
    best_two = max(table.waiting.values(), default=None)
    beaten_by_five = any(strength < other for other in five.values()) or (
        table.dealer is not None and strength < table.dealer
    )
    beaten = beaten_by_five or (best_two is not None and two_cards_top_five(best_two, strength))
    if not beaten_by_five and not (must_top_all and beaten):
        for other in [n for n, theirs in five.items() if theirs < strength]:
            del five[other]
            table.pot += lost
            table.final[other] = "discarded"
            table.log.append(f"seat {seat} tops seat {other}: {lost} to the pot")
        if table.dealer is not None:
            how = "ties" if table.dealer == strength else "tops"
            table.dealer = None
            table.log.append(f"seat {seat} {how} the dealer: the dealer is discarded")
    if beaten:
        table.pot += lost
        table.final[seat] = "discarded"
        table.log.append(f"seat {seat} is topped and discarded: {lost} to the pot")
    else:
        five[seat] = strength


def pot_winners(table: Showdown) -> list[int]:
    """The live players, last to act first: by rule 5 to 8 they all hold the same hand.

    Empty when the dealer is best or nobody is left.
    """
    best = max(table.five.values(), default=0)
    return [seat for seat in reversed(table.order) if table.five.get(seat) == best and best]


def rapid_fire(two: TwoCards, dealer: int) -> Literal["win", "tie", "lose"]:
    """Own two cards against the dealer's pair or two highest; anything above a pair beats them."""
    theirs = two_card_value_of_five(dealer)
    if theirs is None or two < theirs:
        return "lose"
    return "tie" if two == theirs else "win"


def dealer_class(dealer: int) -> Hand:
    return Hand(CLASS_OF[dealer])
