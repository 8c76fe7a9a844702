"""The verbs that look closer: at one device, at chips, the link, the journal, a round, the wait."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from controller.daemon.desk.answers import rows_of
from controller.daemon.desk.audit import wall_ms
from controller.daemon.desk.decoding import IsPublic, decoded
from controller.daemon.desk.desk import Act, Asked
from controller.daemon.desk.past import checked, past_round
from controller.daemon.desk.reach import Reach
from controller.daemon.desk.recent import Dealt
from controller.daemon.desk.why import clause, sentence
from controller.daemon.verbs import free_bytes
from controller.daemon.writer import Writer
from controller.rules.engine.entries import Key
from controller.rules.engine.state import Archive, Phase
from controller.rules.explain import event_text, explain
from controller.shell.errors import NOT_FOUND, NOT_NOW, Refused
from controller.table.asks import Ask
from controller.table.chips import Chips
from drivers.readings import Antenna
from drivers.transport.clock import now_us

POT: Final = "pot"
BEAT: Final = "HEARTBEAT"
"""Counted, not listed: they would hide everything else."""
MOST_FRAMES: Final = 200


def examining(reach: Reach) -> dict[str, Act]:
    async def device(asked: Asked) -> Mapping[str, Any]:
        return await one_device(reach, asked.words["device"])

    async def watch(asked: Asked) -> Mapping[str, Any]:
        return watched(reach, asked.words.get("device", ""), asked.cursor)

    async def chips(asked: Asked) -> Mapping[str, Any]:
        seat = 0 if asked.words["seat"] == POT else int(asked.words["seat"])
        return await reach.look(lambda writer: lying(writer, seat))

    async def link(_: Asked) -> Mapping[str, Any]:
        return {
            "configured": reach.config.link is not None,
            "link_up": reach.runtime.status.get("link_up"),
            "status": reach.link.status(),
            "fingerprints": reach.link.fingerprints(),
        }

    async def journal(_: Asked) -> Mapping[str, Any]:
        return await look_at_journal(reach)

    async def round_(asked: Asked) -> Mapping[str, Any]:
        number = asked.words.get("round")
        return await one_round(reach, None if number is None else int(number))

    async def why(_: Asked) -> Mapping[str, Any]:
        return await reach.look(waits)

    async def config(_: Asked) -> Mapping[str, Any]:
        return in_force(reach)

    return {
        "device": device,
        "watch": watch,
        "chips": chips,
        "link": link,
        "journal": journal,
        "round": round_,
        "why": why,
        "config": config,
    }


# --- devices ---------------------------------------------------------------------------------


async def one_device(reach: Reach, name: str) -> dict[str, Any]:
    row = next(one for one in rows_of(reach) if one["device"] == name)
    opened = await reach.look(lambda writer: Counter(writer.table_log.memory.opened))
    recent = reach.recent
    is_public = public_in(tuple(recent.dealt), name, opened)
    loop = asyncio.get_running_loop()
    pieces = recent.pieces(name)
    rows = await loop.run_in_executor(None, decoded, row["kind"], pieces, is_public)
    frames = [one for one in rows if not one["text"].startswith(BEAT)]
    heard = [one["at_us"] for one in rows if one["direction"] == "in"]
    return {
        **row,
        "identity": recent.identities.get(name),
        "heartbeats": len(rows) - len(frames),
        "heard_us": max(0, now_us() - heard[-1]) if heard else None,
        "frames": frames[-MOST_FRAMES:],
    }


def public_in(dealt: Sequence[Dealt], name: str, opened: Mapping[Key, int]) -> IsPublic:
    """``opened`` counts by reading the cards of it that became public."""

    def is_public(at_us: int, number: int, cards: int) -> bool:
        """All cards of the one reading that came with this frame have been opened."""
        place = (name, at_us, number)
        keys = {one.key for one in dealt if (one.device, one.at_us, one.number) == place}
        return len(keys) == 1 and opened.get((name, keys.pop()), 0) >= cards

    return is_public


def watched(reach: Reach, device: str, cursor: int | None) -> dict[str, Any]:
    """A first look begins now; later ones go on behind the cursor."""
    recent = reach.recent
    number = recent.last if cursor is None else min(max(cursor, 0), recent.last)
    rows, missed = recent.after(number, device)
    now = {"us": now_us(), "wall_ms": wall_ms()}
    return {"readings": rows, "missed": missed, "cursor": recent.last, "now": now}


# --- in the writer's thread ------------------------------------------------------------------


def lying(writer: Writer, seat: int) -> dict[str, Any]:
    """What lies on the spots of a seat: by sensor, and as the engine counts it."""
    core = writer.core
    state = core.state
    # Between rounds a seat still has what it had locked, for disputes; nothing is locked then.
    held = None if state.phase is Phase.IDLE else state.seats.get(seat)
    spots = []
    for place in core.seat_map.spots:
        antenna = core.seat_map.antenna(place)
        if place[0] != seat or antenna is None:
            continue
        spots.append(
            {
                "spot": place[1],
                "antenna": str(antenna),
                "state": _spot_state(core.chips, antenna, antenna.reader in core.health.down),
                "wrong": core.chips.wrong(antenna),
                "cents": state.spots.get(place, 0),
                "locked_cents": None if held is None else held.locked.get(place[1], 0),
                "chips": [
                    _chip(core.chips, uid) for uid in sorted(core.chips.tags.get(antenna, ()))
                ],
            }
        )
    return {
        "seat": seat,
        "phase": state.phase.value,
        "credits": state.credits.get(seat, 0),
        "spots": spots,
    }


def _spot_state(chips: Chips, antenna: Antenna, down: bool) -> str:
    if down:
        return "reader down"
    if antenna in chips.lost:
        return f"lost {chips.lost[antenna]}"
    if antenna in chips.moving:
        return "moving"
    return "settled" if antenna in chips.tags else "not read yet"


def _chip(chips: Chips, uid: Any) -> dict[str, Any]:
    found = chips.find(uid)
    if found is None:
        return {"uid": str(uid), "cents": None, "kind": "", "house": "", "status": "unknown"}
    return {
        "uid": str(uid),
        "cents": found.cents,
        "kind": found.kind,
        "house": found.house,
        "status": found.status,
    }


def waits(writer: Writer) -> dict[str, Any]:
    core, state = writer.core, writer.core.state
    told: dict[str, Any] = {"phase": state.phase.value, "round": state.round_no}
    if writer.locked:
        said = f"The table is locked out: {writer.locked}."
        return {**told, "sentence": said, "clause": "", "keys": [], "asked": "locked out"}
    ask = Ask("test mode", ()) if writer.test.is_on else core.ask
    return {
        **told,
        "sentence": sentence(ask),
        "clause": clause(ask, state),
        "keys": list(ask.keys),
        "asked": ask.code,
        "seat": ask.seat,
        "spot": ask.spot,
    }


# --- journal and rounds ----------------------------------------------------------------------


async def look_at_journal(reach: Reach) -> dict[str, Any]:
    folder = reach.config.journal.path
    status = reach.runtime.status.get("journal", {})
    found = await asyncio.get_running_loop().run_in_executor(None, checked, folder)
    return {
        **status,
        "path": str(folder),
        "repaired_bytes": reach.started.journal.repaired,
        "free_bytes": free_bytes(folder),
        **found,
    }


async def one_round(reach: Reach, number: int | None) -> dict[str, Any]:
    """From what the table keeps of its last rounds, or from the journal."""

    def kept(writer: Writer) -> Archive | Refused | None:
        state = writer.core.state
        history = state.history
        if number is None:
            return history[-1] if history else None
        if number == state.round_no and state.phase is not Phase.IDLE:
            return Refused(NOT_NOW, f"round {number} is not over: {state.phase.value}")
        return next((one for one in history if one.round_no == number), None)

    archive = await reach.look(kept)
    if isinstance(archive, Refused):
        raise archive
    if archive is not None:
        record, result = archive.current
        return told_round(archive.round_no, record, result, corrected=bool(archive.corrections))
    if number is None:
        raise Refused(NOT_FOUND, "no round is closed yet")
    last = await reach.look(lambda writer: writer.core.state.round_no)
    return await _from_journal(reach.config.journal.path, number, last)


async def _from_journal(folder: Path, number: int, last: int) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    body = await loop.run_in_executor(None, past_round, folder, number)
    if body is None and number > last:
        raise Refused(NOT_FOUND, f"there is no round {number} yet; the last one is {last}")
    if body is None:
        more = f"underfelt journal export-round {folder} {number} looks at all of it"
        raise Refused(NOT_FOUND, f"round {number} is not in the newer part of the journal; {more}")
    record, result = body.get("ruled_anew") or (body["record"], body["result"])
    return told_round(number, record, result, corrected=bool(body["corrections"]))


def told_round(number: int, record: Any, result: Any, *, corrected: bool) -> dict[str, Any]:
    """A closed round as the record has it: cards that never became public are not in it."""
    why = {
        str(row["seat"]): {spot: one._asdict() for spot, one in explained.items()}
        for row in result["seats"]
        if (explained := explain(record, result, row["seat"]))
    }
    events = [event_text(event) for event in record["round"].get("events") or ()]
    return {
        "round": number,
        "corrected": corrected,
        "record": record,
        "result": result,
        "why": why,
        "events": events,
    }


# --- configuration ---------------------------------------------------------------------------


def in_force(reach: Reach) -> dict[str, Any]:
    chosen = reach.started.writer.chosen
    values = reach.config.values if chosen is None else chosen.values
    return {
        "hash": reach.runtime.status.get("configuration", ""),
        "files": [str(path) for path in reach.config.files],
        "values": [
            {"key": key, "value": one.value, "origin": one.origin(key)}
            for key, one in values.items()
        ],
        "change": reach.runtime.status.get("configuration_change", {}),
    }
