"""PURE: words that everything forms alike: counts, a word nobody knows, a value as written."""

from __future__ import annotations

import json
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


def shown(value: object, limit: int = 80) -> str:
    """A value as the user wrote it, in JSON, cut to a readable length."""
    try:
        text = _written(value)
    except ValueError:  # a hexadecimal number of more than 4300 decimal digits
        return "a number too long to show"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _written(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)
