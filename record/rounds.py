"""How a round ended, said once for everybody who says it: prompt, shell, day, reports.

The contract's ``round_status`` is what the rule book decides. Where the book is silent and the
supervisor rules that the round is void, the record holds that ruling as an event, and the status
stays ``settled`` with every wager void, or ``supervisor``. The round is void all the same: the
dealer's prompt says so and every wager went back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

VOID: Final = "void"
HIDDEN: Final = "--"
"""A card that never became public."""
CONFIRMED: Final = "supervisor_confirmed"
MOST_SEATS: Final = 12
RULED_VOID: Final = "void: "
"""How the supervisor's ruling begins in the event that records it."""


def ending(record: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """``settled``, ``void`` or ``supervisor``: the rule book's word, or the supervisor's."""
    return VOID if ruled_void(record) else str(result["round_status"])


def ruled_void(record: Mapping[str, Any]) -> bool:
    events = record["round"].get("events") or () if "round" in record else ()
    return any(
        event["type"] == CONFIRMED and str(event["what"]).startswith(RULED_VOID) for event in events
    )


def returned(wager: Mapping[str, Any], ended: str) -> int | None:
    """What went to the player: of a void round that the book left open, his stake."""
    to_player: int | None = wager["to_player"]
    if to_player is None and ended == VOID:
        placed: int = wager["placed"]
        return placed
    return to_player


def reason(cards: Sequence[str | None], text: str) -> str:
    """Why a wager was paid or lost, as every screen and page says it:
    ``Th Td 9c 4s 2d: pair of tens, tens or better``."""
    shown = " ".join(HIDDEN if card is None else card for card in cards)
    return f"{shown}: {text}" if shown else text


def hands(result: Mapping[str, Any]) -> int:
    """How many seats played in a round; what another machine reports may be anything."""
    seats = result.get("seats")
    return min(len(seats), MOST_SEATS) if isinstance(seats, list) else 0
