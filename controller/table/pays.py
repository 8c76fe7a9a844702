"""What the dealer hands over and takes in at a seat, from the engine's own settlement.

Only open hands are looked at: the settlement of the hands opened so far holds no closed card.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from controller.rules.engine.common import reading
from controller.rules.engine.export import record_of, settled_so_far
from controller.rules.engine.settlement import SIX_CARD
from controller.rules.engine.state import TableState
from controller.rules.hands import rank5
from controller.rules.ricochet_settle import settle_bonus_wagers

PROGRESSIVE = "progressive"


@dataclass(frozen=True, slots=True)
class Pay:
    """One seat: what to pay, what to collect, and the pay of each wager that has one."""

    pay: int
    collect: int
    parts: tuple[tuple[str, int], ...]
    hand: str | None = None


def seat_pay(state: TableState, number: int) -> Pay:
    """Let It Ride: the seat's open hand. Chips on a spot stay there and are paid beside; the
    progressive stake is in the house's box, so a returned one is part of what is handed over."""
    result = state.result if state.result is not None else settled_so_far(state)
    row = next(r for r in result["seats"] if r["seat"] == number)
    wagers: dict[str, Any] = row["wagers"]
    if state.bonus is not None:
        wagers = {SIX_CARD: wagers[SIX_CARD]} if SIX_CARD in wagers else {}
    else:
        wagers = {spot: w for spot, w in wagers.items() if spot != SIX_CARD}
    parts = {
        spot: int((w["to_player"] if spot == PROGRESSIVE else w["win"]) or 0)
        for spot, w in wagers.items()
        if w is not None
    }
    if state.bonus is None:
        for award in row["awards"]:
            parts[award["kind"]] = parts.get(award["kind"], 0) + award["amount"]
    collect = sum(
        w["placed"]
        for spot, w in wagers.items()
        if w is not None and w["status"] == "lose" and spot != PROGRESSIVE
    )
    pay = sum(parts.values()) - int(row.get("payout_cap_reduction") or 0)
    listed = tuple((spot, cents) for spot, cents in parts.items() if cents)
    return Pay(pay, collect, listed, row["hand"])


def owes(state: TableState, number: int) -> bool:
    """A lost wager whose chips are gone: only a supervisor closes the seat."""
    gone = state.seats[number].lifted or frozenset()
    if not gone or state.bonus is not None:
        return False
    row = next(r for r in settled_so_far(state)["seats"] if r["seat"] == number)
    return any(row["wagers"].get(s, {}).get("status") == "lose" for s in gone)


def uncollected(state: TableState) -> tuple[int, str] | None:
    """The first lost wager whose chips have not been off their spot (AMB-S06)."""
    if state.result is None:
        return None
    for row in state.result["seats"]:
        seat = state.seats[row["seat"]]
        for spot, wager in row["wagers"].items():
            skip = spot == PROGRESSIVE or spot in seat.declared or spot in seat.emptied
            lies = reading(state, row["seat"], spot)
            if wager["status"] == "lose" and not skip and lies:
                return row["seat"], spot
    return None


def bonus_due(state: TableState) -> tuple[int, str, int] | None:
    """Ricochet: the first bonus wager not yet paid or collected, and what it hands the player."""
    if state.showdown is None or len(state.face_up.get(0, ())) != 5:
        return None
    a, b, c, d, e = state.face_up[0]
    dealer, record = rank5(a, b, c, d, e), record_of(state)
    for seat in record.seats:
        for spot, wager in settle_bonus_wagers(record, seat, dealer).items():
            untouched = reading(state, seat.seat, spot) == seat.wagers.get(spot)
            if wager["status"] not in ("supervisor", "push") and untouched:
                return seat.seat, spot, int(wager["win"] or 0)
    return None
