"""A closed round into the day: stakes, pays, awards, the progressive, what went wrong.

``record`` and ``result`` are those of the contract (docs/rules/): history needs no rule to be read.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from controller.history.gamingday.sheet import Day, Money, Wagers, count
from record.rounds import CONFIRMED, VOID, ending, returned

KEPT: Final = 50
"""Rounds that a table can still correct (the engine's KEPT_ROUNDS)."""
PROGRESSIVE: Final = "progressive"
_NO_REASON: Final = (
    CONFIRMED, "late_wager", "late_withdrawal", "unequal_wagers", "absent_player",
    "wagers_voided_by_supervisor", "cards_shown", "over_max_previous_round",
)  # fmt: skip
"""Events that never make a whole round void."""


class RoundBody(msgspec.Struct):
    number: int = msgspec.field(name="round")
    record: dict[str, Any]
    result: dict[str, Any]
    corrections: list[tuple[int, int, str]] = []
    ruled_anew: tuple[dict[str, Any], dict[str, Any]] | None = None


def round_recorded(day: Day, body: bytes) -> bool:
    """True if the round was closed by this record, False if it was put right."""
    found = msgspec.json.decode(body, type=RoundBody)
    if found.number <= day.carry.round:
        _again(day, found)
        return False
    _closed(day, found)
    return True


def _events(record: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = record["round"].get("events") or []
    return rows


def _closed(day: Day, found: RoundBody) -> None:
    result, rounds = found.result, day.rounds
    day.carry.round = rounds.last = found.number
    rounds.first = rounds.first or found.number
    happened = _events(found.record)
    for event in happened:
        if event["type"] != CONFIRMED:
            count(day.irregularities, event["type"])
    ended = ending(found.record, result)
    match ended:
        case "settled":
            rounds.settled += 1
        case "void":
            rounds.void += 1
            why = [e["type"] for e in happened if e["type"] not in _NO_REASON]
            named = ", ".join(dict.fromkeys(why)) or "supervisor"
            day.voids.add(found.number, named, ", ".join(result["clauses"]))
        case _:
            rounds.held += 1
    kept = sum(_seat(day, found.number, row, happened, ended) for row in result["seats"])
    if result["house_net"] is not None and result["house_net"] != kept:
        day.unbalanced.add(found.number, kept, result["house_net"])
    _pot(day, found.record.get("settings") or {}, result, ended)


def _seat(
    day: Day, number: int, row: dict[str, Any], happened: list[dict[str, Any]], ended: str
) -> int:
    """What the house keeps of this seat, as far as it is decided."""
    kept = 0
    placed = {spot: one for spot, one in row["wagers"].items() if one["status"] != "refused"}
    if placed:
        void = ended == VOID or all(one["status"] == VOID for one in placed.values())
        day.hands.void += void
        day.hands.played += not void
    for spot, one in row["wagers"].items():
        kept += _wager(day.wagers.setdefault(spot, Wagers()), one, ended)
    for award in row["awards"]:
        day.awards.setdefault(award["kind"], Money()).add(award["amount"])
        kept -= award["amount"]
    day.capped += row.get("payout_cap_reduction", 0)
    if PROGRESSIVE in row["wagers"]:
        late = sum(
            e["amount"]
            for e in happened
            if e["type"] == "late_wager" and (e["seat"], e["spot"]) == (row["seat"], PROGRESSIVE)
        )
        _progressive(day, number, row, late)
    return kept + int(row.get("payout_cap_reduction", 0))


def _wager(into: Wagers, one: dict[str, Any], ended: str) -> int:
    into.count += 1
    into.staked += one["placed"]
    to_player = returned(one, ended)
    if to_player is None:
        into.held += one["placed"]
        return 0
    win = one["win"] or 0
    into.returned += to_player - win
    into.paid += win
    house: int = one["placed"] - to_player
    into.house += house
    return house


def _progressive(day: Day, number: int, row: dict[str, Any], late: int) -> None:
    one, sheet = row["wagers"][PROGRESSIVE], day.progressive
    if not (posted := one["placed"] - late):
        return
    sheet.posted.add(posted)
    if one["status"] == "void":
        sheet.reversed.add(posted)
    if one["win"]:
        sheet.pays.setdefault(row["hand"], Money()).add(one["win"])
        if "%" in (one["odds"] or ""):
            sheet.claims.add(number, row["seat"], row["hand"], one["odds"], one["win"])
            sheet.claimed += one["win"]


def _pot(day: Day, settings: dict[str, Any], result: dict[str, Any], ended: str) -> None:
    """Ricochet: where a pot from earlier rounds went.

    Older records know one round only: what lay in the pot before is neither in what stays there
    nor in what its winners got.
    """
    pot, before = day.pot, settings.get("pot_carried_in") or 0
    if (stays := result.get("pot_carried")) is not None:
        pot.put += stays - before
        pot.carried_out += stays - before
    elif pot.carried_out and ended != VOID:
        winners = result.get("pot_winners")
        gone, pot.carried_out = pot.carried_out, 0
        if winners == ["dealer"]:
            pot.to_house += gone
        elif winners and before:
            pot.put -= gone  # the winners' own results have it
        elif winners:
            pot.to_seats += gone
        else:
            pot.ruled += gone


# --- afterwards --------------------------------------------------------------------------------


def _again(day: Day, found: RoundBody) -> None:
    """A round that was closed before: a mis-pay, or a fault noticed later.

    A round is recorded again as a whole; what of it was counted before is kept beside.
    """
    counted, house, events = day.carry.rewritten.get(
        found.number, (0, found.result["house_net"], len(_events(found.record)))
    )
    record, result = found.ruled_anew or (found.record, found.result)
    after, happened = result["house_net"], _events(record)
    entries = found.corrections[counted:]
    if (after, len(happened)) != (house, events):
        change = 0 if after is None or house is None else after - house
        day.ruled_anew.house += change
        day.ruled_anew.cases.add(found.number, ", ".join(result["clauses"]), change)
        for event in happened[events:]:
            count(day.irregularities, event["type"])
    else:
        for seat, cents, who in entries:
            day.corrections.cases.add(found.number, seat, cents, who[:200])
            day.corrections.paid += max(0, cents)
            day.corrections.collected += max(0, -cents)
    rewritten = day.carry.rewritten
    rewritten[found.number] = (len(found.corrections), after, len(happened))
    for old in [n for n in rewritten if n <= day.carry.round - KEPT]:
        del rewritten[old]
