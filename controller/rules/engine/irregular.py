"""Irregularities at the live table: a confirmed event is judged by the book's own rulings.

The round continues, is void, or stops with a question; one seat may be void or held. The same
rulings judge a record, so table and auditor cannot disagree.
"""

from __future__ import annotations

from dataclasses import replace

from controller.rules import events as ev
from controller.rules.book import BASE_SPOTS, DOLLAR
from controller.rules.cards import HiddenCard
from controller.rules.engine import doubts
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.awards import ONLY_VOID, withdrawn
from controller.rules.engine.common import (
    Refusal,
    Step,
    any_handled,
    in_round,
    is_supervisor,
    next_prompt,
    person,
    seat_handled,
    spot_of,
    with_seat,
)
from controller.rules.engine.deal import (
    assign,
    expected,
    progress,
    uses_packets,
)
from controller.rules.engine.export import money_settings, paid_nets, with_result
from controller.rules.engine.freezing import (
    CARD_FAULT,
    CONFIRM,
    ask_next,
    current,
    freeze,
    unanswered,
)
from controller.rules.engine.owed import may_decide, new_rulings
from controller.rules.engine.settlement import judged_again, paid_back, to_open
from controller.rules.engine.state import Asked, Phase, Seat, TableState
from controller.rules.rulings import (
    AskSupervisor,
    CorrectTo,
    HoldSeat,
    VoidHand,
    VoidRound,
    rule_on,
)
from controller.rules.wagers import broken_clauses
from record.kit.money import dollars

PLAY_ON_OR_VOID = ("play on", "void")
SEAT_ANSWERS = ("hand void", "ride", "play on")


def reported(state: TableState, event: ev.Event, fact: f.Fact) -> Step:
    """What a person says happened: a fact if that is theirs to say now, else a question."""
    by = person(fact)
    if may_decide(state, event, fact):
        return happened(state, event, by)
    proposed = ("confirmed", by) if is_supervisor(fact) else None
    return freeze(state, _report(state, event), CONFIRM, event, by=by, proposed=proposed)


def _report(state: TableState, event: ev.Event) -> str:
    """The report beside what the card device counted: that is what the supervisor compares."""
    device = state.rules.table.card_device
    dealt = assign(state)
    match event:
        case ev.PlayerCardCount(seat, count):
            return f"Seat {seat}: {count} cards reported, the {device} counted " + str(
                len(dealt.seats.get(seat, ()))
            )
        case ev.CommunityCount(count):
            shared = len(dealt.community)
            return f"Community cards: {count} reported, the {device} counted {shared}"
        case _:
            name = ev.NAME_OF[type(event)].replace("_", " ")
            sort = "packets" if uses_packets(state.rules) else "cards"
            counted = f"{progress(state)} {sort}, the deal has {expected(state)}"
            return f"Reported: {name}. The {device} counted {counted}"


def happened(state: TableState, event: ev.Event, by: str = "") -> Step:
    """Add a confirmed event and do what the book says about it; ``by`` is who reported it."""
    found = new_rulings(state, event)
    state = replace(state, events=(*state.events, event))
    effects: list[fx.Effect] = []
    for ruling in found:
        if isinstance(ruling, VoidRound):
            return void_round(state, ruling.clause)
    for ruling in found:
        match ruling:
            case AskSupervisor(_, question):
                proposal = _proposal(state, event)
                return freeze(state, question + proposal, _answers(state, event), event, by=by)
            case VoidHand(seat, clause):
                state, more = void_hand(state, seat, clause or "")
                effects += more
            case HoldSeat(seat, _, question):
                open_ = state.seats[seat].held
                state = with_seat(state, seat, held=open_ or question)
                effects += [
                    fx.AskSupervisor(question, SEAT_ANSWERS, seat),
                    fx.SetLamp(seat, "fault"),
                    fx.Prompt("held", seat, question),
                ]
            case CorrectTo(seat, cents):
                locked = {**state.seats[seat].locked, "1": cents, "2": cents, "$": cents}
                state = with_seat(state, seat, locked=locked, unequal=False)
            case _:
                pass
    if state.phase is Phase.SETTLEMENT and state.rules.book.family == "let it ride":
        voided = tuple(r.seat for r in found if isinstance(r, VoidHand))
        state, more = judged_again(state, voided)
        return state, (*effects, *more)
    return state, (*effects, *next_prompt(state))


def _answers(state: TableState, event: ev.Event) -> tuple[str, ...]:
    """Ricochet is played with one ante for all: with another one on the table it cannot go on."""
    wrong_ante = isinstance(event, ev.UnequalWagers) and state.rules.book.family == "ricochet"
    return ONLY_VOID if wrong_ante else PLAY_ON_OR_VOID


def _proposal(state: TableState, event: ev.Event) -> str:
    """What the adopted profile would do; a proposal for the supervisor, never an order."""
    from controller.rules.books import BOOKS

    profile = {"MBS": "MBS3", "NSW": "NSW"}.get(state.rules.table.irregularity_profile)
    if profile is None:
        return ""
    rulings = rule_on(BOOKS[profile].rulings, (event,))
    void = next((r.clause for r in rulings if isinstance(r, VoidRound)), None)
    if void is not None:
        return f" The profile proposes: void ({void})."
    asks = any(isinstance(r, AskSupervisor) for r in rulings)
    return "" if asks else f" The {profile} profile proposes: play on."


def void_round(state: TableState, clause: str) -> Step:
    """All wagers go back, the progressive too; what was paid is taken back by prompt."""
    effects: list[fx.Effect] = [fx.Prompt("void", detail=clause)]
    forfeit = {
        s for e in state.events if isinstance(e, ev.GameInvalidated) for s in e.forfeit_seats
    }
    contributions = []
    before = paid_nets(state)
    for number, seat in sorted(state.seats.items()):
        if seat.out:
            continue  # its wagers went back when its hand was voided
        for spot, cents in seat.locked.items():
            kept = number in forfeit or number in before
            if not kept and seat.decisions.get(spot) != "withdraw":
                effects.append(fx.ReturnWager(number, spot, cents, clause))
        if seat.locked.get("progressive"):
            contributions.append((number, seat.locked["progressive"]))
        effects.append(fx.SetLamp(number, "void"))
    if contributions:
        effects.append(fx.ReverseContributions(state.round_no, tuple(contributions)))
    if state.claims and not to_open(state):
        seats = tuple(seat for seat, _, _ in state.claims)
        effects.append(fx.WithdrawClaim(state.round_no, seats))
        state = withdrawn(state, seats)
    suspect = state.deck.suspect or any(map(ev.faults_deck, state.events))
    if state.frozen is not None:
        left = map(unanswered, (current(state.frozen), *state.frozen.waiting))
        state = replace(state, notes=(*state.notes, *left))
    state = replace(
        state,
        phase=Phase.VOIDING,
        frozen=None,
        voided_by=clause,
        magic_card=None,
        lucky_seat=None,
        deck=replace(state.deck, suspect=suspect, shuffled=False),
    )
    state = with_result(state)
    return state, (*effects, *paid_back(state, before))


def void_hand(state: TableState, number: int, clause: str) -> Step:
    seat = state.seats[number]
    effects: list[fx.Effect] = [
        fx.ReturnWager(number, spot, cents, clause)
        for spot, cents in seat.locked.items()
        if seat.decisions.get(spot) != "withdraw" and not seat.settled
    ]
    effects += [fx.SetLamp(number, "void"), fx.Prompt("hand void", number, clause)]
    if seat.locked.get("progressive"):
        stake = ((number, seat.locked["progressive"]),)
        effects.append(fx.ReverseContributions(state.round_no, stake))
    return with_seat(state, number, out=True, held=None), tuple(effects)


# --- what people report ------------------------------------------------------------------------


def card_exposed(state: TableState, what: f.CardExposed, fact: f.Fact) -> Step:
    if state.rules.table.face_up:
        return replace(state, notes=(*state.notes, "exposed card: cards are dealt face up")), ()
    # The deal ends with its last card; a community card under NSW-12.6 only when one is handled.
    by_phase = state.rules.book.exposure_in_deal_only or not what.community
    handled = any_handled(state) or (by_phase and state.phase is not Phase.DEALING)
    return reported(state, ev.ExposedCards(what.count, what.community, handled), fact)


def dealt_wrong(state: TableState, _what: f.DealtWrong, fact: f.Fact) -> Step:
    return reported(state, ev.DealtIncorrectly(any_handled(state)), fact)


def hands_remapped(state: TableState, what: f.HandsRemapped, _: f.Fact) -> Step:
    """Complete hands are moved from one area to another, before anybody touches a card."""
    clause = f"{state.rules.book.key}-5.3"
    if not state.rules.book.remap_allowed:
        raise Refusal(
            "hands may not be moved under this book: a wrong deal is a misdeal", "NSW-12.1"
        )
    if any_handled(state):
        raise Refusal("hands cannot be moved once cards have been handled", clause)
    in_round(state, what.first)
    in_round(state, what.second)
    a, b = (state.swapped.get(n, n) for n in (what.first, what.second))
    state = replace(state, swapped={**state.swapped, what.first: b, what.second: a})
    return happened(state, ev.DealtIncorrectly(players_handled=False, reconstructed=True))


def stray_hand_found(state: TableState, what: f.StrayHandFound, fact: f.Fact) -> Step:
    """A hand went to an area without a wager: the cards are assigned again, its own are dead.

    It explains cards that were too many, and so answers that question; the others stay open.
    """
    if what.seat in state.seats:
        raise Refusal(f"seat {what.seat} has a wager", state.rules.book.round_clauses.deal)
    if any(seat.opened for seat in state.seats.values()):
        reason = "hands are open: report the cards as dealt incorrectly"
        raise Refusal(reason, state.rules.book.round_clauses.deal)
    asked: tuple[Asked, ...] = ()
    extra: tuple[tuple[HiddenCard, ...], ...] = ()
    if state.frozen is not None:
        asked = (current(state.frozen), *state.frozen.waiting)
        extra = tuple(cards for question in asked for cards in question.extra)
        asked = tuple(question for question in asked if not question.extra)
        state = replace(state, phase=state.frozen.phase, frozen=None)
    state, effects = _with_stray_hand(state, what.seat, extra, fact)
    state, more = ask_next(state, asked)
    return state, (*effects, *more)


def _with_stray_hand(
    state: TableState, seat: int, extra: tuple[tuple[HiddenCard, ...], ...], fact: f.Fact
) -> Step:
    known = len(state.drawn)
    state = replace(
        state,
        stray=(*state.stray, seat),
        drawn=(*state.drawn, *(card for cards in extra for card in cards)),
        packets=(*state.packets, *map(len, extra)) if uses_packets(state.rules) else (),
    )
    if state.phase is Phase.DECISION_1 and progress(state) < expected(state):
        # The device stopped at the cards of the wagers: the rest of the deal is still inside.
        state = replace(state, phase=Phase.DEALING)
    if state.phase is not Phase.DEALING and progress(state) < expected(state):
        reason = f"{progress(state)} came from the device; a stray hand needs {expected(state)}"
        raise Refusal(reason, state.rules.book.round_clauses.deal)
    by = person(fact)
    if any(card in state.drawn[:i] for i, card in enumerate(state.drawn) if i >= known):
        question = "Among the cards of the stray hand one is already out."
        return freeze(state, question, ("confirmed",), ev.ForeignCard(), by=by)
    if progress(state) > expected(state):
        question = f"{progress(state)} cards are out, {expected(state)} are explained."
        event = ev.DealtIncorrectly(any_handled(state))
        return freeze(state, question, ("confirmed",), event, by=by)
    return reported(state, ev.HandDealtNoWager(seat, any_handled(state)), fact)


def count_found(state: TableState, what: f.CountFound, fact: f.Fact) -> Step:
    handled = any_handled(state)
    if what.seat is None:
        return reported(state, ev.CommunityCount(what.count, handled), fact)
    in_round(state, what.seat)
    return reported(state, ev.PlayerCardCount(what.seat, what.count, handled), fact)


def hand_voided(state: TableState, what: f.HandVoided, fact: f.Fact) -> Step:
    in_round(state, what.seat)
    state = note(state, fact, f"seat {what.seat}: {what.reason}")
    return reported(state, ev.WagersVoidedBySupervisor(what.seat), fact)


def outcome_invalidated(state: TableState, what: f.OutcomeInvalidated, fact: f.Fact) -> Step:
    for number in what.forfeit_seats:
        in_round(state, number)
    if what.forfeit_seats and not state.in_play and state.rules.book.in_play_from_first_card:
        raise Refusal("no card is out: no wager can be forfeit", "NSW-1.1-round")
    if what.forfeit_seats and what.reason != "fraud":
        raise Refusal("only a fraud forfeits a wager", "NSW-14.5")
    state = note(state, fact, f"{what.reason} {list(what.forfeit_seats) or ''}".strip())
    return reported(state, ev.GameInvalidated(what.forfeit_seats), fact)


def player_absent(state: TableState, what: f.PlayerAbsent, fact: f.Fact) -> Step:
    in_round(state, what.seat)
    spot = spot_of(state.phase) or "1"
    if "1" in state.seats[what.seat].decisions and spot == "1":
        spot = "2"
    state, effects = reported(state, ev.AbsentPlayer(what.seat, what.viewed, spot), fact)
    if state.frozen is not None or state.seats[what.seat].out or state.seats[what.seat].held:
        return state, effects
    state = ride_rest(state, what.seat)
    return state, (*effects, fx.SetLamp(what.seat, "live"), *next_prompt(state))


def ride_rest(state: TableState, number: int) -> TableState:
    """Every decision the seat still owes is to let it ride."""
    seat = state.seats[number]
    rest = {s: "ride" for s in ("1", "2") if seat.locked.get(s)}
    return with_seat(state, number, decisions={**rest, **seat.decisions})


def wagers_corrected(state: TableState, what: f.WagersCorrected, fact: f.Fact) -> Step:
    seat = _to_correct(state, what.seat)
    even = dict.fromkeys(BASE_SPOTS, what.cents)
    if broken_clauses(state.rules.book, money_settings(state), even):
        most = "any amount" if not state.max_wager else dollars(state.max_wager)
        limits = f"{dollars(state.min_wager or 0)} to {most}"
        said = f"{dollars(what.cents)}: a correction must lie within the posted limits, {limits}"
        raise Refusal(said, "NSW-12.10.1")
    if any(
        s not in seat.declared and state.spots.get((what.seat, s), 0) != what.cents
        for s in ("1", "2", "$")
    ):
        said = f"the spots of seat {what.seat} do not hold {dollars(what.cents)} each"
        raise Refusal(said, "NSW-12.10.1")
    handled = seat_handled(state, what.seat)
    if handled and what.cents != seat.locked.get(DOLLAR) and not is_supervisor(fact):
        # Who has seen the cards would raise a good hand and lower a bad one (AMB-C08).
        raise Refusal("after handling, correct to the $ wager", "NSW-12.11")
    return reported(state, ev.UnequalWagers(what.seat, handled, "corrected", what.cents), fact)


def correction_refused(state: TableState, what: f.CorrectionRefused, fact: f.Fact) -> Step:
    _to_correct(state, what.seat)
    handled = seat_handled(state, what.seat)
    return reported(state, ev.UnequalWagers(what.seat, handled, "refused"), fact)


def folded(state: TableState, what: f.Folded, fact: f.Fact) -> Step:
    """NSW: out with the wager returned, for unequal wagers only."""
    _to_correct(state, what.seat)
    handled = seat_handled(state, what.seat)
    return reported(state, ev.UnequalWagers(what.seat, handled, "fold"), fact)


def _to_correct(state: TableState, number: int) -> Seat:
    seat = in_round(state, number)
    if not state.rules.book.correct_unequal or not seat.unequal:
        raise Refusal(f"seat {number} has no wagers to correct", state.rules.book.clauses.equal)
    return seat


# --- cards and devices -------------------------------------------------------------------------


def card_fault(state: TableState, what: f.UnknownCardSeen, _: f.Fact) -> Step:
    about = what.kind if what.kind in doubts.TOLD else ""
    question, event, where = doubts.sentence(what), ev.ForeignCard(), doubts.where(what)
    return freeze(state, question, CARD_FAULT, event, held=(), about=about, detail=where)


def card_fault_reported(state: TableState, what: f.CardFaultReported, fact: f.Fact) -> Step:
    """A person found the fault with the cards in hand: there is nothing to misread."""
    by = person(fact)
    if what.kind == "foreign":
        return freeze(state, "A foreign card is reported.", CONFIRM, ev.ForeignCard(), by=by)
    question = f"The deck is reported {what.kind}: {what.count} cards."
    return freeze(state, question, CONFIRM, ev.DeckCount(what.count), by=by)


def deck_counted(state: TableState, what: f.DeckCounted, fact: f.Fact) -> Step:
    state = note(state, fact, f"deck counted: {what.count}")
    if what.count == ev.FULL_DECK:
        return state, ()
    question = f"The deck holds {what.count} cards."
    by = person(fact) if isinstance(fact.by, f.Declared) else ""
    return freeze(state, question, CONFIRM, ev.DeckCount(what.count), by=by)


def shuffler_failed(state: TableState, _what: f.ShufflerFailed, _: f.Fact) -> Step:
    state = replace(state, deck=replace(state.deck, device_ready=False))
    if not state.in_play:
        deck = replace(state.deck, shuffled=False, in_device=None)
        return replace(state, deck=deck), (fx.Prompt("shuffle"),)
    event = ev.ShufflerMalfunction(len(state.drawn))
    return freeze(state, "The shuffler failed in the round.", ("resume", "confirmed"), event)


def note(state: TableState, fact: f.Fact, text: str) -> TableState:
    return replace(state, notes=(*state.notes, f"{person(fact)}: {text}"))
