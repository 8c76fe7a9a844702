"""What each verb of the shell answers: the fields of its data on the socket.

Core library alone: the daemon makes these and the terminal renders them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, final

from controller.shell.verbs import Role

Json = Mapping[str, Any]
"""A document with a format of its own: a round record, a result, the link's status."""


class TroubleRow(TypedDict):
    level: str
    code: str
    about: str
    what: str
    do: str


@final
class Troubles(TypedDict):
    troubles: Sequence[TroubleRow]


@final
class CodeMeaning(TypedDict):
    code: str
    meaning: str
    do: str


class WhyWaits(TypedDict):
    phase: str
    round: int
    sentence: str
    clause: str
    keys: list[str]
    asked: str
    seat: NotRequired[int | None]
    spot: NotRequired[str]


class DeviceRow(TypedDict):
    device: str
    kind: str
    state: str
    code: str
    detail: str
    counters: Mapping[str, int]


class Devices(TypedDict):
    devices: list[DeviceRow]


class FrameRow(TypedDict):
    at_us: int
    direction: str
    hex: str
    text: str
    masked: bool


class OneDevice(DeviceRow):
    identity: Mapping[str, str] | None
    heartbeats: int
    heard_us: int | None
    frames: list[FrameRow]


class Clocks(TypedDict):
    us: int
    wall_ms: int


class Watched(TypedDict):
    readings: list[dict[str, Any]]
    missed: int
    cursor: int
    now: Clocks


class ChipRow(TypedDict):
    uid: str
    cents: int | None
    kind: str
    house: str
    status: str


class SpotRow(TypedDict):
    spot: str
    antenna: str
    state: str
    wrong: str | None
    cents: int
    locked_cents: int | None
    chips: list[ChipRow]


class SeatChips(TypedDict):
    seat: int
    phase: str
    credits: int
    spots: list[SpotRow]


class LinkAnswer(TypedDict):
    configured: bool
    link_up: bool | None
    status: Json | None
    fingerprints: Mapping[str, str]


class JournalEnd(TypedDict):
    """``why`` says what is wrong with its last segment; the fields behind it need a sound one."""

    segments: int
    bytes: int
    verified: bool
    why: str
    records_checked: NotRequired[int]
    last_seq: NotRequired[int]
    last_hash: NotRequired[str]


class JournalHead(TypedDict, total=False):
    """As the writer tells it."""

    id: str
    next_seq: int
    head: str
    full: bool


class JournalState(JournalEnd, JournalHead):
    path: str
    repaired_bytes: int
    free_bytes: int


class ClosedRound(TypedDict):
    round: int
    corrected: bool
    record: Json
    result: Json
    why: Mapping[str, Mapping[str, Json]]
    events: list[str]


class ValueRow(TypedDict):
    key: str
    value: Any
    origin: str


class ConfigInForce(TypedDict):
    hash: str
    files: list[str]
    values: list[ValueRow]
    change: Json


class VerbRow(TypedDict):
    verb: str
    usage: str
    help: str
    role: Role
    test_mode: bool
    when: str
    allowed: bool


class Help(TypedDict):
    role: Role | None
    about: str | None
    verbs: list[VerbRow]


class SafeMode(TypedDict):
    """``waits``: what a new configuration will make of it, None without one."""

    safe_mode: bool
    by: str
    waits: bool | None


class Reboot(TypedDict):
    ends: str
    then: str
    board: str


class ConfigPath(TypedDict):
    config: str


class PartRow(TypedDict):
    what: str
    sha256: str
    size: int


class BundleManifest(TypedDict):
    schema: int
    table: str
    made_ms: int
    files: Mapping[str, PartRow]
    redacted: list[dict[str, str]]
    missing: list[dict[str, str]]


class MadeBundle(BundleManifest):
    """``all_of_it``: words of the command that gets what this user may not read."""

    file: str
    size: int
    all_of_it: list[str]
