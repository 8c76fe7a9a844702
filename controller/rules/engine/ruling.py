"""The supervisor's answers: to the question that froze the round, and about one seat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from controller.rules import events as ev
from controller.rules.cards import HiddenCard
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine import ricochet_play as ricochet
from controller.rules.engine import settlement
from controller.rules.engine.betting import deal_prompt
from controller.rules.engine.common import (
    Handler,
    Refusal,
    Step,
    disagrees,
    in_round,
    next_prompt,
    person,
    with_seat,
)
from controller.rules.engine.deal import lies_open, uses_packets
from controller.rules.engine.dealing import card_before_close, dealt, first_card
from controller.rules.engine.export import lifted
from controller.rules.engine.irregular import happened, ride_rest, void_round
from controller.rules.engine.state import Phase, TableState
from controller.rules.rulings import AskSupervisor, rule_on

TAKES_CARDS: Final[Mapping[Phase, Handler]] = {
    Phase.BETTING: card_before_close,
    Phase.LOCKED: first_card,
    Phase.DEALING: dealt,
    Phase.DRAW: ricochet.drawn,
}
"""Phases in which a card is due, and what deals it."""


def supervisor_ruled(state: TableState, what: f.SupervisorRuled, fact: f.Fact) -> Step:
    frozen = state.frozen
    assert frozen is not None
    if what.ruling not in frozen.answers:
        answers = ", ".join(frozen.answers)
        reason = f"{what.ruling!r} does not answer the question; answers: {answers}"
        raise Refusal(reason, "NSW-14.12")
    # A ruling answers the question, not what the deck is like: it stays in doubt until a check.
    suspect = state.deck.suspect or any(map(ev.faults_deck, state.events))
    deck = replace(state.deck, suspect=suspect)
    thawed = replace(state, phase=frozen.phase, frozen=None, deck=deck)
    confirmed = ev.SupervisorConfirmed(person(fact), f"{what.ruling}: {frozen.question}")
    match what.ruling:
        case "confirmed":
            assert frozen.event is not None
            thawed = replace(thawed, events=(*thawed.events, confirmed))
            return happened(thawed, frozen.event)
        case "misread":
            thawed = replace(thawed, events=(*thawed.events, confirmed))
            return _misread(thawed, what.card, frozen.held or (), fact)
        case "void":
            return _ruled_void(thawed, confirmed)
        case _:
            kept = _answered(thawed)
            thawed = replace(
                thawed,
                events=(*kept, confirmed),
                deck=replace(deck, device_ready=True),
            )
            return thawed, where_we_are(thawed)


def _answered(state: TableState) -> tuple[ev.Event, ...]:
    """The events without those that asked: one answer covers all that was asked meanwhile."""
    late = tuple(e for e in state.events if isinstance(e, ev.ExposedCards) and e.players_handled)
    together = late if _asks(state, late) else ()  # exposed cards are counted over the round
    return tuple(e for e in state.events if e not in together and not _asks(state, (e,)))


def _asks(state: TableState, happened: tuple[ev.Event, ...]) -> bool:
    found = rule_on(state.rules.book.rulings, happened)
    return any(isinstance(ruling, AskSupervisor) for ruling in found)


def where_we_are(state: TableState) -> tuple[fx.Effect, ...]:
    """What the dealer is asked once play goes on: the prompt line still shows the question."""
    match state.phase:
        case Phase.DEALING | Phase.LOCKED:
            return (deal_prompt(state),)
        case Phase.DEALT:
            return (fx.Prompt("confirm deal"),)
        case Phase.ACTION:
            return ricochet.ask(state)
        case Phase.DRAW if state.showdown is not None:
            return (fx.Prompt("draw", state.showdown.to_act),)
        case Phase.SETTLEMENT if state.showdown is None:
            return settlement.next_step(state)
        case _:
            return next_prompt(state)


def _misread(
    state: TableState, true: HiddenCard | None, held: tuple[HiddenCard, ...], fact: f.Fact
) -> Step:
    """The card on the table is another than the device read: it is dealt as what it is."""
    clause = state.rules.book.round_clauses.deck
    if true is None:
        raise Refusal("say which card it really is", clause)
    if lies_open(state, true):
        raise Refusal("that card is already out: it cannot be the misread one", clause)
    handler = TAKES_CARDS.get(state.phase)
    if handler is None:
        # No card was due: the doubtful one is set aside; or one that was dealt is another one.
        drawn = tuple(true if any(c is one for one in held) else c for c in state.drawn)
        state = replace(state, drawn=drawn)
        return state, where_we_are(state)
    cards: tuple[HiddenCard, ...] = ()
    for card in held:
        cards += (true,) if card in (*state.drawn, *cards) else (card,)
    packet = uses_packets(state.rules) and bool(held)
    return handler(state, f.PacketDispensed(cards) if packet else f.CardDrawn(true), fact)


def _ruled_void(state: TableState, confirmed: ev.Event) -> Step:
    """Void by the supervisor's word where the book is silent: every seat's wagers are voided."""
    if state.rules.book.family == "ricochet":
        state = replace(state, events=(*state.events, confirmed))
        return void_round(state, "supervisor")
    kept = _answered(state)
    voided = tuple(ev.WagersVoidedBySupervisor(n) for n in sorted(state.seats))
    state = replace(state, events=(*kept, confirmed, *voided))
    return void_round(state, "supervisor")


def seat_ruled(state: TableState, what: f.SeatRuled, fact: f.Fact) -> Step:
    seat = in_round(state, what.seat)
    confirmed = ev.SupervisorConfirmed(person(fact), f"seat {what.seat}: {what.ruling} {what.note}")
    if what.ruling == "stays live":
        if not any(
            lifted(state, what.seat, seat, s) or disagrees(state, what.seat, s) for s in seat.locked
        ):
            clause = state.rules.book.round_clauses.late_withdrawal
            raise Refusal(f"seat {what.seat}: no wager was lifted", clause)
        live = seat.stays_live | seat.locked.keys()
        state = with_seat(state, what.seat, stays_live=live)
        state = replace(state, events=(*state.events, confirmed))
        return state, where_we_are(state)
    if seat.held is None:
        raise Refusal(f"seat {what.seat} has no open question", "NSW-14.12")
    if what.ruling == "hand void":
        state = replace(state, events=(*state.events, confirmed))
        return happened(state, ev.WagersVoidedBySupervisor(what.seat))
    kept = tuple(e for e in state.events if not _holds(e, what.seat))
    state = replace(state, events=(*kept, confirmed))
    state = with_seat(state, what.seat, held=None)
    if what.ruling == "ride":
        state = ride_rest(state, what.seat)
    return state, where_we_are(state)


def _holds(event: ev.Event, seat: int) -> bool:
    asked = (ev.AbsentPlayer, ev.UnequalWagers, ev.PlayerCardCount)
    return isinstance(event, asked) and event.seat == seat
