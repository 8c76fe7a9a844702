"""Prints who may use which menu code, when, and how it is undone."""

from __future__ import annotations

from typing import Final

from controller.rules.engine import facts as f
from controller.rules.engine.authority import AUTHORITY
from controller.rules.engine.phases import ANYWHERE, TABLE
from controller.rules.engine.state import Phase
from controller.table.console import needs_key
from controller.table.menu import MENU, Call, SignOn

REPORTS: Final = ("11", "12", "13", "16", "22")
TAKES_BACK: Final = ("17", "58")
CORRECTS: Final = ("16", "63")
UNDO: Final[dict[str, str]] = {
    "11": "supervisor: 51", "12": "supervisor: 51", "13": "supervisor: 51", "14": "14 again",
    "15": "supervisor: 51", "16": "supervisor: 51, answer 1", "17": "none",
    "18": "supervisor: 51, answer 1", "19": "supervisor: 52", "21": "27", "22": "supervisor: 22",
    "23": "supervisor: 52", "24": "supervisor: 56", "25": "none", "26": "none", "27": "27 again",
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


def kind_of(code: str) -> type[f.What] | None:
    """The fact a code declares; None for sign-ons and table calls."""
    given = ARGUMENTS.get(code)
    if given is None:
        given = tuple(1 for _ in MENU[code].arguments)
    made = MENU[code].build(*given)
    return None if isinstance(made, SignOn | Call) else type(made)


def phases_of(code: str, family: str) -> tuple[Phase, ...]:
    kind = kind_of(code)
    if kind is None:
        return (Phase.IDLE,) if code in ("83", "84", "85") else tuple(TABLE[family])  # type: ignore[index]
    if kind in ANYWHERE:
        return tuple(TABLE[family])  # type: ignore[index]
    return tuple(p for p, row in TABLE[family].items() if kind in row)  # type: ignore[index]


def who(code: str) -> str:
    if not needs_key(code):
        return "dealer"
    roles = AUTHORITY.get(kind_of(code), (frozenset(), ""))[0]  # type: ignore[arg-type]
    return ", ".join(sorted(role.value for role in roles)) or "supervisor"


def later(code: str) -> tuple[str, str]:
    """Who decides once the result is known, and once a seat is paid or the round is closed."""
    if code in REPORTS:
        return "supervisor confirms", "two people"
    if code in TAKES_BACK:
        return who(code), "two people"
    if code == "64":
        return "as before", "two people, if it changes what was paid"
    return ("-", "two people") if code in CORRECTS else ("as before", "as before")


def rows() -> list[tuple[str, ...]]:
    found = []
    for code in MENU:
        cells = [_phases(code, family) for family in TABLE]
        found.append((code, who(code), *cells, *later(code), UNDO[code]))
    return found


def _phases(code: str, family: str) -> str:
    phases = phases_of(code, family)
    if phases == tuple(TABLE[family]):  # type: ignore[index]
        return "any"
    return ", ".join(p.name for p in phases) or "-"


HEAD: Final = (
    "code", "who", "phases, Let It Ride", "phases, Ricochet", "result known",
    "seat paid, round closed", "undo",
)  # fmt: skip
