"""Cards in doubt in words: what the card device said, where, and how many cards it concerns.

Nothing here depends on a card: it reveals position and number only.
"""

from __future__ import annotations

from typing import Final

from controller.rules.engine import facts as f

TWICE: Final = "twice"
"""The same card was read again."""
TOLD: Final = frozenset(("misread", "double feed", "returned", "gap", "burn", "restarted", TWICE))
"""Doubts that the prompt tells apart; the others are a card in doubt."""


def sentence(what: f.UnknownCardSeen) -> str:
    """For the supervisor, the journal's readers and the status."""
    at = f" at draw {what.number}" if what.number else ""
    match what.kind:
        case "gap" if what.count == 1:
            return f"The card device skipped draw {what.number}: one card is missing."
        case "gap" if what.count:
            return f"The card device skipped draws {where(what)}: {what.count} cards are missing."
        case "gap":
            return f"The card device skipped cards{at}; how many is not known."
        case "restarted":
            return f"The card device started to count again{at}."
        case "misread":
            return f"A card could not be read{at}."
        case "double feed":
            return f"{what.count or 'Several'} cards left at once{at}."
        case "returned":
            return f"A card was pushed back into the card device{at}."
        case "burn":
            return f"A card was burnt{at}."
        case "unasked":
            return f"A card left the card device between rounds{at}."
        case _:
            return "A card that is not of this deck was read."


def where(what: f.UnknownCardSeen) -> str:
    """``12``, ``12-13``, or ``12-?`` where nobody knows how many; empty without a place."""
    if not what.number:
        return ""
    if what.kind != "gap" or what.count == 1:
        return str(what.number)
    return f"{what.number}-{what.number + what.count - 1 if what.count else '?'}"
