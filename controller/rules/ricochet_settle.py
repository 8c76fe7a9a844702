"""Settlement of a Ricochet round: the pot, and the two bonus wagers."""

from __future__ import annotations

from typing import Any, cast

from controller.rules.cards import Card
from controller.rules.errors import RecordError
from controller.rules.hands import CLASS_OF, HAND_NAMES, rank5, two_card_value
from controller.rules.money import split_pot
from controller.rules.outcome import (
    Result,
    SeatResult,
    WagerResult,
    finish,
    held_wager,
    seat_result,
    wager_result,
)
from controller.rules.paytables import Odds
from controller.rules.record import RoundRecord, SeatRecord
from controller.rules.ricochet import (
    Showdown,
    dealer_class,
    fold,
    open_showdown,
    play,
    pot_winners,
    rapid_fire,
)

Five = tuple[Card, Card, Card, Card, Card]


def settle_ricochet(record: RoundRecord) -> Result:
    playing = _check(record)
    clauses = ["RICO-1"] if any(s.wagers and "ante" not in s.wagers for s in record.seats) else []
    dealer = rank5(*cast(Five, record.dealer)) if playing else 0
    table, strengths = _walk(record, playing, dealer)
    shares: dict[int, int] = {}
    winners: list[int | str] | None
    question: str | None = None
    carried_in = record.settings.pot_carried_in
    carried = carried_in or None if not playing else None
    pot = table.pot if playing else carried_in
    live = pot_winners(table)
    if live:
        one_each = record.settings.odd_chips == "one_each_from_last"
        shares = split_pot(table.pot, live, record.settings.smallest_chip, one_each=one_each)
        winners = [*sorted(shares)]
    elif table.dealer is not None or not playing:
        winners = ["dealer"] if playing else []
    else:
        match record.settings.orphan_pot:
            case "last_player":
                last = table.order[-1]
                # His own ante went in with the fold; it comes back to him as his stake.
                pot -= table.ante
                shares, winners = {last: pot}, [last]
            case "house":
                winners = ["dealer"]
            case "carry":
                winners, carried = [], table.pot
            case _:
                winners = None
                question = (
                    "Nobody is left to take the pot: the rule book does not decide. Answers: "
                    "the last to act takes it, the house takes it, or it is carried over."
                )
    seats = [
        _seat(record, seat, table, (dealer, strengths), None if winners is None else shares)
        for seat in record.seats
    ]
    extra: dict[str, Any] = {
        "kickout": table.kickout,
        "action_order": list(table.order),
        "pot": pot,
        "pot_winners": winners,
        "log": table.log if playing else [],
    }
    if carried is not None:
        extra["pot_carried"] = carried
    if question is not None:
        return finish(record, "supervisor", ["RICO-9"], seats, None, question=question, **extra)
    waits = _bonus_questions(seats)
    if waits:
        extra["question"] = waits
        clauses += [c for name, c in _PAY_CLAUSE.items() if name in waits]
    return finish(record, "settled", clauses, seats, None, **extra)


def _check(record: RoundRecord) -> list[SeatRecord]:
    """The seats with an ante; raises if the record of a plain round has gaps."""
    playing = [s for s in record.seats if s.wagers.get("ante")]
    if record.dealer:
        _expect(record.dealer, 5, "$.round.dealer")
    if not playing:
        return playing
    set_ante = record.settings.ante
    if not record.ante or (set_ante is not None and set_ante != record.ante):
        found = record.ante or "missing, or 0"
        expected = f"expected {set_ante} as set" if set_ante else "expected an amount above 0"
        raise RecordError("E-REC-017", "$.round.ante", f"{found}: {expected}")
    for seat in playing:
        if seat.wagers["ante"] != record.ante:
            raise RecordError(
                "E-REC-017",
                f"{seat.path}.wagers.ante",
                f"{seat.wagers['ante']}: every ante equals the common ante of {record.ante}",
            )
        if len(seat.cards) != 2 or None in seat.cards:
            _expect(seat.cards, 2, f"{seat.path}.cards")
        if seat.action is None:
            raise RecordError(
                "E-REC-012", f"{seat.path}.action", 'missing; expected "play" or "fold"'
            )
        if seat.action == "play" and (len(seat.draw) != 3 or None in seat.draw):
            _expect(seat.draw, 3, f"{seat.path}.draw")
    _expect(record.dealer, 5, "$.round.dealer")
    return playing


def _expect(held: tuple[Card | None, ...], count: int, path: str) -> None:
    if len(held) != count or None in held:
        known = sum(c is not None for c in held)
        raise RecordError(
            "E-REC-016", path, f"{known} cards; expected {count}, or an event that explains it"
        )


def _walk(
    record: RoundRecord, playing: list[SeatRecord], dealer: int
) -> tuple[Showdown, dict[int, int]]:
    """Let every seat act in order; also returns each played hand's strength."""
    two = {s.seat: cast("tuple[Card, Card]", s.cards) for s in playing}
    table = open_showdown(record.ante, two, dealer, record.settings.pot_carried_in)
    by_number = {s.seat: s for s in playing}
    strengths: dict[int, int] = {}
    must_top_all = record.settings.ricochet_order == "must_top_all"
    for number in table.order:
        seat = by_number[number]
        if seat.action == "fold":
            fold(table, number)
        else:
            five: tuple[Card, ...] = seat.cards + seat.draw  # type: ignore[assignment]
            strengths[number] = rank5(*five)
            play(table, number, strengths[number], must_top_all=must_top_all)
    return table, strengths


def _seat(
    record: RoundRecord,
    seat: SeatRecord,
    table: Showdown,
    strength_of: tuple[int, dict[int, int]],
    shares: dict[int, int] | None,
) -> SeatResult:
    """One seat; ``shares`` is None while the supervisor has to say whose the pot is."""
    dealer, strengths = strength_of
    number, wagers = seat.seat, {}
    if "ante" not in seat.wagers:
        for spot, placed in seat.wagers.items():
            wagers[spot] = wager_result(placed, "refused", placed)
        return {**seat_result(number, None, wagers), "final": None}
    ante = seat.wagers["ante"]
    if shares is None:
        wagers["ante"] = held_wager(ante)
    elif number in shares:
        wagers["ante"] = wager_result(ante, "win", ante, shares[number])
    else:
        wagers["ante"] = wager_result(ante, "lose")
    if number in strengths:
        if shares is None:
            wagers["play"] = held_wager(ante)
        else:
            won = number in shares
            wagers["play"] = wager_result(ante, "win" if won else "lose", ante if won else 0)
    for spot, bonus in settle_bonus_wagers(record, seat, dealer).items():
        wagers[spot] = held_wager(seat.wagers[spot]) if shares is None else bonus
    hand = (
        HAND_NAMES[CLASS_OF[strengths[number]]]
        if number in strengths and shares is not None
        else None
    )
    row = seat_result(number, hand, wagers)
    row["final"] = table.final.get(number, "live")
    return row


def _paid(stake: int, to_one: int) -> WagerResult:
    """Odds of 0 to 1 are a push."""
    if to_one == 0:
        return wager_result(stake, "push", stake)
    return wager_result(stake, "win", stake, stake * to_one, Odds(to_one).text)


def settle_bonus_wagers(
    record: RoundRecord, seat: SeatRecord, dealer: int
) -> dict[str, WagerResult]:
    """Rapid Fire and HedgeBet: decided by the deal alone, whatever happens to the pot."""
    wagers = {}
    if stake := seat.wagers.get("rapid_fire"):
        wagers["rapid_fire"] = _rapid_fire(record, seat, stake, dealer)
    if stake := seat.wagers.get("hedge"):
        wagers["hedge"] = _hedge(record, stake, dealer)
    return wagers


def _rapid_fire(record: RoundRecord, seat: SeatRecord, stake: int, dealer: int) -> WagerResult:
    own: tuple[Card, ...] = seat.cards  # type: ignore[assignment]
    result = rapid_fire(two_card_value(*own), dealer)
    if result == "lose":
        return wager_result(stake, "lose")
    pays = record.settings.rapid_fire_pay
    return held_wager(stake) if pays is None else _paid(stake, pays[result])


def _hedge(record: RoundRecord, stake: int, dealer: int) -> WagerResult:
    pays = record.settings.hedge_pay
    if pays is None:
        return held_wager(stake)
    to_one = pays.get(dealer_class(dealer))
    return wager_result(stake, "lose") if to_one is None else _paid(stake, to_one)


_PAY_CLAUSE = {"rapid_fire": "RICO-RFP", "hedge": "RICO-HBP"}


def _bonus_questions(seats: list[SeatResult]) -> str:
    """What waits for a pay table, in words."""
    open_wagers = [
        f"Seat {s['seat']}: {spot} has no pay table; what does it pay?"
        for s in seats
        for spot in _PAY_CLAUSE
        if s["wagers"].get(spot, {}).get("status") == "supervisor"
    ]
    return " ".join(open_wagers)
