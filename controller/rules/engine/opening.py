"""Opening a table: no settings without a choice, no rules before their date, no giveaway."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from controller.rules.books import BOOKS
from controller.rules.engine.state import TableRules, TableState
from controller.rules.errors import SettingsError
from controller.rules.progressive_return import giveaways
from controller.rules.settings import Settings, TableSettings, open_settings


def sound_settings(game: str, values: Mapping[str, object]) -> tuple[Settings, TableSettings]:
    """The settings of a table that may open on any day its book holds."""
    money, table = open_settings(game, values)
    if problems := giveaways(game, money, table):
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
    rules = TableRules(book, money, table)
    return TableState(rules, min_wager=money.min_wager, max_wager=money.max_wager)
