"""Words that every command forms alike: counts, and a word nobody knows."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, noun: str, nouns: str = "") -> str:
    """``1 round``, ``2 rounds``, ``1,500 rounds``; ``nouns`` where the plural takes no s."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "one of") -> str:
    """``did you mean X?``, or everything that is known."""
    from difflib import get_close_matches  # only where something went wrong: help stays cheap

    listed = list(known)
    close = get_close_matches(word.lower(), listed, n=1)
    return f"did you mean {close[0]}?" if close else f"{otherwise} {', '.join(listed)}"


def dollars(cents: int) -> str:
    """``$1,234.50``: an amount in a sentence."""
    sign, cents = ("-", -cents) if cents < 0 else ("", cents)
    return f"{sign}${cents // 100:,}.{cents % 100:02}"
