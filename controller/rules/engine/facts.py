"""Facts: what happened, in the past tense, who or what says so, and when.

A fact is *measured* by a device or *declared* by a person; the journal never mixes the two up.
Time and chance arrive as facts: the engine has no clock and draws nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Final, Literal

from controller.rules.cards import Card, CardDoubt, HiddenCard
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

AwardState = Literal["locked", "verified", "approved", "paid", "rejected", "withdrawn"]
LATER: Final = MappingProxyType({"later": True})
"""Of a field that older journals do not have: left out on disk while it holds its default."""


class What:
    """What happened; each kind is a class of its own."""

    __slots__ = ()


# --- the table ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LimitsChanged(What):
    """The supervisor sets new limits; a higher minimum needs its sign to have stood long enough."""

    min_wager: int | None
    max_wager: int | None


@dataclass(frozen=True, slots=True)
class SignShown(What):
    """A sign announces a higher minimum or the closing of the table."""

    announces: Literal["higher minimum", "closing"]


@dataclass(frozen=True, slots=True)
class SignRemoved(What):
    """The table opens again: its closing sign is gone."""

    announces: Literal["closing"]


@dataclass(frozen=True, slots=True)
class TimerFired(What):
    name: Literal["vacancy"]


@dataclass(frozen=True, slots=True)
class ProgressiveClosed(What):
    """The house takes no progressive wager at this table until further notice, whatever the link
    says; ``why`` is for the record."""

    why: str


@dataclass(frozen=True, slots=True)
class ProgressiveOpened(What):
    """The house takes progressive wagers again."""


# --- deck --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeckChecked(What):
    """A deck was proved complete; ``seal`` names the seal it is kept under until used."""

    deck: str
    passed: bool
    seal: str | None = None


@dataclass(frozen=True, slots=True)
class DeckChanged(What):
    deck: str
    seal: str | None = None


@dataclass(frozen=True, slots=True)
class DeckShuffled(What):
    deck: str


@dataclass(frozen=True, slots=True)
class DeckCut(What):
    pass


@dataclass(frozen=True, slots=True)
class DecksLoaded(What):
    """The shuffler tells the back colours of the deck in play and the one inside."""

    in_play: str
    in_device: str


@dataclass(frozen=True, slots=True)
class DeckCounted(What):
    """A count of the deck in play, by a device or on a supervisor's or inspector's order."""

    count: int


@dataclass(frozen=True, slots=True)
class CountOrdered(What):
    """A supervisor or inspector has the cards counted."""


# --- wagers ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BetsOpened(What):
    pass


@dataclass(frozen=True, slots=True)
class WagerRead(What):
    """The stable value now lying on a spot. Seat 0 is the dealer's: its spot is the pot."""

    seat: int
    spot: str
    cents: int


@dataclass(frozen=True, slots=True)
class CreditsRead(What):
    """Progressive credits held by the seat's acceptor or sensor."""

    seat: int
    credits: int


@dataclass(frozen=True, slots=True)
class WagerDeclared(What):
    """A supervisor declares a wager that no sensor can read."""

    seat: int
    spot: str
    cents: int


@dataclass(frozen=True, slots=True)
class BetsClosed(What):
    pass


@dataclass(frozen=True, slots=True)
class RoundCalledOff(What):
    """Nobody is in the round and no card is out: the dealer ends it. No fault of anybody."""


@dataclass(frozen=True, slots=True)
class SeatLeftOut(What):
    """The dealer continues without a seat whose wagers are not valid; they are returned."""

    seat: int


@dataclass(frozen=True, slots=True)
class WagerRefused(What):
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class SeatExcluded(What):
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class SeatReadmitted(What):
    seat: int


@dataclass(frozen=True, slots=True)
class SelectionCommitted(What):
    """The digest of this round's selections, before the first card."""

    digest: str


@dataclass(frozen=True, slots=True)
class SelectionRevealed(What):
    magic_card: Card | None
    lucky_seat: int | None


# --- cards -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardDrawn(What):
    card: HiddenCard


@dataclass(frozen=True, slots=True)
class PacketDispensed(What):
    cards: tuple[HiddenCard, ...]
    deck: str = field(default="", metadata=LATER)
    """The back colour the device names; empty if it names none."""


@dataclass(frozen=True, slots=True)
class CutCardSeen(What):
    pass


@dataclass(frozen=True, slots=True)
class UnknownCardSeen(What):
    """A card moved and nobody knows which: no card of this deck, a misread, a hole in the count."""

    kind: CardDoubt = field(default="", metadata=LATER)
    number: int = field(default=0, metadata=LATER)
    """The draw or packet it happened at; of a gap the first that is missing."""
    count: int = field(default=0, metadata=LATER)
    """Cards that are missing, or that left at once; 0: nobody knows."""


@dataclass(frozen=True, slots=True)
class CardFaultReported(What):
    kind: Literal["foreign", "short", "excess"]
    count: int = 52


@dataclass(frozen=True, slots=True)
class ShufflerFailed(What):
    pass


@dataclass(frozen=True, slots=True)
class ShufflerReady(What):
    pass


@dataclass(frozen=True, slots=True)
class DealConfirmed(What):
    """Ricochet: the cards the controller assumed are those on the table."""


# --- decisions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardsHandled(What):
    """Players have touched their cards: one seat, or all."""

    seat: int | None = None


@dataclass(frozen=True, slots=True)
class Decided(What):
    seat: int
    spot: str
    choice: Literal["ride", "withdraw"]


@dataclass(frozen=True, slots=True)
class DecisionCorrected(What):
    """The dealer mis-keyed; both values stay in the journal."""

    seat: int
    spot: str
    choice: Literal["ride", "withdraw"]


@dataclass(frozen=True, slots=True)
class RideAllSignalled(What):
    """The player tucked the cards under the $ wager."""

    seat: int


@dataclass(frozen=True, slots=True)
class CommunityTurned(What):
    number: Literal[1, 2]


@dataclass(frozen=True, slots=True)
class PlayerAbsent(What):
    seat: int
    viewed: bool


@dataclass(frozen=True, slots=True)
class WagersCorrected(What):
    seat: int
    cents: int


@dataclass(frozen=True, slots=True)
class CorrectionRefused(What):
    seat: int


@dataclass(frozen=True, slots=True)
class Folded(What):
    """Let It Ride under NSW: the wager comes back. Ricochet: the ante is lost to the pot."""

    seat: int


@dataclass(frozen=True, slots=True)
class Played(What):
    seat: int


@dataclass(frozen=True, slots=True)
class OrderDirected(What):
    """The supervisor makes these seats decide first."""

    seats: tuple[int, ...]
    reason: str


# --- irregularities ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardExposed(What):
    count: int = 1
    community: bool = False


@dataclass(frozen=True, slots=True)
class DealtWrong(What):
    """The dealer found the cards dealt incorrectly."""


@dataclass(frozen=True, slots=True)
class HandsRemapped(What):
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class StrayHandFound(What):
    seat: int


@dataclass(frozen=True, slots=True)
class CountFound(What):
    """A wrong number of cards at a seat, or (seat None) in the community cards."""

    seat: int | None
    count: int


@dataclass(frozen=True, slots=True)
class HandVoided(What):
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class OutcomeInvalidated(What):
    reason: Literal["disruption", "fraud"]
    forfeit_seats: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SupervisorRuled(What):
    """The answer to the question that froze the round.

    ``misread`` corrects the last card to ``card``; ``confirmed`` makes the reported fault a fact.
    """

    ruling: Literal["resume", "play on", "void", "confirmed", "misread"]
    note: str = ""
    card: HiddenCard | None = None


@dataclass(frozen=True, slots=True)
class RulingSeconded(What):
    """Another person agrees with the ruling that takes back what was paid."""


@dataclass(frozen=True, slots=True)
class SeatRuled(What):
    """The answer about one held seat, or about chips that disagree with the console."""

    seat: int
    ruling: Literal["hand void", "ride", "play on", "stays live"]
    note: str = ""


@dataclass(frozen=True, slots=True)
class PlayerWarned(What):
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class BreachNoted(What):
    """A breach that no sensor sees and that moves no money: noted with who saw it."""

    seats: tuple[int, ...]
    what: str


# --- settlement --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BonusCardTurned(What):
    pass


@dataclass(frozen=True, slots=True)
class HandOpened(What):
    seat: int


@dataclass(frozen=True, slots=True)
class SeatSettled(What):
    """The dealer paid and collected; ``called`` is the hand as the dealer announced it."""

    seat: int
    called: Hand | None = None


@dataclass(frozen=True, slots=True)
class CardCorrected(What):
    """A card of an open hand is another than the device read; ``number`` counts from 1."""

    seat: int
    number: int
    card: Card


@dataclass(frozen=True, slots=True)
class DisputeRaised(What):
    seat: int
    about: str


@dataclass(frozen=True, slots=True)
class DisputeDecided(What):
    seat: int
    decision: str


@dataclass(frozen=True, slots=True)
class PayCorrected(What):
    """A mis-pay found after settlement: what was really paid out for the whole seat."""

    round_no: int
    seat: int
    paid_cents: int
    note: str


@dataclass(frozen=True, slots=True)
class VoidCleared(What):
    """The dealer has returned the stakes of a void round."""


@dataclass(frozen=True, slots=True)
class RoundEnded(What):
    pass


# --- the link server -------------------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class Fact:
    what: What
    by: Source
    at_ms: int = 0
