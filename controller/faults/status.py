"""The fields of a table's status: what the writer says, and what the daemon adds for the socket.

A reader may meet a status that lacks some: a table that is locked has few, and one that has not
written anything yet lacks its link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from controller.shell.answers import JournalHead, TroubleRow


class DeviceStatus(TypedDict):
    """The last state of a device and why; without a reason both are empty."""

    state: str
    code: str
    detail: str


class AwardStatus(TypedDict):
    """An award that is not paid yet."""

    award: str
    round: int
    seat: int
    cents: int
    state: str
    share: bool
    """A share of the jackpot, claimed for a hand; else a mystery award."""


class DayStatus(TypedDict):
    number: int
    from_ms: int | None
    rounds: int


class DiskStatus(TypedDict, total=False):
    free_bytes: int
    low_bytes: int


class ChangedValue(TypedDict):
    key: str
    old: Any
    new: Any


class ChangeStatus(TypedDict, total=False):
    """Another configuration: what is to become of it, and what to do."""

    verdict: str
    in_force: str
    why: str
    hash: str
    needs: str
    changes: Sequence[ChangedValue]
    what_to_do: str


class AuthorRow(TypedDict):
    """Who gives a command at the shell."""

    uid: int
    user: str
    role: str


class Tester(AuthorRow):
    """Who has test mode, and whether a drawn card belongs to the test."""

    cards: bool


class LinkStatus(TypedDict, total=False):
    """The talk with the link server."""

    state: str
    endpoint: str
    endpoints: list[str]
    server: str
    epoch: int
    version: int
    events: int
    acknowledged: int | None
    waiting: int
    last_ack_ms: int | None
    heard_ms: int | None
    halted: str
    trouble: str
    malformed: int


class LampStatus(TypedDict):
    seat: int
    lamp: str


class WhyStatus(TypedDict):
    """What the table waits for, and what is due."""

    text: str
    clause: str
    do: str
    code: str
    seat: int | None


class Parts(TypedDict, total=False):
    """What anyone who follows the table sees."""

    table: Mapping[str, Any]
    felt: Mapping[str, Any]
    lamps: Sequence[LampStatus]
    beacon: bool
    why: WhyStatus
    displays: Mapping[str, Any]


class Status(TypedDict, total=False):
    game: str
    phase: str
    round: int
    in_round: bool
    stopped: str
    progressive: bool
    link_up: bool
    jackpot_cents: int
    awards: Sequence[AwardStatus]
    supply_low: bool
    power_failing: bool
    door_open: bool
    card_devices: Sequence[str]
    safe_mode: bool
    safe_mode_by: str
    locked: str
    gaming_day: DayStatus
    journal: JournalHead
    devices: Mapping[str, DeviceStatus]
    dealer: str
    prompt: Sequence[str]
    felt: Mapping[str, Any]
    lamps: Sequence[LampStatus]
    beacon: bool
    why: WhyStatus
    untold: str
    test_mode: Tester | None
    alarms: Sequence[Mapping[str, Any]]
    alarm_counts: Mapping[str, int]
    configuration: str
    configuration_change: ChangeStatus
    counts: Mapping[str, int]

    # What the daemon adds for the socket.
    mode: str
    table: str
    overflows: int
    frames_lost: int
    link_configured: bool
    link: LinkStatus | None
    disk: DiskStatus
    http_error: str
    strangers: Mapping[str, str]
    troubles: Sequence[TroubleRow]
