"""Which antenna lies under which spot, from the layout file's ``antennas`` (docs/protocols/layout).

It knows places, no game: whether a spot belongs to the game played is the book's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from controller.rules.book import Book
from drivers.readings import Antenna

Spot = tuple[int, str]
"""Seat and spot name; seat 0 is the dealer, whose only spot is the pot."""

POT: Final[Spot] = (0, "pot")


WAGERS: Final = {
    "$": "wager $", "1": "wager 1", "2": "wager 2", "pair_plus": "Pair Plus",
    "six_card": "6 Card Bonus", "rapid_fire": "Rapid Fire", "hedge": "HedgeBet",
    "play": "play wager",
}  # fmt: skip


def named(spot: Spot) -> str:
    """For people: ``seat 3, wager 1``; the pot belongs to no seat."""
    seat, wager = spot
    return f"seat {seat}, {WAGERS.get(wager, wager)}" if seat else f"the {wager}"


def missing_spots(book: Book, seats: int, places: Iterable[Spot]) -> list[Spot]:
    """Spots of the book's diagram that no antenna reads: the table does not open with any."""
    wagers = [spot for spot in book.wagers if spot != "progressive"]
    if book.family == "ricochet":
        wagers.append("play")
    wanted = {(seat, spot) for seat in range(1, seats + 1) for spot in wagers}
    if book.family == "ricochet":
        wanted.add(POT)
    return sorted(wanted - set(places))


class SeatMap:
    """Antennas to spots and back; each belongs to exactly one of the other."""

    __slots__ = ("_antennas", "_spots")

    def __init__(self, places: Mapping[Antenna, Spot]) -> None:
        self._spots = dict(places)
        self._antennas = {spot: antenna for antenna, spot in places.items()}
        if len(self._antennas) != len(self._spots):
            doubled = [s for s in self._antennas if list(places.values()).count(s) > 1]
            raise ValueError(f"spot {doubled[0]} has two antennas")

    @classmethod
    def from_layout(cls, readers: Mapping[str, Mapping[str, str]]) -> SeatMap:
        """By reader the table ``{"mux/output": "seat/spot"}`` of its line."""
        places: dict[Antenna, Spot] = {}
        for reader, antennas in readers.items():
            for place, spot in antennas.items():
                places[_antenna(reader, place)] = _spot(spot)
        return cls(places)

    def spot(self, antenna: Antenna) -> Spot | None:
        return self._spots.get(antenna)

    def antenna(self, spot: Spot) -> Antenna | None:
        return self._antennas.get(spot)

    def antennas(self, spots: Iterable[Spot]) -> frozenset[Antenna]:
        """Those of these spots that have an antenna."""
        return frozenset({self._antennas[s] for s in spots if s in self._antennas})

    def read_by(self, readers: frozenset[str]) -> frozenset[Spot]:
        """The spots of these readers."""
        if not readers:
            return frozenset()
        return frozenset({spot for a, spot in self._spots.items() if a.reader in readers})

    @property
    def spots(self) -> tuple[Spot, ...]:
        return tuple(sorted(self._antennas))

    @property
    def readers(self) -> frozenset[str]:
        return frozenset(a.reader for a in self._spots)


def _antenna(reader: str, place: str) -> Antenna:
    mux, _, channel = place.partition("/")
    if not (mux.isdecimal() and channel.isdecimal() and int(mux) <= 15 and 1 <= int(channel) <= 8):
        raise ValueError(f"{reader}: {place!r}: expected mux/output, 0 to 15 and 1 to 8")
    return Antenna(reader, int(mux), int(channel))


def _spot(text: str) -> Spot:
    seat, _, spot = text.partition("/")
    if not (seat.isdecimal() and int(seat) <= 7 and spot):
        raise ValueError(f"{text!r}: expected seat/spot, seats 0 to 7")
    return int(seat), spot
