"""Lists in pages: what a request for one may say, and where a page ends.

Every list takes ``cursor`` and answers ``next``: the cursor of the page that follows, empty on the
last one. A cursor names the last row seen, so rows that come meanwhile shift nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

import msgspec

from link.store.contract import INT64_MAX
from record.shape import why

MOST_ROWS: Final = 500
"""In one answer."""

T = TypeVar("T")
ListingT = TypeVar("ListingT", bound="Listing")
MaybeAward = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[!-~]*$(?!\n)")]
MaybeHex = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{0,32}$(?!\n)")]
MaybeNumber = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{0,18}$(?!\n)")]


class NotAList(Exception):
    """The request cannot be read."""

    code = "E-SVC-001"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Listing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    verb: str = ""
    cursor: Annotated[str, msgspec.Meta(max_length=300)] = ""


class Journals(Listing, frozen=True):
    """``prefix``: only journals whose id begins with it."""

    cursor: MaybeHex = ""
    prefix: MaybeHex = ""


class Awards(Listing, frozen=True):
    cursor: MaybeAward = ""


class Alarms(Listing, frozen=True):
    cursor: MaybeNumber = ""

    @property
    def before(self) -> int:
        return int(self.cursor) if self.cursor else INT64_MAX


def read(given: Mapping[str, Any], kind: type[ListingT]) -> ListingT:
    try:
        return msgspec.convert(dict(given), kind)
    except msgspec.ValidationError as error:
        said = why(error, dict(given), kind)
        raise NotAList(f"{given.get('verb', 'list')}: {said}") from None


def cut(found: Sequence[T], most: int, cursor_of: Callable[[T], str]) -> tuple[Sequence[T], str]:
    """``found`` has one row more than ``most`` if another page follows."""
    page = found[:most]
    return page, cursor_of(page[-1]) if len(found) > most else ""


def by_name(rows: Iterable[T], name: Callable[[T], str], cursor: str) -> tuple[Sequence[T], str]:
    """A page of what is in memory, ordered by a name that no two of them have."""
    return cut(sorted((r for r in rows if name(r) > cursor), key=name), MOST_ROWS, name)
