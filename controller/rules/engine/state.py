"""The state of a table: plain frozen values. Replaying the facts gives it back, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal

from controller.rules import events as ev
from controller.rules.book import Book
from controller.rules.cards import Card, HiddenCard
from controller.rules.engine.facts import LATER, AwardState, CardCorrected, CountFound, PayCorrected
from controller.rules.ricochet import Showdown
from controller.rules.settings import Settings, TableSettings

Report = CountFound | PayCorrected | CardCorrected
"""What two people say about money that was paid."""
ENDED: Final = ("paid", "rejected", "withdrawn")


class Phase(Enum):
    IDLE = "between rounds"
    BETTING = "bets are open"
    LOCKED = "bets are closed"
    DEALING = "dealing"
    DECISION_1 = "first decision"
    DECISION_2 = "second decision"
    DEALT = "cards to be confirmed"
    ACTION = "players act"
    DRAW = "three cards to a player"
    SETTLEMENT = "settlement"
    VOIDING = "the round is void"
    FROZEN = "frozen for the supervisor"


@dataclass(frozen=True, slots=True)
class TableRules:
    """What does not change while the table is open."""

    book: Book
    money: Settings
    table: TableSettings


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that waits until the one before it is answered. Fields as in ``Frozen``."""

    question: str
    answers: tuple[str, ...]
    event: ev.Event | None = None
    held: tuple[HiddenCard, ...] | None = None
    extra: tuple[tuple[HiddenCard, ...], ...] = ()
    about: str = ""
    by: str = ""
    report: Report | None = None
    proposed: tuple[str, str] | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Frozen:
    """Why the round is stopped, and what continues when the supervisor has ruled."""

    phase: Phase
    question: str
    answers: tuple[str, ...]
    event: ev.Event | None = None
    """What becomes a confirmed fact with the answer ``confirmed``."""
    held: tuple[HiddenCard, ...] | None = None
    """Cards read but in doubt: outside the deal until the ruling says which they are."""
    extra: tuple[tuple[HiddenCard, ...], ...] = ()
    """Cards or packets that came when none was due: set aside unless a stray hand explains them."""
    about: str = field(default="", metadata=LATER)
    """What the prompt says where there is no event, or a card is in doubt."""
    by: str = field(default="", metadata=LATER)
    """Who reported it; empty where a device did."""
    report: Report | None = field(default=None, metadata=LATER)
    """What would change a pay: carried out with the answer ``confirmed``."""
    proposed: tuple[str, str] | None = field(default=None, metadata=LATER)
    """A ruling and who gave it, until another person says the same."""
    waiting: tuple[Asked, ...] = field(default=(), metadata=LATER)
    """Questions asked meanwhile, in their order: each is put once this one is answered."""
    detail: str = field(default="", metadata=LATER)
    """The place of the doubt: a draw, or the draws that are missing."""


@dataclass(frozen=True, slots=True)
class Seat:
    """One seat in the round, from the lock on."""

    locked: Mapping[str, int]
    decisions: Mapping[str, Literal["ride", "withdraw"]] = field(default_factory=dict)
    emptied: frozenset[str] = frozenset()
    """Spots taken back and seen empty: what lies there afterwards is late."""
    declared: frozenset[str] = frozenset()
    """Spots whose wager a person declared; no sensor speaks for them."""
    stays_live: frozenset[str] = frozenset()
    """Spots lifted without leave that a supervisor has ruled on."""
    unequal: bool = False
    handled: bool = False
    out: bool = False
    """Void or folded: its cards are never opened."""
    held: str | None = None
    """The question a supervisor must answer about this seat."""
    opened: tuple[Card, ...] | None = None
    late: Mapping[str, int] | None = None
    """Late chips by spot as they lay when the hand was opened; from then on they count no more."""
    lifted: frozenset[str] | None = None
    """Spots whose chips were gone when the hand was opened."""
    settled: bool = False
    bonus_settled: bool = False
    called: str | None = None
    """The class the dealer announced, where it is not the engine's."""


@dataclass(frozen=True, slots=True)
class Deck:
    name: str | None = None
    seals: Mapping[str, str | None] = field(default_factory=dict)
    """Decks with a passed check, and the seal each is kept under."""
    in_device: str | None = None
    """The other deck, shuffled in the device while this one is in play."""
    shuffled: bool = False
    cut: bool = False
    colours: tuple[str, str] | None = None
    device_ready: bool = True
    suspect: bool = False
    """A fault was found: the deck needs a full check before the next opening."""
    blocked: frozenset[str] = field(default=frozenset(), metadata=LATER)
    """Decks that failed a check or were taken out in doubt: only a person releases them."""


@dataclass(frozen=True, slots=True)
class Archive:
    """A closed round: nothing changes it; corrections are added beside it."""

    round_no: int
    record: Any
    result: Any
    corrections: tuple[tuple[int, int, str], ...] = ()
    """(seat, difference in cents, who)"""
    ruled_anew: Any = None
    """Record and result as a later fact left them; None while the round stands as closed."""

    @property
    def current(self) -> tuple[Any, Any]:
        """The record and result that count now."""
        return self.ruled_anew or (self.record, self.result)


@dataclass(frozen=True, slots=True)
class Award:
    """Money that the link server holds for a seat until people have approved or rejected it."""

    award: str
    """The server's name for it."""
    round_no: int
    seat: int
    cents: int
    state: AwardState = "locked"
    share: bool = True
    """A share of the jackpot, claimed for a hand; else a mystery award."""
    due: int | None = None
    """What the settlement pays now that another claim is gone, until the server says the same."""

    @property
    def pending(self) -> bool:
        return self.state not in ENDED

    @property
    def holds(self) -> bool:
        """Hand, deck and cards are not verified yet: no next round (AMB-P16)."""
        return self.share and self.state == "locked"


@dataclass(frozen=True, slots=True)
class TableState:
    rules: TableRules
    phase: Phase = Phase.IDLE
    round_no: int = 0
    in_play: bool = False
    spots: Mapping[tuple[int, str], int] = field(default_factory=dict)
    """What the sensors see now; seat 0 is the dealer's."""
    declared: frozenset[tuple[int, str]] = frozenset()
    credits: Mapping[int, int] = field(default_factory=dict)
    left_out: frozenset[int] = frozenset()
    excluded: frozenset[int] = frozenset()
    seats: Mapping[int, Seat] = field(default_factory=dict)
    drawn: tuple[HiddenCard, ...] = ()
    packets: tuple[int, ...] = ()
    """Sizes of the packets dispensed, where a shuffler deals."""
    stray: tuple[int, ...] = ()
    swapped: Mapping[int, int] = field(default_factory=dict)
    turned: tuple[Card, ...] = ()
    bonus: Card | None = None
    face_up: Mapping[int, tuple[Card, ...]] = field(default_factory=dict)
    """Ricochet: open cards by seat; seat 0 is the dealer."""
    showdown: Showdown | None = None
    carried: int = 0
    """Ricochet: what lies on the pot from earlier rounds that nobody won."""
    actions: Mapping[int, str] = field(default_factory=dict)
    handled_all: bool = False
    first: tuple[int, ...] = ()
    """Seats directed to decide first."""
    events: tuple[ev.Event, ...] = ()
    voided_by: str | None = None
    """The clause (or "supervisor") that made the round void."""
    frozen: Frozen | None = None
    commitment: str | None = None
    revealed: bool = False
    magic_card: Card | None = None
    lucky_seat: int | None = None
    meter: int = 0
    jackpot: int | None = None
    """The server's amount of record for this round."""
    reset: int | None = None
    """The meter after a 100 % award, as the server said with it."""
    awards: tuple[Award, ...] = ()
    """Those of this table that are pending, and those that ended lately."""
    claims: tuple[tuple[int, str, int], ...] = ()
    link_up: bool = True
    record: Any = None
    """The round as a record, taken when its result was known."""
    result: Any = None
    deck: Deck = Deck()
    min_wager: int | None = None
    max_wager: int | None = None
    next_limits: tuple[int | None, int | None] | None = None
    signs: Mapping[str, int] = field(default_factory=dict)
    warnings: Mapping[int, int] = field(default_factory=dict)
    idle: Mapping[int, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    disputes: Mapping[int, str] = field(default_factory=dict)
    history: tuple[Archive, ...] = ()
    """The last closed rounds, newest last."""
    progressive_closed: str = ""
    """Why the house takes no progressive wager; empty while it does."""
    vacant: bool = field(default=False, metadata=LATER)
    """The table has stood empty since the last round."""
    decided_by: tuple[tuple[int, str, str], ...] = field(default=(), metadata=LATER)
    """Seat (0: the round), person and sort of every decision of this round and of open disputes."""

    @property
    def takes_progressive(self) -> bool:
        """May a progressive wager be accepted now?"""
        return self.link_up and not self.progressive_closed

    def credits_now(self, seat: int) -> int:
        """Progressive credits of the round under way: between rounds ``credits`` still has those
        of the round before."""
        return 0 if self.phase is Phase.IDLE else self.credits.get(seat, 0)

    @property
    def live(self) -> tuple[int, ...]:
        """Seats still in the round, clockwise."""
        return tuple(n for n in sorted(self.seats) if not self.seats[n].out)
