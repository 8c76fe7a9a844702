"""Whether a step can be carried out at this table at all: its seats, spots, keys, cards, amounts.

The grammar of a step (``hw_sim.scenario``) knows no table. What it lets through is checked here,
before anybody moves a hand, so that a step either makes sense or says what would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from hw_sim.devices.keys import KEYS
from hw_sim.felt import PROMO, VALUES
from hw_sim.scenario import ScenarioError, Step, card_byte, cents
from hw_sim.table import SimTable

LAMPS: Final = 7
MOST_MS: Final = 600_000
MOST_ACTIONS: Final = 1_000
MOST_CHIPS: Final = 400
MOST_CARDS: Final = 52
MOST_CREDITS: Final = 100
MOST_CENTS: Final = 10_000_000
"""More than the rack holds."""


def wrong(step: Step, table: SimTable) -> str:
    """Why this step makes no sense here and what would; empty if it does."""
    check = _CHECKS.get(step.verb)
    return "" if check is None else check(table, step.words)


Words = tuple[str, ...]


def _at_most(number: str, most: int, what: str) -> str:
    fits = len(number) <= 9 and int(number) <= most
    return "" if fits else f"{what} {number[:12]}: expected at most {most}"


def _seat(table: SimTable, seat: str) -> str:
    fits = 1 <= int(seat) <= table.layout.seats
    return "" if fits else f"seat {seat}: expected 1 to {table.layout.seats}"


def _spots(table: SimTable, seat: str, *spots: str) -> str:
    known = table.layout.spots_of(int(seat))
    odd = [spot for spot in spots if spot not in known]
    return f"{odd[0]!r}: no such spot at seat {seat}; one of {', '.join(known)}" if odd else ""


def _amount(amount: str, smallest: int = VALUES[0]) -> str:
    worth = cents(amount) if len(amount) <= 15 else MOST_CENTS + 1
    if worth % smallest or not 0 < worth <= MOST_CENTS:
        return f"{amount[:20]}: expected a multiple of {smallest // 100}.00"
    return ""


def _cards(names: str) -> str:
    try:
        given = Counter(card_byte(name) for name in names.split())
    except ScenarioError as error:
        return str(error)
    return "" if given.total() <= 2 * MOST_CARDS else f"at most {2 * MOST_CARDS} cards"


def _bets(table: SimTable, w: Words) -> str:
    return _seat(table, w[0]) or _spots(table, w[0], *w[2].split()) or _amount(w[1])


def _stacks(table: SimTable, w: Words) -> str:
    known = ", ".join(f"{value // 100}.00" for value in VALUES)
    chip = (
        "" if len(w[2]) <= 15 and cents(w[2]) in VALUES else f"{w[2][:20]}: no such chip; {known}"
    )
    many = _at_most(w[1], MOST_CHIPS, "chips:")
    return _seat(table, w[0]) or _spots(table, w[0], w[3]) or chip or many


def _on_spots(table: SimTable, w: Words) -> str:
    return _seat(table, w[0]) or _spots(table, w[0], *w[1:])


def _promo(table: SimTable, w: Words) -> str:
    return _on_spots(table, (w[0], w[2])) or _amount(w[1], PROMO)


def _pot(table: SimTable, w: Words) -> str:
    return _has_pot(table, w) or _amount(w[0])


def _has_pot(table: SimTable, _w: Words) -> str:
    return _spots(table, "0", "pot") and "this table has no pot"


def _credits(table: SimTable, w: Words) -> str:
    none = "this table has no acceptors" if table.acceptors is None else ""
    return none or _seat(table, w[0]) or _at_most(w[1], MOST_CREDITS, "credits:")


def _press(_table: SimTable, w: Words) -> str:
    odd = [key for key in w[0].split() if key not in KEYS]
    return f"{odd[0][:20]!r}: no such key; one of {', '.join(KEYS)}" if odd else ""


def _pinned(table: SimTable, _w: Words) -> str:
    return "" if "supervisor_key" in table.layout.pins else "this table has no supervisor key"


def _menu(_table: SimTable, w: Words) -> str:
    return next((_at_most(n, 10**9, "argument") for n in w[1].split() if len(n) > 9), "")


def _until(table: SimTable, w: Words) -> str:
    return _seat(table, w[1]) if w[1] else ""


def _draw(table: SimTable, w: Words) -> str:
    none = "" if table.shoe or table.shuffler else "this table has no card device"
    return none or (_at_most(w[0], MOST_CARDS, "cards:") if w and w[0] else "")


def _lamp(_table: SimTable, w: Words) -> str:
    return "" if 1 <= int(w[0]) <= LAMPS else f"lamp {w[0]}: expected 1 to {LAMPS}"


_CHECKS: Final[dict[str, Callable[[SimTable, Words], str]]] = {
    "until": _until,
    "plays": lambda _table, w: _at_most(w[0], MOST_ACTIONS, "actions:"),
    "pot": _pot,
    "takes pot": _has_pot,
    "shuffles": lambda table, _w: _draw(table, ()),
    "new deck": lambda table, _w: _draw(table, ()),
    "loses": lambda _table, w: _cards(w[0]),
    "bets": _bets,
    "stacks": _stacks,
    "takes": _on_spots,
    "moves": _on_spots,
    "promo": _promo,
    "strange": _on_spots,
    "copies": _on_spots,
    "credits": _credits,
    "will": lambda table, w: _seat(table, w[0]),
    "press": _press,
    "menu": _menu,
    "key": _pinned,
    "supervisor menu": lambda table, w: _pinned(table, w) or _menu(table, w),
    "draw": _draw,
    "packet": _draw,
    "deck": lambda table, w: _draw(table, ()) or _cards(w[0]),
    "wait": lambda _table, w: _at_most(w[0], MOST_MS, "milliseconds:"),
    "expect lamp": _lamp,
    "lucky": lambda table, w: _seat(table, w[0]),
}
"""By verb; the others have nothing to check, or are checked where they are done (faults)."""
