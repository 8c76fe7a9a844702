"""Which bytes of a card device may be shown afterwards: the one law for replay and evidence.

Pure. A frame may lie in several pieces, as they were read from the line, and then all of them wait
for its end. What no end came for may have been a card: nobody knows what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from drivers.base import Fault
from drivers.cards import messages as m
from drivers.cards.codec import Decoder, Frame, decode_message
from drivers.cards.messages import Type
from drivers.readings import SealedCard

V = TypeVar("V")


@dataclass(slots=True)
class Piece(Generic[V]):
    """What was found in the frames that a piece is part of."""

    verdicts: list[V] = field(default_factory=list)
    ended: bool = True
    """False: it is part of a frame whose end never came."""


def by_piece(pieces: Sequence[bytes], judge: Callable[[bytes], V]) -> list[Piece[V]]:
    """``judge`` is asked for every chunk between two zeros, empty ones too."""
    found = [Piece[V]() for _ in pieces]
    rest, waiting = b"", list[int]()
    for n, data in enumerate(pieces):
        waiting.append(n)
        *whole, rest = (rest + data).split(b"\0")
        for chunk in whole:
            verdict = judge(chunk)
            for piece in waiting:
                found[piece].verdicts.append(verdict)
            waiting = [n]
        waiting = waiting if rest else []
    for piece in waiting:
        found[piece].ended = False
    return found


def frames_in(chunk: bytes) -> list[Frame | Fault]:
    """What lies between two zeros; nothing in an empty chunk."""
    return list(Decoder().feed(chunk + b"\0")) if chunk else []


def cards_in(frame: Frame) -> Fault | tuple[int, int, tuple[SealedCard, ...]] | None:
    """Type and number of the reading and its cards; None for a frame that holds none. A frame that
    is not as it should be may hold one."""
    match decode_message(frame):
        case Fault() as fault:
            return fault
        case m.Card(number, card):
            return int(Type.CARD), number, (card,)
        case m.Packet(number, _, cards):
            return int(Type.PACKET), number, cards
        case _:
            return None
