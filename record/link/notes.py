"""PURE: the note of an award whose amount changed because another award of its round went back.

It is stored in one form for ever: the checks of a store and of an evidence pack make it again and
compare. People are shown money instead. Only the server writes it, and the server has no role: the
same words by a person are that person's note.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from record.kit.money import dollars

_STORED: Final = re.compile(r"([0-9]{1,18}) cents before; ((.+) is \w+)")


class Revalued(NamedTuple):
    cents: int
    """The amount before."""
    gone: str
    """The award that went back."""


def revalued_note(before_cents: int, gone: str, state: str) -> str:
    """As it is stored; record/verify_evidence.py makes the same."""
    return f"{before_cents} cents before; {gone} is {state}"


def read_revalued(role: str, note: str) -> Revalued | None:
    found = None if role else _STORED.fullmatch(note)
    return None if found is None else Revalued(int(found[1]), found[3])


def shown_note(role: str, note: str) -> str:
    """The note of any step as people read it."""
    found = None if role else _STORED.fullmatch(note)
    return note if found is None else f"{dollars(int(found[1]))} before; {found[2]}"
