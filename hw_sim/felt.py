"""The felt: which chip lies on which spot, bottom first, and which card lies where.

Antennas see the chips; nothing sees the cards but the people. A chip's tag tells its number only:
what it is worth is printed on it for people, and listed in the batch file for the chip register.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from hw_sim.clock import MS, Clock
from hw_sim.scenario import card_name

VALUES: Final = (100, 500, 1_000, 2_500, 10_000, 50_000, 100_000)
"""Minor units; a table's rack has chips of these values, and vouchers of 10.00."""
PER_VALUE: Final = 400
FLAP_US: Final = 25 * MS
"""A chip at the edge of a field comes and goes 20 times a second."""
PROMO: Final = 1_000


@dataclass(frozen=True, slots=True)
class Chip:
    uid: bytes
    cents: int
    kind: str = "cash"


def uid_of(code: int, number: int) -> bytes:
    """Maker E0 04 01, a code for the value, and the number of the chip."""
    return bytes((0xE0, 0x04, 0x01, code)) + number.to_bytes(4, "big")


class Rack:
    """All chips of the table that are not on the felt."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, str], list[Chip]] = {}
        for code, cents in enumerate(VALUES, 1):
            self._free[cents, "cash"] = [
                Chip(uid_of(code, number), cents) for number in range(PER_VALUE, 0, -1)
            ]
        self._free[PROMO, "promo"] = [
            Chip(uid_of(0x20, number), PROMO, "promo") for number in range(50, 0, -1)
        ]
        self._free[PROMO, "unknown"] = [
            Chip(uid_of(0xEE, number), PROMO, "unknown") for number in range(50, 0, -1)
        ]

    def all_known(self) -> list[Chip]:
        """Every chip that belongs in the register: what the batch file lists."""
        listed = [c for (_, kind), stack in self._free.items() if kind != "unknown" for c in stack]
        return sorted(listed, key=lambda chip: chip.uid)

    def pay(self, cents: int, kind: str = "cash") -> list[Chip]:
        """Chips worth this much, largest first, as a dealer cuts them out."""
        out: list[Chip] = []
        for value in sorted({v for v, k in self._free if k == kind}, reverse=True):
            stack = self._free[value, kind]
            while cents >= value and stack:
                out.append(stack.pop())
                cents -= value
        if cents:
            self.put(out)
            raise ValueError(f"no chips for the last {cents} cents")
        return out

    def pay_each(self, cents: int, count: int) -> list[list[Chip]]:
        """So many stacks worth this much each, or none at all."""
        stacks: list[list[Chip]] = []
        try:
            for _ in range(count):
                stacks.append(self.pay(cents))
        except ValueError:
            for stack in stacks:
                self.put(stack)
            raise
        return stacks

    def pay_stack(self, cents: int, count: int) -> list[Chip]:
        """A stack of so many equal chips."""
        stack = self._free[cents, "cash"]
        if len(stack) < count:
            raise ValueError(f"chips of {cents} cents: {len(stack)} left, {count} wanted")
        return [stack.pop() for _ in range(count)]

    def put(self, chips: Iterable[Chip]) -> None:
        for chip in chips:
            self._free[chip.cents, chip.kind].append(chip)


@dataclass
class Felt:
    clock: Clock
    rack: Rack = field(default_factory=Rack)
    spots: dict[tuple[int, str], list[Chip]] = field(default_factory=dict)
    flapping: set[tuple[int, str]] = field(default_factory=set)
    broken: set[tuple[int, str]] = field(default_factory=set)
    """Antennas that read nothing any more."""
    crossed: dict[tuple[int, str], tuple[int, str]] = field(default_factory=dict)
    """Antennas that lie under another spot than the layout says."""
    hands: dict[int, list[int]] = field(default_factory=dict)
    """Card codes lying at a seat; seat 0 is the dealer."""
    open_hands: set[int] = field(default_factory=set)
    """Seats whose cards lie face up; 0 is the dealer."""
    copied: dict[tuple[int, str], bytes] = field(default_factory=dict)
    """A second chip with the same tag, on another spot: a copy."""

    def place(self, seat: int, spot: str, chips: Iterable[Chip]) -> None:
        self.spots.setdefault((seat, spot), []).extend(chips)

    def take(self, seat: int, spot: str, count: int | None = None) -> list[Chip]:
        """Chips from the top of the spot; all of them if no count is given."""
        stack = self.spots.get((seat, spot), [])
        first = 0 if count is None else max(0, len(stack) - count)
        taken = stack[first:]
        del stack[first:]
        return taken

    def worth(self, seat: int, spot: str) -> int:
        return sum(chip.cents for chip in self.spots.get((seat, spot), []))

    def tags(self, seat: int, spot: str) -> list[bytes]:
        """What the antenna under this spot sees at this moment."""
        if (seat, spot) in self.broken:
            return []
        seat, spot = self.crossed.get((seat, spot), (seat, spot))
        tags = [chip.uid for chip in self.spots.get((seat, spot), [])]
        if (seat, spot) in self.flapping and (self.clock.now_us // FLAP_US) % 2:
            tags = tags[:-1]
        if (seat, spot) in self.copied:
            tags.append(self.copied[seat, spot])
        return tags

    def clear_cards(self) -> None:
        self.hands.clear()
        self.open_hands.clear()

    def shown(self) -> dict[str, list[str]]:
        """Cards by seat as a person sees them: those face down as ``??``."""
        return {
            str(seat): [card_name(card) if seat in self.open_hands else "??" for card in hand]
            for seat, hand in self.hands.items()
        }
