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
    two_card_value,
    two_card_value_of_five,
    two_cards_top_five,
)

Final = Literal["live", "discarded", "folded"]
TwoCards = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Showdown:
    """Who is still in, and what lies in the pot."""

    ante: int
    waiting: Mapping[int, TwoCards]
    """Seats that have not acted, with their two cards' value."""
    order: tuple[int, ...]
    """All seats, lowest two cards first: computed once (RICO-4)."""
    five: Mapping[int, int]
    """Live players' five-card hands by seat, as strengths."""
    dealer: int | None
    """The dealer's strength while the dealer is in."""
    kickout: bool
    pot: int
    final: Mapping[int, Final]
    log: tuple[str, ...]

    @property
    def to_act(self) -> int | None:
        acted = len(self.order) - len(self.waiting)
        return self.order[acted] if self.waiting else None


def open_showdown(ante: int, two: Mapping[int, Sequence[Card]], dealer: int) -> Showdown:
    """After the deal: kickout by the number of hands with an ante, and the order of action."""
    kickout = bool(two) and dealer >= KICKOUT_LIMITS[len(two)]
    name = HAND_NAMES[CLASS_OF[dealer]]
    log = f"dealer has {name} against {len(two)} hands: " + (
        "kickout, the dealer's ante stays in the pot" if kickout else "the dealer plays"
    )
    return Showdown(
        ante=ante,
        waiting={seat: two_card_value(*held) for seat, held in two.items()},
        order=tuple(sorted(two, key=lambda seat: two_card_order(*two[seat]))),
        five={},
        dealer=None if kickout else dealer,
        kickout=kickout,
        pot=ante,
        final={},
        log=(log,),
    )


def fold(table: Showdown, seat: int) -> Showdown:
    """The ante goes to the pot, the cards are discarded (RICO-4a)."""
    return replace(
        table,
        waiting={s: two for s, two in table.waiting.items() if s != seat},
        pot=table.pot + table.ante,
        final={**table.final, seat: "folded"},
        log=(*table.log, f"seat {seat} folds: {table.ante} to the pot"),
    )


def play(table: Showdown, seat: int, strength: int, *, must_top_all: bool) -> Showdown:
    """A new five-card hand meets all the others (RICO-5 to RICO-8)."""
    waiting = {s: two for s, two in table.waiting.items() if s != seat}
    best_two = max(waiting.values(), default=None)
    beaten_by_five = any(strength < other for other in table.five.values()) or (
        table.dealer is not None and strength < table.dealer
    )
    beaten = beaten_by_five or (best_two is not None and two_cards_top_five(best_two, strength))
    five, dealer, pot = dict(table.five), table.dealer, table.pot
    final, log = dict(table.final), [*table.log]
    log.append(f"seat {seat} plays: {HAND_NAMES[CLASS_OF[strength]]}")
    if not beaten_by_five and not (must_top_all and beaten):
        for other, theirs in table.five.items():
            if theirs < strength:
                del five[other]
                pot += 2 * table.ante
                final[other] = "discarded"
                log.append(f"seat {seat} tops seat {other}: {2 * table.ante} to the pot")
        if dealer is not None:
            how = "ties" if dealer == strength else "tops"
            dealer = None
            log.append(f"seat {seat} {how} the dealer: the dealer is discarded")
    if beaten:
        pot += 2 * table.ante
        final[seat] = "discarded"
        log.append(f"seat {seat} is topped and discarded: {2 * table.ante} to the pot")
    else:
        five[seat] = strength
    return replace(
        table,
        waiting=waiting,
        five=five,
        dealer=dealer,
        pot=pot,
        final=final,
        log=tuple(log),
    )


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
