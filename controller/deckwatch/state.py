"""Deck watch on disk: its whole state as one JSON document, strictly both ways. No file here."""

from __future__ import annotations

from collections import deque
from typing import Annotated, Final

import msgspec

from controller.deckwatch.orders import START, Order, Starts
from controller.deckwatch.places import WINDOW
from controller.deckwatch.statistics import DECK
from controller.deckwatch.watch import RATE, RECENT, REMEMBERED, DeckWatch
from controller.rules.errors import UnderfeltError
from record.shape import why

VERSION: Final = 1
Card = Annotated[int, msgspec.Meta(ge=0, lt=DECK)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Start = Annotated[int, msgspec.Meta(ge=0, lt=DECK**START)]
Sum = Annotated[float, msgspec.Meta(ge=0)]
Text = Annotated[str, msgspec.Meta(max_length=64)]
Row = Annotated[list[Count], msgspec.Meta(min_length=DECK, max_length=DECK)]


class StateError(UnderfeltError, ValueError):
    """A state that cannot be read: start with an empty one and say so; no money hangs on it."""

    code = "E-DCK-020"


class OrderState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    deck: Text
    shuffle: int
    cards: Annotated[list[Card | None], msgspec.Meta(max_length=DECK)]
    packets: list[Count]
    gathered: Annotated[list[Card], msgspec.Meta(max_length=DECK)]


class WatchState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    v: Annotated[int, msgspec.Meta(ge=VERSION, le=VERSION)]
    last_round: Count
    shuffles: Count
    recent: Annotated[list[OrderState], msgspec.Meta(max_length=RECENT)]
    starts: Annotated[list[Start], msgspec.Meta(max_length=REMEMBERED)]
    unshuffled: Sum
    similar: Sum
    rounds: Annotated[int, msgspec.Meta(ge=0, lt=WINDOW)]
    places: Annotated[list[Row], msgspec.Meta(max_length=DECK)]
    """Counts by place and card, up to the last place that was ever dealt."""


_decoder: Final[msgspec.json.Decoder[WatchState]] = msgspec.json.Decoder(WatchState)


def save(watch: DeckWatch) -> bytes:
    used = max((i + 1 for i, row in enumerate(watch.places.counts) if any(row)), default=0)
    state = WatchState(
        v=VERSION,
        last_round=watch.last_round,
        shuffles=watch.shuffles,
        recent=[
            OrderState(o.deck, o.shuffle, list(o.cards), list(o.packets), list(o.gathered))
            for o in watch.recent
        ],
        starts=list(watch.starts),
        unshuffled=watch.unshuffled,
        similar=watch.similar,
        rounds=watch.places.rounds,
        places=watch.places.counts[:used],
    )
    return msgspec.json.encode(state)


def restore(text: bytes, rate: float = RATE) -> DeckWatch:
    """The watch that ``save`` saw. Feed it the rounds after its ``last_round``."""
    try:
        state = _decoder.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        said = why(error, text, WatchState)
        raise StateError(f"deck watch: {said}; delete it to start again (E-DCK-020)") from None
    watch = DeckWatch(rate)
    watch.last_round, watch.shuffles = state.last_round, state.shuffles
    watch.recent = deque(
        (
            Order(o.deck, o.shuffle, tuple(o.cards), tuple(o.packets), tuple(o.gathered))
            for o in state.recent
        ),
        maxlen=RECENT,
    )
    watch.starts = Starts(REMEMBERED, state.starts)
    watch.unshuffled, watch.similar = state.unshuffled, state.similar
    watch.places.rounds = state.rounds
    for place, row in enumerate(state.places):
        watch.places.counts[place] = list(row)
    return watch
