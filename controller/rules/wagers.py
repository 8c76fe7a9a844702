"""Is a seat's set of wagers acceptable before the deal? Names every clause that is broken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controller.rules.book import BASE_SPOTS, DOLLAR, SPOT_1, SPOT_2, Book
from controller.rules.decode import decode_book, decode_settings, decode_wagers
from controller.rules.errors import RecordError
from controller.rules.settings import Settings


def broken_clauses(book: Book, settings: Settings, wagers: Mapping[str, int]) -> list[str]:
    """The clauses this set of wagers breaks; an empty list accepts it."""
    if book.family == "ricochet":
        broken = _ricochet(settings, wagers)
    elif book.circles_optional:
        broken = _optional_circles(book, wagers)
    else:
        broken = _three_equal(book, settings, wagers)
    return list(dict.fromkeys(broken))


def _three_equal(book: Book, settings: Settings, wagers: Mapping[str, int]) -> list[str]:
    one, two, dollar = (wagers.get(spot, 0) for spot in BASE_SPOTS)
    valid = one == two == dollar > 0
    broken = [] if valid else [book.clauses.equal]
    if wagers.get("progressive") and not valid:
        broken.append(book.clauses.side_needs_base)
    if book.posted_limits and not _within_posted(settings, (one, two, dollar)):
        broken.append("NSW-6.1")
    return broken


def _within_posted(settings: Settings, base: tuple[int, int, int]) -> bool:
    least = settings.min_wager or 0
    most = settings.max_wager
    amounts = (sum(base),) if settings.limit_scope == "per_area" else base
    return all(least <= amount and (most is None or amount <= most) for amount in amounts)


def _optional_circles(book: Book, wagers: Mapping[str, int]) -> list[str]:
    broken = []
    dollar = wagers.get(DOLLAR, 0)
    limit = book.wager_limits[DOLLAR]
    if not limit.least <= dollar <= limit.most:
        broken.append(limit.clause)
    for circle in (SPOT_1, SPOT_2):
        if wagers.get(circle, 0) not in (0, dollar):
            broken += [book.clauses.equal, "PP6-W1a"]
    for spot in book.side:
        bonus = wagers.get(spot, 0)
        if not bonus:
            continue
        limit = book.wager_limits[spot]
        if not limit.least <= bonus <= limit.most:
            broken.append(limit.clause)
        if not dollar:
            broken += [book.clauses.side_needs_base, "PP6-R3"]
        elif bonus > dollar:
            broken += [book.clauses.side_needs_base, book.clauses.side_at_most_base[spot]]
    return broken


def _ricochet(settings: Settings, wagers: Mapping[str, int]) -> list[str]:
    ante = wagers.get("ante", 0)
    broken = []
    if not ante or (settings.ante is not None and ante != settings.ante):
        broken.append("RICO-1")
    if wagers.get("rapid_fire") and settings.rapid_fire_pay is None:
        broken.append("RICO-RFP")
    if wagers.get("hedge") and settings.hedge_pay is None:
        broken.append("RICO-HBP")
    return broken


def check_wagers(value: object) -> dict[str, Any]:
    """The ``check-wagers`` command on parsed JSON."""
    expected = "expected an object with game, settings and wagers"
    if type(value) is not dict:
        raise RecordError("E-REC-002", "$", expected)
    for key, one in value.items():
        if key not in ("game", "settings", "wagers") and one is not None:
            raise RecordError("E-REC-003", f"$.{key}", f"unknown field; {expected}")
    if value.get("wagers") is None:
        raise RecordError("E-REC-012", "$.wagers", "missing; expected the seat's wagers")
    part = "game"
    try:
        book = decode_book(value.get("game"))
        part = "settings"
        settings = decode_settings(value.get("settings"))
        part = "wagers"
        wagers = decode_wagers(value["wagers"], book)
    except RecordError as error:
        raise error.under(f"$.{part}") from None
    broken = broken_clauses(book, settings, wagers)
    return {"accept": not broken, "broken": broken}
