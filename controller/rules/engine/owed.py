"""Who may change what a player is owed, by how far the round has come.

Until a result can be known a report takes effect as the book says. Once it can, a supervisor
decides; once anybody is paid, two people do, one of them a supervisor. A closed round is never
changed: a correction by two people is added beside it.
"""

from __future__ import annotations

from typing import Final, Literal, TypeGuard

from controller.rules import events as ev
from controller.rules.book import BONUS_SPOTS
from controller.rules.engine import facts as f
from controller.rules.engine.common import is_supervisor
from controller.rules.engine.state import Frozen, Phase, Seat, TableState
from controller.rules.rulings import CorrectTo, HoldSeat, Ruling, VoidHand, VoidRound, rule_on

Stage = Literal["hidden", "open", "paid"]
TAKES_BACK: Final = (VoidRound, VoidHand, CorrectTo)
"""Rulings that change what a seat is paid, without anybody being asked."""


def phase_of(state: TableState) -> Phase:
    """The phase of the round, also while it stands still."""
    return state.phase if state.frozen is None else state.frozen.phase


def stage(state: TableState) -> Stage:
    """``open`` from the last community card on: every player can tell what his hand is worth."""
    settling = phase_of(state) is Phase.SETTLEMENT
    seats = state.seats.values()
    if state.rules.book.family == "ricochet":
        return _ricochet_stage(state)
    if any(is_paid(seat) for seat in seats):
        return "paid"
    opened = settling or bool(state.claims) or any(seat.opened for seat in seats)
    return "open" if opened else "hidden"


def _ricochet_stage(state: TableState) -> Stage:
    """The confirmed deal decides the bonus wagers, and they are paid at once; the pot at the end.

    Chips are no proof that a bonus wager is not paid yet: a supervisor may declare what lies there.
    """
    if phase_of(state) is Phase.SETTLEMENT:
        return "paid"
    if phase_of(state) not in (Phase.ACTION, Phase.DRAW):
        return "hidden"
    bonus = any(seat.locked.get(s) for seat in state.seats.values() for s in BONUS_SPOTS)
    return "paid" if bonus else "open"


def is_paid(seat: Seat) -> bool:
    return seat.settled or seat.bonus_settled


def new_rulings(state: TableState, event: ev.Event) -> list[Ruling]:
    """What the book adds if this event is confirmed."""
    rulings = state.rules.book.rulings
    before = set(rule_on(rulings, state.events))
    return [r for r in rule_on(rulings, (*state.events, event)) if r not in before]


def _takes_back(
    ruling: Ruling, state: TableState
) -> TypeGuard[VoidRound | VoidHand | CorrectTo | HoldSeat]:
    """A hold asks about a hand that is not paid; of a paid one it would unsettle the pay."""
    if isinstance(ruling, HoldSeat):
        return is_paid(state.seats[ruling.seat])
    return isinstance(ruling, TAKES_BACK)


def _stage_of(state: TableState, event: ev.Event) -> Stage:
    """How far what the event would take back has come; ``hidden`` if it takes nothing back.

    A hand that is not paid is ruled on alone while no other seat's pay depends on it.
    """
    found = [r for r in new_rulings(state, event) if _takes_back(r, state)]
    if not found:
        return "hidden"
    seats = [state.seats[r.seat] for r in found if not isinstance(r, VoidRound)]
    alone = len(seats) == len(found) and state.result is None
    reached = stage(state)
    if reached == "paid" and alone and not any(map(is_paid, seats)):
        return "open"
    return reached


def may_decide(state: TableState, event: ev.Event, fact: f.Fact) -> bool:
    """May this person's word alone make the event a fact now?"""
    match _stage_of(state, event):
        case "hidden":
            return True
        case "open":
            return is_supervisor(fact)
        case "paid":
            return False


def needs_second(state: TableState, frozen: Frozen, ruling: str, who: str) -> bool:
    """Must another person say the same before this ruling is carried out?"""
    if frozen.by not in ("", who):
        return False  # who reported it is the other person
    if frozen.report is not None:
        return ruling == "confirmed"
    if ruling == "confirmed" and frozen.event is not None:
        return _stage_of(state, frozen.event) == "paid"
    return ruling == "void" and stage(state) == "paid"
