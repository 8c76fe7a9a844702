"""docs/operations/link-invariants.md names every invariant, and nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "operations" / "link-invariants.md"
PARTS = ("ledger", "store", "server", ".")
MODULES = {path.stem: path for part in PARTS for path in (ROOT / "link" / part).glob("*.py")}


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| I\d", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_invariant_has_its_row_once() -> None:
    assert [row[0] for row in rows()] == [f"I{number}" for number in range(1, 24)]
    assert all(len(row) == 6 and all(row) for row in rows())


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row[0]))
def test_what_a_row_names_is_there(row: list[str]) -> None:
    tests = re.findall(r"`(tests/[^`]+)::([^`]+)`", row[5])
    assert tests, "no test is named"
    for file, function in tests:
        assert f"def {function}" in (ROOT / file).read_text("utf-8"), (file, function)
    for name in re.findall(r"`([a-z]+(?:\.[A-Za-z_]+)+)`", f"{row[2]} {row[4]}"):
        module, *parts = name.split(".")
        text = MODULES[module].read_text("utf-8")
        for part in parts:
            assert re.search(rf"(def|class) {part}\b|^{part}\b", text, re.MULTILINE), name
