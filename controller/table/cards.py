"""What a card device tells, as facts. A card byte is opened here and sealed again at once.

Never a guess: whatever is not plainly one card of the deck freezes the round
(docs/protocols/card-devices.md for the bytes; AMB-V08 for the freezing).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from controller.rules.cards import Card, HiddenCard
from controller.rules.engine import facts as f
from controller.rules.engine.deal import uses_packets
from controller.rules.engine.state import Phase, TableState
from controller.rules.events import FULL_DECK
from drivers.readings import CardEvent, CardRead, PacketRead, SealedCard

CardReading = CardRead | PacketRead | CardEvent

CUT_CARD: Final = 0xF1
ACE: Final = 1
DEFAULT_DECK: Final = "red"

_IN_DOUBT: Final = frozenset(("misread", "double feed", "returned", "gap", "burn"))
"""A card has moved and nobody knows which, or where it belongs."""
_DEALS: Final = (Phase.LOCKED, Phase.DEALING, Phase.DRAW)


def card_of(code: int) -> Card | None:
    """The card of a byte ``suit << 4 | rank`` (rank 1 is the ace); None if it is no card."""
    suit, rank = code >> 4, code & 0x0F
    if not (0 <= suit <= 3 and ACE <= rank <= 13):
        return None
    return Card(4 * (12 if rank == ACE else rank - 2) + suit)


def moves_a_card(reading: CardReading) -> bool:
    """Has a card left its place, known or not?"""
    return not isinstance(reading, CardEvent) or reading.kind in _IN_DOUBT


def facts_of(reading: CardReading, state: TableState) -> list[f.What]:
    """The facts in one reading of a card device, in order; none if it says nothing of a round."""
    match reading:
        case CardRead(card=card, draw_no=number):
            return [_single(card, number, state)]
        case PacketRead(deck=deck, cards=cards, packet_no=number):
            return [_packet(cards, deck, number, state)]
        case CardEvent():
            return _event(reading, state)


def _hidden(sealed: Iterable[SealedCard]) -> tuple[HiddenCard, ...] | None:
    found = [card_of(s.unseal()) for s in sealed]
    known = [HiddenCard(c) for c in found if c is not None]
    return tuple(known) if len(known) == len(found) else None


def _single(sealed: SealedCard, number: int, state: TableState) -> f.What:
    if sealed.unseal() == CUT_CARD:
        return f.CutCardSeen()
    hidden = _hidden((sealed,))
    if hidden is None:
        return f.UnknownCardSeen("foreign", number)
    if state.phase is Phase.IDLE:
        # Between rounds a card that leaves the device means a deck that is no longer whole.
        return f.UnknownCardSeen("unasked", number)
    return f.CardDrawn(hidden[0])


def _packet(cards: tuple[SealedCard, ...], deck: str, number: int, state: TableState) -> f.What:
    hidden = _hidden(cards)
    if hidden is None:
        return f.UnknownCardSeen("foreign", number)
    if state.phase is Phase.IDLE:
        return f.UnknownCardSeen("unasked", number)
    return f.PacketDispensed(hidden, deck)


def _event(event: CardEvent, state: TableState) -> list[f.What]:
    match event.kind:
        case "cut card":
            return [f.CutCardSeen()]
        case "misread" | "double feed" | "returned" | "gap" | "burn" as kind:
            return [f.UnknownCardSeen(kind, event.number, event.count)]
        case "new epoch":
            # The device began to count again: in the deal a card may have gone unseen.
            dealing = state.in_play and state.phase in _DEALS
            return [f.UnknownCardSeen("restarted", event.number)] if dealing else []
        case "shuffle ended":
            return _shuffled(event, state)
        case "deck verified":
            return _verified(event, state)
        case "jam":
            # A shoe that jams only holds the deal; its draw numbers show whether a card is gone.
            return [f.ShufflerFailed()] if uses_packets(state.rules) else []
        case "jam cleared":
            return [f.ShufflerReady()] if uses_packets(state.rules) else []
        case "shuffle started" if state.in_play and state.deck.name and event.deck:
            # The other deck is shuffled while this one is played: their backs must differ.
            return [f.DecksLoaded(state.deck.name, event.deck)]
        case _:
            return []


def deck_of(event: CardEvent, state: TableState) -> str:
    """The deck an event speaks of; a device with one deck may leave its name out."""
    return event.deck or state.deck.name or DEFAULT_DECK


def _shuffled(event: CardEvent, state: TableState) -> list[f.What]:
    deck = deck_of(event, state)
    if event.result in ("", "ok"):
        ready: list[f.What] = [] if state.deck.device_ready else [f.ShufflerReady()]
        return [*ready, f.DeckShuffled(deck)]
    if event.result in ("short", "long"):
        return [f.DeckChecked(deck, passed=False), *_counted(event, deck, state)]
    return [f.ShufflerFailed()]


def _verified(event: CardEvent, state: TableState) -> list[f.What]:
    if event.result in ("aborted", "jam", "refused"):
        return []  # no check took place: the deck is what it was before
    deck = deck_of(event, state)
    passed = event.result in ("", "ok") and event.count in (0, FULL_DECK)
    if passed:
        return [f.DeckChecked(deck, passed=True)]
    return [f.DeckChecked(deck, passed=False), *_counted(event, deck, state)]


def _counted(event: CardEvent, deck: str, state: TableState) -> list[f.What]:
    """A wrong count is a fact of its own only for the deck in play; the other is withdrawn."""
    in_play = deck == (state.deck.name or deck)
    if not in_play or event.count in (0, FULL_DECK) or state.phase is Phase.VOIDING:
        return []
    return [f.DeckCounted(event.count)]
