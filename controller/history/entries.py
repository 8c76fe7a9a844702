"""Journal bodies of what the table core journals: facts, sign-ons, calls, dropped credits.

Formats are kept for years: docs/protocols/journal-entries.md and tests/vectors/entries.toml have
every kind as literal text. Strict: an unknown kind, version or field refuses. A hidden card only
ever passes through the caller's ``hide``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from controller.history.codec import (
    BAD_VALUE,
    MISSING_FIELD,
    UNKNOWN_FIELD,
    Hide,
    Unhide,
    codec,
    take_fields,
)
from controller.history.errors import BodyError
from controller.rules.cards import HiddenCard
from controller.rules.engine import facts as f
from controller.rules.engine.entries import (
    CreditDropped,
    CreditGivenBack,
    Entry,
    Key,
    SignedOn,
    TableCall,
)
from controller.rules.engine.names import NAME_OF, WHATS
from record.kit.words import shown

VERSION: Final = 1
FACT: Final = "fact"
SIGNED_ON: Final = "signed-on"
TABLE_CALL: Final = "table-call"
CREDIT_DROPPED: Final = "credit-dropped"
CREDIT_GIVEN_BACK: Final = "credit-given-back"

NOT_JSON: Final = "E-ENT-001"
OTHER_VERSION: Final = "E-ENT-002"
UNKNOWN_KIND: Final = "E-ENT-003"

_OTHERS: Final[Mapping[str, type]] = {
    SIGNED_ON: SignedOn,
    TABLE_CALL: TableCall,
    CREDIT_DROPPED: CreditDropped,
    CREDIT_GIVEN_BACK: CreditGivenBack,
}
_KIND_OF: Final = {cls: kind for kind, cls in _OTHERS.items()}
ENTRY_KINDS: Final = frozenset((FACT, *_OTHERS))

_FACT_FIELDS: Final = frozenset(("what", "of", "by", "at_ms", "key", "state"))
_BY_DEVICE: Final = codec(f.Measured)
_BY_PERSON: Final = codec(f.Declared)


@dataclass(frozen=True, slots=True)
class Journalled:
    """An entry as it came back, the key of its reading, and the digest of the state it led to."""

    entry: Entry
    key: Key | None
    digest: str = ""


def cards_in(entry: Entry) -> tuple[HiddenCard, ...]:
    """The hidden cards of an entry, in the order in which they are sealed."""
    if not isinstance(entry, f.Fact):
        return ()
    match entry.what:
        case f.CardDrawn(card):
            return (card,)
        case f.PacketDispensed(cards):
            return cards
        case f.SupervisorRuled(card=HiddenCard() as card):
            return (card,)
        case _:
            return ()


def dump(body: Mapping[str, Any]) -> bytes:
    """A body with its version: compact, fields in a fixed order."""
    return msgspec.json.encode({"v": VERSION, **body})


def load(body: bytes) -> dict[str, Any]:
    """A body without its version, which must be one that this program knows."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BodyError(NOT_JSON, "", f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BodyError(NOT_JSON, "", f"{shown(found)}: expected an object")
    version = found.pop("v", None)
    if type(version) is not int or version != VERSION:
        said = f"{shown(version)}: this program reads version {VERSION}"
        raise BodyError(OTHER_VERSION, ".v", said)
    return found


# --- writing -----------------------------------------------------------------------------------


def encode_entry(entry: Entry, key: Key | None, hide: Hide, digest: str = "") -> tuple[str, bytes]:
    """The record's kind and body."""
    told = None if key is None else list(key)
    if isinstance(entry, f.Fact):
        row = {
            "what": NAME_OF[type(entry.what)],
            "of": codec(type(entry.what)).put(entry.what, hide),
            "by": _put_source(entry.by),
            "at_ms": entry.at_ms,
            "key": told,
            "state": digest,
        }
        return FACT, dump(row)
    row = codec(type(entry)).put(entry, _never)
    return _KIND_OF[type(entry)], dump({**row, "key": told})


def _put_source(by: f.Source) -> dict[str, Any]:
    row: dict[str, Any] = codec(type(by)).put(by, _never)
    return row


def _never(_: HiddenCard) -> Any:
    raise AssertionError("no hidden card has a place here")


# --- reading -----------------------------------------------------------------------------------


def decode_entry(kind: str, body: bytes, unhide: Unhide) -> Journalled:
    """An entry of one of ``ENTRY_KINDS``; ``BodyError`` names field, value and what is expected."""
    found = load(body)
    if kind == FACT:
        return _take_fact(found, unhide)
    if kind not in _OTHERS:
        raise BodyError(
            UNKNOWN_KIND, "", f"{shown(kind)}: expected {', '.join(sorted(ENTRY_KINDS))}"
        )
    key = _take_key(found)
    return Journalled(codec(_OTHERS[kind]).take(found, unhide), key)


def _take_fact(found: dict[str, Any], unhide: Unhide) -> Journalled:
    for name in found:
        if name not in _FACT_FIELDS:
            raise BodyError(UNKNOWN_FIELD, f".{name}", "unknown field; written by a newer program?")
    for name in sorted(_FACT_FIELDS - found.keys()):
        raise BodyError(MISSING_FIELD, f".{name}", "missing")
    kind = WHATS.get(found["what"]) if isinstance(found["what"], str) else None
    if kind is None:
        said = f"{shown(found['what'])}: no fact of this program; written by a newer one?"
        raise BodyError(UNKNOWN_KIND, ".what", said)
    taken = take_fields(
        {"of": found["of"], "by": found["by"], "at_ms": found["at_ms"], "state": found["state"]},
        {"of": codec(kind), "by": _source(found["by"]), "at_ms": codec(int), "state": codec(str)},
        [],
        unhide,
    )
    fact = f.Fact(taken["of"], taken["by"], taken["at_ms"])
    return Journalled(fact, _take_key(found), taken["state"])


def _source(by: Any) -> Any:
    return _BY_DEVICE if isinstance(by, dict) and "device" in by else _BY_PERSON


def _take_key(found: dict[str, Any]) -> Key | None:
    if "key" not in found:
        raise BodyError(MISSING_FIELD, ".key", "missing")
    key = found.pop("key")
    if key is None:
        return None
    sound = isinstance(key, list) and len(key) == 2
    if not sound or type(key[0]) is not str or type(key[1]) is not int:
        raise BodyError(BAD_VALUE, ".key", f"{shown(key)}: expected null or [device, number]")
    return key[0], key[1]
