"""What moves a settlement on: hands from the dealer's right, the middle card, the pot, the end."""

from __future__ import annotations

from controller.rules.engine.awards import waits_for_server
from controller.rules.engine.common import POT, POT_SEAT, reading
from controller.rules.engine.deal import assign
from controller.rules.engine.ricochet_play import left_in_pot
from controller.rules.engine.settlement import to_open, to_settle
from controller.rules.engine.state import TableState
from controller.table.asks import Around, Ask, with_key
from controller.table.pays import owes, seat_pay, uncollected


def guide(state: TableState, around: Around) -> Ask:
    if state.rules.book.family == "ricochet":
        return _pot(state, around)
    claimed = waits_for_server(state)
    unpaid = to_settle(state)
    if due := [n for n in unpaid if n not in claimed]:
        return _paying(state, around, due[0])
    if state.bonus is None and (closed := to_open(state)):
        number = closed[0]
        if state.seats[number].held is not None:
            return Ask("held", with_key(around, "MENU 52"), number)
        if len(assign(state).seats[number]) != state.rules.book.card_count:
            return Ask("cards missing", ("MENU 16", *with_key(around, "MENU 17")), number)
        return Ask("open hand", ("SHOW",), number)
    if unpaid:
        return Ask("wait jackpot", ("WAIT",), unpaid[0], lamp="pay")
    if state.result is None:
        return Ask("turn bonus", ("MENU 25",))
    return _ending(state, around)


def _paying(state: TableState, around: Around, number: int) -> Ask:
    if state.seats[number].held is not None:
        return Ask("held", with_key(around, "MENU 52"), number)
    due = seat_pay(state, number)
    keys = with_key(around, "PAID") if owes(state, number) else ("PAID",)
    code = "owes" if len(keys) > 1 or owes(state, number) else "settle"
    hand = "" if due.hand is None or state.bonus is not None else due.hand
    if due.pay > 0:
        return Ask(code, keys, number, word="pay", amount=due.pay, parts=due.parts,
                   detail=hand, lamp="pay")  # fmt: skip
    return Ask(code, keys, number, word="collect", amount=due.collect, detail=hand, lamp="collect")


def _pot(state: TableState, around: Around) -> Ask:
    """Ricochet: losing chips go to the pot, the pot to its winners, then nothing lies there."""
    left = left_in_pot(state)
    if left and reading(state, POT_SEAT, POT) != left:
        return Ask("move to pot", ("CHIPS",), pot=True, amount=left)
    if reading(state, POT_SEAT, POT) != left:
        winners = state.result["pot_winners"] or ()
        named = "".join(str(w) if isinstance(w, int) else "D" for w in winners)
        amount = 0 if state.showdown is None else state.showdown.pot
        return Ask("award pot", ("CHIPS",), pot=True, amount=amount, detail=named)
    return _ending(state, around)


def _ending(state: TableState, around: Around) -> Ask:
    if left := uncollected(state):
        number, spot = left
        cents = reading(state, number, spot)
        keys = ("CHIPS", *with_key(around, "MENU 53")) if left in around.lost else ("CHIPS",)
        return Ask("collect", keys, number, spot=spot, amount=cents, lamp="collect")
    if held := [n for n in state.live if state.seats[n].held is not None]:
        return Ask("held", with_key(around, "MENU 52"), held[0])
    if state.disputes:
        return Ask("dispute", with_key(around, "MENU 62"), min(state.disputes), lamp="fault")
    return Ask("end round", ("END",))
