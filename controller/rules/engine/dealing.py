"""The deal: cards and packets as they leave the device, and chips that move after the lock."""

from __future__ import annotations

from dataclasses import replace

from controller.rules import events as ev
from controller.rules.cards import HiddenCard, PublicMoment, reveal
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.betting import PROGRESSIVE, credits_only, deal_prompt, locked_by_card
from controller.rules.engine.common import (
    POT,
    POT_SEAT,
    Refusal,
    Step,
    any_handled,
    next_prompt,
    reading,
    spot_of,
    with_seat,
)
from controller.rules.engine.deal import (
    DEALER,
    expected,
    must_cut,
    next_place,
    packet_size,
    progress,
    uses_packets,
)
from controller.rules.engine.export import settled_so_far
from controller.rules.engine.freezing import CARD_FAULT, freeze, with_extra
from controller.rules.engine.irregular import note
from controller.rules.engine.state import Phase, TableState
from record.kit.money import dollars


def first_card(state: TableState, what: f.CardDrawn | f.PacketDispensed, fact: f.Fact) -> Step:
    """The first card out starts the deal; without a shuffle it is not accepted."""
    table = state.rules.table
    if not state.live:
        return _card_for_nobody(state)
    if not state.deck.device_ready:
        raise Refusal("the shuffler has not completed a cycle", "NSW-13.1")
    if state.deck.suspect:
        raise Refusal("the deck must be checked for missing and foreign cards", "NSW-12.9.3")
    if table.shuffle_required and not state.deck.shuffled:
        clause = state.rules.book.shuffle_clause or "NSW-4.1"
        raise Refusal("no shuffle since the last round", clause)
    if must_cut(state.rules) and not state.deck.cut:
        raise Refusal("the cards must be cut and loaded", "NSW-4.2")
    deck = replace(state.deck, shuffled=False, cut=False)
    state, checked = _checked_again(state)
    state = replace(state, phase=Phase.DEALING, in_play=True, deck=deck)
    state, effects = dealt(state, what, fact)
    return state, (*checked, *effects)


def _checked_again(state: TableState) -> Step:
    """Chips taken off between the call and card one may leave wagers unequal (NSW-5.2)."""
    effects: tuple[fx.Effect, ...] = ()
    if not state.rules.book.withdraw_until_first_card:
        return state, effects
    for number, seat in sorted(state.seats.items()):
        lies = {
            spot: cents if spot in seat.declared else min(cents, reading(state, number, spot))
            for spot, cents in seat.locked.items()
        }
        if not seat.unequal and len(set(lies.values())) > 1:
            locked = {spot: cents for spot, cents in lies.items() if cents}
            state = with_seat(state, number, locked=locked, unequal=True)
            effects += (fx.SetLamp(number, "fault"), fx.Prompt("correct or fold", number))
    return state, effects


def card_before_close(
    state: TableState, what: f.CardDrawn | f.PacketDispensed, fact: f.Fact
) -> Step:
    before = state
    state, locked = locked_by_card(state, fact)
    if not state.seats:
        return _card_for_nobody(before)
    if state.phase is not Phase.LOCKED:
        return state, locked
    state, effects = first_card(state, what, fact)
    return state, (*locked, *effects)


def _card_for_nobody(state: TableState) -> Step:
    """Nobody has a wager: no round is dealt, and the deck is no longer whole."""
    clause = state.rules.book.round_clauses.close
    alarm = fx.RaiseAlarm("card without a wager", None, "shuffle again", clause)
    deck = replace(state.deck, shuffled=False, cut=False)
    return replace(state, deck=deck), (alarm, fx.Prompt("shuffle"))


def dealt(state: TableState, what: f.CardDrawn | f.PacketDispensed, fact: f.Fact) -> Step:
    packet = isinstance(what, f.PacketDispensed)
    if packet != uses_packets(state.rules):
        sort, device = ("packet", "shoe") if packet else ("single card", "shuffler")
        question = f"A {sort} came although the table deals from a {device}."
        return freeze(state, question, ("resume",))
    if other := _other_deck(state, what):
        return freeze(state, other, ("confirmed", "resume"), ev.ForeignCard())
    cards = what.cards if isinstance(what, f.PacketDispensed) else (what.card,)
    place = next_place(state)
    if _seen_twice(state, cards, fact):
        question = "The same card was read twice: a misread or a foreign card."
        return freeze(state, question, CARD_FAULT, ev.ForeignCard(), cards)
    size = len(cards)
    state = replace(
        state,
        drawn=(*state.drawn, *cards),
        packets=(*state.packets, size) if packet else state.packets,
    )
    if packet and place is not None and size != packet_size(state.rules, place):
        if progress(state) == expected(state):
            state = _deal_complete(state)[0]  # play can go on if it is put right
        return _wrong_packet(state, place, size)
    open_cards = state.rules.book.family == "ricochet" or (state.rules.table.face_up and place)
    if open_cards and place is not None:
        state, effects = _face_up(state, place, cards)
    else:
        effects = ()
    if progress(state) == expected(state):
        state, more = _deal_complete(state)
        return state, (*effects, *more)
    return state, (*effects, deal_prompt(state))


def _other_deck(state: TableState, what: f.CardDrawn | f.PacketDispensed) -> str:
    """What is wrong with a packet that is not of the deck in play; empty if it is."""
    told, in_play = getattr(what, "deck", ""), state.deck.name
    if not told or in_play is None or told == in_play:
        return ""
    return f"A packet of the {told} deck came; the {in_play} deck is in play."


def _seen_twice(state: TableState, cards: tuple[HiddenCard, ...], fact: f.Fact) -> bool:
    """What the device tells is compared with all that is out; a card that a person names is not,
    or naming one reveals whether it is face down (``open_twice`` looks when it is opened)."""
    seen = list(state.drawn) if isinstance(fact.by, f.Measured) else []
    for card in cards:
        if card in seen:
            return True
        seen.append(card)
    return False


def _wrong_packet(state: TableState, place: int, size: int) -> Step:
    handled = any_handled(state)
    if place == DEALER:
        question = f"The dealer's packet holds {size} cards."
        shared = max(0, 2 + size - packet_size(state.rules, DEALER))
        return freeze(state, question, ("confirmed", "resume"), ev.CommunityCount(shared, handled))
    question = f"The packet of seat {place} holds {size} cards."
    event = ev.PlayerCardCount(place, size, handled)
    return freeze(state, question, ("confirmed", "resume"), event)


def _face_up(state: TableState, place: int, cards: tuple[HiddenCard, ...]) -> Step:
    opened = tuple(reveal(c, PublicMoment.DEALT_FACE_UP) for c in cards)
    face_up = {**state.face_up, place: (*state.face_up.get(place, ()), *opened)}
    shown = tuple(fx.ShowDealtCard(place, c) for c in opened)
    return replace(state, face_up=face_up), shown


def _deal_complete(state: TableState) -> Step:
    if state.rules.book.family == "ricochet":
        return replace(state, phase=Phase.DEALT), (fx.Prompt("confirm deal"),)
    handled = state.rules.table.handled_mode == "automatic"
    state = replace(state, phase=Phase.DECISION_1, handled_all=state.handled_all or handled)
    return state, next_prompt(state)


def excess_card(state: TableState, what: f.CardDrawn | f.PacketDispensed, _: f.Fact) -> Step:
    """A card too many: set aside, or the deal was wrong (or a stray hand explains it)."""
    if other := _other_deck(state, what):
        return freeze(state, other, ("confirmed", "resume"), ev.ForeignCard())
    cards = what.cards if isinstance(what, f.PacketDispensed) else (what.card,)
    if state.frozen is not None and (known := with_extra(state.frozen, cards)) is not None:
        return replace(state, frozen=known), (fx.Prompt("frozen", detail=known.question),)
    clause = state.rules.book.round_clauses.excess
    event = ev.DealtIncorrectly(any_handled(state))
    question = f"One card too many is out ({clause})."
    return freeze(state, question, ("resume", "confirmed"), event, extra=(cards,))


def cut_card_seen(state: TableState, _what: f.CutCardSeen, _: f.Fact) -> Step:
    """The cut card is no playing card and does not move the deal (NSW-3.1)."""
    return state, ()


# --- chips after the lock ----------------------------------------------------------------------


def wager_moved(state: TableState, what: f.WagerRead, _: f.Fact) -> Step:
    """A spot changed after the lock: late chips never count, lifted chips stay live."""
    credits_only(state, what.spot, what.cents)
    key = (what.seat, what.spot)
    before = state.spots.get(key, 0)
    state = replace(state, spots={**state.spots, key: what.cents})
    if what.seat == POT_SEAT:
        return state, ()
    clauses = state.rules.book.round_clauses
    seat = state.seats.get(what.seat)
    if seat is None:
        if what.cents:
            return state, _late(what.seat, what.spot, what.cents, clauses.late_wager)
        return state, ()
    locked = seat.locked.get(what.spot, 0)
    allowed = 0 if what.spot in seat.emptied else locked
    if seat.opened is not None and not seat.settled and what.cents > min(before, allowed):
        return state, _paid_on_the_spot(state, what, allowed)
    if what.cents > allowed and not _correcting(state, what.seat):
        return state, _late(what.seat, what.spot, what.cents - allowed, clauses.late_wager)
    if what.cents >= before or what.cents >= locked:
        return state, ()
    return _lifted(state, what)


def wager_while_frozen(state: TableState, what: f.WagerRead, fact: f.Fact) -> Step:
    """Chips move while the supervisor is asked: late only if the bets were closed before."""
    if state.frozen is not None and state.frozen.phase in (Phase.BETTING, Phase.IDLE):
        credits_only(state, what.spot, what.cents)
        return replace(state, spots={**state.spots, (what.seat, what.spot): what.cents}), ()
    return wager_moved(state, what, fact)


def spot_declared(state: TableState, what: f.WagerDeclared, fact: f.Fact) -> Step:
    """What lies where no sensor can read, once it is settled: it moves no money any more."""
    known = (*state.rules.book.wagers, "play") if what.seat != POT_SEAT else (POT,)
    if what.spot not in known or what.spot == PROGRESSIVE or what.cents < 0:
        raise Refusal(f"no such spot: seat {what.seat} {what.spot}", "NSW-5.7")
    seat = state.seats.get(what.seat)
    let_it_ride = state.phase is Phase.SETTLEMENT and state.rules.book.family != "ricochet"
    if let_it_ride and seat is not None and not (seat.settled or seat.out):
        raise Refusal(f"seat {what.seat} has not been settled", "NSW-5.7")
    state = note(state, fact, f"declared seat {what.seat} {what.spot}: {what.cents}")
    return replace(state, spots={**state.spots, (what.seat, what.spot): what.cents}), ()


def _paid_on_the_spot(state: TableState, what: f.WagerRead, stake: int) -> tuple[fx.Effect, ...]:
    """Chips added to an open hand are its pay-out: too little or too much is reported (AMB-S05)."""
    stake += (state.seats[what.seat].late or {}).get(what.spot, 0)
    row = next(r for r in settled_so_far(state)["seats"] if r["seat"] == what.seat)
    due, paid = row["wagers"].get(what.spot, {}).get("win"), what.cents - stake
    if due is None or due == paid or row.get("payout_cap_reduction"):
        return ()
    said = f"{what.spot}: paid {dollars(paid)}, due {dollars(due)}"
    return (fx.Prompt("pay", what.seat, said, due - paid),)


def _late(number: int, spot: str, cents: int, clause: str) -> tuple[fx.Effect, ...]:
    return (
        fx.RaiseAlarm("late wager", number, f"{spot}: {dollars(cents)}", clause),
        fx.Prompt("late", number, spot),
    )


def _correcting(state: TableState, number: int) -> bool:
    return state.seats[number].unequal and state.rules.book.correct_unequal


def _lifted(state: TableState, what: f.WagerRead) -> Step:
    seat, clauses = state.seats[what.seat], state.rules.book.round_clauses
    waits = what.spot == "six_card" and state.bonus is None
    if (seat.settled and not waits) or seat.out or _correcting(state, what.seat):
        gone = seat.emptied | ({what.spot} if not what.cents else frozenset())
        return with_seat(state, what.seat, emptied=gone), ()
    if seat.decisions.get(what.spot) == "withdraw":
        if what.cents:
            return state, (fx.Prompt("take back", what.seat, what.spot),)
        state = with_seat(state, what.seat, emptied=seat.emptied | {what.spot})
        return state, next_prompt(state)
    if state.phase is Phase.LOCKED and state.rules.book.withdraw_until_first_card:
        return _withdrawn_before_first_card(state, what)
    clause = clauses.dollar if what.spot == "$" else clauses.late_withdrawal
    detail = f"{what.spot}: {dollars(what.cents)} of {dollars(seat.locked.get(what.spot, 0))}"
    return state, (
        fx.RaiseAlarm("wager lifted", what.seat, detail, clause),
        *((fx.Prompt("chips", what.seat, what.spot),) if spot_of(state.phase) else ()),
    )


def _withdrawn_before_first_card(state: TableState, what: f.WagerRead) -> Step:
    """NSW: between the call and card one a seat may take all its wagers off (AMB-W05)."""
    left = [state.spots.get((what.seat, s), 0) for s in state.rules.book.wagers]
    if any(left):
        detail = f"{what.spot}: part of the wagers is gone"
        return state, (fx.RaiseAlarm("wager lifted", what.seat, detail, "NSW-5.4"),)
    seats = {n: s for n, s in state.seats.items() if n != what.seat}
    return replace(state, seats=seats), (fx.SetLamp(what.seat, "off"),)


def credits_late(state: TableState, what: f.CreditsRead, _: f.Fact) -> Step:
    """Credits after the lock never belong to this round (AMB-P18)."""
    book = state.rules.book
    raise Refusal(
        f"seat {what.seat}: bets are closed, the credits go back", book.round_clauses.late_wager
    )
