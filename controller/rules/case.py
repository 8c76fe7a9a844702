"""The rulings of a round sorted by what they touch, ready for settlement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from controller.rules.book import BASE_SPOTS
from controller.rules.record import RoundRecord, SeatRecord
from controller.rules.rulings import (
    AskSupervisor,
    CorrectTo,
    Forfeit,
    HoldSeat,
    KeepLive,
    RefusePart,
    RideFrom,
    VoidHand,
    VoidRound,
    rule_on,
)

FROM_SPOT = {"1": ("1", "2"), "2": ("2",), "$": ()}


@dataclass(slots=True)
class Case:
    """What the events of one round amount to. In one round void beats supervisor."""

    void: list[str] = field(default_factory=list)
    forfeit: frozenset[int] = frozenset()
    questions: list[AskSupervisor] = field(default_factory=list)
    void_hands: dict[int, str | None] = field(default_factory=dict)
    held: dict[int, HoldSeat] = field(default_factory=dict)
    late: dict[tuple[int, str], int] = field(default_factory=dict)
    late_clause: dict[int, str] = field(default_factory=dict)
    must_ride: dict[int, dict[str, str]] = field(default_factory=dict)
    """Seat to spot to clause: the spot rides whatever the decision says."""
    corrected: dict[int, CorrectTo] = field(default_factory=dict)

    def placed(self, seat: SeatRecord) -> Mapping[str, int]:
        """What counts as placed: a corrected seat's wagers are what they were corrected to."""
        corrected = self.corrected.get(seat.seat)
        return seat.wagers if corrected is None else dict.fromkeys(BASE_SPOTS, corrected.cents)


NO_CASE = Case()
"""A plain round; never written to."""


def make_case(record: RoundRecord) -> Case:
    if not record.events:
        return NO_CASE
    case = Case()
    for ruling in rule_on(record.book.rulings, record.events):
        match ruling:
            case VoidRound(clause):
                case.void.append(clause)
            case Forfeit(seats, clause):
                case.forfeit |= frozenset(seats)
                case.void.append(clause)
            case AskSupervisor():
                case.questions.append(ruling)
            case VoidHand(seat, void_clause):
                case.void_hands.setdefault(seat, void_clause)
            case HoldSeat(seat):
                case.held.setdefault(seat, ruling)
            case RefusePart(seat, spot, amount, clause) if amount:
                case.late[seat, spot] = case.late.get((seat, spot), 0) + amount
                case.late_clause[seat] = clause
            case KeepLive(seat, spot, clause):
                case.must_ride.setdefault(seat, {})[spot] = clause
            case RideFrom(seat, spot, clause):
                for later in FROM_SPOT[spot]:
                    case.must_ride.setdefault(seat, {})[later] = clause
            case CorrectTo(seat):
                case.corrected[seat] = ruling
    return case
