"""From what the sockets answer to what the screen shows. Pure: rows in, views and notes out.

At a jackpot the demonstration's own staff act: a supervisor verifies, supervisor and manager
approve, the manager pays. Each step waits some seconds, so that a visitor can be faster, and much
longer once a visitor has taken a step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, NotRequired, TypedDict

from controller.demo.screen import FloorNote, MeterView, PendingAward, TableView, Weight
from record import rounds
from record.kit.money import cents_text

Clock = Callable[[int], str]
"""Milliseconds since 1970 as the clock on the wall."""


class EventRow(TypedDict):
    """``body`` is JSON, as the table sent it."""

    id: int
    table: str
    received_ms: int
    body: str


class AwardRow(TypedDict):
    award: str
    table: str
    round: int
    seat: int
    hand: str
    percent: int
    cents: int
    state: str


class StepRow(TypedDict):
    award: str
    step: int
    event: int
    state: str
    by: str
    role: str
    at_ms: int


class AlarmRow(TypedDict):
    id: int
    at_ms: int
    code: str
    table: str
    text: str


class MeterRow(TypedDict):
    pool: str
    level: str
    cents: int
    generation: int
    pending: NotRequired[int]


Body = Mapping[str, Any]
"""A table's event, by its ``what``: record/link/events.py."""
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


def meter_view(row: MeterRow, must_hit: Mapping[tuple[str, str], int]) -> MeterView:
    pool, level = row["pool"], row["level"]
    limit = must_hit.get((pool, level), 0)
    return MeterView(pool, level, row["cents"], row["generation"], row.get("pending", 0), limit)


# --- what happened -----------------------------------------------------------------------------


def note_of_event(row: EventRow, clock: Clock) -> FloorNote | None:
    """A table's event as the server has it; None for what no line is worth, such as a wager."""
    if not row["table"]:
        return None
    body = json.loads(row["body"])
    told = _TOLD.get(body["what"])
    if told is None:
        return None
    weight, text = told(body)
    return FloorNote(row["received_ms"], clock(row["received_ms"]), row["table"], text, weight)


def last_hand(row: EventRow) -> str:
    """How a round ended, in a word for its table's line; empty for any other event."""
    body = json.loads(row["body"]) if row["table"] else {}
    if body.get("what") != "round":
        return ""
    result = body["result"]
    ended = ending(body)
    return signed(result["house_net"]) if ended == SETTLED else ended


def ending(body: Body) -> str:
    ended = rounds.ending(body["record"], body["result"])
    return _ENDED.get(ended, ended)


def _round(body: Body) -> tuple[Weight, str]:
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


def _reversed(body: Body) -> tuple[Weight, str]:
    cents = sum(wager[1] for wager in body["wagers"])
    return "alarm", f"hand {body['round']}: {cents_text(cents)} of progressive wagers taken back"


def _claimed(body: Body) -> tuple[Weight, str]:
    claims = ", ".join(f"seat {s} {hand}, {share} %" for s, hand, share in body["claims"])
    return "jackpot", f"hand {body['round']} claims the jackpot: {claims}"


def _withdrawn(body: Body) -> tuple[Weight, str]:
    return "alarm", f"hand {body['round']}: the claim is withdrawn"


_TOLD: Final[dict[str, Callable[[Body], tuple[Weight, str]]]] = {
    "round": _round,
    "reversed": _reversed,
    "claimed": _claimed,
    "withdrawn": _withdrawn,
}


def note_of_step(step: StepRow, award: AwardRow, clock: Clock, *, before: str = "") -> FloorNote:
    """What people did with an award, or the ledger's lock of it. ``before`` is its state before
    this step: the first approval leaves it verified."""
    amount = cents_text(award["cents"])
    who = f" by {step['by']}" if step["role"] else ""
    if step["state"] == "locked" and not step["role"]:
        won = award["hand"] if award["percent"] else "mystery"
        where = f"hand {award['round']} seat {award['seat']}"
        text = f"JACKPOT $ {amount} {won}, {where}: {award['award']} locked"
    elif step["state"] == before == "verified":
        text = f"{award['award']} $ {amount} approved{who}; one more approval needed"
    else:
        text = f"{award['award']} $ {amount} {step['state']}{who}"
    return FloorNote(step["at_ms"], clock(step["at_ms"]), award["table"], text, "jackpot")


def note_of_alarm(row: AlarmRow, clock: Clock) -> FloorNote:
    text = f"{row['code']} {row['text']}"
    return FloorNote(row["at_ms"], clock(row["at_ms"]), row["table"] or "link", text, "alarm")


def signed(cents: int | None) -> str:
    if cents is None:
        return "open"
    return f"+{cents_text(cents)}" if cents > 0 else cents_text(cents)


# --- what the demonstration's people do ---------------------------------------------------------


SUPERVISOR, MANAGER = "sue", "max"
STAFF: Final = {MANAGER: "manager", SUPERVISOR: "supervisor"}
"""Simulated. Accounts of the demonstration's store alone, made with it, as the visitors' are."""
VISITORS: Final = {"vera": "supervisor", "victor": "manager"}
"""Two people, as one can never pay a jackpot."""
PAUSE_MS: Final = 15_000
LEFT_TO_VISITOR_MS: Final = 180_000
"""After a visitor's step the staff leave the award to the visitor for so long."""
_DUE: Final = {
    "locked": ("verify", (SUPERVISOR,)),
    "verified": ("approve", (SUPERVISOR, MANAGER)),
    "approved": ("pay", (MANAGER,)),
}
"""By the award's state: the order, and who gives it."""
_VERBS: Final = {"verify": "verify", "approve": "approve", "pay": "paid"}
"""The order as the command line says it."""
_ALONE: Final = {"verify": "verifies", "approve": "approves", "pay": "pays"}


class DueStep(NamedTuple):
    what: str
    award: str
    by: tuple[str, ...]
    at_ms: int


def due(awards: Iterable[AwardRow], steps: Iterable[StepRow]) -> list[DueStep]:
    """The next step of every award that waits for people, the oldest first."""
    from_ms: dict[str, int] = {}
    for step in steps:
        pause_ms = LEFT_TO_VISITOR_MS if step["by"] in VISITORS else PAUSE_MS
        from_ms[step["award"]] = step["at_ms"] + pause_ms
    found = []
    for award in awards:
        if award["state"] in _DUE:
            what, by = _DUE[award["state"]]
            found.append(DueStep(what, award["award"], by, from_ms.get(award["award"], 0)))
    return sorted(found, key=lambda one: one.at_ms)


def pending(
    one: DueStep, award: AwardRow, now_ms: int, *, command: str, config: str,
    passwords: Mapping[str, str], bots: bool,
) -> PendingAward:  # fmt: skip
    """How the screen shows it, with the command with which visitors do it."""
    who = " and ".join(f"{name} ({STAFF[name]})" for name in one.by)
    left = max(0, one.at_ms - now_ms + 999) // 1000
    verb, many = _VERBS[one.what], len(one.by) > 1
    does = one.what if many else _ALONE[one.what]
    when = f"{does} in {left} s, or you:" if bots else f"must {one.what}:"
    text = f"{one.award} $ {cents_text(award['cents'])}: {who} {when}"
    visitors = [name for name in VISITORS if VISITORS[name] in {STAFF[person] for person in one.by}]
    by = " ".join(f"--by {name} --password-file {passwords[name]}" for name in visitors)
    return PendingAward(
        one.award, text, f"{command} jackpot {verb} {one.award} {by} --config {config}"
    )
