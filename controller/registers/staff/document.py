"""The register file: one line with key and signature, then the JSON document they are over.

The signature covers the document's bytes as they stand, so nothing has to be written twice the
same way to be believed. Nothing of the document is looked at before its signature fits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from controller.registers.checks import check_signature, check_structure, check_version
from controller.registers.errors import Problem, RegisterError, UnreadableError
from controller.registers.keys import Signed, SigningSecret
from controller.registers.kinds import STAFF
from controller.registers.rollout import Seen
from controller.registers.staff.people import MAX_NAME, Person, as_row, from_row, row_faults

FORMAT: Final = "underfelt-staff-1"
MAX_BYTES: Final = 32 * 2**20
MAX_PEOPLE: Final = 20_000
HOUSE: Final = re.compile(r"[A-Za-z0-9._-]{1,16}")
_HEAD: Final = re.compile(rb"underfelt-staff-(\d{1,4}) ([0-9a-f]{64}) ([0-9a-f]{128})\n")
_FIELDS: Final = ("house", "version", "issued_at", "people", "history")
_ENTRY_FIELDS: Final = ("version", "at", "by", "did")
MOST_TEXT: Final = 200


@dataclass(frozen=True, slots=True)
class StaffEntry:
    """Who did what to the register, and when (seconds since 1970)."""

    version: int
    at: int
    by: str
    did: str


@dataclass(frozen=True, slots=True)
class Document:
    """A register's content; ``people`` by id."""

    house: str
    version: int
    issued_at: int
    people: Mapping[str, Person]
    history: tuple[StaffEntry, ...]


@dataclass(frozen=True, slots=True)
class LoadedStaff:
    """A register whose signature and structure hold, and the file's bytes."""

    document: Document
    seen: Seen
    file: bytes

    def continues(self, old: LoadedStaff) -> bool:
        """Does its history begin with the old one?"""
        before = old.document.history
        return self.document.history[: len(before)] == before


def sealed(document: Document, key: SigningSecret) -> bytes:
    """The file's bytes."""
    row = {
        "house": document.house,
        "version": document.version,
        "issued_at": document.issued_at,
        "people": [as_row(p) for _, p in sorted(document.people.items(), key=_by_number)],
        "history": [
            {"version": e.version, "at": e.at, "by": e.by, "did": e.did} for e in document.history
        ],
    }
    body = json.dumps(row, indent=1, ensure_ascii=False).encode() + b"\n"
    signature = key.sign(_message(key.public, body))
    return f"{FORMAT} {key.public.hex()} {signature.hex()}\n".encode() + body


def load(path: Path, public_key: bytes | None, *, minimum_version: int = 0) -> LoadedStaff:
    """``public_key`` None trusts the key in the file: it proves the file whole, not whose it is."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableError(Problem("E-STAF-050", str(error.strerror), str(path))) from None
    if len(raw) > MAX_BYTES:
        raise _bad(path, "E-STAF-013", f"more than {MAX_BYTES:,} bytes")
    body = _proven(path, raw, public_key)
    document = _document(path, body)
    check_version(STAFF, path, document.version, minimum_version)
    return LoadedStaff(document, Seen(document.version, sha256(raw).hexdigest()), raw)


def _by_number(item: tuple[str, Person]) -> int:
    return int(item[0])


def _message(public_key: bytes, body: bytes) -> bytes:
    return FORMAT.encode() + public_key + body


def _bad(path: Path, code: str, text: str) -> RegisterError:
    return RegisterError(Problem(code, text, str(path)))


def _proven(path: Path, raw: bytes, public_key: bytes | None) -> bytes:
    head = _HEAD.match(raw)
    if head is None:
        raise _bad(path, "E-STAF-001", "not a staff register")
    if head[1] != b"1":
        raise _bad(path, "E-STAF-002", f"format {head[1].decode()}; expected 1")
    own_key, body = bytes.fromhex(head[2].decode()), raw[head.end() :]
    proof = Signed(_message(own_key, body), bytes.fromhex(head[3].decode()), own_key)
    check_signature(STAFF, path, proof, public_key, "register")
    return body


def _document(path: Path, body: bytes) -> Document:
    try:
        row = json.loads(body)
    except (ValueError, RecursionError):
        raise _bad(path, "E-STAF-007", "signed, but not JSON") from None
    check_structure(STAFF, path, _faults(row))
    people = {one["id"]: from_row(one) for one in row["people"]}
    history = tuple(StaffEntry(e["version"], e["at"], e["by"], e["did"]) for e in row["history"])
    return Document(row["house"], row["version"], row["issued_at"], people, history)


def _faults(row: Any) -> Iterator[str]:
    if not isinstance(row, dict) or set(row) != set(_FIELDS):
        yield f"it does not have exactly the fields {', '.join(_FIELDS)}"
        return
    if not isinstance(row["house"], str) or not HOUSE.fullmatch(row["house"]):
        yield "house: expected 1 to 16 letters, digits, '.', '_' or '-'"
    if not _number(row["version"]) or not _number(row["issued_at"]):
        yield "version, issued_at: expected whole numbers, at least 1"
    people = row["people"]
    if not isinstance(people, list) or len(people) > MAX_PEOPLE:
        yield f"people: expected a list of at most {MAX_PEOPLE}"
        return
    sound = True
    for one in people:
        for fault in row_faults(one):
            sound = False
            yield fault
    if sound and len({one["id"] for one in people}) != len(people):
        yield "an id is there twice"
    yield from _history_faults(row["history"], row["version"])


def _history_faults(history: Any, version: Any) -> Iterator[str]:
    if not isinstance(history, list) or not history:
        yield "history: expected a list that is not empty"
        return
    for entry in history:
        if not isinstance(entry, dict) or set(entry) != set(_ENTRY_FIELDS):
            yield f"an entry of the history has not the fields {', '.join(_ENTRY_FIELDS)}"
            return
        texts = all(isinstance(entry[f], str) and entry[f] for f in ("by", "did"))
        if not texts or not _number(entry["version"]) or not _number(entry["at"]):
            yield "an entry of the history is not sound"
            return
    versions = [entry["version"] for entry in history]
    if versions != list(range(1, len(versions) + 1)) or versions[-1] != version:
        yield "the history does not lead to this version, step by step"


def _number(value: object) -> bool:
    return type(value) is int and 1 <= value < 2**53


def text_fault(text: str) -> str | None:
    """Of a name of who did it."""
    if not text.strip() or len(text) > MAX_NAME or not text.isprintable():
        return f"expected 1 to {MAX_NAME} printable characters"
    return None
