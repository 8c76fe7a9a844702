"""Prometheus text from what the daemon knows: counters, gauges, one histogram; one prefix.

Pure. No label is a round, a chip, a person or a card; nothing here depends on a closed card. What
each family means stands in its HELP line and in docs/operations/metrics.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from controller.faults.status import Status
from controller.faults.troubles import MARKS, troubles
from controller.rules.engine.state import Phase
from record import __version__
from record.kit.prometheus import Family, Sample, head, one, rows

PREFIX: Final = "underfelt_"
STATES: Final = ("unknown", "ready", "degraded", "locked")
BUCKETS_US: Final = (
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000,
)  # fmt: skip
"""Upper limits; a good disk lies at the beginning, a dying one at the end."""


@dataclass(slots=True)
class SyncTimes:
    """How long the disk took for each group. Of the writer's thread; others get a copy."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_US) + 1))
    sum_ns: int = 0

    def note(self, took_ns: int) -> None:
        place = next((i for i, us in enumerate(BUCKETS_US) if took_ns <= us * 1_000), -1)
        self.counts[place] += 1
        self.sum_ns += took_ns

    def copy(self) -> SyncTimes:
        return SyncTimes(list(self.counts), self.sum_ns)


@dataclass(frozen=True, slots=True)
class Process:
    """What is not in a status: the process itself."""

    resident_bytes: int = 0
    started_s: int = 0
    queue_depth: int = 0
    watchdog_feeds: int = 0
    counters: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By device, as its driver counts."""
    records: Mapping[str, int] = field(default_factory=dict)
    """Journal records written since the start, by kind."""
    journal_bytes: int = 0
    sync: SyncTimes = field(default_factory=SyncTimes)


def metrics(status: Status, process: Process) -> str:
    """``status`` as the socket answers it."""
    parts = (_table, _link, _devices, _journal, _process)
    found = chain.from_iterable(part(status, process) for part in parts)
    return "\n".join([*rows(PREFIX, found), *_sync(process.sync)]) + "\n"


Families = Iterator[Family]


def _one(value: Any) -> list[Sample]:
    return one(int(value or 0))


def _by(label: str, found: Mapping[str, int]) -> list[Sample]:
    return [({label: name}, value) for name, value in found.items()]


def _table(status: Status, _: Process) -> Families:
    counts, day = status["counts"], status["gaming_day"]
    info = {"version": __version__, "game": status["game"], "table": status["table"]}
    yield "build_info", "gauge", "Version, game and table; always 1.", [(info, 1)]
    phases = {phase.value: int(status["phase"] == phase.value) for phase in Phase}
    yield "phase", "gauge", "1 for the phase the table is in.", _by("phase", phases)
    yield "in_round", "gauge", "1 inside a round.", _one(status["in_round"])
    yield "rounds_total", "counter", "Rounds closed since the start.", _one(counts.get("rounds"))
    yield "gaming_day", "gauge", "Number of the gaming day under way.", _one(day["number"])
    yield "gaming_day_rounds", "gauge", "Rounds closed in it.", _one(day["rounds"])
    refused = _one(counts.get("refused"))
    yield "refused_total", "counter", "Facts that the rules refused.", refused
    yield "link_up", "gauge", "1 while the link takes wagers.", _one(status["link_up"])
    yield "locked", "gauge", "1 while the table is locked out.", _one(bool(status["locked"]))
    yield "safe_mode", "gauge", "1 in safe mode.", _one(status["safe_mode"])
    yield "door_open", "gauge", "1 while the cabinet is open.", _one(status["door_open"])
    yield "supply_low", "gauge", "1 while the supply is low.", _one(status["supply_low"])
    alarms = _by("code", status["alarm_counts"])
    yield "alarms_total", "counter", "Alarms raised since the start, by code.", alarms
    found = troubles(status)
    levels: dict[str, int] = {each: sum(one.level == each for one in found) for each in MARKS}
    yield "troubles", "gauge", "What is not as it should be now, by level.", _by("level", levels)
    named = {(one.code, one.about): 1 for one in found}
    listed = [({"code": code, "about": about}, n) for (code, about), n in named.items()]
    yield "trouble", "gauge", "1 for each trouble, with its code.", listed


def _link(status: Status, _: Process) -> Families:
    """The talk with the link server; nothing where there is none."""
    link = status.get("link")
    if link is None:
        return
    is_open, halted = int(link["state"] == "open"), int(bool(link["halted"]))
    yield "link_connected", "gauge", "1 while a server has welcomed the table.", _one(is_open)
    yield "link_halted", "gauge", "1 while nothing more is taken from the journal.", _one(halted)
    yield "link_server_epoch", "gauge", "Epoch of the server talked to.", _one(link["epoch"])
    yield "link_events", "gauge", "Events in the journal.", _one(link["events"])
    yield "link_acknowledged", "gauge", "Events the server has.", _one(link["acknowledged"])
    yield "link_outbox_depth", "gauge", "Events the server lacks.", _one(link["waiting"])
    for name, ago_ms, what in (
        ("last_ack_ms", link["last_ack_ms"], "the last acknowledgement"),
        ("heard_ms", link["heard_ms"], "any message"),
    ):
        ago = _one(-1 if ago_ms is None else ago_ms)
        yield f"link_{name}", "gauge", f"Milliseconds since {what}; -1 if none came.", ago


def _devices(status: Status, process: Process) -> Families:
    devices = status["devices"]
    total = {s: sum(told["state"] == s for told in devices.values()) for s in STATES}
    yield "devices", "gauge", "Devices by state.", _by("state", total)
    each = [
        ({"device": name, "state": state}, int(told["state"] == state))
        for name, told in devices.items()
        for state in STATES
    ]
    yield "device_state", "gauge", "1 for the state of each device.", each
    activity = {name: sum(found.values()) for name, found in process.counters.items()}
    help_ = "Everything a device's driver counts: it stands still if polling does."
    yield "device_activity_total", "counter", help_, _by("device", activity)
    errors = [
        ({"device": name, "code": code}, times)
        for name, found in process.counters.items()
        for code, times in sorted(found.items())
        if code.startswith("E-")
    ]
    yield "device_errors_total", "counter", "Poll errors by device and fault code.", errors


def _journal(status: Status, process: Process) -> Families:
    journal, counts = status["journal"], status["counts"]
    yield "journal_next_seq", "gauge", "Number of the next record.", _one(journal["next_seq"])
    facts = _one(process.records.get("fact"))
    yield "facts_total", "counter", "Facts journalled since the start.", facts
    kinds = _by("kind", process.records)
    yield "journal_records_total", "counter", "Records written since the start, by kind.", kinds
    written = _one(process.journal_bytes)
    yield "journal_bytes_total", "counter", "Bytes of bodies written since the start.", written
    groups = _one(counts.get("groups"))
    yield "journal_groups_total", "counter", "Groups of inputs made durable.", groups
    yield "journal_full", "gauge", "1 while the disk is full.", _one(journal["full"])
    free = _one(status["disk"]["free_bytes"])
    yield "disk_free_bytes", "gauge", "Free on the journal's file system.", free


def _process(status: Status, process: Process) -> Families:
    inputs = _one(status["counts"].get("inputs"))
    yield "inputs_total", "counter", "Readings, keys and facts that came in.", inputs
    yield "queue_depth", "gauge", "Inputs that wait for the writer.", _one(process.queue_depth)
    lost = _one(status["overflows"])
    yield "queue_overflows_total", "counter", "Inputs lost because too many waited.", lost
    frames = _one(status["frames_lost"])
    yield "frames_lost_total", "counter", "Frames the frame log did not keep.", frames
    feeds = _one(process.watchdog_feeds)
    yield "watchdog_feeds_total", "counter", "How often the watchdog was fed.", feeds
    yield "resident_bytes", "gauge", "Memory of the process.", _one(process.resident_bytes)
    started = _one(process.started_s)
    yield "start_time_seconds", "gauge", "When the daemon started, seconds since 1970.", started


def _sync(times: SyncTimes) -> Iterator[str]:
    name = f"{PREFIX}journal_sync_seconds"
    counts = times.counts
    yield from head(name, "histogram", "How long the disk took to make a group durable.")
    total = 0
    for us, count in zip(BUCKETS_US, counts, strict=False):
        total += count
        yield f'{name}_bucket{{le="{_seconds(us * 1_000)}"}} {total}'
    total += counts[-1]
    yield f'{name}_bucket{{le="+Inf"}} {total}'
    yield f"{name}_sum {_seconds(times.sum_ns)}"
    yield f"{name}_count {total}"


def _seconds(ns: int) -> str:
    """Exact, without a float: ``2500000`` as ``0.0025``."""
    whole, part = divmod(ns, 1_000_000_000)
    return f"{whole}.{part:09}".rstrip("0").rstrip(".")
