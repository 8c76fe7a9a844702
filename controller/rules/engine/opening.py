"""Opening a table: no settings without a choice, no rules before their date, no giveaway."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from controller.rules.books import BOOKS
from controller.rules.engine.state import TableRules, TableState
from controller.rules.errors import SettingsError
from controller.rules.progressive_return import over_100_percent
from controller.rules.settings import open_settings


def open_table(game: str, values: Mapping[str, object], today: date) -> TableState:
    """The state of a table that may open; raises ``SettingsError`` naming every problem."""
    book = BOOKS.get(game)
    if book is None:
        listed = ", ".join(BOOKS)
        raise SettingsError([("E-CFG-005", "game", f"{game!r}: expected one of {listed}")])
    if book.effective is not None and today < book.effective:
        text = f"{book.title} version {book.version} takes effect on {book.effective}, not before"
        raise SettingsError([("E-CFG-006", "game", text)])
    money, table = open_settings(game, values)
    over = over_100_percent(game, money, table)
    if over is not None and not table.allow_over_100_percent:
        text = (
            f"the progressive wager returns {over.numerator}/{over.denominator} of its stake at "
            "the reset value, more than 100 %: change the pay-outs, the lucky_rate or the reset, "
            "or set allow_over_100_percent = true"
        )
        raise SettingsError([("E-CFG-007", "allow_over_100_percent", text)])
    rules = TableRules(book, money, table)
    return TableState(rules, min_wager=money.min_wager, max_wager=money.max_wager)
