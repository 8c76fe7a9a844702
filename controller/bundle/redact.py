"""What of a journal, a frame log and a log may leave the house. Pure.

Told by what may go, never by what may not: a kind of record or a field that is new stays at home
until somebody has thought about it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from controller.history.framelog import LoggedFrame
from record.journal import Record

Row = dict[str, Any]

WHOLE: Final = frozenset(
    (
        *("opened", "closed", "repair", "checkpoint", "configuration", "device", "shown"),
        *("odometer", "witness"),
    )
)
"""Kinds whose bodies hold neither a card nor a person."""
FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "fact": ("what", "at_ms", "state"),
    "round": ("round",),
    "outbox": ("n",),
    "selection": ("what", "round"),
    "revealed": ("fact",),
    "alarm": ("code", "device", "seat", "clause"),
    "table-call": ("kind",),
    "credit-dropped": ("seat", "number"),
    "credit-given-back": ("seat", "number"),
    "day": ("number", "date"),
    "test": ("event", "why", "device", "state"),
    "lock": (),
    "unlock": (),
}
"""Of these kinds, the fields that may be seen."""
HEX: Final = re.compile(r"\b[0-9a-fA-F]{24,}\b")
Z85: Final = re.compile(r"(?<![!-~])[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}(?![!-~])")
KEPT_DIGITS: Final = 12


def record_row(record: Record) -> tuple[Row, bool]:
    """Number, kind, time, size, hash, and of the body what may go; was anything left out?"""
    row: Row = {"seq": record.seq, "kind": record.kind, "at_ms": record.at_ms,
                "bytes": len(record.body), "hash": record.hash.hex()}  # fmt: skip
    try:
        body = json.loads(record.body)
    except ValueError:
        return row, True
    if not isinstance(body, dict):
        return row, True
    if record.kind in WHOLE:
        return row | {"body": body}, False
    seen = {name: body[name] for name in FIELDS.get(record.kind, ()) if name in body}
    by = body.get("by")
    if isinstance(by, dict):
        seen["by"] = {"device": by["device"]} if "device" in by else {"role": by.get("role")}
    return row | {"body": seen}, seen.keys() != body.keys()


def frame_row(frame: LoggedFrame) -> Row:
    """Bytes of chip readers and signs; of a sealed line only that something was said."""
    data = None if frame.sealed or frame.data is None else frame.data.hex()
    return {"number": frame.seq, "at_us": frame.at_us, "device": frame.device,
            "direction": frame.direction, "sealed": frame.sealed, "hex": data}  # fmt: skip


def log_lines(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line without what could be a key; was anything left out of it?"""
    for line in lines:
        if re.search(r"underfelt-[a-z0-9-]*(?:key|secret)[a-z0-9-]* \S{40,}", line):
            yield "[a line with a key in it]", True
            continue
        seen = HEX.sub(lambda found: f"{found[0][:KEPT_DIGITS]}...", line)
        seen = Z85.sub("[40 characters]", seen)
        yield seen, seen != line
