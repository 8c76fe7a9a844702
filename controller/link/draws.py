"""Selections that the server draws: taken only if they follow from what it committed to.

Pure. The table computes the draw again before it believes it; the records let anybody else do so
(docs/rules/selections.md, section 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Final

import msgspec

from controller.history.selection.entries import Salt, Seat, Seed
from controller.rules.cards import NAMES, Card
from record.draw import Chances, commitment, picks
from record.link.events import Rate

VERSION: Final = 1


class _Draw(msgspec.Struct, frozen=True):
    """What of ``SelectionRevealed.draw`` counts."""

    seed: Seed
    salt: Salt
    seats: Annotated[tuple[Seat, ...], msgspec.Meta(max_length=7)]
    magic_rate: Rate
    lucky_rate: Rate
    magic_card: str | None
    lucky_seat: Seat | None


def server_committed(round_no: int, digest: str) -> bytes:
    row = {"what": "server committed", "v": VERSION, "round": round_no, "committed": digest}
    return msgspec.json.encode(row)


def server_revealed(round_no: int, draw: Mapping[str, Any]) -> bytes:
    kept = {name: draw[name] for name in _Draw.__struct_fields__}
    return msgspec.json.encode({"what": "server revealed", "v": VERSION, "round": round_no, **kept})


def drawn(
    journal_id: str, round_no: int, digest: str, wanted: Chances, draw: Mapping[str, Any]
) -> tuple[Card | None, int | None] | None:
    """Magic card and lucky seat, or None: the draw is not what was committed to, or is for other
    seats or rates than were asked for."""
    try:
        told = msgspec.convert(draw, _Draw)
        chances = Chances(told.seats, Fraction(told.magic_rate), Fraction(told.lucky_rate))
        seed, salt = bytes.fromhex(told.seed), bytes.fromhex(told.salt)
        found = picks(seed, journal_id, round_no, chances)
    except (msgspec.ValidationError, ValueError, ZeroDivisionError):
        return None
    if chances != wanted or commitment(seed, salt, journal_id, round_no) != digest:
        return None
    magic = None if found.magic_card is None else NAMES[found.magic_card]
    same = (magic, found.lucky_seat) == (told.magic_card, told.lucky_seat)
    card = None if found.magic_card is None else Card(found.magic_card)
    return (card, found.lucky_seat) if same else None
