"""The seat lamps: what the engine says of each seat, whose turn it is, and the lucky player."""

from __future__ import annotations

from typing import Final, cast

from controller.rules.engine.effects import Effect, SetLamp
from controller.rules.engine.state import Phase, TableState
from controller.table.asks import Ask
from drivers.orders import SEATS, Lamp, ShowLamps

TURN: Final[Lamp] = "your turn"


class Lamps:
    """The lamps as the effects left them; whose turn it is comes from the question asked."""

    __slots__ = ("_shown",)

    def __init__(self, state: TableState) -> None:
        self._shown: dict[int, Lamp] = from_state(state)

    def take(self, effect: Effect) -> None:
        if isinstance(effect, SetLamp) and effect.lamp != TURN:
            self._shown[effect.seat] = effect.lamp

    def _lamp(self, state: TableState, number: int) -> Lamp:
        """As the effects left it, but nothing outlives its cause: neither the closing call nor a
        ruling sets the lamps of the seats it leaves aside."""
        lamp, seat = self._shown.get(number, "off"), state.seats.get(number)
        if lamp == "open" and state.phase is not Phase.BETTING:
            return "off"
        if lamp != "fault" or seat is None or state.phase in (Phase.BETTING, Phase.IDLE):
            return lamp
        return "fault" if seat.held is not None or seat.unequal else "live"

    def order(
        self, state: TableState, ask: Ask, *, faults: frozenset[int], beacon: bool
    ) -> ShowLamps:
        """Seven lamps. ``faults`` are seats whose chips are not what they seem."""
        seats: list[Lamp] = []
        for number in range(1, SEATS + 1):
            lamp = self._lamp(state, number)
            if number == state.lucky_seat and lamp == "live":
                lamp = "lucky"
            if number in faults:
                lamp = "fault"
            if number == ask.seat and number <= state.rules.table.seats:
                lamp = _asked(ask, lamp)
            seats.append(lamp)
        return ShowLamps(tuple(seats), beacon=beacon)


def _asked(ask: Ask, lamp: Lamp) -> Lamp:
    """A seat that is faulty or void stays so; any other one that is asked has its turn."""
    if ask.lamp == "same":
        return lamp
    if ask.lamp:
        return cast("Lamp", ask.lamp)
    return lamp if lamp in ("fault", "void") else TURN


def from_state(state: TableState) -> dict[int, Lamp]:
    """After a restart no effect has been seen yet: what the state itself says."""
    found: dict[int, Lamp] = {}
    for number in range(1, state.rules.table.seats + 1):
        seat = state.seats.get(number)
        if number in state.excluded:
            found[number] = "fault"
        elif state.phase is Phase.BETTING:
            lies = any(cents for (n, _), cents in state.spots.items() if n == number)
            found[number] = "live" if lies else "open"
        elif seat is None or seat.settled or state.phase is Phase.IDLE:
            found[number] = "off"
        elif seat.out or state.phase is Phase.VOIDING:
            found[number] = "void"
        else:
            found[number] = "fault" if seat.held or seat.unequal else "live"
    return found
