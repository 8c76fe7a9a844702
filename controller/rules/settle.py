"""Settlement: the one function that says what a round pays, live or from a record.

``settle`` is pure. It returns the result as JSON-ready values because that is what every user of it
needs: the live table, the command line, auditors and the simulation.
"""

from __future__ import annotations

from controller.rules.case import Case, make_case
from controller.rules.let_it_ride import settle_let_it_ride
from controller.rules.outcome import (
    Result,
    SeatResult,
    finish,
    held_wager,
    seat_result,
    wager_result,
)
from controller.rules.record import RoundRecord, SeatRecord
from controller.rules.ricochet_settle import settle_ricochet


def settle(record: RoundRecord) -> Result:
    """What should have been paid. Raises ``RecordError`` if the record cannot be a round."""
    case = make_case(record)
    if case.void:
        return _void_round(record, case)
    if case.questions:
        return supervisor_round(record, case)
    if record.book.family == "ricochet":
        return settle_ricochet(record)
    return settle_let_it_ride(record, case)


def _void_round(record: RoundRecord, case: Case) -> Result:
    """Every wager goes back, except what a supervisor has declared forfeit."""
    seats = []
    for seat in record.seats:
        if seat.seat in case.forfeit:
            seats.append(_forfeited(seat, case))
        else:
            wagers = {
                spot: wager_result(placed, "void", placed)
                for spot, placed in case.placed(seat).items()
            }
            seats.append(seat_result(seat.seat, None, wagers))
    return finish(record, "void", case.void, seats, record.settings.jackpot)


def _forfeited(seat: SeatRecord, case: Case) -> SeatResult:
    """A cheat loses what is still live; a spot taken back and a late part are his."""
    wagers = {}
    rides = case.must_ride.get(seat.seat, {})
    for spot, placed in case.placed(seat).items():
        late = 0 if seat.seat in case.corrected else case.late.get((seat.seat, spot), 0)
        if spot in seat.withdrawn and spot not in rides:
            wagers[spot] = wager_result(placed, "withdrawn", placed)
        elif late == placed:
            wagers[spot] = wager_result(placed, "refused", placed)
        else:
            wagers[spot] = wager_result(placed, "forfeited", late)
    return seat_result(seat.seat, None, wagers)


def supervisor_round(record: RoundRecord, case: Case) -> Result:
    """The book does not decide: nothing is settled, and the question says what is open."""
    asked = case.questions
    seats = []
    for seat in record.seats:
        wagers = {spot: held_wager(placed) for spot, placed in case.placed(seat).items()}
        if seat.action == "play" and record.ante:
            wagers["play"] = held_wager(record.ante)
        seats.append(seat_result(seat.seat, None, wagers))
    clauses = [q.clause for q in asked if q.clause is not None]
    question = " ".join(dict.fromkeys(q.question for q in asked))
    if record.book.family != "ricochet":
        return finish(record, "supervisor", clauses, seats, None, question=question)
    for row in seats:
        row["final"] = None
    unknown = dict.fromkeys(("kickout", "action_order", "pot", "pot_winners"))
    return finish(record, "supervisor", clauses, seats, None, **unknown, log=[], question=question)
