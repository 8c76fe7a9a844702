"""The shape of a result: what the record's contract prints, built in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal

from controller.rules.money import conserved
from controller.rules.record import RoundRecord

WagerStatus = Literal[
    "win", "lose", "push", "withdrawn", "void", "refused", "forfeited", "supervisor"
]
RoundStatus = Literal["settled", "void", "supervisor"]

WagerResult = Mapping[str, Any]
"""Read-only: the same stakes meet the same fate over and over, so equal results are shared."""
SeatResult = dict[str, Any]
Result = dict[str, Any]


@lru_cache(maxsize=8192)
def wager_result(
    placed: int, status: WagerStatus, stake_back: int = 0, win: int = 0, odds: str | None = None
) -> WagerResult:
    return {
        "placed": placed,
        "status": status,
        "odds": odds,
        "win": win,
        "stake_back": stake_back,
        "to_player": win + stake_back,
    }


@lru_cache(maxsize=1024)
def held_wager(placed: int) -> WagerResult:
    """A wager that waits for the supervisor: nobody knows what it pays."""
    return {
        "placed": placed,
        "status": "supervisor",
        "odds": None,
        "win": None,
        "stake_back": None,
        "to_player": None,
    }


def seat_result(
    seat: int,
    hand: str | None,
    wagers: dict[str, WagerResult],
    awards: list[dict[str, Any]] | None = None,
    payout_cap_reduction: int = 0,
) -> SeatResult:
    """One seat; its net is null as long as one of its wagers waits for the supervisor."""
    awards = awards if awards is not None else []
    net: int | None = -payout_cap_reduction
    for wager in wagers.values():
        to_player = wager["to_player"]
        if to_player is None:
            net = None
            break
        net += to_player - wager["placed"]
    if net is not None:
        for award in awards:
            net += award["amount"]
    row: SeatResult = {"seat": seat, "hand": hand, "net": net, "awards": awards, "wagers": wagers}
    if payout_cap_reduction:
        row["payout_cap_reduction"] = payout_cap_reduction
    return row


def add_award(seat: SeatResult, award: dict[str, Any]) -> None:
    seat["awards"].append(award)
    if seat["net"] is not None:
        seat["net"] += award["amount"]


def finish(
    record: RoundRecord,
    status: RoundStatus,
    clauses: Iterable[str],
    seats: list[SeatResult],
    jackpot_after: int | None,
    **extra: Any,
) -> Result:
    """The whole result; the house's net is the other side of every seat's."""
    if status == "supervisor":
        for seat in seats:
            seat["net"] = None
    nets = [seat["net"] for seat in seats]
    house_net = None if status == "supervisor" or None in nets else -sum(nets)
    if house_net is not None:
        _check_conservation(seats, house_net)
    result: Result = {
        "game": record.book.key,
        "round_status": status,
        "clauses": list(dict.fromkeys(clauses)),
    }
    if record.book.progressive is not None:
        result["jackpot_before"] = record.settings.jackpot
        result["jackpot_after"] = jackpot_after
    result["house_net"] = house_net
    result["seats"] = seats
    result.update(extra)
    return result


def _check_conservation(seats: list[SeatResult], house_net: int) -> None:
    """Recomputed from the printed amounts, so that a wrong net cannot leave this room."""
    kept = 0
    for seat in seats:
        for wager in seat["wagers"].values():
            kept += wager["placed"] - wager["to_player"]
        for award in seat["awards"]:
            kept -= award["amount"]
        if "payout_cap_reduction" in seat:
            kept += seat["payout_cap_reduction"]
    conserved(kept, house_net, "seats and house")
