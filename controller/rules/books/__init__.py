"""The five rule books: data, and small functions where the book has more than a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.rules.book import Book
from controller.rules.books import mbs3, mega, nsw, pp6, rico

BOOKS: Final[Mapping[str, Book]] = {
    b.key: b for b in (mbs3.BOOK, pp6.BOOK, nsw.BOOK, mega.BOOK, rico.BOOK)
}
