"""Write the folder: every file, then the manifest with their hashes and one over itself."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from controller.evidence.clock import HouseClock
from controller.evidence.errors import EvidenceError
from controller.evidence.page import page_html
from controller.evidence.parts import PackParts
from controller.identity import program_hash
from record import verify_evidence as v

WHAT: Final = {
    v.EVENTS: "events of the link server in its order, each with its chain value",
    v.OPENING: "what the pools held before the first of them",
    v.STAFF: "the chain of staff orders, with the signatures of those who gave them",
    v.SERVER: "the award and those it hangs together with, their steps, terms, par sheets",
    v.TABLE: "journal records of the table around the round, each with its hash",
    v.FRAMES: "bytes of the devices during the round; of card devices only what became public",
    v.PAGE: "hand-pay slip and derivation, to be printed",
    v.PROGRAM: "checks all of this with Python alone",
}
CLAIM: Final = ("award", "table", "journal", "round", "seat", "hand", "percent", "event", "state",
                "cents")  # fmt: skip

Row = dict[str, Any]


def contents(parts: PackParts, clock: HouseClock) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    if parts.server is not None:
        files[v.EVENTS] = lines(parts.server.events)
        files[v.SERVER] = whole(parts.server.stated)
        if parts.server.staff:
            files[v.STAFF] = lines(parts.server.staff)
        if parts.server.opening is not None:
            files[v.OPENING] = whole(parts.server.opening)
    if parts.table is not None:
        files[v.TABLE] = lines([parts.table.head, *parts.table.rows])
        if parts.frames:
            files[v.FRAMES] = lines(parts.frames)
    files[v.PAGE] = page_html(parts, clock).encode()
    files[v.PROGRAM] = Path(v.__file__).read_bytes()
    return files


def lines(rows: Iterable[Row]) -> bytes:
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


def whole(value: Row) -> bytes:
    return json.dumps(value, indent=1).encode() + b"\n"


def manifest_of(parts: PackParts, files: dict[str, bytes], made_ms: int) -> bytes:
    amounts = ("cents", "jackpot_cents", "reset_cents", "state")
    row: Row = {
        "schema": v.SCHEMA,
        "award": parts.claim["award"],
        "claim": {name: parts.claim.get(name) for name in CLAIM},
        "amounts": None if parts.server is None else {n: parts.server.award[n] for n in amounts},
        "missing": parts.missing,
        "made_ms": made_ms,
        "made_by": program_hash(),
        "identity": parts.identity,
        "files": {
            name: {"what": WHAT[name], "sha256": hashlib.sha256(data).hexdigest(),
                   "size": len(data)}
            for name, data in files.items()
        },
        "self": "0" * 64,
    }  # fmt: skip
    return seal(row)


def seal(row: Row) -> bytes:
    """The manifest's own hash is over its bytes with zeros in the hash's place."""
    text = json.dumps({**row, "self": "0" * 64}, indent=1)
    digest = hashlib.sha256(text.encode() + b"\n").hexdigest()
    return text.replace(f'"self": "{"0" * 64}"', f'"self": "{digest}"').encode() + b"\n"


def write(folder: Path, parts: PackParts, clock: HouseClock, made_ms: int) -> bytes:
    """A new folder; an old one is evidence and stays. The manifest comes last."""
    files = contents(parts, clock)
    manifest = manifest_of(parts, files, made_ms)
    try:
        folder.mkdir(mode=0o750, parents=True)
        for name, data in {**files, v.MANIFEST: manifest}.items():
            with (folder / name).open("xb") as stream:
                stream.write(data)
    except OSError as error:
        said = f"{error.filename or folder}: {error.strerror}; give a new folder with --output"
        raise EvidenceError("E-EVD-008", said, os.EX_CANTCREAT) from None
    return manifest
