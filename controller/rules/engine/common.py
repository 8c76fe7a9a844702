"""What the handlers share: refusing, changing a seat, and knowing whose turn it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from controller.rules.book import SPOT_1, SPOT_2
from controller.rules.engine import facts as f
from controller.rules.engine.effects import Effect, Prompt, SetLamp
from controller.rules.engine.state import Phase, Seat, TableState

Step = tuple[TableState, tuple[Effect, ...]]
Handler = Callable[[TableState, Any, f.Fact], Step]

POT_SEAT = 0
POT = "pot"


class Refusal(Exception):
    """A fact that does not fit: the state stays as it was."""

    def __init__(self, reason: str, clause: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.clause = clause


def with_seat(state: TableState, number: int, **changes: Any) -> TableState:
    seats = {**state.seats, number: replace(state.seats[number], **changes)}
    return replace(state, seats=seats)


def in_round(state: TableState, number: int) -> Seat:
    seat = state.seats.get(number)
    if seat is None:
        raise Refusal(f"seat {number} is not in this round", state.rules.book.round_clauses.round)
    return seat


def reading(state: TableState, number: int, spot: str) -> int:
    return state.spots.get((number, spot), 0)


def any_handled(state: TableState) -> bool:
    return state.handled_all or any(seat.handled for seat in state.seats.values())


def seat_handled(state: TableState, number: int) -> bool:
    return state.handled_all or state.seats[number].handled


def spot_of(phase: Phase) -> str | None:
    """The spot that is decided in this phase."""
    return {Phase.DECISION_1: SPOT_1, Phase.DECISION_2: SPOT_2}.get(phase)


def walk(state: TableState) -> list[int]:
    """Seats clockwise from the dealer's left, those directed to act first in front."""
    first = [n for n in state.first if n in state.live]
    return first + [n for n in state.live if n not in first]


def undecided(state: TableState) -> list[int]:
    """Seats that still owe a decision in this phase, in the order they are asked."""
    spot = spot_of(state.phase)
    if spot is None:
        return []
    return [
        n
        for n in walk(state)
        if state.seats[n].locked.get(spot)
        and spot not in state.seats[n].decisions
        and state.seats[n].held is None
    ]


def unresolved(state: TableState) -> list[int]:
    """Seats where chips and console disagree about the spot being decided."""
    spot = spot_of(state.phase)
    return [] if spot is None else [n for n in state.live if disagrees(state, n, spot)]


def disagrees(state: TableState, number: int, spot: str) -> bool:
    """Do the chips on a spot differ from the decision about it?"""
    seat = state.seats[number]
    if spot in seat.declared or spot in seat.stays_live or spot not in seat.decisions:
        return False
    lies = reading(state, number, spot)
    if seat.decisions[spot] == "withdraw":
        return lies != 0 and spot not in seat.emptied
    return lies < seat.locked[spot]


def next_prompt(state: TableState) -> tuple[Effect, ...]:
    """What the dealer is asked to do next in a decision phase."""
    waiting = undecided(state)
    spot = spot_of(state.phase)
    if waiting and spot is not None:
        return (Prompt("decide", waiting[0], spot), SetLamp(waiting[0], "your turn"))
    if spot is not None:
        for number in unresolved(state):
            back = state.seats[number].decisions[spot] == "withdraw"
            return (Prompt("take back" if back else "chips", number, spot),)
        return (Prompt("turn", detail=spot),)
    return ()


def person(fact: f.Fact) -> str:
    return fact.by.person if isinstance(fact.by, f.Declared) else fact.by.device


def is_supervisor(fact: f.Fact) -> bool:
    return isinstance(fact.by, f.Declared) and fact.by.role in (
        f.Role.GAMES_SUPERVISOR,
        f.Role.CASINO_SUPERVISOR,
    )
