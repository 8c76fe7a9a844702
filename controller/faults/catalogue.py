"""What a code means and what to do about it, as the pages under docs/ say it."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

FILE: Final = Path(__file__).with_name("faults.toml")


class FaultText(NamedTuple):
    meaning: str
    action: str


UNKNOWN: Final = FaultText("", "look the code up in the manual of the device's driver")


@cache
def _all() -> dict[str, FaultText]:
    found = tomllib.loads(FILE.read_text("utf-8"))
    return {code: FaultText(*said) for code, said in found.items()}


def said(code: str) -> FaultText:
    """A vendor's driver may have codes of its own."""
    return _all().get(code, UNKNOWN)
