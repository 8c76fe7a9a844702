"""Cards of a past round: which became public, and stepping the engine without the others.

Without the table's key a card is what its ``revealed`` record says it is, and the commitment beside
the sealed card must agree. A card that was never told is stood in for by some other card: nothing
that the table did before its public moment depends on it, except whether the device read one card
twice. The digest in the record says which it was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from controller.history.entries import FACT, decode_entry, load
from controller.history.errors import BodyError, SealError
from controller.history.replay import UNREADABLE
from controller.history.revealing import REVEALED
from controller.history.sealing import CardSealer, Sealed, commitment
from controller.rules.cards import BY_NAME, DECK, Card, HiddenCard
from record.journal.format import Record

Place = tuple[int, int]
"""Where a sealed card lies: its record and its place in it, from 0."""

NOT_TOLD: Final = "E-RPY-005"
OTHER_CARD: Final = "E-RPY-006"


class PublicCard(NamedTuple):
    """A card that became public: which, when and why."""

    card: Card
    nonce: bytes
    moment: str
    at_ms: int
    seq: int


def told_cards(records: Iterable[Record]) -> dict[Place, PublicCard]:
    """Every card that these records open."""
    found: dict[Place, PublicCard] = {}
    for record in records:
        if record.kind != REVEALED:
            continue
        try:
            for row in load(record.body)["cards"]:
                place = (int(row["seq"]), int(row["index"]))
                card, nonce = BY_NAME[row["card"]], bytes.fromhex(row["nonce"])
                found[place] = PublicCard(card, nonce, str(row["moment"]), record.at_ms, record.seq)
        except (BodyError, KeyError, TypeError, ValueError) as error:
            raise SealError(UNREADABLE, f"record {record.seq}: {REVEALED}: {error}") from None
    return found


@dataclass
class ToldCards:
    """Opens what the journal itself opened. ``guessed`` says which card replaces a hidden one."""

    told: Mapping[Place, PublicCard]
    openings: Sequence[int] = ()
    """The records that open a round, in order: a card can be read twice within one round only."""
    guessed: Mapping[Place, Card] = field(default_factory=dict)
    stood_in: dict[Place, Card] = field(default_factory=dict)
    """Cards that nobody was told, and what stood in for each."""
    _out: dict[int, set[Card]] = field(init=False, default_factory=lambda: defaultdict(set))
    """By round the cards that are known to be out in it."""

    def __post_init__(self) -> None:
        for place, one in self.told.items():
            self._out[self._round(place)].add(one.card)
        for place, card in self.stood_in.items():
            self._out[self._round(place)].add(card)

    def again(self, seq: int, guess: Mapping[Place, Card]) -> ToldCards:
        """To step once more from the record ``seq`` on, with another guess."""
        before = {place: card for place, card in self.stood_in.items() if place[0] < seq}
        return ToldCards(self.told, self.openings, {**self.guessed, **guess}, before)

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
            card = self._other(place)
        self.stood_in[place] = card
        self._out[self._round(place)].add(card)
        return HiddenCard(card), b""

    def _round(self, place: Place) -> int:
        return bisect_right(self.openings, place[0])

    def _other(self, place: Place) -> Card:
        """A card that is not known to be out in this round. Those of the rounds beside it are
        avoided too: a card between two rounds may belong to either."""
        number = self._round(place)
        own, beside = self._out[number], self._out[number - 1] | self._out[number + 1]
        free = [card for card in DECK if card not in own]
        return next((card for card in free if card not in beside), (free or DECK)[0])


# --- cards that never became public -------------------------------------------------------------


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
