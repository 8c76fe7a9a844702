"""What lies on the table at a moment: wagers, decisions and open cards by seat."""

from __future__ import annotations

from typing import Final, NamedTuple

from controller.replay import words
from controller.rules.cards import NAMES, Card
from controller.rules.engine.deal import DEALER, assign
from controller.rules.engine.state import Phase, TableState

CLOSED = "??"
DECIDED = {"ride": "rides", "withdraw": "back"}
CUT: Final = ".."
ANY: Final = 10_000


class SeatRow(NamedTuple):
    seat: int
    wagers: tuple[tuple[str, int, str], ...]
    """(spot, cents, what was decided)"""
    cards: tuple[str, ...]
    note: str = ""

    def told(self, columns: int) -> str:
        """Cards, wagers and what was decided; shorter words where there is little room. What does
        not even fit then ends in ``..``: the page of the moment has all of it."""
        for words_of, between in ((_long, "  "), (_short, "  "), (_short, " ")):
            placed = " ".join(words_of(*one) for one in self.wagers)
            parts = (" ".join(self.cards), placed, self.note)
            said = between.join(part for part in parts if part)
            if len(said) <= columns:
                return said
        return f"{said[: columns - len(CUT)]}{CUT}"

    def whole(self) -> str:
        who = "dealer" if self.seat == DEALER else f"seat {self.seat}"
        return f"{who}: {self.told(ANY)}"


def _long(spot: str, cents: int, how: str) -> str:
    return f"{spot} {words.cents(cents)}{f' {how}' if how else ''}"


def _short(spot: str, cents: int, how: str) -> str:
    name = "".join(part[0].upper() for part in spot.split("_")) if spot.isidentifier() else spot
    return f"{name}:{words.cents(cents).removesuffix('.00')}{f' {how}' if how else ''}"


def rows(state: TableState) -> tuple[SeatRow, ...]:
    """Every seat with something on it, and the dealer's cards as seat 0."""
    if state.phase is Phase.IDLE or state.phase is Phase.BETTING:
        return tuple(_betting(state, seat) for seat in _with_chips(state))
    hands = assign(state).seats if state.drawn else {}
    found = [_seat(state, n, len(hands.get(n, ()))) for n in sorted(state.seats)]
    return (*found, *_dealer(state))


def _with_chips(state: TableState) -> list[int]:
    lies = {seat for (seat, _), cents in state.spots.items() if cents}
    return sorted(lies | {seat for seat, count in state.credits.items() if count})


def _betting(state: TableState, number: int) -> SeatRow:
    placed = [
        (spot, cents, "") for (seat, spot), cents in state.spots.items() if seat == number and cents
    ]
    if credits := state.credits.get(number, 0):
        placed.append(("progressive", credits * (state.rules.table.credit_cents or 0), ""))
    return SeatRow(number, tuple(sorted(placed)), ())


def _seat(state: TableState, number: int, dealt: int) -> SeatRow:
    seat = state.seats[number]
    placed = tuple(
        (spot, cents, DECIDED.get(seat.decisions.get(spot, ""), ""))
        for spot, cents in seat.locked.items()
        if cents
    )
    held = _names(seat.opened or state.face_up.get(number, ()))
    closed = (CLOSED,) * max(0, dealt - len(held))
    said = (
        state.actions.get(number, ""),
        "void" if seat.out else "",
        "held" if seat.held else "",
        "settled" if seat.settled else "",
    )
    return SeatRow(number, placed, (*held, *closed), " ".join(word for word in said if word))


def _dealer(state: TableState) -> list[SeatRow]:
    shown = _names(state.face_up.get(DEALER, ())) or _names(state.turned)
    note = "" if state.bonus is None else f"middle {NAMES[state.bonus]}"
    return [SeatRow(DEALER, (), shown, note)] if shown or note else []


def _names(cards: tuple[Card, ...]) -> tuple[str, ...]:
    return tuple(NAMES[card] for card in cards)
