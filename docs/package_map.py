"""The packages: what each is for, and who imports whom, layered from top to bottom as a picture.

A package stands one layer above the highest of those that it imports. If two import each other
there is no such order, and the picture is refused.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from html import escape
from pathlib import Path
from textwrap import fill
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
TOPS: Final = ("controller", "drivers", "hw_sim", "link", "record", "web")
SPLIT: Final = ("controller", "link", "record")
"""Shown by their folders; the others whole."""
LAYERED: Final = ("controller.shell.desk", "controller.shell.testing")
"""Folders of a package that stand on a layer of their own: the shell has a side in the daemon."""
WIDE, HIGH, GAP, ROW, MARGIN = 152, 30, 16, 74, 20


def purposes() -> str:
    """A list of all packages, each with the first sentence of what it says of itself."""
    lines = ""
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("__init__.py")):
            if (said := ast.get_docstring(ast.parse(path.read_text("utf-8")))) is None:
                continue
            folder = path.parent.relative_to(ROOT)
            if "vendor" in folder.parts:
                continue
            depth = len(folder.parts) - 1
            sentence = re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n\n", said)[0].replace("``", "`")
            first = " ".join(sentence.split())
            name = folder.name if depth else folder.as_posix()
            lines += (
                fill(
                    f"* `{name}/`: {first.rstrip('.')}",
                    100,
                    initial_indent="  " * depth,
                    subsequent_indent="  " * (depth + 1),
                    break_long_words=False,
                    break_on_hyphens=False,
                )
                + "\n"
            )
    return lines


class GoesRound(ValueError):
    """Packages that import each other."""


def package_of(module: str) -> str:
    """``controller.rules.engine.step`` belongs to ``controller.rules``."""
    for layered in LAYERED:
        if f"{module}.".startswith(f"{layered}."):
            return layered
    top, _, rest = module.partition(".")
    folder = rest.partition(".")[0]
    if top in SPLIT and folder and (ROOT / top / folder).is_dir():
        return f"{top}.{folder}"
    return top


@cache
def imports() -> dict[str, frozenset[str]]:
    """Package to the packages it imports, not counting imports for type checking."""
    found: dict[str, set[str]] = {}
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            mine = package_of(".".join(parts))
            for name in _imported(ast.parse(path.read_text("utf-8"))):
                if name.split(".")[0] in TOPS and package_of(name) != mine:
                    found.setdefault(mine, set()).add(package_of(name))
            found.setdefault(mine, set())
    return {name: frozenset(used) for name, used in found.items()}


def _imported(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    skipped = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def layers(used: dict[str, frozenset[str]]) -> list[list[str]]:
    """From those that import nothing of ours upwards."""
    height: dict[str, int] = {}

    def of(name: str, above: tuple[str, ...]) -> int:
        if name in above:
            raise GoesRound(" -> ".join((*above[above.index(name) :], name)))
        if name not in height:
            below = (of(one, (*above, name)) for one in sorted(used.get(name, ())))
            height[name] = max(below, default=-1) + 1
        return height[name]

    for name in sorted(used):
        of(name, ())
    return [sorted(n for n in height if height[n] == at) for at in range(max(height.values()) + 1)]


def reduced(used: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Without the imports that a longer way implies: the picture stays readable."""

    @cache
    def below(name: str) -> frozenset[str]:
        direct = used.get(name, frozenset())
        return direct.union(*(below(one) for one in direct))

    return {
        name: frozenset(
            one for one in direct if not any(one in below(o) for o in direct if o != one)
        )
        for name, direct in used.items()
    }


STYLE: Final = """
  text { font: 13px system-ui, sans-serif; text-anchor: middle; fill: #1b1f24 }
  rect { fill: #f4f1ea; stroke: #7a6f5d }
  path { fill: none; stroke: #7a6f5d; stroke-opacity: .55 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e8e6e1 } rect { fill: #2a2d31; stroke: #a79c88 } path { stroke: #a79c88 }
  }
"""


def picture() -> str:
    used = imports()
    rows = list(reversed(layers(used)))
    widest = max(len(row) for row in rows)
    width = 2 * MARGIN + widest * (WIDE + GAP) - GAP
    place: dict[str, tuple[int, int]] = {}
    for at, row in enumerate(rows):
        left = (width - len(row) * (WIDE + GAP) + GAP) // 2
        for number, name in enumerate(row):
            place[name] = (left + number * (WIDE + GAP) + WIDE // 2, MARGIN + at * ROW)
    height = 2 * MARGIN + (len(rows) - 1) * ROW + HIGH
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>Packages and their imports, from top to bottom</title>",
        f"<style>{STYLE}</style>",
    ]
    for name, below in sorted(reduced(used).items()):
        x, y = place[name]
        for one in sorted(below):
            to_x, to_y = place[one]
            bend = f"M{x} {y + HIGH} C{x} {y + HIGH + 24} {to_x} {to_y - 24} {to_x} {to_y}"
            lines.append(f'<path d="{bend}"/>')
    for name, (x, y) in place.items():
        lines.append(f'<rect x="{x - WIDE // 2}" y="{y}" width="{WIDE}" height="{HIGH}" rx="5"/>')
        lines.append(f'<text x="{x}" y="{y + HIGH // 2 + 5}">{escape(name)}</text>')
    return "\n".join((*lines, "</svg>")) + "\n"
