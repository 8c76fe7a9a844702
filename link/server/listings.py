"""Lists in pages: where a page ends.

Every list takes ``cursor`` and answers ``next``: the cursor of the page that follows, empty on the
last one. A cursor names the last row seen, so rows that come meanwhile shift nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

MOST_ROWS: Final = 500
"""In one answer."""

T = TypeVar("T")


def cut(found: Sequence[T], most: int, cursor_of: Callable[[T], str]) -> tuple[Sequence[T], str]:
    """``found`` has one row more than ``most`` if another page follows."""
    page = found[:most]
    return page, cursor_of(page[-1]) if len(found) > most else ""


def by_name(rows: Iterable[T], name: Callable[[T], str], cursor: str) -> tuple[Sequence[T], str]:
    """A page of what is in memory, ordered by a name that no two of them have."""
    return cut(sorted((r for r in rows if name(r) > cursor), key=name), MOST_ROWS, name)
