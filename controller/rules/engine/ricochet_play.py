"""Ricochet at the live table: kickout, the order of action, the draw, the pot."""

from __future__ import annotations

from dataclasses import replace

from controller.rules.book import BONUS_SPOTS
from controller.rules.cards import HiddenCard, PublicMoment, reveal
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.common import (
    POT,
    POT_SEAT,
    Refusal,
    Step,
    in_round,
    reading,
    with_seat,
)
from controller.rules.engine.dealing import wager_moved
from controller.rules.engine.export import record_of, with_result
from controller.rules.engine.freezing import CARD_FAULT, freeze
from controller.rules.engine.settlement import check_collected, close_round
from controller.rules.engine.state import Phase, TableState
from controller.rules.events import DealtIncorrectly, ForeignCard
from controller.rules.hands import rank5
from controller.rules.ricochet import Showdown, fold, open_showdown, play
from controller.rules.ricochet_settle import settle_bonus_wagers
from record.kit.money import dollars


def deal_confirmed(state: TableState, _what: f.DealConfirmed, _: f.Fact) -> Step:
    """The dealer has compared the cards: kickout and bonus wagers are settled, then the action."""
    dealer = rank5(*state.face_up[0])
    two = {n: state.face_up[n] for n in state.seats}
    showdown = open_showdown(state.rules.money.ante or 0, two, dealer, state.carried)
    state = replace(state, phase=Phase.ACTION, showdown=showdown)
    effects: list[fx.Effect] = [fx.ShowKickout(showdown.kickout), fx.ShowPot(showdown.pot)]
    record = record_of(state)
    for seat in record.seats:
        for spot, wager in settle_bonus_wagers(record, seat, dealer).items():
            if wager["status"] != "supervisor":
                effects.append(fx.ShowAward(seat.seat, spot, wager["to_player"]))
    return state, (*effects, *ask(state))


def chips_moved(state: TableState, what: f.WagerRead, fact: f.Fact) -> Step:
    """Chips once the cards are open: some moves are lawful now, the rest is late or lifted."""
    table = _showdown(state)
    asked = what.seat == table.to_act and what.spot == "play" and state.phase is Phase.ACTION
    dead = what.seat in table.final and what.spot in ("ante", "play") and not what.cents
    if what.seat != POT_SEAT and not (asked or dead or _settled_spot(state, what)):
        return wager_moved(state, what, fact)
    state = replace(state, spots={**state.spots, (what.seat, what.spot): what.cents})
    if asked and what.cents not in (0, state.rules.money.ante):
        return state, (fx.Prompt("play bet", what.seat),)
    pot_moved = what.seat == POT_SEAT and state.phase is Phase.ACTION
    return state, ask(state) if pot_moved else ()


def _settled_spot(state: TableState, what: f.WagerRead) -> bool:
    """Bonus wagers are paid and collected right after the deal, everything else at the end."""
    seat = state.seats.get(what.seat)
    if seat is None or what.spot not in seat.locked:
        return False
    return state.phase is Phase.SETTLEMENT or what.spot in BONUS_SPOTS


def ask(state: TableState) -> tuple[fx.Effect, ...]:
    """The next seat is asked once the chips of the last one lie in the pot (AMB-R09)."""
    table = _showdown(state)
    number = table.to_act
    if number is None:
        return ()
    if reading(state, POT_SEAT, POT) != table.pot:
        return (fx.Prompt("move to pot", detail=str(table.pot)),)
    code = "act or take" if takes_by_folding(state) else "act"
    return (fx.Prompt(code, number), fx.SetLamp(number, "your turn"))


def takes_by_folding(state: TableState) -> bool:
    """No hand is left but the one asked now, and the house gives it the pot (AMB-R03)."""
    table = _showdown(state)
    alone = len(table.waiting) == 1 and not table.five and table.dealer is None
    return alone and state.rules.money.orphan_pot == "last_player"


def _showdown(state: TableState) -> Showdown:
    assert state.showdown is not None
    return state.showdown


def _check_turn(state: TableState, number: int) -> None:
    in_round(state, number)
    turn = _showdown(state).to_act
    if number != turn:
        raise Refusal(f"seat {turn} acts now", "RICO-4")
    pot = _showdown(state).pot
    if reading(state, POT_SEAT, POT) != pot:
        raise Refusal(f"the pot must hold {pot} before the next hand", "RICO-4a")


def folded(state: TableState, what: f.Folded, _: f.Fact) -> Step:
    """Ricochet: the ante is lost to the pot."""
    _check_turn(state, what.seat)
    table = _showdown(state).copy()
    fold(table, what.seat)
    actions = {**state.actions, what.seat: "fold"}
    return _after_action(replace(state, showdown=table, actions=actions))


def played(state: TableState, what: f.Played, _: f.Fact) -> Step:
    """Three cards come only after a play wager equal to the ante."""
    _check_turn(state, what.seat)
    ante = state.rules.money.ante
    if reading(state, what.seat, "play") != ante:
        said = f"seat {what.seat}: the play wager must be exactly {dollars(ante or 0)}"
        raise Refusal(said, "RICO-4b")
    state = with_seat(state, what.seat, locked={**state.seats[what.seat].locked, "play": ante})
    state = replace(state, phase=Phase.DRAW, actions={**state.actions, what.seat: "play"})
    return state, (fx.Prompt("draw", what.seat),)


def drawn(state: TableState, what: f.CardDrawn, _: f.Fact) -> Step:
    """The next three cards are those of the seat that plays."""
    number = _showdown(state).to_act
    assert number is not None
    if any(card == what.card for card in state.drawn):
        question = "The same card was read twice: a misread or a foreign card."
        return freeze(state, question, CARD_FAULT, ForeignCard(), (what.card,))
    state = _add(state, number, what.card)
    hand = state.face_up[number]
    shown = fx.ShowDealtCard(number, hand[-1])
    if len(hand) < 5:
        return state, (shown,)
    must_top_all = state.rules.money.ricochet_order == "must_top_all"
    table = _showdown(state).copy()
    play(table, number, rank5(*hand), must_top_all=must_top_all)
    state = replace(state, phase=Phase.ACTION, showdown=table)
    state, effects = _after_action(state)
    return state, (shown, *effects)


def _add(state: TableState, number: int, card: HiddenCard) -> TableState:
    opened = reveal(card, PublicMoment.DEALT_FACE_UP)
    face_up = {**state.face_up, number: (*state.face_up.get(number, ()), opened)}
    return replace(state, face_up=face_up, drawn=(*state.drawn, card))


def unasked_card(state: TableState, what: f.CardDrawn, _: f.Fact) -> Step:
    """A card before a play wager belongs to nobody."""
    question = "A card came before the play wager (RICO-4b)."
    event = DealtIncorrectly(True)
    return freeze(state, question, ("resume", "confirmed"), event, extra=((what.card,),))


def _after_action(state: TableState) -> Step:
    table = _showdown(state)
    effects: tuple[fx.Effect, ...] = (fx.ShowPot(table.pot),)
    if table.to_act is not None:
        return state, (*effects, *ask(state))
    if reading(state, POT_SEAT, POT) != table.pot:
        effects += (fx.Prompt("move to pot", detail=str(table.pot)),)
    state = with_result(replace(state, phase=Phase.SETTLEMENT))
    winners = tuple(state.result["pot_winners"] or ())
    named = ", ".join(str(w) for w in winners) or "nobody"
    award = (fx.ShowPot(table.pot, winners), fx.Prompt("award pot", detail=named))
    return state, (*effects, *award)


def left_in_pot(state: TableState) -> int:
    """What must lie in the pot when the round ends: what is carried to the next one."""
    left: int = state.result.get("pot_carried") or 0
    return left


def round_ended(state: TableState, _what: f.RoundEnded, _: f.Fact) -> Step:
    carried = left_in_pot(state)
    if reading(state, POT_SEAT, POT) != carried:
        raise Refusal(f"the pot must hold {carried} at the end of the round", "RICO-9")
    for row in state.result["seats"]:
        check_collected(state, row, "RICO-9")
    if state.disputes:
        raise Refusal(f"seat {min(state.disputes)}: a dispute is open", "NSW-14.12")
    return close_round(replace(state, carried=carried))
