"""The table of faults: rows of the link and of attackers, each with a test that has its number."""

from __future__ import annotations

import re

import pytest

from tests.conformance.clauses import ROOT

LINK = range(31, 61)
ATTACKERS = (61, 62, 63, 64, 65, 68, 69, 70)
"""Updates, 66 and 67, are rows of the part that installs them."""


def named() -> set[int]:
    found: set[int] = set()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for rows in re.findall(r"def test_rows?_(\d+)(?:_and_(\d+))?_", path.read_text("utf-8")):
            found |= {int(number) for number in rows if number}
    return found


@pytest.mark.parametrize("rows", [LINK, ATTACKERS], ids=["link", "attackers"])
def test_every_row_has_its_test(rows: range | tuple[int, ...]) -> None:
    known = named()
    assert [row for row in rows if row not in known] == []
