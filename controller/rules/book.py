"""What a rule book is: the data that one engine and one settlement run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Literal

from controller.rules.hands import Hand
from controller.rules.paytables import Odds, PayTable
from controller.rules.rulings import Rulings

Family = Literal["let it ride", "ricochet"]

SPOT_1: Final = "1"
SPOT_2: Final = "2"
DOLLAR: Final = "$"
BASE_SPOTS: Final = (SPOT_1, SPOT_2, DOLLAR)
BONUS_SPOTS: Final = ("rapid_fire", "hedge")
"""Ricochet's bonus wagers: the deal alone decides them."""


@dataclass(frozen=True, slots=True)
class WagerClauses:
    """The clauses behind a refused, corrected or held wager."""

    equal: str  # base wagers must be equal
    side_needs_base: str = ""  # an optional wager needs the base wagers
    side_at_most_base: Mapping[str, str] = field(default_factory=dict)
    late: str = ""
    over_area_limit: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """Printed limits of a wager in cents."""

    least: int
    most: int
    clause: str


@dataclass(frozen=True, slots=True)
class DealClauses:
    """The clauses the live table cites for the phases of a round."""

    open: str
    close: str
    deal: str
    community: str
    decide_1: str
    decide_2: str
    turn_1: str
    turn_2: str
    dollar: str
    settle: str
    order: str
    deck: str
    excess: str
    late_wager: str
    late_withdrawal: str
    round: str


@dataclass(frozen=True, slots=True)
class Book:
    key: str
    title: str
    version: str
    effective: date | None
    family: Family
    wagers: tuple[str, ...]
    rulings: Rulings
    clauses: WagerClauses
    round_clauses: DealClauses
    max_seats: int = 16
    """16 hands and the shared cards are all that one deck can serve."""
    card_count: int = 3
    """Cards a player is dealt before the first decision."""
    circles_optional: bool = False
    main: PayTable | None = None
    side: Mapping[str, PayTable] = field(default_factory=dict)
    """Bonus wagers capped at the $ wager (Pair Plus, 6 Card Bonus)."""
    progressive: PayTable | None = None
    envy_cents: Mapping[Hand, int] = field(default_factory=dict)
    magic_card: Odds | None = None
    lucky_player: Odds | None = None
    posted_limits: bool = False
    """The operator's sign sets limits and a maximum payout (NSW)."""
    wager_limits: Mapping[str, Limits] = field(default_factory=dict)
    bonus_card: bool = False
    """The dealer's middle card completes the 6 Card Bonus."""
    remap_allowed: bool = False
    """Complete hands may be moved to put a wrong deal right."""
    exposure_in_deal_only: bool = False
    """Exposed cards are counted only until the last card is dealt; later is the supervisor's."""
    acceptor_after_base: bool = False
    """Progressive credits are taken only once the base wagers are valid."""
    withdraw_until_first_card: bool = False
    in_play_from_first_card: bool = False
    correct_unequal: bool = False
    """Unequal wagers may be corrected or folded after the lock (NSW 12.10, 12.11)."""
    tuck_rides_all: bool = False
    """Cards tucked under the $ wager say that everything left rides (NSW 8.11)."""
    one_hand_clause: str = ""
    """The clause that lets a player bet only one hand in a round."""
    shuffle_clause: str = ""
    deck_check_clause: str = ""
    closing_clause: str = ""
    """The clause that gives players notice before their table closes."""
