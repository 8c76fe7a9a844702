"""Every command line on a page is one that the commands' own parsers take: pages cannot rot."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from controller.cli import COMMANDS
from docs.manual import Part, parts
from record.kit.places import LINK, TABLE
from tests.conformance.clauses import ROOT

PAGES = sorted(
    page
    for folder in ("operations", "protocols", "rules")
    for page in (Path(ROOT) / "docs" / folder).glob("*.md")
)
BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
AHEAD = re.compile(r"(?:sudo (?:-u \S+ )?)?(underfelt .*)")
ENDS = re.compile(r"\s{2,}|\s#|\s[|&<>]+(?:\s|$)|;|\.{3}")
"""A remark beside the command, the next one of a pipe, or what the page leaves out."""
NO_COMMAND = {"underfelt mystery 1", "underfelt link receipts 1"}
"""Words of a format that begin alike."""


def written(text: str) -> Iterator[str]:
    """Lines of blocks and spans of prose that begin with the command, or that are piped into it."""
    blocks = "\n".join(BLOCK.findall(text)).splitlines()
    for line in (*blocks, *SPAN.findall(BLOCK.sub("", text))):
        for piece in re.split(r" (?:\||&&) ", line.strip()):
            found = AHEAD.fullmatch(piece.strip())
            if found and found[1] not in NO_COMMAND:
                yield found[1]


def said(line: str) -> tuple[list[str], bool]:
    """Its words after ``underfelt``, and whether they are all there."""
    end = ENDS.search(line)
    plain = line[: end.start()] if end else line
    plain = re.sub(r"[\[\]]", "", plain).replace(" GAME", " MBS3")
    return shlex.split(plain)[1:], end is None or "..." not in end[0]


def lines_of(words: list[str]) -> Iterator[list[str]]:
    """``verify|approve AWARD`` is two lines."""
    for at, word in enumerate(words[:2]):
        if "|" in word:
            for one in word.split("|"):
                yield from lines_of([*words[:at], one, *words[at + 1 :]])
            return
    yield words


def part_of(words: list[str]) -> tuple[Part, list[str]] | None:
    """The parser that reads a line, and what is left for it. None: the command's own name."""
    assert words[0] in COMMANDS, f"no command {words[0]}"
    found = {part.words: part for part in parts(words[0])}
    for length in (2, 1):
        if part := found.get(tuple(words[:length])):
            return part, words[length:]
    assert len(words) == 1, f"{words[0]} has no {words[1]}"
    return None


def wrong(line: str) -> str:
    """What the parser says against it, or nothing."""
    every, whole = said(line)
    for words in lines_of(every):
        if not words or words[0].startswith("-") or words[0].isupper():
            continue  # underfelt --help, underfelt COMMAND
        found = part_of(words)
        if found is None or not found[1]:
            continue  # the command's name, in a sentence
        part, rest = found
        if not whole:
            known = {name for action in part.options for name in action.option_strings}
            unknown = [w for w in rest if w.startswith("--") and w not in known]
            if unknown:
                return f"no option {unknown}"
            continue
        if told := refused(part.parser, rest):
            return told
    return ""


class _Refused(Exception):
    pass


def refused(parser: argparse.ArgumentParser, words: list[str]) -> str:
    def error(message: str) -> None:
        raise _Refused(message)

    parser.error, before = error, parser.error  # type: ignore[method-assign,assignment]
    here = {kind.variable: "the-only-one.toml" for kind in (TABLE, LINK)}
    try:
        with patch.dict(os.environ, here):
            parser.parse_args(words)
    except _Refused as reason:
        return str(reason)
    finally:
        parser.error = before  # type: ignore[method-assign]
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_can_be_given(page: Path) -> None:
    found = {line: wrong(line) for line in written(page.read_text("utf-8"))}
    assert {line: told for line, told in found.items() if told} == {}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("underfelt jackpot verify|paid main/1/1 --by k.lee --config link.toml", ""),
        ("underfelt journal day DIR now         the day under way", ""),
        ("underfelt keys new", ""),
        ("underfelt report reconcile --config link.toml", "--journal"),
        ("underfelt doctor --user me", "--user"),
        ("underfelt doctor --user ...", "--user"),
    ],
)
def test_a_line_is_read_as_a_person_reads_it(line: str, told: str) -> None:
    assert told in wrong(line)
    assert bool(told) == bool(wrong(line))


@pytest.mark.parametrize("line", ["underfelt repair x", "underfelt keys make x"])
def test_a_command_that_is_not_there_is_found(line: str) -> None:
    with pytest.raises(AssertionError):
        wrong(line)
