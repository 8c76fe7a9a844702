"""Every error code of the journal's bodies is on the page, with what to do."""

from __future__ import annotations

import re
from pathlib import Path

import controller

ROOT = Path(controller.__file__).parent
PAGE = ROOT.parent / "docs" / "protocols" / "journal-entries.md"
MODULES = (
    "config/keys",
    "history/codec",
    "history/entries",
    "history/framelog",
    "history/replay",
    "history/revealing",
    "history/sealing",
    "history/snapshot",
)
CODE = re.compile(r"E-[A-Z]+-\d{3}")


def listed() -> set[str]:
    """Codes of the first column of section 8; ``E-ENT-004, 005`` names two."""
    found: set[str] = set()
    for line in PAGE.read_text("utf-8").split("## 8.")[1].splitlines():
        first = line.split("|")[1] if line.startswith("| E-") else ""
        for code in CODE.findall(first):
            found |= {code, *(code[:-3] + more for more in re.findall(r", (\d{3})", first))}
    return found


def test_the_codes_of_the_program_and_of_the_page_are_the_same() -> None:
    used = {c for m in MODULES for c in CODE.findall((ROOT / f"{m}.py").read_text("utf-8"))}
    assert used == listed()
    assert len(used) > 15
