"""What moves the round on next, from the state alone: the question, its seat, and the keys.

Line 4 of the prompt is this file's promise: a dealer who follows it, most likely first, brings any
round to its end (docs/protocols/console.md section 5). It looks at no closed card.
"""

from __future__ import annotations

from typing import Final

from controller.rules.book import BASE_SPOTS
from controller.rules.engine.betting import base_is_valid, wagers_of
from controller.rules.engine.common import (
    POT,
    POT_SEAT,
    any_handled,
    reading,
    seat_handled,
    spot_of,
    undecided,
    unresolved,
)
from controller.rules.engine.corrections import difference
from controller.rules.engine.deal import DEALER, assign, must_cut, next_place, uses_packets
from controller.rules.engine.doubts import TWICE
from controller.rules.engine.facts import PayCorrected
from controller.rules.engine.ricochet_play import takes_by_folding
from controller.rules.engine.settlement import to_clear
from controller.rules.engine.state import Phase, TableState
from controller.rules.events import NAME_OF, CommunityCount, PlayerCardCount
from controller.table import guide_settle
from controller.table.asks import Around, Ask, with_key
from controller.table.pays import bonus_due
from controller.table.spots import Spot

TAKE: Final = "act or take"
_DEALS: Final = (Phase.LOCKED, Phase.DEALING, Phase.DRAW)


def guide(state: TableState, around: Around) -> Ask:
    if around.power_fail:
        return Ask("power fail", ("WAIT",))
    if around.overrun:
        return Ask("overrun", ("WAIT",))
    if around.card_hold and state.phase in (*_DEALS, Phase.IDLE):
        return Ask(around.card_hold, ("WAIT",))
    if around.lost and state.phase not in (Phase.IDLE, Phase.BETTING, Phase.FROZEN):
        return _sensor(state, around)
    match state.phase:
        case Phase.IDLE:
            return _idle(state, around)
        case Phase.BETTING:
            return _betting(state, around)
        case Phase.LOCKED | Phase.DEALING:
            return _deal(state, around)
        case Phase.DECISION_1 | Phase.DECISION_2:
            return _decision(state, around)
        case Phase.DEALT:
            return Ask("confirm deal", ("MENU 26",))
        case Phase.ACTION:
            return _action(state)
        case Phase.DRAW:
            return Ask("draw", ("DEAL",), _acting(state))
        case Phase.SETTLEMENT:
            return guide_settle.guide(state, around)
        case Phase.VOIDING:
            return _voiding(state)
        case Phase.FROZEN:
            return _frozen(state, around)


# --- before the deal ---------------------------------------------------------------------------


def _idle(state: TableState, around: Around) -> Ask:
    if around.table_closed:
        return Ask("table closed", with_key(around, "MENU 83"))
    if ask := _cards(state, around, checked=True):
        return ask
    if around.low_supply:
        return Ask("low supply", ("WAIT",))
    if around.disk_full:
        return Ask("disk full", ("WAIT",))
    if held := [award for award in state.awards if award.holds]:
        return Ask("jackpot hold", ("WAIT",), held[0].seat, lamp="same")
    return Ask("open no progressive" if state.progressive_closed else "open", ("OPEN",))


def _cards(state: TableState, around: Around, *, checked: bool) -> Ask | None:
    """What the deck still needs before a card may leave the device."""
    deck, book = state.deck, state.rules.book
    if checked and deck.colours is not None and deck.colours[0] == deck.colours[1]:
        return Ask("deck colours", with_key(around, "MENU 34"))
    other = deck.in_device in deck.seals and not deck.shuffled and not deck.suspect
    if other and checked:
        return None  # opening brings the other deck, which is shuffled already, into play
    if deck.suspect or (checked and book.deck_check_clause and deck.name not in deck.seals):
        return Ask("check deck", ("MENU 31",), detail=deck.name or "red")
    if not deck.device_ready and not checked:
        return Ask("shuffler", ("WAIT",))
    if state.rules.table.shuffle_required and not deck.shuffled:
        by_hand = not uses_packets(state.rules)
        keys = ("MENU 36",) if by_hand else ("SHUFFLE", "MENU 36")
        return Ask("shuffle", keys, detail=deck.name or "red")
    if must_cut(state.rules) and not deck.cut:
        return Ask("cut", ("MENU 33",))
    return None


def playing(state: TableState) -> list[int]:
    """Seats with a wager down that are neither excluded nor left out."""
    out = state.excluded | state.left_out
    seats = range(1, state.rules.table.seats + 1)
    return [n for n in seats if n not in out and wagers_of(state, n)]


def _obligatory(state: TableState, number: int) -> bool:
    """Does the seat have a wager other than an optional one?"""
    optional = ("progressive", "rapid_fire", "hedge", *state.rules.book.side)
    return any(spot not in optional for spot in wagers_of(state, number))


def _betting(state: TableState, around: Around) -> Ask:
    if around.closing:
        return Ask("sweeping", ("WAIT",))
    for number, spot in around.lost:
        if (number, spot) not in state.declared and number not in state.left_out:
            keys = ("MENU 24", *with_key(around, "MENU 53"))
            return Ask("sensor", keys, number, spot=spot, lamp="fault")
    for number in around.uncertain:
        if number == POT_SEAT:
            return Ask("uncertain", ("CHIPS", "CLOSE"), pot=True)
        return Ask("uncertain", ("CHIPS", "CLOSE", "MENU 24"), number, lamp="fault")
    ante = (state.rules.money.ante or 0) + state.carried
    if state.rules.book.family == "ricochet" and reading(state, POT_SEAT, POT) != ante:
        return Ask("dealer ante", ("CHIPS",), pot=True, amount=ante)
    betting = [n for n in playing(state) if _obligatory(state, n)]
    if not betting:
        closed = state.progressive_closed
        return Ask("place bets no progressive" if closed else "place bets", ("WAIT", "END"))
    if not state.rules.book.correct_unequal:
        for number in betting:
            if not base_is_valid(state, number):
                return Ask("unequal", ("CHIPS", "MENU 24"), number)
    return Ask("close", ("CLOSE",))


# --- the deal ----------------------------------------------------------------------------------


def _deal(state: TableState, around: Around) -> Ask:
    if state.phase is Phase.LOCKED:
        if not state.live:
            return Ask("nobody", ("END",))
        if ask := _cards(state, around, checked=False):
            return ask
        if around.selecting:
            return Ask("selection", ("WAIT",))
    if number := _to_correct(state):
        keys = correction_keys(state, number)
        return Ask("correct", (*keys, "DEAL"), number)
    if around.press_close:
        return Ask("press close", ("CLOSE", "DEAL"))
    place = next_place(state)
    if place == DEALER:
        return Ask("deal dealer", ("DEAL",))
    return Ask("deal seat", ("DEAL",), place, lamp="same")


def _to_correct(state: TableState) -> int | None:
    """The first seat whose wagers are not equal and may still be put right (NSW-12.10, 12.11)."""
    if not state.rules.book.correct_unequal:
        return None
    live = (n for n in state.live if state.seats[n].unequal and state.seats[n].held is None)
    return next(live, None)


def correction_keys(state: TableState, number: int) -> tuple[str, ...]:
    lies = {reading(state, number, s) for s in BASE_SPOTS}
    put_right = "MENU 22" if len(lies) == 1 and 0 not in lies else "CHIPS"
    return (put_right, "MENU 23") if seat_handled(state, number) else (put_right, "FOLD")


# --- decisions ---------------------------------------------------------------------------------


def held(state: TableState) -> int | None:
    return next((n for n in state.live if state.seats[n].held is not None), None)


def _decision(state: TableState, around: Around) -> Ask:
    spot = spot_of(state.phase)
    assert spot is not None
    if number := _to_correct(state):
        return Ask("correct", correction_keys(state, number), number)
    if waiting := undecided(state):
        number = waiting[0]
        touch = () if any_handled(state) or state.phase is Phase.DECISION_2 else ("HANDLED",)
        amount = state.seats[number].locked[spot]
        return Ask("decide", ("RIDE", "BACK", *touch), number, spot=spot, amount=amount)
    for number in unresolved(state):
        seat = state.seats[number]
        back = seat.decisions[spot] == "withdraw"
        late = number in around.overdue
        other = ("UNDO",) if around.undo == number and not late else with_key(around, "MENU 27")
        keys = ("CHIPS", *(other if back else with_key(around, "MENU 52")))
        lies = reading(state, number, spot)
        amount = lies if back else seat.locked[spot]
        code = ("take back late" if late else "take back") if back else "chips"
        return Ask(code, keys, number, spot=spot, amount=amount)
    if (number := held(state)) is not None:
        return Ask("held", with_key(around, "MENU 52"), number)
    card = 1 if state.phase is Phase.DECISION_1 else 2
    if len(assign(state).community) < card:
        return Ask("cards missing", ("MENU 16", *with_key(around, "MENU 58")))
    return Ask("turn", (f"COMM{card}",), detail=str(card))


# --- Ricochet ----------------------------------------------------------------------------------


def _acting(state: TableState) -> int | None:
    return None if state.showdown is None else state.showdown.to_act


def _action(state: TableState) -> Ask:
    number = _acting(state)
    assert number is not None
    assert state.showdown is not None
    due = state.showdown.pot
    if reading(state, POT_SEAT, POT) != due:
        return Ask("move to pot", ("CHIPS",), pot=True, amount=due)
    lies, ante = reading(state, number, "play"), state.rules.money.ante or 0
    if lies == ante:
        keys: tuple[str, ...] = ("PLAY", "FOLD")
    elif lies == 0:
        keys = ("CHIPS", "FOLD")
    else:
        return Ask("play bet", ("CHIPS",), number, spot="play", amount=ante)
    alone = takes_by_folding(state)
    if bonus := bonus_due(state):
        seat, spot, pays = bonus
        code, offer = "bonus pay" if pays else "bonus collect", TAKE if alone else ""
        return Ask(code, keys, number, spot="play", amount=ante, about=seat, cents=pays, of=spot,
                   offer=offer)  # fmt: skip
    return Ask(TAKE if alone else "act", keys, number, spot="play", amount=ante)


# --- standing still ----------------------------------------------------------------------------


def _sensor(state: TableState, around: Around) -> Ask:
    """A live wager that nobody can read: its sensor comes back, or a supervisor rules on it."""
    number, spot = around.lost[0]
    if state.phase is Phase.VOIDING:
        return _voiding(state)
    if number == POT_SEAT:
        return Ask("sensor", ("CHIPS", "WAIT"), pot=True)
    return Ask("sensor", ("CHIPS", *with_key(around, "MENU 52")), number, spot=spot, lamp="fault")


def _voiding(state: TableState) -> Ask:
    if left := to_clear(state):
        number = left[0]
        return Ask("return all", ("CHIPS",), number or None, pot=number == POT_SEAT, lamp="same")
    return Ask("void", ("END",))


def _frozen(state: TableState, around: Around) -> Ask:
    assert state.frozen is not None
    frozen = state.frozen
    event, keys = frozen.event, with_key(around, "MENU 51")
    about = getattr(frozen.report or event, "seat", None)
    if frozen.proposed is not None:
        return Ask("frozen second", ("MENU 59", *keys), about)
    answers = frozen.answers
    if isinstance(frozen.report, PayCorrected):
        cents = difference(state, frozen.report)
        code = "frozen pay more" if cents > 0 else "frozen take back"
        return Ask(code, keys, about, answers=answers, cents=abs(cents))
    if frozen.report is not None:
        return Ask("frozen closed round", keys, about, answers=answers)
    if frozen.by and isinstance(event, CommunityCount | PlayerCardCount):
        held = assign(state)
        dealt = held.community if about is None else held.seats.get(about, ())
        code, said, counted = "frozen reported count", event.count, str(len(dealt))
        return Ask(code, keys, about, answers=answers, about=said, detail=counted)
    what = frozen.about or "stop" if event is None else NAME_OF[type(event)]
    if frozen.extra:
        what = "excess card"
    elif what == "foreign_card" and "misread" in answers:
        # Only a card that was read again is held back; of others nobody knows which they are.
        what = TWICE if frozen.held else frozen.about or "card in doubt"
    return Ask(f"frozen {what}", keys, about, answers=answers, detail=frozen.detail or "?")


def live_spots(state: TableState) -> frozenset[Spot]:
    """Spots that carry a wager of this round which is still to be settled, and the pot."""
    found = {
        (number, spot)
        for number, seat in state.seats.items()
        if not seat.out and not seat.settled
        for spot, cents in seat.locked.items()
        if cents and spot not in seat.emptied | seat.declared | seat.stays_live
        and seat.decisions.get(spot) != "withdraw" and spot != "progressive"
    }  # fmt: skip
    if state.phase in (Phase.ACTION, Phase.DRAW) or (state.showdown and state.seats):
        found.add((POT_SEAT, POT))
    return frozenset(found) if state.seats and state.phase is not Phase.IDLE else frozenset()
