"""Cards of a past round: which became public, and stepping the engine without the others.

Without the table's key a card is what its ``revealed`` record says it is, and the commitment beside
the sealed card must agree. A card that was never told is stood in for by some other card: nothing
that the table did before its public moment depends on it, except whether the device read one card
twice. The digest in the record says which it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from controller.daemon.entries import load
from controller.daemon.errors import BodyError, SealError
from controller.daemon.replay import UNREADABLE, Record
from controller.daemon.revealing import REVEALED
from controller.daemon.sealing import Sealed, commitment
from controller.rules.cards import BY_NAME, DECK, Card, HiddenCard

Place = tuple[int, int]
"""Where a sealed card lies: its record and its place in it, from 0."""

NOT_TOLD: Final = "E-RPY-005"
OTHER_CARD: Final = "E-RPY-006"


class Told(NamedTuple):
    """A card that became public: which, when and why."""

    card: Card
    nonce: bytes
    moment: str
    at_ms: int
    seq: int


def told_cards(records: Iterable[Record]) -> dict[Place, Told]:
    """Every card that these records open."""
    found: dict[Place, Told] = {}
    for record in records:
        if record.kind != REVEALED:
            continue
        try:
            for row in load(record.body)["cards"]:
                place = (int(row["seq"]), int(row["index"]))
                card, nonce = BY_NAME[row["card"]], bytes.fromhex(row["nonce"])
                found[place] = Told(card, nonce, str(row["moment"]), record.at_ms, record.seq)
        except (BodyError, KeyError, TypeError, ValueError) as error:
            raise SealError(UNREADABLE, f"record {record.seq}: {REVEALED}: {error}") from None
    return found


@dataclass
class ToldCards:
    """Opens what the journal itself opened. ``guessed`` says which card stands in for another."""

    told: Mapping[Place, Told]
    guessed: Mapping[Place, Card] = field(default_factory=dict)
    stood_in: dict[Place, Card] = field(default_factory=dict)
    """Cards that nobody was told, and what stood in for each."""

    def open(self, sealed: Sealed, seq: int, index: int) -> tuple[HiddenCard, bytes]:
        place = (seq, index)
        told = self.told.get(place)
        if told is not None:
            if commitment(told.nonce, told.card) != sealed.commit:
                said = f"record {seq}, card {index + 1}: told as another card than was sealed"
                raise SealError(OTHER_CARD, said)
            return HiddenCard(told.card), told.nonce
        if place in self.stood_in:
            # It was opened here and nothing tells it: the record is not on disk (yet).
            said = f"record {seq}, card {index + 1}: opened, and no record tells which it is"
            raise SealError(NOT_TOLD, said)
        card = self.guessed.get(place)
        if card is None:
            card = self._other()
        self.stood_in[place] = card
        return HiddenCard(card), b""

    def _other(self) -> Card:
        """A card that is not known to be out; after a deck of strangers any will do."""
        out = {one.card for one in self.told.values()} | set(self.stood_in.values())
        return next((card for card in DECK if card not in out), DECK[0])
