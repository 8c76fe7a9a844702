"""Which antennas are polled and when a card may leave the device: only what the phase needs.

A full round over all antennas takes seconds, so spots that cannot change lawfully rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controller.rules.engine.state import Phase, TableState
from controller.table.asks import Ask
from controller.table.menu import spots_of
from controller.table.spots import POT, SeatMap, Spot
from drivers.orders import LockCards
from drivers.readings import Antenna


@dataclass(frozen=True, slots=True)
class Watch:
    antennas: frozenset[Antenna]
    reason: str


_ALL: Final = {
    Phase.IDLE: "chips may be left up or bet early",
    Phase.BETTING: "every spot may be bet on",
    Phase.LOCKED: "late and withdrawn wagers",
    Phase.DEALING: "late and lifted wagers",
    Phase.DEALT: "late and lifted wagers",
}


def all_spots(state: TableState) -> frozenset[Spot]:
    """Every spot of the game at this table, and Ricochet's pot."""
    seats = range(1, state.rules.table.seats + 1)
    found = {(n, spot) for n in seats for spot in spots_of(state)}
    return frozenset(found | ({POT} if state.rules.book.family == "ricochet" else set()))


def watched(state: TableState) -> tuple[frozenset[Spot], str]:
    phase = state.phase if state.frozen is None else state.frozen.phase
    if phase in _ALL:
        return all_spots(state), _ALL[phase]
    with_chips = frozenset(spot for spot, cents in state.spots.items() if cents)
    if phase in (Phase.SETTLEMENT, Phase.VOIDING):
        # What lies there is paid on or taken away; an empty spot has nothing left to tell.
        pot = {POT} if state.rules.book.family == "ricochet" else set()
        return with_chips | pot, "chips to be paid and collected"
    in_play = {(n, spot) for n in state.live for spot in spots_of(state)}
    if phase in (Phase.ACTION, Phase.DRAW):
        return frozenset(in_play) | with_chips | {POT}, "play wagers and the pot"
    return frozenset(in_play) | with_chips, "wagers in play"


def watch(state: TableState, seat_map: SeatMap) -> Watch:
    spots, reason = watched(state)
    return Watch(seat_map.antennas(spots), reason)


def lock_cards(state: TableState, ask: Ask) -> LockCards:
    """Unlocked only while the deal is what is asked for: no card can be drawn out of turn."""
    deals = state.phase in (Phase.LOCKED, Phase.DEALING, Phase.DRAW) and ask.deals
    return LockCards(not deals)
