"""Facts: what happened, in the past tense, who or what says so, and when.

A fact is *measured* by a device or *declared* by a person; the journal never mixes the two up.
Time and chance arrive as facts: the engine has no clock and draws nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from controller.rules.cards import Card, HiddenCard
from controller.rules.hands import Hand


class Role(Enum):
    DEALER = "dealer"
    GAMES_SUPERVISOR = "games supervisor"
    CASINO_SUPERVISOR = "casino supervisor"
    INSPECTOR = "inspector"


@dataclass(frozen=True, slots=True)
class Measured:
    device: str


@dataclass(frozen=True, slots=True)
class Declared:
    person: str
    role: Role


Source = Measured | Declared


# --- the table ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LimitsChanged:
    """The supervisor sets new limits; a higher minimum needs its sign to have stood long enough."""

    min_wager: int | None
    max_wager: int | None


@dataclass(frozen=True, slots=True)
class SignShown:
    """A sign announces a higher minimum or the closing of the table."""

    announces: Literal["higher minimum", "closing"]


@dataclass(frozen=True, slots=True)
class TimerFired:
    name: Literal["vacancy"]


@dataclass(frozen=True, slots=True)
class MeterReported:
    jackpot_cents: int


@dataclass(frozen=True, slots=True)
class LinkLost:
    pass


@dataclass(frozen=True, slots=True)
class LinkRestored:
    pass


# --- deck --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeckChecked:
    """A deck was proved complete; ``seal`` names the seal it is kept under until used."""

    deck: str
    passed: bool
    seal: str | None = None


@dataclass(frozen=True, slots=True)
class DeckChanged:
    deck: str
    seal: str | None = None


@dataclass(frozen=True, slots=True)
class DeckShuffled:
    deck: str


@dataclass(frozen=True, slots=True)
class DeckCut:
    pass


@dataclass(frozen=True, slots=True)
class DecksLoaded:
    """The shuffler tells the back colours of the deck in play and the one inside."""

    in_play: str
    in_device: str


@dataclass(frozen=True, slots=True)
class DeckCounted:
    """A count of the deck in play, by a device or on a supervisor's or inspector's order."""

    count: int


# --- wagers ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BetsOpened:
    pass


@dataclass(frozen=True, slots=True)
class WagerRead:
    """The stable value now lying on a spot. Seat 0 is the dealer's: its spot is the pot."""

    seat: int
    spot: str
    cents: int


@dataclass(frozen=True, slots=True)
class CreditsRead:
    """Progressive credits held by the seat's acceptor or sensor."""

    seat: int
    credits: int


@dataclass(frozen=True, slots=True)
class WagerDeclared:
    """A supervisor declares a wager that no sensor can read."""

    seat: int
    spot: str
    cents: int


@dataclass(frozen=True, slots=True)
class BetsClosed:
    pass


@dataclass(frozen=True, slots=True)
class SeatLeftOut:
    """The dealer goes on without a seat whose wagers are not valid; they are returned."""

    seat: int


@dataclass(frozen=True, slots=True)
class WagerRefused:
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class SeatExcluded:
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class SeatReadmitted:
    seat: int


@dataclass(frozen=True, slots=True)
class SelectionCommitted:
    """The digest of this round's selections, before the first card."""

    digest: str


@dataclass(frozen=True, slots=True)
class SelectionRevealed:
    magic_card: Card | None
    lucky_seat: int | None


# --- cards -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardDrawn:
    card: HiddenCard


@dataclass(frozen=True, slots=True)
class PacketDispensed:
    cards: tuple[HiddenCard, ...]


@dataclass(frozen=True, slots=True)
class CutCardSeen:
    pass


@dataclass(frozen=True, slots=True)
class UnknownCardSeen:
    """The device read something that is no card of this deck: a joker, a misread, another back."""


@dataclass(frozen=True, slots=True)
class CardFaultReported:
    kind: Literal["foreign", "short", "excess"]
    count: int = 52


@dataclass(frozen=True, slots=True)
class ShufflerFailed:
    pass


@dataclass(frozen=True, slots=True)
class ShufflerReady:
    pass


@dataclass(frozen=True, slots=True)
class DealConfirmed:
    """Ricochet: the cards the controller assumed are those on the table."""


# --- decisions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardsHandled:
    """Players have touched their cards: one seat, or all."""

    seat: int | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    seat: int
    spot: str
    choice: Literal["ride", "withdraw"]


@dataclass(frozen=True, slots=True)
class DecisionCorrected:
    """The dealer mis-keyed; both values stay in the journal."""

    seat: int
    spot: str
    choice: Literal["ride", "withdraw"]


@dataclass(frozen=True, slots=True)
class RideAllSignalled:
    """The player tucked the cards under the $ wager."""

    seat: int


@dataclass(frozen=True, slots=True)
class CommunityTurned:
    number: Literal[1, 2]


@dataclass(frozen=True, slots=True)
class PlayerAbsent:
    seat: int
    viewed: bool


@dataclass(frozen=True, slots=True)
class WagersCorrected:
    seat: int
    cents: int


@dataclass(frozen=True, slots=True)
class CorrectionRefused:
    seat: int


@dataclass(frozen=True, slots=True)
class Folded:
    """Let It Ride under NSW: the wager comes back. Ricochet: the ante is lost to the pot."""

    seat: int


@dataclass(frozen=True, slots=True)
class Played:
    seat: int


@dataclass(frozen=True, slots=True)
class OrderDirected:
    """The supervisor makes these seats decide first."""

    seats: tuple[int, ...]
    reason: str


# --- irregularities ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardExposed:
    count: int = 1
    community: bool = False


@dataclass(frozen=True, slots=True)
class DealtWrong:
    """The dealer found the cards dealt incorrectly."""


@dataclass(frozen=True, slots=True)
class HandsRemapped:
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class StrayHandFound:
    seat: int


@dataclass(frozen=True, slots=True)
class CountFound:
    """A wrong number of cards at a seat, or (seat None) in the community cards."""

    seat: int | None
    count: int


@dataclass(frozen=True, slots=True)
class HandVoided:
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class OutcomeInvalidated:
    reason: Literal["disruption", "fraud"]
    forfeit_seats: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SupervisorRuled:
    """The answer to the question that froze the round.

    ``misread`` corrects the last card to ``card``; ``confirmed`` makes the reported fault a fact.
    """

    ruling: Literal["resume", "play on", "void", "confirmed", "misread"]
    note: str = ""
    card: HiddenCard | None = None


@dataclass(frozen=True, slots=True)
class SeatRuled:
    """The answer about one held seat, or about chips that disagree with the console."""

    seat: int
    ruling: Literal["hand void", "ride", "play on", "stays live"]
    note: str = ""


@dataclass(frozen=True, slots=True)
class PlayerWarned:
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class BreachNoted:
    """A breach that no sensor sees and that moves no money: noted with who saw it."""

    seats: tuple[int, ...]
    what: str


# --- settlement --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BonusCardTurned:
    pass


@dataclass(frozen=True, slots=True)
class HandOpened:
    seat: int


@dataclass(frozen=True, slots=True)
class JackpotLocked:
    """The server's amount of record for this round's percentage awards."""

    jackpot_cents: int


@dataclass(frozen=True, slots=True)
class SeatSettled:
    """The dealer paid and collected; ``called`` is the hand as the dealer announced it."""

    seat: int
    called: Hand | None = None


@dataclass(frozen=True, slots=True)
class DisputeRaised:
    seat: int
    about: str


@dataclass(frozen=True, slots=True)
class DisputeDecided:
    seat: int
    decision: str


@dataclass(frozen=True, slots=True)
class PayCorrected:
    """A mis-pay found after settlement: what was really paid out for the whole seat."""

    round_no: int
    seat: int
    paid_cents: int
    note: str


@dataclass(frozen=True, slots=True)
class VoidCleared:
    """The dealer has returned the stakes of a void round."""


@dataclass(frozen=True, slots=True)
class RoundEnded:
    pass


What = (
    LimitsChanged
    | SignShown
    | TimerFired
    | MeterReported
    | LinkLost
    | LinkRestored
    | DeckChecked
    | DeckChanged
    | DeckShuffled
    | DeckCut
    | DecksLoaded
    | DeckCounted
    | BetsOpened
    | WagerRead
    | CreditsRead
    | WagerDeclared
    | BetsClosed
    | SeatLeftOut
    | WagerRefused
    | SeatExcluded
    | SeatReadmitted
    | SelectionCommitted
    | SelectionRevealed
    | CardDrawn
    | PacketDispensed
    | CutCardSeen
    | UnknownCardSeen
    | CardFaultReported
    | ShufflerFailed
    | ShufflerReady
    | DealConfirmed
    | CardsHandled
    | Decided
    | DecisionCorrected
    | RideAllSignalled
    | CommunityTurned
    | PlayerAbsent
    | WagersCorrected
    | CorrectionRefused
    | Folded
    | Played
    | OrderDirected
    | CardExposed
    | DealtWrong
    | HandsRemapped
    | StrayHandFound
    | CountFound
    | HandVoided
    | OutcomeInvalidated
    | SupervisorRuled
    | SeatRuled
    | PlayerWarned
    | BreachNoted
    | BonusCardTurned
    | HandOpened
    | JackpotLocked
    | SeatSettled
    | DisputeRaised
    | DisputeDecided
    | PayCorrected
    | VoidCleared
    | RoundEnded
)


@dataclass(frozen=True, slots=True)
class Fact:
    what: What
    by: Source
    at_ms: int = 0


_SUPERVISORS: Final = frozenset((Role.GAMES_SUPERVISOR, Role.CASINO_SUPERVISOR))
_ANY_CHECKER: Final = _SUPERVISORS | {Role.INSPECTOR}

AUTHORITY: Final[dict[type[What], tuple[frozenset[Role], str]]] = {
    LimitsChanged: (_SUPERVISORS, "NSW-6.5"),
    WagerDeclared: (_SUPERVISORS, "NSW-5.7"),
    WagerRefused: (_SUPERVISORS, "NSW-14.11"),
    SeatExcluded: (_SUPERVISORS, "NSW-12.12"),
    SeatReadmitted: (_SUPERVISORS, "NSW-12.12.4"),
    OrderDirected: (_SUPERVISORS, "NSW-12.12"),
    DeckChanged: (_SUPERVISORS, "NSW-3.7"),
    HandsRemapped: (_SUPERVISORS, "MBS3-5.3"),
    HandVoided: (frozenset((Role.CASINO_SUPERVISOR,)), "NSW-14.3"),
    OutcomeInvalidated: (_SUPERVISORS, "NSW-14.4"),
    SupervisorRuled: (_SUPERVISORS, "NSW-14.12"),
    SeatRuled: (_SUPERVISORS, "NSW-14.12"),
    DisputeDecided: (_SUPERVISORS, "NSW-14.12"),
    PayCorrected: (_SUPERVISORS, "NSW-14.12"),
}
"""Facts that only somebody with this role may declare, and the clause that says so."""

MEASURED_ONLY: Final = (CardDrawn, PacketDispensed, CutCardSeen, CreditsRead, WagerRead)
"""What a device measures; a person declares it only through a fact of its own kind."""
