"""Reads the table in the writer's thread, and describes a round; changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from controller.daemon.picture import asked
from controller.daemon.writer import Writer
from controller.rules.engine.entries import Key
from controller.rules.engine.state import Archive, Phase
from controller.rules.explain import event_text, explain
from controller.shell.answers import ChipRow, ClosedRound, SeatChips, SpotRow, WhyWaits
from controller.shell.desk.decoding import IsPublic
from controller.shell.desk.recent import Dealt
from controller.shell.errors import NOT_NOW, VerbRefused
from controller.table.chips import Chips
from controller.table.why import clause, sentence
from drivers.readings import Antenna, Uid


def lying(writer: Writer, seat: int) -> SeatChips:
    """The chips on the spots of a seat: by sensor, and as the engine counts them."""
    core = writer.core
    state = core.state
    # Between rounds a seat still has what it had locked, for disputes; nothing is locked then.
    held = None if state.phase is Phase.IDLE else state.seats.get(seat)
    spots: list[SpotRow] = []
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
        "credits": state.credits_now(seat),
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


def _chip(chips: Chips, uid: Uid) -> ChipRow:
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


def waits(writer: Writer) -> WhyWaits:
    state = writer.core.state
    phase, number = state.phase.value, state.round_no
    if writer.locked:
        said = f"The table is locked out: {writer.locked}."
        return WhyWaits(
            phase=phase, round=number, sentence=said, clause="", keys=[], asked="locked out"
        )
    ask = asked(writer)
    return {
        "phase": phase,
        "round": number,
        "sentence": sentence(ask),
        "clause": clause(ask, state),
        "keys": list(ask.keys),
        "asked": ask.code,
        "seat": ask.seat,
        "spot": ask.spot,
    }


def kept_round(writer: Writer, number: int | None) -> Archive | VerbRefused | None:
    """One of the last rounds, which the table keeps; the last one if none is named."""
    state = writer.core.state
    if number is None:
        return state.history[-1] if state.history else None
    if number == state.round_no and state.phase is not Phase.IDLE:
        return VerbRefused(NOT_NOW, f"round {number} is not over: {state.phase.value}")
    return next((one for one in state.history if one.round_no == number), None)


def told_round(number: int, record: Any, result: Any, *, corrected: bool) -> ClosedRound:
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


def public_in(dealt: Sequence[Dealt], name: str, opened: Mapping[Key, int]) -> IsPublic:
    """``opened`` counts by reading the cards of it that became public."""

    def is_public(at_us: int, number: int, cards: int) -> bool:
        """All cards of the one reading that came with this frame have been opened."""
        place = (name, at_us, number)
        keys = {one.key for one in dealt if (one.device, one.at_us, one.number) == place}
        return len(keys) == 1 and opened.get((name, keys.pop()), 0) >= cards

    return is_public
