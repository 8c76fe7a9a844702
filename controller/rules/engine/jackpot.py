"""What the link server says about jackpots: amounts of record, the way of an award, mysteries."""

from __future__ import annotations

from dataclasses import replace

from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.awards import (
    ASK_AGAIN,
    ONLY_VOID,
    clause_of,
    differing,
    stop_for,
    two_amounts,
)
from controller.rules.engine.common import Refusal, Step
from controller.rules.engine.export import settled_so_far
from controller.rules.engine.settlement import (
    finish_if_known,
    next_step,
    row_of,
    show_hand,
    to_open,
)
from controller.rules.engine.state import Award, Phase, TableState
from record.kit.money import dollars


def jackpot_locked(state: TableState, what: f.JackpotLocked, _fact: f.Fact) -> Step:
    if not state.claims or to_open(state):
        raise Refusal("this round has no claim to lock", state.rules.book.round_clauses.settle)
    if state.jackpot is not None:
        raise Refusal("the amount of record is fixed", state.rules.book.round_clauses.settle)
    awards = tuple(Award(award, state.round_no, seat, cents) for seat, award, cents in what.awards)
    told = {award.award for award in awards}
    before = state
    state = replace(
        state,
        jackpot=what.jackpot_cents,
        reset=what.reset_cents,
        awards=(*(a for a in state.awards if a.award not in told), *awards),
    )
    if awards and (wrong := differing(state, settled_so_far(state))):
        return stop_for(before, *wrong, ASK_AGAIN)
    state, shown = _shown(state, tuple(seat for seat, _, _ in state.claims))
    pending = tuple(fx.Prompt("jackpot pending", a.seat, a.award) for a in awards)
    return state, (*pending, *shown)


def _shown(state: TableState, seats: tuple[int, ...]) -> Step:
    """These seats are no longer waiting: what they get, and what the dealer does next."""
    result, shown = settled_so_far(state), tuple[fx.Effect, ...]()
    for number in seats:
        shown += show_hand(state, number, row_of(result, number))
    state, more = finish_if_known(state)
    return state, (*shown, *more, *next_step(state))


def award_changed(state: TableState, what: f.AwardChanged, _: f.Fact) -> Step:
    """The server is the one who pays: what it says about an award is so, except once it is over."""
    known = next((a for a in state.awards if a.award == what.award), None)
    same = known is not None and (known.state, known.cents) == (what.state, what.cents)
    if known is None or not known.pending or same:
        raise Refusal(f"award {what.award}: nothing new", clause_of(state))
    agreed = what.cents in (known.cents, known.due)
    now = replace(known, state=what.state, cents=what.cents if agreed else known.cents)
    if known.due == now.cents:
        now = replace(now, due=None)
    state = replace(state, awards=tuple(now if a is known else a for a in state.awards))
    effects: tuple[fx.Effect, ...] = ()
    if now.state == "rejected":
        text = f"award {known.award} of round {known.round_no}"
        effects += (
            fx.RaiseAlarm("jackpot rejected", known.seat, text, clause_of(state)),
            fx.Prompt("jackpot rejected", known.seat, known.award),
        )
    if not now.pending:
        effects += (fx.Prompt("jackpot ended", known.seat, known.award),)
    unpaid = state.phase is Phase.SETTLEMENT and _unpaid(state, now)
    if not agreed:
        text = two_amounts(known.seat, what.cents, known.cents if known.due is None else known.due)
        if unpaid:
            state, stop = stop_for(state, known.seat, text, ONLY_VOID)
            return state, (*effects, *stop)
        effects += (fx.RaiseAlarm("jackpot differs", known.seat, text, clause_of(state)),)
    if unpaid and known.due is not None and now.due is None and now.pending:
        state, shown = _shown(state, (known.seat,))
        effects += shown
    return state, effects


def _unpaid(state: TableState, award: Award) -> bool:
    seat = state.seats.get(award.seat)
    mine = award.share and award.round_no == state.round_no
    return mine and seat is not None and not seat.settled and not seat.out


def mystery_won(state: TableState, what: f.MysteryWon, _: f.Fact) -> Step:
    """Nothing of the round depends on it: a person brings the money, the server keeps the book."""
    if any(a.award == what.award for a in state.awards):
        raise Refusal(f"award {what.award}: nothing new", clause_of(state))
    award = Award(what.award, what.round_no, what.seat, what.cents, share=False)
    text = f"{what.level}: {dollars(what.cents)}, award {what.award} of round {what.round_no}"
    return replace(state, awards=(*state.awards, award)), (
        fx.RaiseAlarm("mystery won", what.seat, text, clause_of(state)),
        fx.Prompt("mystery", what.seat, what.award),
    )
