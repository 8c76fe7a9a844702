"""The language file: every word of lines 1 to 3. The caller reads the file; this only parses it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Final

COLUMNS: Final = 20

Texts = Mapping[str, Mapping[str, str]]
SECTIONS: Final = (
    "state", "word", "spot", "deck", "hand", "ask", "notice", "arg", "wrong", "refused",
)  # fmt: skip


def parse_texts(toml: str) -> Texts:
    """The sections of a language file; raises ``ValueError`` naming what is missing or no text."""
    found = tomllib.loads(toml)
    for section in SECTIONS:
        entries = found.get(section)
        if entries is None:
            raise ValueError(f"[{section}] is missing")
        wrong = [key for key, text in entries.items() if not isinstance(text, str)]
        if wrong:
            raise ValueError(f"[{section}] {wrong[0]}: expected a text")
    return found
