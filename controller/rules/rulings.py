"""What a book says about an irregularity, and the small functions its table is made of.

A book's ``rulings`` map each class of event to a function from event to rulings. No ruling is
money: settlement reads them. Where a book is silent the ruling asks the supervisor a question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from controller.rules import events as ev


@dataclass(frozen=True, slots=True)
class VoidRound:
    clause: str


@dataclass(frozen=True, slots=True)
class AskSupervisor:
    """The book does not decide the round."""

    clause: str | None
    question: str


@dataclass(frozen=True, slots=True)
class VoidHand:
    seat: int
    clause: str | None


@dataclass(frozen=True, slots=True)
class HoldSeat:
    """The book does not decide this seat; the others settle."""

    seat: int
    clause: str | None
    question: str


@dataclass(frozen=True, slots=True)
class RefusePart:
    seat: int
    spot: str
    amount: int
    clause: str


@dataclass(frozen=True, slots=True)
class KeepLive:
    seat: int
    spot: str
    clause: str


@dataclass(frozen=True, slots=True)
class RideFrom:
    seat: int
    spot: str
    clause: str


@dataclass(frozen=True, slots=True)
class CorrectTo:
    seat: int
    cents: int
    clause: str


@dataclass(frozen=True, slots=True)
class Forfeit:
    seats: tuple[int, ...]
    clause: str


Ruling = (
    VoidRound
    | AskSupervisor
    | VoidHand
    | HoldSeat
    | RefusePart
    | KeepLive
    | RideFrom
    | CorrectTo
    | Forfeit
)
Rule = Callable[[Any], Ruling | Iterable[Ruling] | None]


@dataclass(frozen=True, slots=True)
class Exposures:
    """All exposed cards of a round together: the books count them per round."""

    in_deal: int = 0
    community_in_deal: int = 0
    after_handling: int = 0
    community_after_handling: int = 0

    def plus(self, event: ev.ExposedCards) -> Exposures:
        late = event.players_handled
        return Exposures(
            self.in_deal + (0 if late else event.count),
            self.community_in_deal + (event.count if event.community and not late else 0),
            self.after_handling + (event.count if late else 0),
            self.community_after_handling + (event.count if event.community and late else 0),
        )


Rulings = Mapping[type[ev.Event] | type[Exposures], Rule]


def _as_rulings(found: Ruling | Iterable[Ruling] | None) -> Iterable[Ruling]:
    if found is None:
        return ()
    return found if isinstance(found, tuple | list) else (found,)


def rule_on(rulings: Rulings, happened: Iterable[ev.Event]) -> list[Ruling]:
    """All rulings on a round's events, in their order; exposed cards are added up first."""
    found: list[Ruling] = []
    exposed: Exposures | None = None
    for event in happened:
        if isinstance(event, ev.ExposedCards):
            exposed = (exposed or Exposures()).plus(event)
            continue
        rule = rulings.get(type(event))
        if rule is not None:
            found += _as_rulings(rule(event))
    if exposed is not None and (rule := rulings.get(Exposures)) is not None:
        found += _as_rulings(rule(exposed))
    return found


PLAY_ON_OR_VOID = "play on as dealt, or void the round"


def ask(clause: str | None, what: str, answers: str = PLAY_ON_OR_VOID) -> AskSupervisor:
    return AskSupervisor(clause, f"{what}: the rule book does not decide. Answers: {answers}.")


def hold(seat: int, clause: str | None, what: str, answers: str) -> HoldSeat:
    return HoldSeat(
        seat, clause, f"Seat {seat}: {what}; the rule book does not decide. Answers: {answers}."
    )


def absent(seat: int, clause: str | None) -> HoldSeat:
    return hold(seat, clause, "the player is absent", "the hand is void, or its wagers ride")


def unequal(seat: int, clause: str | None) -> HoldSeat:
    return hold(
        seat,
        clause,
        "its wagers are not equal",
        "return the wagers, or play on with the amounts as they lie",
    )
