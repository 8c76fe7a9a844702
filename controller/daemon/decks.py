"""The table's deck watch: the public cards of every closed round in, alarms for the journal out.

Pure. It looks at a round only after its end, and only at cards that became public. It moves no
money and stops nothing: whatever goes wrong in here is reported and the watch starts again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from controller.deckwatch.orders import DealtOrder
from controller.deckwatch.state import StateError, restore, save
from controller.deckwatch.watch import DeckWatch
from controller.rules.cards import DECK_SIZE, Card, PublicMoment, reveal
from controller.rules.engine.deal import (
    DEALER,
    assign,
    dealer_cards,
    dealt_seats,
    places,
    plan,
    uses_packets,
)
from controller.rules.engine.state import TableState

DECKWATCH: Final = "deckwatch"
SAVE_AFTER: Final = 20
"""Rounds between two records of the watch's state; a power cut forgets at most so many."""
FAILED: Final = "E-DCK-021"
FAILED_TEXT: Final = "tell the manufacturer; the watch starts from zero, no money depends on it"


def dealt_of(state: TableState) -> DealtOrder | None:
    """The round that ``state`` has just closed; None if there is nothing to tell of it.

    Each round counts as a shuffle of its own. Where a table deals on from the same cards that can
    hide a likeness, never make one.
    """
    if not 0 < len(state.drawn) <= DECK_SIZE:
        return None
    packets = state.packets if uses_packets(state.rules) else ()
    return DealtOrder(
        state.round_no,
        (state.deck.name or "")[:64],
        state.round_no,
        _public(state),
        packets if sum(packets) == len(state.drawn) else (),
        _sure(state),
    )


def _public(state: TableState) -> tuple[Card | None, ...]:
    """The open cards in dealt order, by where they lay: no face of a closed card is looked at."""
    if state.rules.book.family == "ricochet":
        return tuple(reveal(card, PublicMoment.DEALT_FACE_UP) for card in state.drawn)
    at: dict[int, list[int]] = {}
    for number, place in enumerate(places(state)):
        at.setdefault(place, []).append(number)
    shared, bonus = dealer_cards(state.rules, tuple(at.get(DEALER, ())))
    lies: list[tuple[Sequence[int], Sequence[Card]]] = [(shared, state.turned)]
    if bonus is not None and state.bonus is not None:
        lies.append(((bonus,), (state.bonus,)))
    lies += [(at[place], cards) for place, cards in state.face_up.items()]
    for number, seat in state.seats.items():
        if seat.opened is not None:
            lies.append((at[state.swapped.get(number, number)], seat.opened))
    told = {i: card for where, cards in lies for i, card in zip(where, cards, strict=False)}
    return tuple(told.get(number) for number in range(len(state.drawn)))


def _sure(state: TableState) -> frozenset[int]:
    """Places that are public whatever lies there: no player's and no supervisor's choice."""
    if state.voided_by is not None:
        return frozenset()
    if state.rules.book.family == "ricochet":
        # What is drawn later depends on who plays, and they play because of their cards.
        return frozenset(range(min(len(plan(state.rules, dealt_seats(state))), len(state.drawn))))
    hands = assign(state)
    cards = [*hands.community, *(() if hands.bonus is None else (hands.bonus,))]
    # Unequal wagers may be folded with the cards in hand.
    cards += [c for n, hand in hands.seats.items() if not state.seats[n].unequal for c in hand]
    places = {id(card) for card in cards}
    return frozenset(i for i, card in enumerate(state.drawn) if id(card) in places)


class Decks:
    """``trouble`` is why a saved state could not be used."""

    def __init__(self, watch: DeckWatch | None = None, trouble: str = "") -> None:
        self.watch = watch or DeckWatch()
        self.trouble = trouble
        self._unsaved = 0

    @classmethod
    def restored(cls, body: bytes | None) -> Decks:
        """From the last record of its kind; from zero if there is none or it cannot be read."""
        if body is None:
            return cls()
        try:
            return cls(restore(body))
        except StateError as error:
            return cls(trouble=str(error))

    def closed(self, state: TableState) -> list[dict[str, Any]]:
        """A round has ended. Returns the alarms as they go into the journal."""
        self._unsaved += 1
        try:
            dealt = dealt_of(state)
            found = [] if dealt is None else self.watch.take(dealt)
        except Exception as error:  # a statistic must not stop a table
            self.watch = DeckWatch()
            text = f"round {state.round_no}: {type(error).__name__}"
            return [{**_alarm(FAILED, text, FAILED_TEXT), "round": state.round_no}]
        return [
            {
                **_alarm(one.code, one.text, one.what_to_do),
                "probability": one.probability,
                "how": one.how,
                "round": one.round_no,
                "deck": one.deck,
            }
            for one in found
        ]

    def told(self) -> list[dict[str, Any]]:
        """What is to be said at the start."""
        return [_alarm(StateError.code, self.trouble, "nothing")] if self.trouble else []

    @property
    def due(self) -> bool:
        return self._unsaved >= SAVE_AFTER

    @property
    def changed(self) -> bool:
        return self._unsaved > 0

    def body(self) -> bytes:
        """Its state for the journal."""
        self._unsaved = 0
        return save(self.watch)


def _alarm(code: str, detail: str, what_to_do: str) -> dict[str, Any]:
    return {"code": code, "seat": None, "detail": detail, "clause": "", "what_to_do": what_to_do}
