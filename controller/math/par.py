"""The exact par sheet of a game: every wager against the house, by full enumeration."""

from __future__ import annotations

from typing import Final

from controller.math.frequencies import six_card_counts, three_card_counts
from controller.math.main_wagers import main_wagers
from controller.math.progressive import warnings
from controller.math.progressive_sheet import progressive_wager
from controller.math.ricochet import LEFT_OUT, kickout_table, ricochet_wagers
from controller.math.sheet import ParSheet, Wager
from controller.math.wagers import odds_wager, outcomes
from controller.rules.book import Book
from controller.rules.books import BOOKS
from controller.rules.hands import HAND_NAMES, THREE_HAND_NAMES
from controller.rules.settings import MONEY_SPEC, TABLE_SPEC, Settings, TableSettings
from record.kit.money import cents_text

PAR_SETTINGS: Final = (
    "seats",
    "jackpot",
    "jackpot_reset",
    "meter_rule",
    "progressive_stake_returned",
    "credit_cents",
    "max_credits",
    "envy_self",
    "envy_per_hand",
    "magic_rate",
    "lucky_rate",
    "lucky_pool",
    "min_wager",
    "max_wager",
    "limit_scope",
    "max_payout",
    "max_payout_scope",
    "circles_optional",
    "rapid_fire_pay",
    "hedge_pay",
)
"""The settings a figure of a par sheet can hang on."""


def par_sheet(game: str, settings: Settings, table: TableSettings) -> ParSheet:
    book = BOOKS[game]
    wagers = [*main_wagers(book, settings, table), *_side_wagers(book)]
    progressive = progressive_wager(book, settings, table)
    if progressive is not None:
        wagers.append(progressive)
    ricochet = book.family == "ricochet"
    if ricochet:
        wagers += ricochet_wagers(settings)
    return ParSheet(
        game,
        book.title,
        _settings_used(game, settings, table),
        tuple(wagers),
        tables=(kickout_table(),) if ricochet else (),
        left_out=LEFT_OUT if ricochet else {},
        notes=_limits_notes(book, settings),
        warnings=warnings(book, settings, table),
    )


def _side_wagers(book: Book) -> tuple[Wager, ...]:
    """Pair Plus and 6 Card Bonus, where the book has them."""
    deals = {
        "pair_plus": (THREE_HAND_NAMES, three_card_counts),
        "six_card": (HAND_NAMES, six_card_counts),
    }
    wagers = []
    for key, table in book.side.items():
        names, counts = deals[key]
        rows = outcomes(table, names, counts())
        wagers.append(odds_wager(key, table.name, table.clause, rows))
    return tuple(wagers)


def _settings_used(game: str, settings: Settings, table: TableSettings) -> dict[str, object]:
    used: dict[str, object] = {}
    for name in PAR_SETTINGS:
        spec, home = (
            (MONEY_SPEC[name], settings) if name in MONEY_SPEC else (TABLE_SPEC[name], table)
        )
        if game in spec.metadata["games"]:
            used[name] = getattr(home, name)
    return used


def _limits_notes(book: Book, settings: Settings) -> tuple[str, ...]:
    """Posted limits do not change a figure; say what they do instead (NSW-6, NSW-10.2)."""
    if not book.posted_limits:
        return ()
    notes = []
    scope = "each wager" if settings.limit_scope == "per_spot" else "the three wagers together"
    if settings.max_wager is not None:
        most = cents_text(settings.max_wager)
        notes.append(
            f"{scope.capitalize()} above {most}: the part above is neither paid nor collected; the "
            "figures hold for the part within."
        )
    if settings.min_wager is not None:
        least = cents_text(settings.min_wager)
        notes.append(f"Minimum of {scope}: {least}. A wager below it is valid, and so the figures.")
    if settings.max_payout is not None:
        each = "one hand" if settings.max_payout_scope == "per_hand" else "one wager"
        most = cents_text(settings.max_payout)
        notes.append(
            f"Maximum payout of {each}: {most}. The table max_payout says from which stake on a "
            "win is cut, the table capped what the three wagers then return; all other figures "
            "are for stakes at which nothing is cut."
        )
    else:
        notes.append("No maximum payout is configured; all figures are uncapped.")
    return tuple(notes)
