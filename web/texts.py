"""What a clause of a rule book says, and what a code means, for the links on the pages."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).resolve().parent
UNKNOWN: Final = ("", "look the code up in the manual of the device's driver")


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / name).read_text("utf-8"))


def clause_text(name: str) -> str | None:
    """In our words."""
    found: str | None = _read("clauses.toml")["clauses"].get(name)
    return found


def code_text(code: str) -> tuple[str, str]:
    """Meaning and what to do. A vendor's driver may have codes of its own."""
    meaning, action = _read("codes.toml").get(code, UNKNOWN)
    return meaning, action
