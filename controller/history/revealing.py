"""Which journalled cards became public with a fact, and the record that says so.

Pure. A card is followed as the very object the fact brought, from the draw through doubt, ruling
and remapping to its hand: two cards of the same face are never mixed up. Cards that no rule opens
(burnt, folded, void) are never told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controller.history.entries import dump
from controller.history.sealing import OpensCards, Sealed
from controller.rules.cards import Card, HiddenCard, PublicMoment, name, reveal
from controller.rules.engine.deal import assign
from controller.rules.engine.state import TableState

REVEALED: Final = "revealed"


@dataclass(frozen=True, slots=True)
class Draw:
    """Where a card lies in the journal: record, place in it, and how it stands there."""

    seq: int
    index: int
    sealed: Sealed
    key: tuple[str, int] | None = None
    """The device and the key of the reading that brought it."""


Opened = tuple[HiddenCard, Card, PublicMoment]


class Revealer:
    """Follows the sealed cards of the round under way."""

    __slots__ = ("_draws",)

    def __init__(self) -> None:
        self._draws: list[tuple[HiddenCard, Draw]] = []

    def journalled(self, card: HiddenCard, draw: Draw) -> None:
        self._draws.append((card, draw))

    def public(self, before: TableState, after: TableState) -> list[tuple[Draw, PublicMoment]]:
        """The draws that became public between two states, each once, in journal order."""
        opened = newly_open(before, after)
        for hidden, card, moment in opened:
            # The engine opened another card than the one followed: stop before it is revealed.
            assert reveal(hidden, moment) == card, f"{moment.value}: not the card that was opened"
        found: list[tuple[Draw, PublicMoment]] = []
        kept: list[tuple[HiddenCard, Draw]] = []
        for hidden, draw in self._draws:
            moments = [moment for one, _, moment in opened if one is hidden]
            if moments:
                found.append((draw, moments[0]))
            else:
                kept.append((hidden, draw))
        self._draws = kept if after.drawn or after.frozen is not None else []
        return found


def newly_open(before: TableState, after: TableState) -> list[Opened]:
    """The cards that the step from ``before`` to ``after`` opened, as hidden and as public."""
    found: list[Opened] = []
    if dealt := _dealt_open(before, after):
        found += _with(after.drawn[-len(dealt) :], dealt, PublicMoment.DEALT_FACE_UP)
    if len(after.turned) > len(before.turned):
        shared = assign(before).community[len(before.turned) : len(after.turned)]
        found += _with(shared, after.turned[len(before.turned) :], PublicMoment.COMMUNITY_TURNED)
    if after.bonus is not None and before.bonus is None:
        middle = assign(before).bonus
        assert middle is not None
        found.append((middle, after.bonus, PublicMoment.BONUS_CARD_TURNED))
    for number, seat in after.seats.items():
        was = before.seats.get(number)
        if seat.opened is not None and was is not None and was.opened is None:
            hand = assign(before).seats[number]
            found += _with(hand, seat.opened, PublicMoment.HAND_OPENED)
    return found


def _dealt_open(before: TableState, after: TableState) -> tuple[Card, ...]:
    """Cards added to the open ones; they are the last drawn, and go to one place."""
    if after.face_up is before.face_up:
        return ()
    return tuple(
        card
        for place, held in after.face_up.items()
        for card in held[len(before.face_up.get(place, ())) :]
    )


def _with(
    hidden: tuple[HiddenCard, ...], cards: tuple[Card, ...], moment: PublicMoment
) -> list[Opened]:
    return [(one, card, moment) for one, card in zip(hidden, cards, strict=True)]


def revealed_body(public: list[tuple[Draw, PublicMoment]], by_seq: int, cards: OpensCards) -> bytes:
    """The record for the cards that the fact at ``by_seq`` opened: face, nonce, and why."""
    rows = []
    for draw, moment in public:
        hidden, nonce = cards.open(draw.sealed, draw.seq, draw.index)
        rows.append(
            {
                "seq": draw.seq,
                "index": draw.index,
                "card": name(reveal(hidden, moment)),
                "nonce": nonce.hex(),
                "moment": moment.value,
            }
        )
    return dump({"fact": by_seq, "cards": rows})
