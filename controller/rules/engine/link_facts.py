"""Facts that the link server tells, and what every fact is. Use them through ``facts``."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

AwardState = Literal["locked", "verified", "approved", "paid", "rejected", "withdrawn"]
LATER: Final = MappingProxyType({"later": True})
"""Of a field that older journals do not have: left out on disk while it holds its default."""


class What:
    """What happened; each kind is a class of its own, here or in ``facts``."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class MeterReported(What):
    jackpot_cents: int


@dataclass(frozen=True, slots=True)
class LinkLost(What):
    pass


@dataclass(frozen=True, slots=True)
class LinkRestored(What):
    pass


@dataclass(frozen=True, slots=True)
class JackpotLocked(What):
    """The server's amount of record for this round's percentage awards."""

    jackpot_cents: int
    reset_cents: int | None = field(default=None, metadata=LATER)
    """The meter after a 100 % award; None: as the table's own setting has it."""
    awards: tuple[tuple[int, str, int], ...] = field(default=(), metadata=LATER)
    """(seat, the server's name of the award, cents)"""


@dataclass(frozen=True, slots=True)
class AwardChanged(What):
    """The server tells how far an award is on its way to the player."""

    award: str
    state: AwardState
    cents: int


@dataclass(frozen=True, slots=True)
class MysteryWon(What):
    """A wager brought a hidden trigger of the server to its end."""

    round_no: int
    seat: int
    award: str
    level: str
    cents: int
