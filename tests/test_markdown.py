"""Pages are wrapped, so that a change of a sentence is a change of its lines; and neither pages nor
messages use the words that readers stumble over."""

from __future__ import annotations

import ast
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


# --- words ---------------------------------------------------------------------------------------

PRODUCT = ("controller", "docs", "drivers", "hw_sim", "link", "record", "web")
STUMBLED_OVER = re.compile(r"\b(whoever|anew|takes? the way|is told|goes on)\b", re.IGNORECASE)
# Clauses are quoted there as docs/rules/clauses.csv has them, beside the names of tests.
QUOTED = {ROOT / "docs" / "conformance.md", ROOT / "web" / "clauses.toml"}
TEXTS = sorted(
    file
    for folder in (*PRODUCT, "systemd", "tests")
    for file in (ROOT / folder).rglob("*")
    if file.suffix in {".md", ".1", ".bash", ".catalog", ".service", ".svg", ".txt"}
    and file not in QUOTED
)
DATA = sorted({file for name in PRODUCT for file in (ROOT / name).rglob("*.toml")} - QUOTED)
SOURCES = sorted(file for folder in PRODUCT for file in (ROOT / folder).rglob("*.py"))


def messages(source: str) -> Iterator[str]:
    """Every text of a program but what documents its code: messages, ``--help``, prompts."""
    tree = ast.parse(source)
    remarks = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in remarks
        ):
            yield node.value


@pytest.mark.parametrize(
    "file", [*ROOT.glob("*.md"), *TEXTS, *DATA], ids=lambda f: str(f.relative_to(ROOT))
)
def test_no_page_uses_a_word_that_readers_stumble_over(file: Path) -> None:
    """CONTRIBUTING.md says how we write, and what to write instead."""
    lines = enumerate(file.read_text("utf-8").splitlines(), 1)
    assert [(n, line) for n, line in lines if STUMBLED_OVER.search(line)] == []


def test_no_message_uses_a_word_that_readers_stumble_over() -> None:
    found = {
        str(file.relative_to(ROOT)): said
        for file in SOURCES
        if STUMBLED_OVER.search(text := file.read_text("utf-8"))
        for said in messages(text)
        if STUMBLED_OVER.search(said)
    }
    assert found == {}


def test_messages_are_texts_that_document_no_code() -> None:
    source = 'def f():\n    """doc"""\n    x = f"one {1}"\n    """of x"""\n    return "two"\n'
    assert set(messages(source)) == {"one ", "two"}
