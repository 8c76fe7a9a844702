"""Counts read as English: no output says "1 rounds"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from record.kit.words import counted
from tests.conformance.clauses import ROOT

NOUNS = (
    "alarms|awards|bytes|cards|chips|claims|credits|days|devices|events|files|findings|frames"
    "|heartbeats|journals|keys|lines|minutes|parts|problems|readings|records|rounds|rows|segments"
    "|settings|tables|wagers"
)
PLURAL = re.compile(rf" (?:[a-z]+ )?(?:{NOUNS})\b")
FOLDERS = (
    "controller/commands",
    "controller/evidence",
    "controller/shell",
    "hw_sim",
    "link/commands",
    "link/reports",
    "link/server",
    "web",
)
SCREENS = sorted(
    path.relative_to(ROOT) for folder in FOLDERS for path in (Path(ROOT) / folder).rglob("*.py")
)
"""What these write is read by people, with whatever number comes."""
ALWAYS_MANY = {
    "MAX_INPUT_BYTES", "LARGEST", "len(image)", "MOST_KEYS", "STRIKES", "sizes[kind]",
    "2 * MOST_CARDS", "MOST_BYTES", "LONGEST_BODY", "LONGEST", "self._most",
}  # fmt: skip
"""Limits, and the columns of a table."""
NAMES = {"seat", "game"}
"""No counts: ``seat 2 credits 1``, ``MBS3 tables``."""


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 rounds"), (1, "1 round"), (2, "2 rounds"), (1_500, "1,500 rounds")]
)
def test_a_count_has_its_noun(number: int, said: str) -> None:
    assert counted(number, "round") == said


def test_a_plural_without_an_s() -> None:
    assert counted(2, "person", "people") == "2 people"


@pytest.mark.parametrize("path", SCREENS, ids=str)
def test_no_screen_puts_a_plural_behind_a_number(path: Path) -> None:
    """A number and a plural in one string are wrong for 1: `counted` says both."""
    tree = ast.parse((Path(ROOT) / path).read_text("utf-8"))
    known = ALWAYS_MANY | NAMES
    found = [f"{number}{noun}" for number, noun in _plurals(tree) if number not in known]
    assert found == []


def _plurals(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, text in zip(node.values, node.values[1:], strict=False):
            if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant):
                noun = PLURAL.match(str(text.value))
                if noun is not None:
                    yield ast.unparse(value.value), noun[0]
