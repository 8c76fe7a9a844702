"""Pages are wrapped, so that a change of a sentence is a change of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Not docs/reports: runs print those.
PAGES = [
    page
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    if page.parent.name != "reports"
]
WIDTH = 100
# Tables, headings, comments and indented code keep their lines.
FREE = re.compile(r"\s*\||#|<!--|    \S")
WHOLE = re.compile(r"(?:!?\[[^\]]*\]\([^)]*\)|`[^`]*`|[^\s`])+")


def too_long(text: str) -> Iterator[str]:
    """Lines of prose that could be broken and are not."""
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and len(line) > WIDTH and not FREE.match(line) and _breakable(line):
            yield line


def _breakable(line: str) -> bool:
    """A single link or piece of code cannot be broken, however long it is."""
    return len(WHOLE.findall(line.lstrip(" *-0123456789."))) > 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_is_wrapped_at_a_hundred_columns(page: Path) -> None:
    assert list(too_long(page.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("word " * 21, 1),
        ("| " + "word " * 30 + "|", 0),
        ("```\n" + "word " * 30 + "\n```", 0),
        ("* [" + "a" * 120 + "](b.md)", 0),
        ("```\n```\n" + "word " * 30, 1),
    ],
)
def test_tables_code_and_single_links_keep_their_lines(text: str, found: int) -> None:
    assert len(list(too_long(text))) == found
