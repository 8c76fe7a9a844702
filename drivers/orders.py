"""Orders: what the table wants its devices to do, in words that name no wire.

Every order states a whole, not a change: giving it twice does nothing new, so it can be repeated
after a restart, a reconnect or a failed read-back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, get_args

from drivers.readings import Antenna

Lamp = Literal["off", "open", "live", "your turn", "pay", "collect", "void", "fault", "lucky"]
SEATS = 7


@dataclass(frozen=True, slots=True)
class WatchAntennas:
    """Poll these antennas, in turn, and rest the others."""

    antennas: frozenset[Antenna]


@dataclass(frozen=True, slots=True)
class SweepAntennas:
    """Read each of these antennas afresh until two readings agree; ``SweepAgreed`` answers."""

    number: int
    antennas: frozenset[Antenna]


@dataclass(frozen=True, slots=True)
class LockCards:
    """The card device must refuse to give a card while locked."""

    locked: bool


@dataclass(frozen=True, slots=True)
class RequestDeckCheck:
    """The shuffler counts and reads its deck and reports the result, never the order."""

    deck: str


@dataclass(frozen=True, slots=True)
class ShowLamps:
    seats: tuple[Lamp, ...]
    """Seat 1 first, seven of them."""
    beacon: bool = False
    buzzer: bool = False


@dataclass(frozen=True, slots=True)
class ShowPrompt:
    lines: tuple[str, str, str, str]
    """Each at most 20 characters; padded by the driver."""


@dataclass(frozen=True, slots=True)
class ShowMeter:
    """Up to twelve cells; a full stop or comma belongs to the cell before it."""

    text: str
    blink: bool = False


@dataclass(frozen=True, slots=True)
class ShowMagicCard:
    card: str | None
    """Rank and suit as in ``7h``, ``Td``; None is dark."""


@dataclass(frozen=True, slots=True)
class ShowSign:
    text: str


@dataclass(frozen=True, slots=True)
class EnableAcceptors:
    seats: frozenset[int]


@dataclass(frozen=True, slots=True)
class AcknowledgeCredit:
    """The credit is on disk: the acceptor may drop the chip."""

    seat: int
    number: int


@dataclass(frozen=True, slots=True)
class ReleaseCredit:
    """``CreditTaken`` is on disk (or a doubt was ruled on): the acceptor may take its next chip."""

    seat: int
    number: int


@dataclass(frozen=True, slots=True)
class AcknowledgeReading:
    """The reading with this key is on disk: its device may be told so and send the next."""

    device: str
    key: int


Order = (
    WatchAntennas
    | SweepAntennas
    | LockCards
    | RequestDeckCheck
    | ShowLamps
    | ShowPrompt
    | ShowMeter
    | ShowMagicCard
    | ShowSign
    | EnableAcceptors
    | AcknowledgeCredit
    | AcknowledgeReading
    | ReleaseCredit
)
Kinds = frozenset[type[Order]]
"""Which orders a device takes."""
EVERY: Final[Kinds] = frozenset(get_args(Order))
"""What a vendor's driver is offered: only it knows what it takes."""

T = TypeVar("T")


def routes(takers: Iterable[tuple[T, Kinds]]) -> Mapping[type[Order], tuple[T, ...]]:
    """By kind of order whom it concerns, in the order given."""
    found: dict[type[Order], tuple[T, ...]] = dict.fromkeys(EVERY, ())
    for taker, kinds in takers:
        for kind in kinds:
            found[kind] += (taker,)
    return found
