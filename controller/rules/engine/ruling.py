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
from controller.rules.engine.corrections import carry_out
from controller.rules.engine.deal import lies_open, uses_packets
from controller.rules.engine.dealing import card_before_close, dealt, first_card
from controller.rules.engine.export import lifted
from controller.rules.engine.freezing import ask_next
from controller.rules.engine.irregular import (
    SEAT_ANSWERS,
    happened,
    note,
    reported,
    ride_rest,
    void_round,
)
from controller.rules.engine.owed import needs_second
from controller.rules.engine.state import Frozen, Phase, TableState
from controller.rules.rulings import AskSupervisor, HoldSeat, rule_on

TAKES_CARDS: Final[Mapping[Phase, Handler]] = {
    Phase.BETTING: card_before_close,
    Phase.LOCKED: first_card,
    Phase.DEALING: dealt,
    Phase.DRAW: ricochet.drawn,
}
"""Phases in which a card is due, and what deals it."""


def supervisor_ruled(state: TableState, what: f.SupervisorRuled, fact: f.Fact) -> Step:
    frozen, who = state.frozen, person(fact)
    assert frozen is not None
    if what.ruling not in frozen.answers:
        answers = ", ".join(frozen.answers)
        reason = f"{what.ruling!r} does not answer the question; answers: {answers}"
        raise Refusal(reason, "NSW-14.12")
    if not needs_second(state, frozen, what.ruling, who):
        return _carried_out(state, frozen, what, who, fact)
    if frozen.proposed is not None and _seconds(frozen.proposed, what.ruling, who):
        return _carried_out(state, frozen, what, f"{frozen.proposed[1]} and {who}", fact)
    question = f"{who} rules {what.ruling}: another person must agree. {frozen.question}"
    state = replace(state, frozen=replace(frozen, proposed=(what.ruling, who)))
    return state, (fx.AskSupervisor(question, frozen.answers),)


def ruling_seconded(state: TableState, _what: f.RulingSeconded, fact: f.Fact) -> Step:
    """The second person of a ruling that takes back what was paid; any person at the table."""
    frozen, who = state.frozen, person(fact)
    if frozen is None or frozen.proposed is None:
        raise Refusal("no ruling waits for a second person", "NSW-14.12")
    ruling, first = frozen.proposed
    if who == first:
        raise Refusal(f"{first} gave the ruling: another person must agree", "NSW-14.12")
    what = f.SupervisorRuled(ruling)  # type: ignore[arg-type]
    return _carried_out(state, frozen, what, f"{first} and {who}", fact)


def _seconds(proposed: tuple[str, str], ruling: str, who: str) -> bool:
    return proposed[0] == ruling and proposed[1] != who


def _carried_out(
    state: TableState, frozen: Frozen, what: f.SupervisorRuled, who: str, fact: f.Fact
) -> Step:
    """The answer takes effect; then the next question is put."""
    state, effects = _answer(state, frozen, what, who, fact)
    state, more = ask_next(state, frozen.waiting)
    return state, (*effects, *more)


def _answer(
    state: TableState, frozen: Frozen, what: f.SupervisorRuled, who: str, fact: f.Fact
) -> Step:
    # A ruling answers the question, not what the deck is like: it stays in doubt until a check.
    suspect = state.deck.suspect or any(map(ev.faults_deck, state.events))
    deck = replace(state.deck, suspect=suspect)
    thawed = replace(state, phase=frozen.phase, frozen=None, deck=deck)
    if frozen.report is not None:
        if what.ruling == "confirmed":
            both = who if frozen.by in ("", *who.split(" and ")) else f"{frozen.by} and {who}"
            return carry_out(thawed, frozen.report, both)
        return note(thawed, fact, f"stands: {frozen.question}"), where_we_are(thawed)
    confirmed = ev.SupervisorConfirmed(who, f"{what.ruling}: {frozen.question}")
    match what.ruling:
        case "confirmed":
            assert frozen.event is not None
            thawed = replace(thawed, events=(*thawed.events, confirmed))
            return happened(thawed, frozen.event, frozen.by or who)
        case "misread":
            thawed = replace(thawed, events=(*thawed.events, confirmed))
            return _misread(thawed, what.card, frozen.held or (), fact)
        case "void":
            return _ruled_void(thawed, confirmed)
        case _:
            thawed = replace(
                thawed,
                events=(*_without(thawed, frozen.event), confirmed),
                deck=replace(deck, device_ready=True),
            )
            return thawed, where_we_are(thawed)


def _without(state: TableState, event: ev.Event | None) -> tuple[ev.Event, ...]:
    """The events without those whose question is answered with this one.

    The same question is put once, whatever asks it. Exposed cards are counted, and so asked,
    together.
    """
    if event is None:
        return state.events
    if isinstance(event, ev.ExposedCards):
        late = tuple(e for e in state.events if isinstance(e, ev.ExposedCards))
        late = tuple(e for e in late if e.players_handled == event.players_handled)
        return (
            tuple(e for e in state.events if e not in late) if _asks(state, late) else state.events
        )
    answered = _questions(state, (event,))
    return tuple(e for e in state.events if answered.isdisjoint(_questions(state, (e,))))


def _without_questions(state: TableState) -> tuple[ev.Event, ...]:
    """The events of a round that is void by a supervisor's word: nothing is left to be asked."""
    late = tuple(e for e in state.events if isinstance(e, ev.ExposedCards) and e.players_handled)
    together = late if _asks(state, late) else ()
    return tuple(e for e in state.events if e not in together and not _asks(state, (e,)))


def _asks(state: TableState, happened: tuple[ev.Event, ...]) -> bool:
    return bool(_questions(state, happened))


def _questions(state: TableState, happened: tuple[ev.Event, ...]) -> set[AskSupervisor]:
    found = rule_on(state.rules.book.rulings, happened)
    return {ruling for ruling in found if isinstance(ruling, AskSupervisor)}


def where_we_are(state: TableState) -> tuple[fx.Effect, ...]:
    """What the dealer is asked once play continues: the prompt line still shows the question."""
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
    kept = _without_questions(state)
    voided = tuple(ev.WagersVoidedBySupervisor(n) for n in sorted(state.seats))
    state = replace(state, events=(*kept, confirmed, *voided))
    return void_round(state, "supervisor")


def is_lifted(state: TableState, number: int) -> bool:
    """Are chips of a live wager of this seat gone, or do they disagree with the console?"""
    seat = state.seats[number]
    return any(lifted(state, number, seat, s) or disagrees(state, number, s) for s in seat.locked)


def seat_ruled(state: TableState, what: f.SeatRuled, fact: f.Fact) -> Step:
    seat = in_round(state, what.seat)
    confirmed = ev.SupervisorConfirmed(person(fact), f"seat {what.seat}: {what.ruling} {what.note}")
    if what.ruling == "stays live":
        if not is_lifted(state, what.seat):
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
        return reported(state, ev.WagersVoidedBySupervisor(what.seat), fact)
    answered = next(e for e in state.events if seat.held in _holds(state, (e,), what.seat))
    place = state.events.index(answered)
    state = replace(state, events=(*state.events[:place], *state.events[place + 1 :], confirmed))
    left = _holds(state, state.events, what.seat)
    state = with_seat(state, what.seat, held=left[0] if left else None)
    if what.ruling == "ride":
        state = ride_rest(state, what.seat)
    asked = tuple(fx.AskSupervisor(q, SEAT_ANSWERS, what.seat) for q in left[:1])
    if state.phase is Phase.SETTLEMENT:
        state, effects = settlement.judged_again(state, ())
        return state, (*asked, *effects)
    return state, (*asked, *where_we_are(state))


def _holds(state: TableState, happened: tuple[ev.Event, ...], seat: int) -> list[str]:
    """The questions about a seat that these events ask."""
    found = rule_on(state.rules.book.rulings, happened)
    return [r.question for r in found if isinstance(r, HoldSeat) and r.seat == seat]
