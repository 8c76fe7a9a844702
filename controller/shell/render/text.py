"""What the renderings share: wrapping, columns, amounts, times."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from record.kit.money import cents_text

LEAST = 40


def wrapped(text: str, columns: int, first: str = "", rest: str | None = None) -> list[str]:
    """A paragraph; what is longer than a line is cut inside the word. A hyphen is no place to
    cut: it stands in verbs, codes and the names of devices."""
    indent = first if rest is None else rest
    return textwrap.wrap(
        text,
        max(columns, LEAST),
        initial_indent=first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def pairs(rows: Iterable[tuple[str, object]], columns: int, width: int = 12) -> Iterator[str]:
    """``name   value``, the value wrapped below itself."""
    for name, value in rows:
        head = f"{name:{width}} "
        yield from wrapped(str(value), columns, head, " " * len(head))


def table(head: Sequence[str], rows: Sequence[Sequence[object]], columns: int) -> list[str]:
    """Columns as wide as they must be; the last one wraps below itself."""
    cells = [[str(one) for one in row] for row in (head, *rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(head) - 1)]
    lines: list[str] = []
    for *first, last in cells:
        before = "".join(f"{c:{w}}  " for c, w in zip(first, widths, strict=True))
        lines += wrapped(last, columns, before, " " * len(before))
    return lines


def plain(data: Mapping[str, Any], columns: int) -> list[str]:
    """Any answer, for a verb without a rendering of its own."""
    lines: list[str] = []
    for name, value in data.items():
        lines += pairs([(name, _said(value))], columns)
    return lines


def _said(value: object) -> str:
    match value:
        case None | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_said(one) for one in value) or "none"
        case dict():
            return ", ".join(f"{key} {_said(one)}" for key, one in value.items()) or "none"
        case _:
            return str(value)


def cents(value: int | None) -> str:
    """Minor units as an amount: the shell knows no currency."""
    return "-" if value is None else cents_text(value)
