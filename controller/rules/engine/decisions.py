"""The two decisions: who is asked, what they chose, and when a community card may be turned."""

from __future__ import annotations

from dataclasses import replace

from controller.rules.cards import PublicMoment, reveal
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.common import (
    Refusal,
    Step,
    in_round,
    is_supervisor,
    next_prompt,
    reading,
    spot_of,
    undecided,
    unresolved,
    walk,
    with_seat,
)
from controller.rules.engine.deal import assign, open_twice
from controller.rules.engine.freezing import freeze
from controller.rules.engine.irregular import note, ride_rest
from controller.rules.engine.settlement import NAMED_WRONG, OPEN_TWICE, begin_settlement
from controller.rules.engine.state import Phase, TableState
from controller.rules.events import ForeignCard


def cards_handled(state: TableState, what: f.CardsHandled, _: f.Fact) -> Step:
    if what.seat is None:
        return replace(state, handled_all=True), ()
    in_round(state, what.seat)
    return with_seat(state, what.seat, handled=True), ()


def decided(state: TableState, what: f.Decided, fact: f.Fact) -> Step:
    clauses = state.rules.book.round_clauses
    spot = spot_of(state.phase)
    if what.spot not in ("1", "2"):
        raise Refusal(f"there is no decision about {what.spot}", clauses.dollar)
    clause = clauses.decide_1 if state.phase is Phase.DECISION_1 else clauses.decide_2
    if what.spot != spot:
        raise Refusal(f"the decision now is about {spot}", clause)
    seat = in_round(state, what.seat)
    waiting = undecided(state)
    if what.seat not in waiting:
        raise Refusal(f"seat {what.seat} owes no decision about {spot}", clause)
    if what.seat != waiting[0] and not is_supervisor(fact):
        raise Refusal(f"seat {waiting[0]} is asked first", clauses.order)
    return _take(state, what.seat, what.spot, what.choice, handled=seat.handled or True)


def _take(state: TableState, number: int, spot: str, choice: str, *, handled: bool) -> Step:
    seat = state.seats[number]
    emptied = seat.emptied
    if choice == "withdraw" and reading(state, number, spot) == 0:
        # The dealer moved the chips first and pressed second (AMB-C09).
        emptied = emptied | {spot}
    state = with_seat(
        state,
        number,
        decisions={**seat.decisions, spot: choice},
        handled=handled,
        emptied=emptied,
    )
    back: tuple[fx.Effect, ...] = ()
    if choice == "withdraw":
        clauses = state.rules.book.round_clauses
        clause = clauses.decide_1 if spot == "1" else clauses.decide_2
        back = (fx.ReturnWager(number, spot, seat.locked[spot], clause),)
    return state, (*back, fx.SetLamp(number, "live"), *next_prompt(state))


def decision_corrected(state: TableState, what: f.DecisionCorrected, fact: f.Fact) -> Step:
    """A mis-key may be put right until the next seat is confirmed; later only with the key."""
    spot = spot_of(state.phase)
    seat = in_round(state, what.seat)
    clause = state.rules.book.round_clauses.decide_1
    if seat.out or what.spot != spot or what.spot not in seat.decisions:
        raise Refusal(f"seat {what.seat} has no decision about {what.spot} to correct", clause)
    done = [n for n in walk(state) if spot in state.seats[n].decisions]
    if done[-1] != what.seat and not is_supervisor(fact):
        raise Refusal("the next seat has been confirmed: the supervisor's key is needed", clause)
    if seat.decisions[what.spot] == "withdraw" and what.spot in seat.emptied:
        state = with_seat(state, what.seat, emptied=seat.emptied - {what.spot})
    state = note(state, fact, f"seat {what.seat} {what.spot}: corrected to {what.choice}")
    return _take(state, what.seat, what.spot, what.choice, handled=True)


def ride_all_signalled(state: TableState, what: f.RideAllSignalled, _: f.Fact) -> Step:
    """Accepted on the dealer's word: checking the hand would reveal it (AMB-C05)."""
    if not state.rules.book.tuck_rides_all:
        raise Refusal("this book has no such signal", state.rules.book.round_clauses.decide_1)
    in_round(state, what.seat)
    state = with_seat(ride_rest(state, what.seat), what.seat, handled=True)
    return state, (fx.SetLamp(what.seat, "live"), *next_prompt(state))


def order_directed(state: TableState, what: f.OrderDirected, fact: f.Fact) -> Step:
    for number in what.seats:
        in_round(state, number)
    state = note(state, fact, f"order {list(what.seats)}: {what.reason}")
    state = replace(state, first=what.seats)
    return state, next_prompt(state)


def community_turned(state: TableState, what: f.CommunityTurned, _: f.Fact) -> Step:
    """The card becomes public: only now, and only when every seat has decided."""
    clauses = state.rules.book.round_clauses
    first = state.phase is Phase.DECISION_1
    clause = clauses.turn_1 if first else clauses.turn_2
    if what.number != (1 if first else 2):
        raise Refusal(f"community card {1 if first else 2} is next", clause)
    if waiting := undecided(state):
        named = ", ".join(str(n) for n in waiting)
        raise Refusal(f"seat {named} has not decided", clause)
    if apart := unresolved(state):
        named = ", ".join(str(n) for n in apart)
        raise Refusal(f"seat {named}: chips and console disagree", clause)
    community = assign(state).community
    if len(community) < what.number:
        raise Refusal("that card has not come from the device: report the count", "NSW-3.6")
    hidden = community[what.number - 1]
    if open_twice(state, (hidden,)) is not None:
        return freeze(state, OPEN_TWICE, NAMED_WRONG, ForeignCard(), (hidden,))
    card = reveal(hidden, PublicMoment.COMMUNITY_TURNED)
    state = replace(state, turned=(*state.turned, card), handled_all=True)
    effects: list[fx.Effect] = [fx.ShowCommunity(what.number, card)]
    if state.magic_card == card:
        hit = tuple(n for n in state.live if "progressive" in state.seats[n].locked)
        effects.append(fx.ShowMagicHit(hit))
    if first:
        state = replace(state, phase=Phase.DECISION_2)
        return state, (*effects, *next_prompt(state))
    state, more = begin_settlement(replace(state, phase=Phase.SETTLEMENT))
    return state, (*effects, *more)
