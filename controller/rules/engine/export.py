"""Any round, finished or broken off, as the neutral record; unopened cards are null in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from controller.rules import events as ev
from controller.rules.book import SPOT_1, SPOT_2
from controller.rules.engine.common import reading
from controller.rules.engine.state import Seat, TableState
from controller.rules.record import Cards, RoundRecord, SeatRecord, encode_record
from controller.rules.rulings import HoldSeat, VoidHand, rule_on
from controller.rules.settle import settle


def money_settings(state: TableState) -> Any:
    money = state.rules.money
    book = state.rules.book
    changes: dict[str, Any] = {}
    if book.progressive is not None:
        changes["jackpot"] = state.meter if state.jackpot is None else state.jackpot
        if state.reset is not None:
            changes["jackpot_reset"] = state.reset
    if book.magic_card is not None:
        changes |= {"magic_card": state.magic_card, "lucky_seat": state.lucky_seat}
    if book.family == "ricochet":
        changes["pot_carried_in"] = state.carried
    if book.posted_limits:
        changes |= {"min_wager": state.min_wager, "max_wager": state.max_wager}
    return replace(money, **changes)


def late_on(state: TableState, number: int, seat: Seat, spot: str) -> int:
    """What was placed on a spot after the lock and still lies there."""
    if seat.late is not None:
        return seat.late.get(spot, 0)
    if spot in seat.declared or state.rules.book.family == "ricochet":
        # Ricochet's record knows no late part: it raised the alarm and never counts.
        return 0
    lies = reading(state, number, spot)
    base = 0 if spot in seat.emptied else seat.locked.get(spot, 0)
    return max(0, lies - base)


def lifted(state: TableState, number: int, seat: Seat, spot: str) -> bool:
    """Chips of a live wager that are gone without a decision to take them back."""
    if seat.lifted is not None:
        return spot in seat.lifted
    if spot in seat.declared or not seat.locked.get(spot):
        return False
    if seat.decisions.get(spot) == "withdraw":
        return False
    return spot != "progressive" and reading(state, number, spot) < seat.locked[spot]


def _derived_events(state: TableState) -> list[ev.Event]:
    """Late and lifted chips as the sensors see them; nobody has to confirm what was measured."""
    if state.rules.book.family == "ricochet":
        return []
    found: list[ev.Event] = []
    for number, seat in sorted(state.seats.items()):
        for spot in state.rules.book.wagers:
            if late := late_on(state, number, seat, spot):
                found.append(ev.LateWager(number, spot, late))
            if lifted(state, number, seat, spot) and not seat.out:
                found.append(ev.LateWithdrawal(number, spot))
    return found


def _seat_record(state: TableState, number: int, seat: Seat, place: int) -> SeatRecord:
    wagers = {}
    for spot in state.rules.book.wagers:
        if amount := seat.locked.get(spot, 0) + late_on(state, number, seat, spot):
            wagers[spot] = amount
    if state.rules.book.family == "ricochet":
        open_cards = state.face_up.get(number, ())
        return SeatRecord(
            number,
            wagers,
            open_cards[:2],
            action=state.actions.get(number),
            draw=open_cards[2:],
            place=place,
        )
    withdrawn = frozenset(s for s in (SPOT_1, SPOT_2) if seat.decisions.get(s) == "withdraw")
    return SeatRecord(number, wagers, seat.opened or (), withdrawn, place=place)


def record_of(state: TableState, *, only: frozenset[int] | None = None) -> RoundRecord:
    """The round as a record; ``only`` leaves out seats whose hands are not open yet."""
    numbers = [n for n in sorted(state.seats) if only is None or n in only]
    seats = tuple(_seat_record(state, n, state.seats[n], i) for i, n in enumerate(numbers))
    kept = {s.seat for s in seats}
    happened = [
        e
        for e in (*state.events, *_derived_events(state))
        if isinstance(e, ev.ANY_SEAT) or getattr(e, "seat", None) in (None, *kept)
    ]
    ricochet = state.rules.book.family == "ricochet"
    shared = not ricochet and bool(state.seats or state.turned)  # nobody was dealt to: no cards
    community: Cards = (*state.turned, *([None] * (2 - len(state.turned)))) if shared else ()
    return RoundRecord(
        state.rules.book,
        money_settings(state),
        seats,
        community,
        state.bonus,
        state.face_up.get(0, ()) if ricochet else (),
        (state.rules.money.ante or 0) if ricochet else 0,
        tuple(happened),
    )


def export_round(state: TableState) -> Any:
    """The record of the current round as JSON values."""
    return encode_record(record_of(state)) if state.record is None else state.record


def with_result(state: TableState) -> TableState:
    """Settle the round as it stands and keep the record it was settled from."""
    record = record_of(state)
    return replace(state, record=encode_record(record), result=settle(record))


def chips_at_opening(state: TableState, number: int) -> dict[str, Any]:
    """The seat's late and lifted chips now, to be kept with its opened hand."""
    seat, spots = state.seats[number], state.rules.book.wagers
    late = {s: cents for s in spots if (cents := late_on(state, number, seat, s))}
    return {"late": late, "lifted": frozenset(s for s in spots if lifted(state, number, seat, s))}


def settled_so_far(state: TableState) -> Any:
    """The settlement of the hands opened so far; envy waits until all are open.

    Seats are opened in settlement order, so a seat's own amounts do not change afterwards.
    """
    known = frozenset(n for n, s in state.seats.items() if s.opened or s.out)
    record = record_of(state, only=known)
    if state.rules.book.bonus_card and state.bonus is None:
        seats = tuple(
            s._replace(wagers={k: v for k, v in s.wagers.items() if k != "six_card"})
            for s in record.seats
        )
        happened = tuple(e for e in record.events if getattr(e, "spot", None) != "six_card")
        record = record._replace(seats=seats, events=happened)
    return settle(record)


def paid_nets(state: TableState, voided: tuple[int, ...] = ()) -> dict[int, int]:
    """What the seats already settled have won or lost, by the pays they were settled with.

    A hand that was void before has given it back; ``voided`` became so just now.
    """
    paid = {n: s for n, s in state.seats.items() if s.settled and (not s.out or n in voided)}
    if not paid:
        return {}
    result = state.result or settled_so_far(replace(state, events=(), seats=paid))
    nets = {row["seat"]: row["net"] for row in result["seats"] if row["seat"] in paid}
    if None in nets.values():
        # A question about a hand leaves nets open; what was paid out before it was asked counts.
        told = tuple(
            e for e in _as_paid(state, voided) if getattr(e, "seat", None) in (None, *paid)
        )
        known = settled_so_far(replace(state, events=told, seats=paid))
        nets = {row["seat"]: row["net"] for row in known["seats"] if row["seat"] in paid}
    return {number: net for number, net in nets.items() if net is not None}


def _as_paid(state: TableState, voided: tuple[int, ...]) -> tuple[ev.Event, ...]:
    """The events without questions about a hand and without those that void it just now."""

    def counts(event: ev.Event) -> bool:
        found = rule_on(state.rules.book.rulings, (event,))
        gone = (isinstance(r, VoidHand) and r.seat in voided for r in found)
        return not any(gone) and not any(isinstance(r, HoldSeat) for r in found)

    return tuple(filter(counts, state.events))
