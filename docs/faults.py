"""Gathers the fault codes of all protocol pages into one: what the code means and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PROTOCOLS = Path(__file__).resolve().parent / "protocols"
CODE = re.compile(r"`?(E-[A-Z]+-\d{3})`?")


def rows() -> Iterator[tuple[str, str, str, str]]:
    """(code, meaning, what to do, page) of every table row that begins with a code."""
    for page in sorted(PROTOCOLS.glob("*.md")):
        if page.name == "faults.md":
            continue
        for line in page.read_text("utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            code = CODE.fullmatch(cells[0]) if line.startswith("|") else None
            if code is None or len(cells) < 3:
                continue
            meaning, action = cells[-2:]
            yield code[1], meaning, action, page.name


def faults_page() -> str:
    found = sorted(rows())
    text = "# Fault codes\n\n"
    text += "<!-- Printed from the protocol pages by `make docs`; do not edit. -->\n\n"
    text += "A code never changes its meaning. The page says more.\n\n"
    text += "| code | meaning | what to do | page |\n|---|---|---|---|\n"
    return text + "".join(
        f"| `{code}` | {meaning} | {action} | [{page}]({page}) |\n"
        for code, meaning, action, page in found
    )
