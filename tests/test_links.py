"""Every link of a page leads to a file that is there, and to a heading that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "tests/README.md"])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Headings as the usual readers of Markdown name them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_is_dead(page: Path) -> None:
    dead = []
    for target in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (heading and heading not in anchors(file)):
            dead.append(target)
    assert dead == []


def test_every_page_can_be_reached_from_the_index() -> None:
    """By links alone: a reader who starts at docs/README.md finds every page."""
    found: set[Path] = set()
    to_read = [ROOT / "docs" / "README.md", ROOT / "README.md"]
    while to_read:
        page = to_read.pop()
        if page in found or page.suffix != ".md" or not page.is_file():
            continue
        found.add(page)
        for target in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
            if not re.match(r"[a-z]+:", target):
                to_read.append((page.parent / target.partition("#")[0]).resolve())
    assert [str(page.relative_to(ROOT)) for page in PAGES if page not in found] == []


def test_every_picture_is_of_moderate_size_and_on_a_page() -> None:
    pictures = sorted((ROOT / "docs" / "pictures").iterdir())
    shown = "".join(page.read_text("utf-8") for page in PAGES)
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size < 300_000, picture
        assert f"pictures/{picture.name})" in shown
