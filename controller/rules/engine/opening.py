"""Opening a table: no settings without a choice, no rules before their date, no giveaway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Final

from controller.rules.book import Book
from controller.rules.books import BOOKS
from controller.rules.engine.state import TableRules, TableState
from controller.rules.errors import SettingsError
from controller.rules.progressive_return import giveaways
from controller.rules.settings import Settings, TableSettings, open_settings
from record.kit.words import shown

_HOME: Final = {"1": "$", "2": "$"}
"""Circles 1 and 2 equal the $ wager, and so do their limits."""


def narrowed(book: Book, table: TableSettings) -> Book:
    """The book with the operator's own limits, which lie within the printed ones (PP6-W1 to W3)."""
    if not table.wager_limits:
        return book
    own = {
        spot: replace(limit, least=pair[0], most=pair[1])
        for spot, limit in book.wager_limits.items()
        if (pair := table.wager_limits.get(_HOME.get(spot, spot)))
    }
    return replace(book, wager_limits={**book.wager_limits, **own})


def _widened(book: Book, table: TableSettings) -> list[tuple[str, str, str]]:
    problems = []
    for spot, (least, most) in (table.wager_limits or {}).items():
        printed = None if spot in _HOME else book.wager_limits.get(spot)
        if printed is None:
            listed = ", ".join(s for s in book.wager_limits if s not in _HOME)
            text = f"{shown(spot)}: no wager with printed limits; expected one of {listed}"
            problems.append(("E-CFG-002", "wager_limits", text))
        elif least < printed.least or most > printed.most:
            text = f"{spot}: {least} to {most}: the book prints {printed.least} to {printed.most} "
            text += f"({printed.clause}); limits can only be narrower"
            problems.append(("E-CFG-004", "wager_limits", text))
    return problems


def sound_settings(game: str, values: Mapping[str, object]) -> tuple[Settings, TableSettings]:
    """The settings of a table that may open on any day its book holds."""
    money, table = open_settings(game, values)
    if problems := [*giveaways(game, money, table), *_widened(BOOKS[game], table)]:
        raise SettingsError(problems)
    return money, table


def open_table(game: str, values: Mapping[str, object], today: date) -> TableState:
    """The state of a table that may open; raises ``SettingsError`` naming every problem."""
    book = BOOKS.get(game)
    if book is None:
        listed = ", ".join(BOOKS)
        raise SettingsError([("E-CFG-005", "game", f"{game!r}: expected one of {listed}")])
    if book.effective is not None and today < book.effective:
        text = f"{book.title} version {book.version} takes effect on {book.effective}, not before"
        raise SettingsError([("E-CFG-006", "game", text)])
    money, table = sound_settings(game, values)
    rules = TableRules(narrowed(book, table), money, table)
    return TableState(rules, min_wager=money.min_wager, max_wager=money.max_wager)
