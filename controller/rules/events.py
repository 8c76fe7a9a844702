"""Irregularities as confirmed facts: the events of a round record, one class each.

The names and fields are those of the record. ``EVENTS`` is the one table from name to class; the
decoder, the exporter and the rulings of the books all use these classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Final, Literal


@dataclass(frozen=True, slots=True)
class ForeignCard:
    after_round_concluded: bool = False


@dataclass(frozen=True, slots=True)
class DeckCount:
    count: int
    after_round_concluded: bool = False


@dataclass(frozen=True, slots=True)
class DealtIncorrectly:
    players_handled: bool
    reconstructed: bool = False


@dataclass(frozen=True, slots=True)
class CommunityCount:
    count: int
    players_handled: bool = False
    reconstructed: bool = False
    after_next_game_began: bool = False


@dataclass(frozen=True, slots=True)
class PlayerCardCount:
    seat: int
    count: int
    players_handled: bool = False
    reconstructed: bool = False
    after_next_game_began: bool = False


@dataclass(frozen=True, slots=True)
class ExposedCards:
    count: int
    community: bool = False
    players_handled: bool = False


@dataclass(frozen=True, slots=True)
class LateWager:
    seat: int
    spot: str
    amount: int


@dataclass(frozen=True, slots=True)
class LateWithdrawal:
    seat: int
    spot: str


@dataclass(frozen=True, slots=True)
class HandDealtNoWager:
    seat: int
    players_handled: bool = False
    reconstructed: bool = False


@dataclass(frozen=True, slots=True)
class AbsentPlayer:
    seat: int
    viewed: bool
    from_spot: str = "1"


@dataclass(frozen=True, slots=True)
class ShufflerMalfunction:
    cards_dealt: int


Resolution = Literal["corrected", "fold", "refused"]


@dataclass(frozen=True, slots=True)
class UnequalWagers:
    seat: int
    players_handled: bool
    resolution: Resolution
    corrected_to: int | None = None


@dataclass(frozen=True, slots=True)
class WagersVoidedBySupervisor:
    seat: int


@dataclass(frozen=True, slots=True)
class GameInvalidated:
    forfeit_seats: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OverMaxPreviousRound:
    seat: int


@dataclass(frozen=True, slots=True)
class CardsShown:
    seat: int


@dataclass(frozen=True, slots=True)
class SupervisorConfirmed:
    by: str
    what: str


Event = (
    ForeignCard
    | DeckCount
    | DealtIncorrectly
    | CommunityCount
    | PlayerCardCount
    | ExposedCards
    | LateWager
    | LateWithdrawal
    | HandDealtNoWager
    | AbsentPlayer
    | ShufflerMalfunction
    | UnequalWagers
    | WagersVoidedBySupervisor
    | GameInvalidated
    | OverMaxPreviousRound
    | CardsShown
    | SupervisorConfirmed
)

EVENTS: Final[Mapping[str, type[Event]]] = {
    "foreign_card": ForeignCard,
    "deck_count": DeckCount,
    "dealt_incorrectly": DealtIncorrectly,
    "community_count": CommunityCount,
    "player_card_count": PlayerCardCount,
    "exposed_cards": ExposedCards,
    "late_wager": LateWager,
    "late_withdrawal": LateWithdrawal,
    "hand_dealt_no_wager": HandDealtNoWager,
    "absent_player": AbsentPlayer,
    "shuffler_malfunction": ShufflerMalfunction,
    "unequal_wagers": UnequalWagers,
    "wagers_voided_by_supervisor": WagersVoidedBySupervisor,
    "game_invalidated": GameInvalidated,
    "over_max_previous_round": OverMaxPreviousRound,
    "cards_shown": CardsShown,
    "supervisor_confirmed": SupervisorConfirmed,
}
NAME_OF: Final[Mapping[type[Event], str]] = {cls: name for name, cls in EVENTS.items()}

ANY_SEAT: Final = (HandDealtNoWager, OverMaxPreviousRound, CardsShown)
"""Events that may name a seat without a wager in this round."""

FIELDS: Final[Mapping[type[Event], Mapping[str, bool]]] = {
    cls: {f.name: f.default is MISSING for f in fields(cls)} for cls in EVENTS.values()
}
"""Per event: its fields and whether each is required."""


def event_to_json(event: Event) -> dict[str, Any]:
    """As it stands in a record; flags that are false and values that are unset are left out."""
    row: dict[str, Any] = {"type": NAME_OF[type(event)]}
    for f in fields(event):
        value = getattr(event, f.name)
        if f.default is MISSING or value != f.default:
            row[f.name] = list(value) if isinstance(value, tuple) else value
    return row


def faults_deck(event: Event) -> bool:
    """Was the deck found wrong? Then a card that appears twice is evidence, not an error."""
    return isinstance(event, ForeignCard) or (
        isinstance(event, DeckCount) and event.count != FULL_DECK
    )


FULL_DECK: Final = 52
