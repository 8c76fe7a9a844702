"""``round``, ``link``, ``journal``, ``config``, ``identity`` and what is done elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from controller.shell.answers import (
    ClosedRound,
    ConfigInForce,
    JournalState,
    LinkAnswer,
    MadeBundle,
    Reboot,
    SafeMode,
)
from controller.shell.render.text import cents, pairs, table, wrapped
from record.kit.words import counted
from record.rounds import HIDDEN, ending, reason

MIB: Final = 1 << 20
HELD: Final = "policy.safe_mode"


def round_(data: ClosedRound, columns: int) -> Iterator[str]:
    played, result = data["record"]["round"], data["result"]
    again = ", corrected since" if data["corrected"] else ""
    ended = ending(data["record"], result)
    yield f"round {data['round']}, {data['record']['game']}: {ended}{again}"
    shared = [("community", "community"), ("dealer", "dealer")]
    for key, title in shared:
        if played.get(key):
            yield f"{title}: {_cards(played[key])}"
    if played.get("bonus_card"):
        yield f"middle card: {_cards([played['bonus_card']])}"
    results = {one["seat"]: one for one in result.get("seats", ())}
    for seat in played.get("seats", ()):
        why = data.get("why", {}).get(str(seat["seat"]), {})
        yield from _seat(seat, results.get(seat["seat"], {}), why, columns)
    for event in data.get("events", ()):
        yield from wrapped(f"event: {event}", columns)
    if result.get("clauses"):
        yield from wrapped(f"clauses: {', '.join(result['clauses'])}", columns)
    if result.get("question"):
        yield from wrapped(result["question"], columns)
    yield f"house net {cents(result.get('house_net'))}"


def _seat(
    seat: Mapping[str, Any], result: Mapping[str, Any], why: Mapping[str, Any], columns: int
) -> Iterator[str]:
    """The seat's hand, then each wager with the cards, the words and the clause behind it."""
    drawn = _cards([*(seat.get("cards") or ()), *(seat.get("draw") or ())])
    hand = result.get("hand") or ""
    net = cents(result.get("net"))
    yield f"seat {seat['seat']}: {drawn or 'no public cards'}  {hand}  net {net}"[:columns]
    for spot, one in result.get("wagers", {}).items():
        odds = f" {one['odds']}" if one["odds"] else ""
        paid = cents(one["to_player"])
        yield f"  {spot:11} {cents(one['placed']):>10} {one['status']}{odds}, back {paid}"[:columns]
        if behind := why.get(spot):
            clause = f" ({behind['clause']})" if behind["clause"] else ""
            said = reason(behind["cards"], behind["text"])
            yield from wrapped(f"{'':14}{said}{clause}", columns)
    for award in result.get("awards", ()):
        yield f"  {award['kind']} {cents(award['amount'])}"[:columns]


def _cards(cards: list[str | None]) -> str:
    return " ".join(HIDDEN if card is None else card for card in cards)


def link(data: LinkAnswer, columns: int) -> Iterator[str]:
    status = data["status"]
    if status is None:
        yield "this table has no link: the progressive stays closed"
        return
    ack, heard = status["last_ack_ms"], status["heard_ms"]
    rows: list[tuple[str, object]] = [
        ("state", status["state"] + (f": {status['trouble']}" if status["trouble"] else "")),
        ("server", f"{status['server'] or '-'} at {status['endpoint']}, epoch {status['epoch']}"),
        ("endpoints", ", ".join(status["endpoints"])),
        ("heard", "-" if heard is None else f"{heard} ms ago"),
        ("outbox", f"{status['waiting']} of {counted(status['events'], 'event')} waiting"),
        ("last ack", "-" if ack is None else f"{ack} ms ago"),
        ("malformed", status["malformed"]),
    ]
    rows += [(f"{whose} key", print_) for whose, print_ in data["fingerprints"].items()]
    yield from pairs(rows, columns)


def journal(data: JournalState, columns: int) -> Iterator[str]:
    end = (
        f"{counted(data['records_checked'], 'record')} verified"
        if data["verified"]
        else f"BROKEN: {data['why']}"
    )
    yield from pairs(
        (
            ("journal", data.get("id", "-")),
            ("path", data["path"]),
            ("next record", data.get("next_seq", "-")),
            ("head", data.get("head", "-")),
            ("segments", f"{data['segments']}, {data['bytes'] / MIB:.1f} MiB"),
            ("end", end),
            ("disk", f"{data['free_bytes'] / MIB:.0f} MiB free" + _full(data)),
            ("repaired", f"{counted(data['repaired_bytes'], 'byte')} at this start"),
        ),
        columns,
    )


def _full(data: JournalState) -> str:
    return "; FULL: no round opens" if data.get("full") else ""


def config(data: ConfigInForce, columns: int) -> Iterator[str]:
    yield from pairs((("hash", data["hash"]), ("files", ", ".join(data["files"]))), columns)
    rows = [(one["key"], json.dumps(one["value"], ensure_ascii=False)) for one in data["values"]]
    yield from table(("key", "value"), rows, columns)
    change = data["change"]
    if change.get("verdict", "nothing") == "nothing":
        yield "nothing waits"
        return
    yield from wrapped(f"waits ({change['verdict']}): {change['what_to_do']}", columns)
    for one in change.get("changes", ()):
        yield from wrapped(f"{one['key']}: {one['old']} -> {one['new']}", columns, "  ")
    if change.get("why"):
        yield from wrapped(change["why"], columns, "  ")


def identity(data: Mapping[str, Any], columns: int) -> Iterator[str]:
    rows = [(key, value) for key, value in data.items() if key != "files"]
    yield from pairs([*rows, ("files", f"{len(data['files'])}; --json has them all")], columns, 14)


def safe_mode(data: SafeMode, columns: int) -> Iterator[str]:
    by = data["by"]
    if not data["safe_mode"]:
        yield "safe mode is off: the progressive is taken"
    else:
        held = f"by {by} in the configuration" if by == HELD else f"ordered by {by}"
        yield from wrapped(f"safe mode is on, {held}: nothing is contributed", columns)
        end = "change it there, then reload" if by == HELD else "safe-mode off, by a supervisor"
        yield f"-> it ends with: {end}"
    if data["waits"] is not None:
        yield f"{HELD} = {str(data['waits']).lower()} waits for the end of the round"


def reboot(data: Reboot, columns: int) -> Iterator[str]:
    yield from wrapped(f"{data['ends']} ends; {data['then']}", columns)
    yield from wrapped(data["board"], columns)


def bundle(data: MadeBundle, columns: int) -> Iterator[str]:
    told = f"{data['file']}: {counted(data['size'], 'byte')}, {counted(len(data['files']), 'part')}"
    yield from wrapped(told, columns)
    for row in data["redacted"]:
        said = f"left out  {row['part']}: {row['what']} ({row['why']})"
        yield from wrapped(said, columns, "", " " * 10)
    for row in data["missing"]:
        yield from wrapped(f"missing   {row['part']}: {row['why']}", columns, "", " " * 10)
    if command := data["all_of_it"]:
        yield "-> what you may not read is missing; for all of it:"
        options = [" ".join(command[:3]), " ".join(command[3:5]), " ".join(command[5:])]
        yield from " \\\n      ".join(options).splitlines()  # one command, also when it is pasted
