"""What goes into the writer, and what it lets go of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from controller.daemon.changing import Reloaded
from controller.daemon.house_options import HouseOptions
from controller.daemon.metrics import SyncTimes
from controller.faults.status import Parts, Status
from controller.link.hearing import Heard
from controller.link.session import Head
from controller.rules.engine import facts as f
from controller.table.play import ForCaller
from drivers.orders import Order
from drivers.readings import Reading
from record.link.messages import Event


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: whatever waits for it may go on."""


@dataclass(frozen=True, slots=True)
class Told:
    """A fact from a part of the table that is no device: link, supervisor socket."""

    what: f.What
    by: f.Source


@dataclass(frozen=True, slots=True)
class Noted:
    """A record for the journal that no fact carries: an alarm of the runtime, a lock-out."""

    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Overrun:
    """Too many readings at once: ``lost`` of them since the start. The round holds."""

    lost: int


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """Everything has been read again since that many were lost."""

    lost: int


@dataclass(frozen=True, slots=True)
class KeepFrom:
    """The link server may still ask for this record: retention keeps it and all later ones."""

    seq: int


Input = Tick | Told | Noted | Reloaded | Overrun | CaughtUp | Heard | KeepFrom | Reading


@dataclass(frozen=True, slots=True)
class Beside:
    """What the loop may know of the writer besides the status: copies, and what never changes."""

    chosen: HouseOptions | None = None
    """What the configuration in force chooses besides its rules."""
    test_ended: str = ""
    """Why the last test mode ended."""
    records: Mapping[str, int] = field(default_factory=dict)
    """Records written since the start, by kind."""
    journal_bytes: int = 0
    sync: SyncTimes = field(default_factory=SyncTimes)


@dataclass(frozen=True, slots=True)
class Released:
    """What a group leaves behind, durable by now."""

    orders: tuple[Order, ...]
    effects: tuple[ForCaller, ...]
    """For the link and everyone else who is not at the table."""
    wake_us: int | None
    status: Status
    head: Head
    """Where the durable journal ends."""
    outbox: tuple[Event, ...] = ()
    """New events for the link server; those of earlier groups are in the journal."""
    test_mode: bool = False
    beside: Beside = field(default_factory=Beside)
    parts: Parts = field(default_factory=Parts)
    """What anyone who follows the table sees; a part that did not change is the same object."""
    news: tuple[Mapping[str, Any], ...] = ()
    """What happened in this group, in words."""


class Blocked(NamedTuple):
    """Why not now. ``taken``: somebody has test mode; ``in_round``: because of the round."""

    why: str
    taken: bool = False
    in_round: bool = False


class JournalLike(Protocol):
    journal_id: str
    keep_from_seq: int | None

    @property
    def next_seq(self) -> int: ...

    @property
    def head(self) -> bytes: ...

    @property
    def full(self) -> bool: ...

    def sync(self) -> None: ...

    def prepare(self) -> None: ...
