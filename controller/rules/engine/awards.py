"""Awards that the link server holds: what they keep back, and whether they are what we would pay.

The server's ledger fixes the amount; the table's settlement computes it from the same figures.
Where the two differ nothing is paid until people have looked at it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from controller.rules.engine import effects as fx
from controller.rules.engine.common import Refusal, Step
from controller.rules.engine.freezing import freeze
from controller.rules.engine.state import Award, TableState
from record.kit.money import cents_text

PROGRESSIVE = "progressive"
KEPT_AWARDS = 50
"""Rounds for which an award that ended is remembered: a repeated message changes nothing."""
ASK_AGAIN = ("resume", "void")
ONLY_VOID = ("void",)
JACKPOT = "jackpot"


def clause_of(state: TableState) -> str:
    return f"{state.rules.book.key}-4.2-T1"


def check_awards(state: TableState) -> None:
    """No next round before hand and deck of a jackpot are verified, or it is withdrawn."""
    for award in state.awards:
        if award.holds:
            reason = f"seat {award.seat}: its jackpot {award.award} is not verified yet"
            raise Refusal(reason, clause_of(state))


def kept_awards(state: TableState) -> tuple[Award, ...]:
    oldest = state.round_no - KEPT_AWARDS
    return tuple(a for a in state.awards if a.pending or a.round_no > oldest)


def shares_of_round(state: TableState) -> dict[int, Award]:
    """By seat, the shares of the jackpot that the server has locked in this round."""
    found = (a for a in state.awards if a.round_no == state.round_no and a.share)
    return {a.seat: a for a in found if a.pending}


def withdrawn(state: TableState, seats: tuple[int, ...]) -> TableState:
    """The claims of these seats are withdrawn: their awards end here, link or no link."""
    gone = {a.award for seat, a in shares_of_round(state).items() if seat in seats}
    awards = (replace(a, state="withdrawn") if a.award in gone else a for a in state.awards)
    return replace(state, awards=tuple(awards)) if gone else state


def waits_for_server(state: TableState) -> frozenset[int]:
    """Seats that claim a share of which the server has not fixed what the settlement pays."""
    claimed = frozenset(seat for seat, _, _ in state.claims)
    if state.jackpot is None:
        return claimed
    mine = (a for a in state.awards if a.round_no == state.round_no and a.share)
    open_ = {a.seat for a in mine if a.due is not None or a.state == "rejected"}
    return frozenset(n for n in claimed & open_ if not state.seats[n].settled)


def pays(result: Any, seat: int) -> int | None:
    row = next(row for row in result["seats"] if row["seat"] == seat)
    win: int | None = row["wagers"][PROGRESSIVE]["win"]
    return win


def differing(state: TableState, result: Any) -> tuple[int, str] | None:
    """The first seat for which the server holds another amount than the settlement pays."""
    held = shares_of_round(state)
    claimed = {seat for seat, _, _ in state.claims}
    for seat in sorted(held.keys() | claimed):
        if seat not in held or seat not in claimed:
            which = "no award" if seat in claimed else f"{cents_text(held[seat].cents)}, no claim"
            return seat, f"seat {seat}: the server locks {which}"
        if pays(result, seat) != held[seat].cents:
            return seat, two_amounts(seat, held[seat].cents, pays(result, seat))
    return None


def two_amounts(seat: int, locked: int, settled: int | None) -> str:
    told = "nothing yet" if settled is None else cents_text(settled)
    return f"seat {seat}: the server locks {cents_text(locked)}, the table settles {told}"


def revalued(state: TableState, result: Any) -> Step:
    """After a claim has gone: a share may have depended on it, and the server recounts as we do.

    Until it has said so the seat waits; one that was paid already needs a person.
    """
    awards = []
    for award in state.awards:
        if award in shares_of_round(state).values():
            now = pays(result, award.seat)
            if now != award.cents and state.seats[award.seat].settled:
                text = two_amounts(award.seat, award.cents, now)
                return stop_for(state, award.seat, text, ONLY_VOID)
            award = replace(award, due=None if now == award.cents else now)
        awards.append(award)
    return replace(state, awards=tuple(awards)), ()


def stop_for(state: TableState, seat: int, text: str, answers: tuple[str, ...]) -> Step:
    """Two amounts for one award: stand still, say which, and pay neither."""
    state, asked = freeze(state, f"Jackpot: {text}.", answers, about=JACKPOT)
    return state, (fx.RaiseAlarm("jackpot differs", seat, text, clause_of(state)), *asked)
