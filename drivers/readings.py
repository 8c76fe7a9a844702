"""Readings: what devices measured, before anybody says what it means at the table.

A reading names its device and its time. A card in a reading is sealed: it prints as ``<card>`` and
cannot be serialised by accident; only the table's mapping layer takes the code out of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NewType, NoReturn

from drivers.base import DeviceIdentified, StateReported

Uid = NewType("Uid", str)
"""A tag's identifier as upper-case hex, most significant byte first: ``E004010012345678``."""


class Antenna(NamedTuple):
    """One antenna: its reader's name, the multiplexer's address and the output, 1 to 8."""

    reader: str
    mux: int
    channel: int

    def __str__(self) -> str:
        return f"{self.reader}/{self.mux}/{self.channel}"


class SealedCard:
    """A card code (docs/protocols/card-devices.md) that shows itself to nobody."""

    __slots__ = ("_code",)

    def __init__(self, code: int) -> None:
        self._code = code

    def unseal(self) -> int:
        return self._code

    def __repr__(self) -> str:
        return "<card>"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SealedCard) and self._code == other._code

    def __hash__(self) -> int:
        # Constant on purpose: no order of iteration may depend on a card nobody has seen.
        return hash(SealedCard)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a sealed card cannot be serialised")


# --- chips -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AntennaRead:
    """One complete inventory of one antenna."""

    device: str
    antenna: Antenna
    tags: frozenset[Uid]
    at_us: int


@dataclass(frozen=True, slots=True)
class AntennaFailed:
    """An inventory of this antenna failed (no answer, RF warning, multiplexer); others may work."""

    device: str
    antenna: Antenna
    code: str
    at_us: int


@dataclass(frozen=True, slots=True)
class SpotSettled:
    """The tags on an antenna have been the same long enough to count; sent when they changed."""

    antenna: Antenna
    tags: frozenset[Uid]
    at_us: int
    since_us: int | None = None
    """When they were first read so; the change came before it. None: not before ``at_us``."""

    @property
    def seen_us(self) -> int:
        return self.at_us if self.since_us is None else self.since_us


@dataclass(frozen=True, slots=True)
class SpotMoving:
    """Tags come and go on this antenna; nothing counts until it settles. Sent once per spell."""

    antenna: Antenna
    at_us: int


@dataclass(frozen=True, slots=True)
class SpotLost:
    """This antenna cannot be read any more; what was last settled there is not confirmed."""

    antenna: Antenna
    code: str
    at_us: int


@dataclass(frozen=True, slots=True)
class TagOnTwoSpots:
    """One tag was read on two antennas: copied, or lying between two fields."""

    tag: Uid
    antennas: tuple[Antenna, Antenna]
    at_us: int


@dataclass(frozen=True, slots=True)
class SweepAgreed:
    """Every antenna gave the same tags twice; ``uncertain`` ones moved meanwhile or failed."""

    number: int
    tags: tuple[tuple[Antenna, frozenset[Uid]], ...]
    uncertain: tuple[Antenna, ...]
    at_us: int


# --- cards -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardRead:
    """A card left the shoe."""

    device: str
    draw_no: int
    card: SealedCard
    at_us: int
    key: int = 0
    """The event's name for ever; above 0 it waits for ``AcknowledgeReading`` with this key."""


@dataclass(frozen=True, slots=True)
class CardEvent:
    """What else happens at a shoe or shuffler; ``number`` is the draw, shuffle or packet number."""

    device: str
    kind: Literal[
        "burn", "cut card", "returned", "misread", "double feed", "gap",
        "loaded", "empty",
        "shuffle started", "shuffle ended", "packet removed", "deck verified",
        "jam", "jam cleared", "door opened", "door closed",
        "locked", "unlocked", "new epoch",
    ]  # fmt: skip
    number: int
    count: int = 0
    """Cards counted, decks loaded, cards expected minus found: as the kind says."""
    expected: int = 0
    result: str = ""
    deck: str = ""
    at_us: int = 0
    key: int = 0
    """As in ``CardRead``; 0 for what the driver found out itself."""


@dataclass(frozen=True, slots=True)
class PacketRead:
    """A packet left the shuffler: its cards from the bottom of the packet up."""

    device: str
    packet_no: int
    deck: str
    cards: tuple[SealedCard, ...]
    at_us: int
    key: int = 0
    """As in ``CardRead``."""


@dataclass(frozen=True, slots=True)
class MetersRead:
    device: str
    meters: tuple[tuple[str, int], ...]
    at_us: int


# --- console, sensors, lamps, pins -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KeyPressed:
    """A key went down and stayed; sent once per press. ``key`` is a name of the console page."""

    device: str
    key: str
    at_us: int


@dataclass(frozen=True, slots=True)
class SwitchRead:
    """The stable level of an input: a progressive sensor, the supervisor key, the door."""

    device: str
    name: str
    on: bool
    at_us: int


@dataclass(frozen=True, slots=True)
class CreditOffered:
    """A seat's acceptor holds its credit line; the table takes it with ``acknowledge``."""

    device: str
    seat: int
    number: int
    """Credits offered at this seat since the driver started: each handshake has its own."""
    at_us: int


@dataclass(frozen=True, slots=True)
class CreditTaken:
    """The handshake is complete: the acceptor let go of its line after our acknowledgement."""

    device: str
    seat: int
    number: int
    at_us: int


@dataclass(frozen=True, slots=True)
class CreditReturned:
    """The acceptor let go of its line and was never acknowledged: the player has the chip back."""

    device: str
    seat: int
    number: int
    at_us: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A display's memory was read back and holds what was ordered."""

    device: str
    content: str
    at_us: int
    memory: bytes = field(default=b"", compare=False)
    """The bytes that were read back, where the display is a board with memory."""


@dataclass(frozen=True, slots=True)
class SupplyRead:
    """The firmware's throttling flags; bit 0 is under-voltage now."""

    device: str
    flags: int
    at_us: int


Reading = (
    StateReported
    | DeviceIdentified
    | AntennaRead
    | AntennaFailed
    | SpotSettled
    | SpotMoving
    | SpotLost
    | TagOnTwoSpots
    | SweepAgreed
    | CardRead
    | CardEvent
    | PacketRead
    | MetersRead
    | KeyPressed
    | SwitchRead
    | CreditOffered
    | CreditTaken
    | CreditReturned
    | Shown
    | SupplyRead
)
