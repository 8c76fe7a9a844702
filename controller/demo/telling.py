"""From what the sockets answer to what the screen says. Pure: rows in, views and notes out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from controller.demo.screen import Meter, Note, TableView, Weight
from record import rounds
from record.kit.money import cents_text

Clock = Callable[[int], str]
"""Milliseconds since 1970 as the clock on the wall."""
TITLES: Final = {
    "MBS3": "Let It Ride",
    "PP6": "Pair Plus",
    "NSW": "NSW Act",
    "MEGA": "Megalink",
    "RICO": "Ricochet",
}
ILL: Final = ("stopped", "degraded")
_ENDED: Final = {"void": "void", "supervisor": "ruled on"}
"""How a round ends that is not settled: by the book, or by the supervisor's word."""
SETTLED: Final = "settled"
TEST_MODE: Final = "TEST MODE"
"""Instead of the phase: the table is out of play, in a technician's hands."""


def table_view(name: str, game: str, status: Mapping[str, Any]) -> TableView:
    """From the status socket; an empty status is a table that does not answer."""
    title = TITLES[game]
    if "phase" not in status:
        return TableView(name, title)
    devices = status["devices"].values()
    link = status.get("link")
    ill = [t for t in status.get("troubles", ()) if t["level"] in ILL]
    return TableView(
        name,
        title,
        TEST_MODE if status.get("test_mode") else status["phase"],
        status["round"],
        bool(status["progressive"]),
        "" if link is None else str(link["state"]),
        0 if link is None else int(link["waiting"] or 0),
        sum(device["state"] == "ready" for device in devices),
        len(devices),
        tuple(status["prompt"]),
        f"{ill[0]['code']} {ill[0]['about']}: {ill[0]['what']}" if ill else "",
    )


def meter_view(row: Mapping[str, Any], must_hit: Mapping[tuple[str, str], int]) -> Meter:
    pool, level = str(row["pool"]), str(row["level"])
    limit = must_hit.get((pool, level), 0)
    return Meter(pool, level, row["cents"], row["generation"], row.get("pending", 0), limit)


# --- what happened -----------------------------------------------------------------------------


def note_of_event(row: Mapping[str, Any], clock: Clock) -> Note | None:
    """A table's event as the server has it; None for what no line is worth, such as a wager."""
    if not row["table"]:
        return None
    body = json.loads(row["body"])
    told = _TOLD.get(body["what"])
    if told is None:
        return None
    weight, text = told(body)
    return Note(row["received_ms"], clock(row["received_ms"]), row["table"], text, weight)


def last_hand(row: Mapping[str, Any]) -> str:
    """How a round ended, in a word for its table's line; empty for any other event."""
    body = json.loads(row["body"]) if row["table"] else {}
    if body.get("what") != "round":
        return ""
    result = body["result"]
    ended = ending(body)
    return signed(result["house_net"]) if ended == SETTLED else ended


def ending(body: Mapping[str, Any]) -> str:
    ended = rounds.ending(body["record"], body["result"])
    return _ENDED.get(ended, ended)


def _round(body: Mapping[str, Any]) -> tuple[Weight, str]:
    result, hand = body["result"], f"hand {body['round']}"
    if ending(body) != SETTLED:
        return "alarm", f"{hand}: {ending(body)}"
    won = sorted((s["net"], -s["seat"], s) for s in result["seats"] if (s["net"] or 0) > 0)
    best = ""
    if won:
        net, _, seat = won[-1]
        with_hand = f" with {_hand(seat['hand'])}" if seat.get("hand") else ""
        best = f"; seat {seat['seat']} wins {cents_text(net)}{with_hand}"
    awards = "".join(f"; {kind} pays {cents_text(c)}" for _, kind, c in body.get("awards", ()))
    weight: Weight = "hit" if awards else "plain"
    return weight, f"{hand} settled, house {signed(result['house_net'])}{best}{awards}"


def _hand(hand: object) -> str:
    return str(hand if isinstance(hand, str) else "a hand")


def _reversed(body: Mapping[str, Any]) -> tuple[Weight, str]:
    cents = sum(wager[1] for wager in body["wagers"])
    return "alarm", f"hand {body['round']}: {cents_text(cents)} of progressive wagers taken back"


def _claimed(body: Mapping[str, Any]) -> tuple[Weight, str]:
    claims = ", ".join(f"seat {s} {hand}, {share} %" for s, hand, share in body["claims"])
    return "jackpot", f"hand {body['round']} claims the jackpot: {claims}"


def _withdrawn(body: Mapping[str, Any]) -> tuple[Weight, str]:
    return "alarm", f"hand {body['round']}: the claim is withdrawn"


_TOLD: Final[dict[str, Callable[[Mapping[str, Any]], tuple[Weight, str]]]] = {
    "round": _round,
    "reversed": _reversed,
    "claimed": _claimed,
    "withdrawn": _withdrawn,
}


def note_of_step(
    step: Mapping[str, Any], award: Mapping[str, Any], clock: Clock, *, before: str = ""
) -> Note:
    """What people did with an award, or the ledger's lock of it. ``before`` is its state before
    this step: the first approval leaves it verified."""
    amount = cents_text(award["cents"])
    who = f" by {step['by']}" if step["role"] else ""
    if step["state"] == "locked" and not step["role"]:
        won = award["hand"] if award["percent"] else "mystery"
        where = f"hand {award['round']} seat {award['seat']}"
        text = f"JACKPOT $ {amount} {won}, {where}: {award['award']} locked"
    elif step["state"] == before == "verified":
        text = f"{award['award']} $ {amount} approved{who}, one more has to"
    else:
        text = f"{award['award']} $ {amount} {step['state']}{who}"
    return Note(step["at_ms"], clock(step["at_ms"]), award["table"], text, "jackpot")


def note_of_alarm(row: Mapping[str, Any], clock: Clock) -> Note:
    text = f"{row['code']} {row['text']}"
    return Note(row["at_ms"], clock(row["at_ms"]), row["table"] or "link", text, "alarm")


def signed(cents: int | None) -> str:
    if cents is None:
        return "open"
    return f"+{cents_text(cents)}" if cents > 0 else cents_text(cents)
