"""The state of a table on disk: a digest after every fact, and the whole of it between rounds.

A ``standing`` record is where a replay starts, so that a start does not depend on the age of the
journal. Closed rounds stand in their own ``round`` records; a snapshot names them by number.
A field that holds its default is left out, so a field added later changes no older digest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import date
from hashlib import blake2b
from typing import Any, Final, get_type_hints

import msgspec

from controller.history.codec import BAD_VALUE, Codec, Hide, Unhide, codec, take_fields
from controller.history.entries import NOT_JSON, dump, load
from controller.history.errors import BodyError
from controller.history.gamingday import fold
from controller.history.gamingday.sheet import Day
from controller.rules.cards import HiddenCard
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.rules.engine.state import Archive, TableRules, TableState

SNAPSHOT: Final = "standing"
ROUND: Final = "round"
DIGEST_BYTES: Final = 8
"""Against mistakes, not against people: the journal's hash chain is for those."""

_HINTS: Final = get_type_hints(TableState)
_APART: Final = ("rules", "history")
STATE_FIELDS: Final[Mapping[str, Codec]] = {
    one.name: codec(_HINTS[one.name]) for one in fields(TableState) if one.name not in _APART
}
_DEFAULTS: Final[Mapping[str, Any]] = {
    one.name: one.default if one.default_factory is MISSING else one.default_factory()
    for one in fields(TableState)
    if one.name != "rules"
}
HIDDEN: Final = "?"


def masked(_: HiddenCard) -> str:
    """What stands for a hidden card in a digest: that it is there, not which."""
    return HIDDEN


# --- closed rounds -----------------------------------------------------------------------------

_PAIR: Final = codec(tuple[Any, Any] | None)
_CORRECTIONS: Final = codec(tuple[tuple[int, int, str], ...])
_ROUND_FIELDS: Final = {
    "round": codec(int),
    "record": codec(Any),
    "result": codec(Any),
    "corrections": _CORRECTIONS,
    "ruled_anew": _PAIR,
}


def round_body(archive: Archive) -> bytes:
    """A closed round: its record, its settlement, and what was corrected since."""
    return dump(
        {
            "round": archive.round_no,
            "record": archive.record,
            "result": archive.result,
            "corrections": _CORRECTIONS.put(archive.corrections, masked),
            "ruled_anew": _PAIR.put(archive.ruled_anew, masked),
        }
    )


class _Number(msgspec.Struct):
    round: int


def round_number(body: bytes) -> int:
    """The number alone, without building the rest."""
    try:
        return msgspec.json.decode(body, type=_Number).round
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BodyError(NOT_JSON, "", f"no round: {error}") from None


def take_round(body: bytes, unhide: Unhide) -> Archive:
    taken = take_fields(load(body), _ROUND_FIELDS, list(_ROUND_FIELDS), unhide)
    return Archive(
        taken["round"],
        taken["record"],
        taken["result"],
        taken["corrections"],
        taken["ruled_anew"],
    )


# --- the digest --------------------------------------------------------------------------------


class StateDigest:
    """The digest of what is public in a state. Unchanged fields are not looked at again."""

    __slots__ = ("_archives", "_seen")

    def __init__(self) -> None:
        self._seen: dict[str, tuple[Any, bytes]] = {}
        self._archives: dict[int, tuple[Archive, bytes]] = {}

    def of(self, state: TableState) -> str:
        whole = blake2b(digest_size=DIGEST_BYTES)
        for name, default in _DEFAULTS.items():
            value = getattr(state, name)
            seen = self._seen.get(name)
            if seen is None or seen[0] is not value:
                told = b"" if value == default else self._field(name, value)
                self._seen[name] = seen = (value, told)
            whole.update(seen[1])
        return whole.hexdigest()

    def _field(self, name: str, value: Any) -> bytes:
        told: list[Any]
        if name == "history":
            told = [self._archive(archive).hex() for archive in value]
            self._archives = {a.round_no: self._archives[a.round_no] for a in value}
        elif name == "notes":
            # Notes are only ever added: their number and the last one say it all.
            told = [len(value), value[-1]]
        else:
            told = STATE_FIELDS[name].put(value, masked)
        return blake2b(msgspec.json.encode([name, told]), digest_size=16).digest()

    def _archive(self, archive: Archive) -> bytes:
        seen = self._archives.get(archive.round_no)
        if seen is None or seen[0] is not archive:
            told = blake2b(round_body(archive), digest_size=16).digest()
            self._archives[archive.round_no] = seen = (archive, told)
        return seen[1]


# --- snapshots ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Opening:
    """What a table was opened with: enough to have the same rules again."""

    game: str
    settings: Mapping[str, Any]
    """As they stand in the configuration, in JSON values."""
    on: str
    """The day it was opened, for rules that take effect on a date: ``2026-01-31``."""

    def state(self) -> TableState:
        return open_table(self.game, self.settings, date.fromisoformat(self.on))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a start needs from before this record."""

    opening: Opening
    state: TableState
    digest: str
    last_keys: Mapping[str, int]
    untaken: frozenset[int]
    dealer: f.Declared | None
    table_closed: bool
    rounds: Mapping[int, int]
    """Kept rounds, and the record each stands in."""
    day: Day
    """The gaming day so far."""
    sent: int | None = None
    """Events for the link server so far; None from before there were any."""


def _take_day(row: Any, _: Unhide) -> Day:
    try:
        return fold.restored(row)
    except msgspec.ValidationError as error:
        raise BodyError(BAD_VALUE, "", str(error)) from None


_FIELDS: Final = {
    "state": codec(Any),
    "game": codec(str),
    "settings": codec(Any),
    "on": codec(str),
    "digest": codec(str),
    "last_keys": codec(Mapping[str, int]),
    "untaken": codec(frozenset[int]),
    "dealer": codec(f.Declared | None),
    "table_closed": codec(bool),
    "rounds": codec(Mapping[int, int]),
    "day": Codec(lambda day, _: fold.put(day), _take_day),
    "sent": codec(int | None),
}
_LATER: Final = frozenset(("sent",))
"""Fields that older records do not have."""
_BESIDE: Final = (
    "digest", "last_keys", "untaken", "dealer", "table_closed", "rounds", "day", "sent",
)  # fmt: skip


def snapshot_body(snapshot: Snapshot, hide: Hide) -> bytes:
    """Hidden cards of the round before, which nobody opened, are sealed here like any other."""
    opening = snapshot.opening
    state = {
        name: one.put(value, hide)
        for name, one in STATE_FIELDS.items()
        if (value := getattr(snapshot.state, name)) != _DEFAULTS[name]
    }
    row: dict[str, Any] = {
        "game": opening.game,
        "settings": opening.settings,
        "on": opening.on,
        "state": state,
    }
    for name in _BESIDE:
        row[name] = _FIELDS[name].put(getattr(snapshot, name), hide)
    return dump(row)


def take_snapshot(body: bytes, unhide: Unhide, archive: Callable[[int, int], Archive]) -> Snapshot:
    """``archive`` gives the closed round of a number from the record it stands in."""
    needed = [name for name in _FIELDS if name not in _LATER]
    found = take_fields(load(body), _FIELDS, needed, unhide)
    opening = Opening(found["game"], found["settings"], found["on"])
    rules: TableRules = opening.state().rules
    taken = take_fields(found["state"], STATE_FIELDS, [], unhide)
    history = tuple(archive(number, seq) for number, seq in found["rounds"].items())
    state = TableState(rules, **taken, history=history)
    return Snapshot(opening, state, **{name: found[name] for name in _BESIDE if name in found})
