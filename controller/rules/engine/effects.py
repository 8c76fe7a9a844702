"""Effects: what the table must do next, in the imperative. Each may run twice after a crash.

Every card in an effect is a public ``Card``; a ``HiddenCard`` does not fit in any field here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from controller.rules.cards import Card

Lamp = Literal["off", "open", "fault", "your turn", "live", "void", "pay", "collect"]


@dataclass(frozen=True, slots=True)
class Refused:
    """The fact did not fit; nothing changed."""

    reason: str
    clause: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A line for the dealer: a code of the prompt catalogue and what to fill in."""

    code: str
    seat: int | None = None
    detail: str = ""
    cents: int = 0
    """What is still to be paid; negative: to be taken back."""


@dataclass(frozen=True, slots=True)
class SetLamp:
    seat: int
    lamp: Lamp


@dataclass(frozen=True, slots=True)
class RaiseAlarm:
    code: str
    seat: int | None
    detail: str
    clause: str


@dataclass(frozen=True, slots=True)
class AskSupervisor:
    question: str
    answers: tuple[str, ...]
    seat: int | None = None


@dataclass(frozen=True, slots=True)
class ReturnWager:
    seat: int
    spot: str
    cents: int
    clause: str


@dataclass(frozen=True, slots=True)
class ArmAcceptor:
    seat: int
    armed: bool


@dataclass(frozen=True, slots=True)
class PostContributions:
    """Progressive wagers accepted at the lock, by seat."""

    round_no: int
    cents: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ReverseContributions:
    round_no: int
    cents: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class RequestSelection:
    """Ask the selector for a commitment; it never sees a card."""

    round_no: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShowSelection:
    magic_card: Card | None
    lucky_seat: int | None


@dataclass(frozen=True, slots=True)
class ShowJackpot:
    cents: int
    stale: bool = False


@dataclass(frozen=True, slots=True)
class ShowDealtCard:
    """A face-up card and whose it is; seat 0 is the dealer."""

    seat: int
    card: Card


@dataclass(frozen=True, slots=True)
class ShowCommunity:
    number: int
    card: Card


@dataclass(frozen=True, slots=True)
class ShowBonusCard:
    card: Card


@dataclass(frozen=True, slots=True)
class ShowHand:
    """A seat's hand is open: its cards, its class, and what each wager pays."""

    seat: int
    cards: tuple[Card, ...]
    hand: str | None
    pays: Any


@dataclass(frozen=True, slots=True)
class ShowMagicHit:
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShowAward:
    seat: int
    kind: str
    cents: int


@dataclass(frozen=True, slots=True)
class ShowOwed:
    """A lost wager whose chips are gone: the player owes it."""

    seat: int
    spot: str
    cents: int


@dataclass(frozen=True, slots=True)
class ShowKickout:
    out: bool


@dataclass(frozen=True, slots=True)
class ShowPot:
    cents: int
    winners: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimJackpot:
    """All percentage claims of the round in one message, in settlement order."""

    round_no: int
    claims: tuple[tuple[int, str, int], ...]
    """(seat, class of hand, percent)"""


@dataclass(frozen=True, slots=True)
class WithdrawClaim:
    """The round or the claiming hand went void after the claim was sent (AMB-P16)."""

    round_no: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PublishRound:
    """The finished round as a record, and its settlement."""

    round_no: int
    record: Any
    result: Any


@dataclass(frozen=True, slots=True)
class PayDifference:
    """Correct a mis-pay: positive is paid to the seat, negative is collected."""

    round_no: int
    seat: int
    cents: int


@dataclass(frozen=True, slots=True)
class StartTimer:
    name: str
    after_ms: int


Effect = (
    Refused
    | Prompt
    | SetLamp
    | RaiseAlarm
    | AskSupervisor
    | ReturnWager
    | ArmAcceptor
    | PostContributions
    | ReverseContributions
    | RequestSelection
    | ShowSelection
    | ShowJackpot
    | ShowDealtCard
    | ShowCommunity
    | ShowBonusCard
    | ShowHand
    | ShowMagicHit
    | ShowAward
    | ShowOwed
    | ShowKickout
    | ShowPot
    | ClaimJackpot
    | WithdrawClaim
    | PublishRound
    | PayDifference
    | StartTimer
)
