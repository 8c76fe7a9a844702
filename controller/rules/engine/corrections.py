"""What is put right afterwards: a misread card, a mis-pay, a count noticed after the round.

A closed round is never touched: a correction is a new fact beside it, with who declared it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from controller.rules import events as ev
from controller.rules.cards import HiddenCard, name
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.awards import PROGRESSIVE, withdrawn
from controller.rules.engine.common import (
    Refusal,
    Step,
    in_round,
    is_supervisor,
    person,
    with_seat,
)
from controller.rules.engine.deal import assign, open_cards
from controller.rules.engine.export import paid_nets, settled_so_far
from controller.rules.engine.freezing import CONFIRM, freeze
from controller.rules.engine.settlement import (
    finish_if_known,
    next_step,
    note_claim,
    paid_back,
    row_of,
    show_hand,
    tell_claims,
    to_open,
)
from controller.rules.engine.state import Archive, Phase, Report, TableState
from controller.rules.errors import RecordError
from controller.rules.settle import settle
from record.kit.money import cents_text


def card_corrected(state: TableState, what: f.CardCorrected, fact: f.Fact) -> Step:
    """The open hand on the felt differs from what the device read: the record follows the felt.

    Neither silently wins (AMB-S03): a supervisor declares the true card, before the seat is paid.
    Where another seat is paid and its pay depends on that card, a second person agrees.
    """
    after, effects = _with_card(state, what, person(fact))
    if after.frozen is None and not any(isinstance(e, fx.PayDifference) for e in effects):
        return after, effects
    question = (
        f"Seat {what.seat}: card {what.number} is {name(what.card)}? "
        "That changes what another seat was paid."
    )
    return _ask_second(state, question, what, fact)


def _with_card(state: TableState, what: f.CardCorrected, who: str) -> Step:
    clause = state.rules.book.round_clauses.deck
    seat = in_round(state, what.seat)
    if seat.opened is None or seat.settled:
        raise Refusal("only a card of an open hand that is not settled can be corrected", clause)
    if not 1 <= what.number <= len(seat.opened):
        raise Refusal(f"the hand has cards 1 to {len(seat.opened)}", clause)
    if what.card in open_cards(state):
        raise Refusal(f"{name(what.card)} is already out", clause)
    read = seat.opened[what.number - 1]
    dealt = assign(state).seats[what.seat][what.number - 1]
    drawn = tuple(HiddenCard(what.card) if c is dealt else c for c in state.drawn)
    opened = (*seat.opened[: what.number - 1], what.card, *seat.opened[what.number :])
    before = paid_nets(state)
    sent = state.claims if not to_open(state) else ()
    text = f"seat {what.seat}: read {name(read)}, on the felt {name(what.card)}"
    state = replace(
        with_seat(state, what.seat, opened=opened),
        drawn=drawn,
        events=(*state.events, ev.SupervisorConfirmed(who, text)),
        claims=tuple(c for c in state.claims if c[0] != what.seat),
        record=None,
        result=None,
    )
    row = row_of(settled_so_far(state), what.seat)
    state = note_claim(state, what.seat, row)
    state, claim = tell_claims(state, sent)
    effects = (*show_hand(state, what.seat, row), *claim)
    if state.frozen is not None:
        return state, effects
    state, more = finish_if_known(state)
    back = paid_back(state, before) if state.result is not None else ()
    return state, (*effects, *more, *back, *next_step(state))


def pay_corrected(state: TableState, what: f.PayCorrected, fact: f.Fact) -> Step:
    """A mis-pay found after the round: a question until a second person has confirmed it."""
    if state.phase is Phase.VOIDING:
        raise Refusal("end the round first", state.rules.book.round_clauses.round)
    place, difference = _mis_pay(state, what)
    archive = state.history[place]
    todo = "pay" if difference > 0 else "take back"
    question = (
        f"Round {archive.round_no}, seat {what.seat}: {cents_text(what.paid_cents)} was paid; "
        f"{todo} {cents_text(abs(difference))}?"
    )
    return _ask_second(state, question, what, fact)


def _mis_pay(state: TableState, what: f.PayCorrected) -> tuple[int, int]:
    """Where the round is kept, and what is still due to the seat (or from it, if negative)."""
    clause = state.rules.book.round_clauses.round
    kept = {archive.round_no: i for i, archive in enumerate(state.history)}
    if what.round_no not in kept:
        raise Refusal(f"round {what.round_no} is not among the rounds kept here", clause)
    archive = state.history[kept[what.round_no]]
    rows = [row for row in archive.current[1]["seats"] if row["seat"] == what.seat]
    if not rows or rows[0]["net"] is None:
        raise Refusal(f"round {what.round_no} settled nothing at seat {what.seat}", clause)
    difference = _due(rows[0]) - what.paid_cents
    difference -= sum(cents for seat, cents, _ in archive.corrections if seat == what.seat)
    if difference == 0:
        raise Refusal("the seat was paid what it is due", clause)
    return kept[what.round_no], difference


def difference(state: TableState, what: f.PayCorrected) -> int:
    """What a reported mis-pay adds to what the seat was handed; 0 once it is put right."""
    try:
        return _mis_pay(state, what)[1]
    except Refusal:
        return 0


def _ask_second(state: TableState, question: str, what: Report, fact: f.Fact) -> Step:
    by = person(fact)
    proposed = ("confirmed", by) if is_supervisor(fact) else None
    return freeze(state, question, CONFIRM, by=by, report=what, proposed=proposed)


def carry_out(state: TableState, what: Report, who: str) -> Step:
    """What two people say: about a closed round it is added beside it."""
    if isinstance(what, f.CountFound):
        return _count_confirmed(state, what, who)
    if isinstance(what, f.CardCorrected):
        return _with_card(state, what, who)
    place, cents = _mis_pay(state, what)
    archive = state.history[place]
    entry = (what.seat, cents, f"{who}: {what.note}")
    fixed = replace(archive, corrections=(*archive.corrections, entry))
    history = (*state.history[:place], fixed, *state.history[place + 1 :])
    effect = fx.PayDifference(what.round_no, what.seat, cents)
    return replace(state, history=history), (effect,)


def _due(row: Any) -> int:
    """What the seat had to be handed: stakes back, winnings and awards."""
    due: int = sum(w["to_player"] for w in row["wagers"].values())
    due += sum(a["amount"] for a in row["awards"])
    return due - int(row.get("payout_cap_reduction", 0))


def count_found_after(state: TableState, what: f.CountFound, fact: f.Fact) -> Step:
    """A wrong count noticed after the round but before the next opening call (AMB-V07).

    The closed round stays as it is; if its book voids it, two people have the money go back.
    """
    record, result = _recounted(state, what)
    archive = state.history[-1]
    if result["house_net"] is None:
        question = (
            f"Round {archive.round_no}: {result['question']} Let it stand, or correct the pay."
        )
        return freeze(state, question, ("resume",), by=person(fact), report=what)
    changes = _differences(archive, result)
    if not changes:
        raise Refusal("the result stands", state.rules.book.round_clauses.round)
    where = "community cards" if what.seat is None else f"seat {what.seat}"
    counted = _cards_in(record, what.seat)
    question = (
        f"Round {archive.round_no} is closed. {where}: {what.count} cards reported, the record "
        f"has {counted}. Take back what was paid ({', '.join(result['clauses'])})?"
    )
    return _ask_second(state, question, what, fact)


def _recounted(state: TableState, what: f.CountFound) -> tuple[Any, Any]:
    """The last closed round as it would be with this count: its record and its settlement."""
    clause = state.rules.book.round_clauses.round
    if not state.history or state.history[-1].round_no != state.round_no:
        raise Refusal("there is no round that this could be about", clause)
    row: dict[str, Any] = {"type": "community_count", "count": what.count, "players_handled": True}
    if what.seat is not None:
        row |= {"type": "player_card_count", "seat": what.seat}
    record = state.history[-1].current[0]
    played = record["round"]
    record = {**record, "round": {**played, "events": [*played["events"], row]}}
    try:
        return record, settle(decode_record(record))
    except RecordError as error:
        raise Refusal(error.problem, clause) from None


def _cards_in(record: Any, seat: int | None) -> int:
    if seat is None:
        return len(record["round"].get("community") or ())
    rows = [row for row in record["round"]["seats"] if row["seat"] == seat]
    return len(rows[0]["cards"]) if rows else 0


def _count_confirmed(state: TableState, what: f.CountFound, who: str) -> Step:
    archive = state.history[-1]
    record, result = _recounted(state, what)
    changes = _differences(archive, result)
    entries = tuple(
        (seat, cents, f"{who}: {', '.join(result['clauses'])}") for seat, cents in changes
    )
    fixed = replace(
        archive, corrections=(*archive.corrections, *entries), ruled_anew=(record, result)
    )
    back = tuple(fx.PayDifference(archive.round_no, seat, cents) for seat, cents in changes)
    state, link = _taken_back(replace(state, history=(*state.history[:-1], fixed)), result)
    return state, (fx.Prompt("void", detail=", ".join(result["clauses"])), *back, *link)


def _taken_back(state: TableState, result: Any) -> Step:
    """Progressive wagers of a closed round that are void now, and the claims made with them."""
    void = {r["seat"] for r in result["seats"] if _status(r) == "void"}
    out = {number for number, seat in state.seats.items() if seat.out}
    stakes = tuple(
        (number, seat.locked[PROGRESSIVE])
        for number, seat in sorted(state.seats.items())
        if number in void - out and seat.locked.get(PROGRESSIVE)
    )
    gone = tuple(seat for seat, _, _ in state.claims if seat in void - out)
    effects: tuple[fx.Effect, ...] = ()
    if stakes:
        effects += (fx.ReverseContributions(state.round_no, stakes),)
    if gone:
        effects += (fx.WithdrawClaim(state.round_no, gone),)
    return withdrawn(state, gone), effects


def _status(row: Any) -> object:
    return row["wagers"].get(PROGRESSIVE, {}).get("status")


def _differences(archive: Archive, result: Any) -> list[tuple[int, int]]:
    """Seat by seat, what a new settlement adds to what was handed out."""
    before = {row["seat"]: row["net"] for row in archive.current[1]["seats"]}
    nets = [(row["seat"], row["net"]) for row in result["seats"]]
    return [
        (seat, net - before[seat])
        for seat, net in nets
        if net is not None and before[seat] is not None and net != before[seat]
    ]
