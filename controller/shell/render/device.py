"""``device``, ``watch``, ``chips``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from controller.shell.answers import Clocks, OneDevice, SeatChips, Watched
from controller.shell.render.text import cents, pairs, table, wrapped
from record.kit.words import counted

SHOWN: Final = 12
"""Frames on a screen; ``--json`` has all that are kept."""
HEX: Final = 24
"""Bytes of a frame on a line."""
ARROWS: Final = {"in": "<", "out": ">"}
LATER: Final = "    "
"""Indent of a wrapped line."""


def device(data: OneDevice, columns: int) -> Iterator[str]:
    said = data["identity"]
    rows: list[tuple[str, object]] = [
        ("device", f"{data['device']}, {data['kind']}"),
        ("state", " ".join(filter(None, (data["state"] or "-", data["code"], data["detail"])))),
    ]
    if said is not None:
        told = ", ".join(f"{key} {value}" for key, value in said.items() if value)
        rows.append(("identity", told))
    counters = data["counters"]
    rows.append(("counters", ", ".join(f"{k} {v}" for k, v in sorted(counters.items())) or "none"))
    yield from pairs(rows, columns)
    frames, beats = data["frames"], data["heartbeats"]
    if not frames and not beats:
        yield "no frames: it is on no serial line, or nothing came yet"
        return
    heard = data.get("heard_us")
    yield from pairs((("heard", "nothing" if heard is None else _ago(heard)),), columns)
    if not frames:
        yield f"no frames but {counted(beats, 'heartbeat')}"
        return
    last = frames[-1]["at_us"]
    more = f" and {counted(beats, 'heartbeat')}" if beats else ""
    shown = f"{min(len(frames), SHOWN)} of {len(frames)} kept{more}"
    yield from wrapped(f"last frames, newest last ({shown}):", columns)
    for one in frames[-SHOWN:]:
        ago = f"{(one['at_us'] - last) / 1_000_000:8.3f}"
        yield from wrapped(f"{ARROWS[one['direction']]} {ago} s {one['text']}", columns, "", LATER)
        if one["hex"]:
            octets = [one["hex"][at : at + 2] for at in range(0, len(one["hex"]), 2)]
            more = " ..." if len(octets) > HEX else ""
            yield from wrapped(" ".join(octets[:HEX]) + more, columns, LATER)


def _ago(us: int) -> str:
    return f"{us / 1_000_000:.1f} s ago"


def watch(data: Watched, columns: int) -> Iterator[str]:
    if data["missed"]:
        yield f"... {counted(data['missed'], 'reading')} missed in between"
    for row in data["readings"]:
        yield from wrapped(watched(row, data["now"]), columns, "", LATER)


def watched(row: Mapping[str, Any], now: Clocks) -> str:
    """One reading in one line, with the time of the clock on the wall."""
    known = ("device", "reading", "at_us")
    told = " ".join(f"{key}={_said(value)}" for key, value in row.items() if key not in known)
    at_ms = now["wall_ms"] - (now["us"] - row["at_us"]) // 1000
    at = f"{datetime.fromtimestamp(at_ms // 1000):%H:%M:%S}.{at_ms % 1000:03}"
    return f"{at} {row['device']:10} {row['reading']:14} {told}"


def _said(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_said, value)) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return "-" if value is None else str(value)


def chips(data: SeatChips, columns: int) -> Iterator[str]:
    who = f"seat {data['seat']}" if data["seat"] else "pot"
    yield f"{who}, {data['phase']}" + (
        f", {counted(data['credits'], 'credit')}" if data["credits"] else ""
    )
    rows = []
    for spot in data["spots"]:
        wrong = spot["wrong"] or ""
        locked = cents(spot["locked_cents"])
        rows.append(
            (spot["spot"], spot["antenna"], cents(spot["cents"]), locked, spot["state"], wrong)
        )
        rows += [
            ("", f"  {chip['uid']}", cents(chip["cents"]), "", chip["status"], chip["house"])
            for chip in spot["chips"]
        ]
    yield from table(("spot", "antenna", "counts", "locked", "state", ""), rows, columns)
