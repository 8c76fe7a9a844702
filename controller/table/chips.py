"""Tags on antennas become values on spots.

A tag counts only if the chip register knows it as a live chip of this house; everything else is
worth nothing and is reported (AMB-W19, AMB-X03). A value is a fact when it differs from what the
engine believes. What cannot be read keeps its last value and counts as not confirmed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase, TableState
from controller.table.spots import SeatMap, Spot
from drivers.readings import (
    Antenna,
    SpotLost,
    SpotMoving,
    SpotSettled,
    TagOnTwoSpots,
    Uid,
)

ChipReading = SpotSettled | SpotMoving | SpotLost | TagOnTwoSpots
Wrong = Literal["unknown", "stolen", "retired", "foreign", "promo", "double"]
IN_PLAY: Final = "in play"


class Chip(Protocol):
    """A chip as the register knows it."""

    @property
    def cents(self) -> int: ...
    @property
    def kind(self) -> str:
        """``cash`` or ``promo``."""

    @property
    def house(self) -> str: ...
    @property
    def status(self) -> str:
        """``in play`` counts; ``stolen``, ``retired`` and anything else do not."""


Find = Callable[[Uid], Chip | None]


@dataclass(slots=True)
class Chips:
    """What lies on every antenna, as far as it could be read."""

    seat_map: SeatMap
    find: Find
    house: str = ""
    """The house whose chips count; empty: whatever the register calls in play."""
    promo: bool = False
    """Promotional tokens count (AMB-W15: in the NSW book only)."""
    tags: dict[Antenna, frozenset[Uid]] = field(default_factory=dict)
    moving: set[Antenna] = field(default_factory=set)
    lost: dict[Antenna, str] = field(default_factory=dict)
    changed_us: dict[Antenna, int] = field(default_factory=dict)
    """When the tags on an antenna were first read as they are now, or began to move."""
    doubled: dict[Uid, tuple[Antenna, Antenna]] = field(default_factory=dict)

    def take(self, reading: ChipReading) -> frozenset[Antenna]:
        """Note a reading; returns the antennas whose value must be looked at again."""
        match reading:
            case SpotSettled(antenna, tags):
                if tags != self.tags.get(antenna, frozenset()):
                    self.changed_us[antenna] = reading.seen_us
                self.tags[antenna] = tags
                self.moving.discard(antenna)
                self.lost.pop(antenna, None)
                return frozenset((antenna,)) | self._no_longer_doubled(antenna)
            case SpotMoving(antenna, at_us):
                self.changed_us[antenna] = at_us
                self.moving.add(antenna)
                return frozenset()
            case SpotLost(antenna, code):
                self.lost[antenna] = code
                self.moving.discard(antenna)
                return frozenset()
            case TagOnTwoSpots(tag, antennas):
                self.doubled[tag] = antennas
                return frozenset(antennas)

    def _no_longer_doubled(self, antenna: Antenna) -> frozenset[Antenna]:
        """A doubled tag counts again once it has left one of its two antennas."""
        tags = self.tags[antenna]
        freed: list[Antenna] = []
        for tag, places in list(self.doubled.items()):
            if antenna in places and tag not in tags:
                del self.doubled[tag]
                freed += places
        return frozenset(freed)

    def cents(self, antenna: Antenna, *, locked: bool) -> int:
        """The value lying there. A tag seen twice stays worth its chip after the lock: a live
        wager is not lowered by somebody's copy of it."""
        found = 0
        for uid in self.tags.get(antenna, frozenset()):
            chip = self.find(uid)
            if chip is None or self._wrong(chip) is not None:
                continue
            if uid not in self.doubled or locked:
                found += chip.cents
        return found

    def _wrong(self, chip: Chip) -> Wrong | None:
        if self.house and chip.house != self.house:
            return "foreign"
        if chip.status != IN_PLAY:
            return "stolen" if chip.status == "stolen" else "retired"
        if chip.kind == "promo" and not self.promo:
            return "promo"
        return None

    def wrong(self, antenna: Antenna) -> Wrong | None:
        """The worst thing about the tags on an antenna."""
        found: set[Wrong] = set()
        for uid in self.tags.get(antenna, frozenset()):
            chip = self.find(uid)
            kind = "unknown" if chip is None else self._wrong(chip)
            found |= {kind} if kind is not None else set()
            found |= {"double"} if uid in self.doubled else set()
        order: tuple[Wrong, ...] = ("stolen", "double", "foreign", "unknown", "retired", "promo")
        return next((kind for kind in order if kind in found), None)

    def facts(self, antennas: Iterable[Antenna], state: TableState) -> list[f.WagerRead]:
        """A fact for each of these antennas whose value is not what the engine believes."""
        locked = state.phase not in (Phase.IDLE, Phase.BETTING, Phase.VOIDING)
        found = []
        for antenna in sorted(antennas):
            spot = self.seat_map.spot(antenna)
            if spot is None or antenna not in self.tags or (locked and _declared(state, spot)):
                continue
            cents = self.cents(antenna, locked=locked)
            if cents != state.spots.get(spot, 0):
                found.append(f.WagerRead(*spot, cents))
        return found

    def lost_spots(self, down: frozenset[str]) -> frozenset[Spot]:
        """Spots nobody can read: lost on their own, or with their reader."""
        spots = {s for a in self.lost if (s := self.seat_map.spot(a)) is not None}
        return frozenset(spots) | self.seat_map.read_by(down)


def _declared(state: TableState, spot: Spot) -> bool:
    seat = state.seats.get(spot[0])
    return seat is not None and spot[1] in seat.declared
