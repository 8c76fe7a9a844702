"""Gathers the fault codes of all pages into one, and into what the program itself says about them.

A code's meaning and what to do about it are written once, on the page of its device or part.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

DOCS: Final = Path(__file__).resolve().parent
CODE: Final = re.compile(r"E-([A-Z]+)-(\d{3})")
LIKE: Final = re.compile(r"as (?:`?(E-[A-Z]+-\d{3})`?|(\d{3}))(?!\d)")


class Fault(NamedTuple):
    code: str
    meaning: str
    action: str
    page: str
    """Its path from docs/protocols."""


def codes_in(cell: str) -> list[str]:
    """``E-JRN-005`, `006``` names two codes, ``E-JRN-050` to `052``` three; else none."""
    plain = cell.replace("`", "").strip()
    found = CODE.match(plain)
    if found is None:
        return []
    prefix, rest = f"E-{found[1]}-", plain[found.end() :]
    if not rest:
        return [found[0]]
    if to := re.fullmatch(r" to (\d{3})", rest):
        return [f"{prefix}{n:03}" for n in range(int(found[2]), int(to[1]) + 1)]
    if re.fullmatch(r"(, \d{3})+", rest):
        return [found[0], *(prefix + n for n in re.findall(r"\d{3}", rest))]
    return []


def written() -> Iterator[Fault]:
    """Every table row that begins with codes and says what to do, as it is written."""
    for folder in ("protocols", "operations", "rules"):
        for page in sorted((DOCS / folder).glob("*.md")):
            if page.name == "faults.md":
                continue
            name = page.name if folder == "protocols" else f"../{folder}/{page.name}"
            for line in page.read_text("utf-8").splitlines():
                if not line.startswith("|"):
                    continue
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                for code in codes_in(cells[0]) if len(cells) >= 3 else []:
                    yield Fault(code, _moved(cells[-2], name), _moved(cells[-1], name), name)


def _moved(text: str, page: str) -> str:
    """Its links as they read from docs/protocols, where the gathered page is."""
    folder = posixpath.dirname(page)
    return re.sub(
        r"\]\((?!\w+:)([^)#]+)",
        lambda link: f"]({posixpath.normpath(posixpath.join(folder, link[1]))}",
        text,
    )


def faults() -> list[Fault]:
    """By code, each with its own words: ``as 001`` helps nobody who has only this line."""
    found: dict[str, Fault] = {}
    before = ""
    for one in written():
        before = one.action.replace("as above", before)
        found.setdefault(one.code, one._replace(action=before))
    return [one._replace(action=_spelt_out(one, found)) for _, one in sorted(found.items())]


def _spelt_out(one: Fault, found: dict[str, Fault]) -> str:
    like = LIKE.match(one.action)
    if like is None:
        return one.action
    meant = found[like[1] or f"{one.code[:-3]}{like[2]}"]
    return _spelt_out(meant, found) + one.action[like.end() :]


def faults_page() -> str:
    text = "# Fault codes\n\n"
    text += "<!-- Printed from the other pages by `make docs`; do not edit. -->\n\n"
    text += "A code never changes its meaning. The page says more.\n\n"
    text += "| code | meaning | what to do | page |\n|---|---|---|---|\n"
    return text + "".join(
        f"| `{one.code}` | {one.meaning} | {one.action} | [{Path(one.page).name}]({one.page}) |\n"
        for one in faults()
    )


def catalogue() -> str:
    """For the program: a code to its meaning and what to do."""
    text = "# Printed from the pages under docs/ by `make docs`; do not edit.\n\n"
    for one in faults():
        said = ", ".join(json.dumps(_plain(t), ensure_ascii=False) for t in one[1:3])
        text += f"{one.code} = [{said}]\n"
    return text


def _plain(text: str) -> str:
    """Without the marks of a page."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").replace("**", "")
