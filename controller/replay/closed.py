"""Cards that never became public, for an investigation; docs/operations/dispute.md says who may."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from controller.history.entries import FACT, decode_entry
from controller.history.errors import BodyError
from controller.history.replay import Record
from controller.history.sealing import CardSealer, Sealed
from controller.replay.cards import Place
from controller.rules.cards import Card, HiddenCard


def closed_cards(
    records: Iterable[Record], sealer: CardSealer, moments: Container[int]
) -> dict[Place, Card]:
    """Every card that a fact of these moments sealed, told later or not; of no other round."""
    found: dict[Place, Card] = {}
    for record in records:
        if record.kind != FACT or record.seq not in moments:
            continue
        sealed: list[Sealed] = []

        def unhide(value: Any, sealed: list[Sealed] = sealed) -> HiddenCard:
            sealed.append(Sealed.from_json(value))
            return HiddenCard(Card(0))

        try:
            decode_entry(record.kind, record.body, unhide)
        except BodyError:
            continue  # stepping says what is wrong with it
        for index, one in enumerate(sealed):
            found[record.seq, index] = sealer.look(one, record.seq, index)[0]
    return found
