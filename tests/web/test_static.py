"""The pages: small, without inline code, complete, and with the same letters as the boards."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Final

import pytest

from hw_sim.devices.fonts import GLYPHS, RANKS, SEGMENTS, SUITS
from web.pages import as_served

STATIC: Final = Path(__file__).resolve().parents[2] / "web" / "static"
FILES: Final = sorted(path for path in STATIC.rglob("*") if path.is_file())
MOST: Final = 60_000
MOST_OF_A_PAGE: Final = 45_000
PAGES: Final = [path for path in FILES if path.suffix == ".html"]
MAKES: Final = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|Function\(|document\.write"
)
TEXTS: Final = re.compile(r"//.*|/\*(?s:.*?)\*/|(\"(?:[^\"\\]|\\.)*\"|`[^`]*`)")
"""Texts of a script, and comments as nothing."""
DISPLAYS: Final = (STATIC / "table.js").read_text("utf-8")


def packed(name: str) -> int:
    """Bytes on the wire."""
    return len(gzip.compress(as_served(name, (STATIC / name).read_bytes()), 9))


def texts_of(script: bytes) -> list[str]:
    return [text for text in TEXTS.findall(script.decode()) if text]


def needed(name: str) -> set[str]:
    """A module and what it imports."""
    text = (STATIC / name).read_text("utf-8")
    imported = re.findall(r"^(?:import|\}) .*\"\./([\w.]+)\";$", text, re.M)
    return {name}.union(*map(needed, imported))


def test_all_files_as_they_are_transferred_are_small() -> None:
    sizes = {path.name: packed(path.name) for path in FILES}
    assert sum(sizes.values()) <= MOST, sizes


@pytest.mark.parametrize("page", ["floor", "table"])
def test_a_whole_page_is_small(page: str) -> None:
    files = {"index.html", "pages.css", "favicon.svg"} | needed(f"{page}.js")
    assert {"core.js", "staff.js"} < files
    sizes = {name: packed(name) for name in files}
    assert sum(sizes.values()) <= MOST_OF_A_PAGE, sizes


def test_comments_and_spaces_that_mean_nothing_are_not_served() -> None:
    script = b"// why\nexport const a = 1; // one\nif (a) {\n  f(`b  ${a}`); /* c */\n}\n"
    assert as_served("a.js", script) == b"export const a=1;if(a){f(`b  ${a}`);}"
    sheet = b"/* b */\na,\nb > c {\n  width: calc(1px + 2px);\n  &:hover {\n    top: 0;\n  }\n}\n"
    assert as_served("a.css", sheet) == b"a,b>c{width:calc(1px + 2px);&:hover{top:0}}"
    page = b"<!-- why -->\n<p>\n  a <b>c</b> <i>d</i>\n</p>\n"
    assert as_served("a.html", page) == b"<p>\na <b>c</b> <i>d</i></p>\n"
    assert as_served("a.svg", b"  <svg/>") == b"  <svg/>"


def test_scripts_have_nothing_that_the_minifier_takes_for_code() -> None:
    """It removes spaces from a template within a template, and from a regular expression that
    follows an arrow."""
    for path in FILES:
        if path.suffix == ".js":
            found = re.findall(r"\$\{[^{}]*`|=>\s*/[^/*].*", path.read_text("utf-8"))
            assert not found, f"{path.name}: {found}"


def test_every_text_of_a_script_is_served_as_it_is_written() -> None:
    for path in FILES:
        if path.suffix == ".js":
            data = path.read_bytes()
            assert texts_of(as_served(path.name, data)) == texts_of(data), path.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_inline_code_and_no_foreign_address(page: Path) -> None:
    text = page.read_text("utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", text)
    assert not re.search(r"(?:href|src)=\"(?:https?:)?//", text)


def test_every_named_file_is_there() -> None:
    for path in FILES:
        if path.suffix not in (".html", ".js"):
            continue
        text = path.read_text("utf-8")
        named = re.findall(r"[\"']/static/([\w./-]+)[\"']", text)
        named += re.findall(r"(?:from|import) \"\./([\w./-]+)\"", text)
        for name in named:
            assert (STATIC / name).is_file(), f"{path.name}: {name}"


def test_no_script_makes_markup_or_code_from_text() -> None:
    for path in FILES:
        if path.suffix == ".js":
            found = MAKES.findall(path.read_text("utf-8"))
            assert not found, f"{path.name}: {found}"


def test_the_meter_reads_the_boards_letters() -> None:
    block = DISPLAYS[DISPLAYS.index("const FOURTEEN") : DISPLAYS.index("class Segments")]
    read = {int(code, 16): letter for code, letter in re.findall(r"\b([0-9A-F]{4})(\S)", block)}
    assert read | {0: " "} == SEGMENTS


def test_the_matrix_reads_the_boards_pictures() -> None:
    read = dict(re.findall(r'"([0-9a-f]{16})": "(\S)",', DISPLAYS))

    def columns(picture: tuple[str, ...]) -> str:
        """Eight bytes, one per column, the top line in bit 0."""
        bits = (sum((line[x] == "#") << y for y, line in enumerate(picture)) for x in range(8))
        return bytes(bits).hex()

    for picture, name in (*RANKS.items(), *SUITS.items()):
        assert read[columns(picture)] == name


def test_the_prompt_reads_the_boards_own_characters() -> None:
    read = dict(re.findall(r'"([0-9a-f]{16})": "(\\?\S)",', DISPLAYS))
    for rows, character in GLYPHS.items():
        assert read[rows.hex()].replace("\\\\", "\\") == character


def test_the_prompt_has_a_shape_for_every_code_of_the_rom() -> None:
    block = DISPLAYS[DISPLAYS.index("const ROM") : DISPLAYS.index("const FIRST")]
    shapes = re.findall("[0-9a-v]{7}", "".join(re.findall('"([0-9a-v]+)"', block)))
    assert len(shapes) == 0x80 - 0x20
    assert len(set(shapes)) == len(shapes)
