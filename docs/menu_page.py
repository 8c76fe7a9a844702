"""Prints who may use which menu code, when, and how it is undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from controller.rules.book import Book, Family
from controller.rules.books import BOOKS
from controller.rules.engine import facts as f
from controller.rules.engine.authority import AUTHORITY
from controller.rules.engine.phases import ANYWHERE, TABLE
from controller.rules.engine.state import Phase
from controller.table.console import needs_key
from controller.table.menu import MENU, Call, SignOn

REPORTS: Final = ("11", "12", "13", "16", "18", "22", "23", "37")
"""Reports that may take something from a player."""
RULINGS: Final = ("17", "51", "52", "58")
CORRECTIONS: Final = ("19", "64")
"""Nothing is taken with them but what was paid."""
ASKED: Final = "supervisor: 51 while it is asked"
UNDO: Final[dict[str, str]] = {
    "11": ASKED, "12": ASKED, "13": ASKED, "14": "14 again",
    "15": "none", "16": "supervisor: 51, answer 1, while it is asked", "17": "none",
    "18": "supervisor: 51, answer 1", "19": "supervisor: 52", "21": "27", "22": "none",
    "23": "none", "24": "supervisor: 56", "25": "none", "26": "none", "27": "27 again",
    "28": "63 after the round", "31": "32", "32": "31", "33": "36", "34": "34 again",
    "35": "supervisor: 51", "36": "36 again", "37": "supervisor: 51, answer 1", "51": "none",
    "52": "none", "53": "53 again", "54": "supervisor: 56 before the close", "55": "56",
    "56": "55", "57": "57 again", "58": "none", "59": "none", "61": "supervisor: 62",
    "62": "61 again, to a casino supervisor", "63": "63 again", "64": "64 again", "65": "none",
    "66": "none", "71": "71 again", "72": "83 removes a closing sign", "81": "82", "82": "82",
    "83": "84", "84": "83", "85": "none",
}  # fmt: skip
"""How a mistaken entry is put right."""
ARGUMENTS: Final[dict[str, tuple[object, ...]]] = {
    "14": (2, 5), "17": (3, 1), "18": (1, 52), "27": (3, "1", 1), "28": (3, 1), "51": (1,),
    "52": (3, 1), "58": (1, ()), "63": (1, 3, 500), "66": ((1, 2),), "72": (1,),
}  # fmt: skip

OF_BOOKS: Final[dict[str, Callable[[Book], bool]]] = {
    "14": lambda book: book.remap_allowed,
    "21": lambda book: book.tuck_rides_all,
    "22": lambda book: book.correct_unequal,
    "23": lambda book: book.correct_unequal,
    "25": lambda book: book.bonus_card,
    "71": lambda book: book.posted_limits,
}
"""Codes for what only some books know."""
BETWEEN_ROUNDS: Final = ("83", "84", "85")
NEVER: Final[dict[str, tuple[Phase, ...]]] = {
    "14": (Phase.DECISION_2,),  # a card has been handled by then
    "15": (Phase.DECISION_2, Phase.SETTLEMENT),  # its cards would stop the round before
    "63": (Phase.VOIDING,),  # that round is ended first
}
"""Phases whose row has the fact, and in which it never fits."""


def kind_of(code: str) -> type[f.What] | None:
    """The fact a code declares; None for sign-ons and table calls."""
    given = ARGUMENTS.get(code)
    if given is None:
        given = tuple(1 for _ in MENU[code].arguments)
    made = MENU[code].build(*given)
    return None if isinstance(made, SignOn | Call) else type(made)


def phases_of(code: str, game: str) -> tuple[Phase, ...]:
    """The phases in which a game takes a code; none where its book has no such thing."""
    if code in OF_BOOKS and not OF_BOOKS[code](BOOKS[game]):
        return ()
    return _in_table(code, BOOKS[game].family)


def _in_table(code: str, family: Family) -> tuple[Phase, ...]:
    kind, table = kind_of(code), TABLE[family]
    if kind is None:
        return (Phase.IDLE,) if code in BETWEEN_ROUNDS else tuple(table)
    found = tuple(p for p, row in table.items() if kind in row or kind in ANYWHERE)
    return tuple(p for p in found if p not in NEVER.get(code, ()))


def games(code: str) -> str:
    found = [key for key in BOOKS if phases_of(code, key)]
    return "all" if len(found) == len(BOOKS) else ", ".join(found)


def who(code: str) -> str:
    if not needs_key(code):
        return "dealer"
    roles = AUTHORITY.get(kind_of(code), (frozenset(), ""))[0]  # type: ignore[arg-type]
    return ", ".join(sorted(role.value for role in roles)) or "supervisor"


def later(code: str) -> tuple[str, str]:
    """Who decides once the result is known, and once a seat is paid or the round is closed."""
    if code in REPORTS:
        return "supervisor confirms", "two people"
    if code in RULINGS:
        return who(code), "two people"
    if code == "63":
        return "two people", "two people"
    return "as before", "two people" if code in CORRECTIONS else "as before"


def rows() -> list[tuple[str, ...]]:
    found = []
    for code in MENU:
        cells = [_phases(code, family) for family in TABLE]
        found.append((code, games(code), who(code), *cells, *later(code), UNDO[code]))
    return found


def _phases(code: str, family: Family) -> str:
    phases = _in_table(code, family)
    if phases == tuple(TABLE[family]):
        return "any"
    return ", ".join(p.name for p in phases) or "-"


HEAD: Final = (
    "code", "games", "who", "phases, Let It Ride", "phases, Ricochet", "result known",
    "seat paid, round closed", "undo",
)  # fmt: skip
