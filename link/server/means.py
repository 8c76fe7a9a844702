"""What a server is given: its plan, from the configuration, and the parts it works with."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from link.ledger.mystery import Sealer
from link.ledger.terms import Pool
from link.server.bridge import Bridge
from link.server.doors import Doors
from link.server.keeper import Keeper
from link.server.log import Log
from link.store.contract import Store
from record.kit.notify import Notifier


class Clock(Protocol):
    def now_ms(self) -> int: ...
    def mono_ms(self) -> int: ...


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def mono_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000


class Steady:
    """A wall clock that never goes back, also not behind the last record of the store: whether a
    key is valid and which wait is over must not depend on a clock that was set back."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._from_ms = self._at_mono_ms = 0

    def not_before(self, at_ms: int) -> None:
        """It was this late already."""
        if at_ms > self.now_ms():
            self._from_ms, self._at_mono_ms = at_ms, self._clock.mono_ms()

    def now_ms(self) -> int:
        wall_ms, mono_ms = self._clock.now_ms(), self._clock.mono_ms()
        counted_ms = self._from_ms + mono_ms - self._at_mono_ms
        if wall_ms < counted_ms:
            return counted_ms
        self._from_ms, self._at_mono_ms = wall_ms, mono_ms
        return wall_ms

    def mono_ms(self) -> int:
        return self._clock.mono_ms()

    def behind_ms(self) -> int:
        """How far the system's clock is behind this one."""
        return self.now_ms() - self._clock.now_ms()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPlan:
    """What the configuration says about this server."""

    name: str
    pools: Sequence[Pool] = ()
    beat_ms: int = 1_000
    publish_ms: int = 100
    """Between two publications at least."""
    rebind_ms: int = 30_000
    """After a revocation the connections of that door are dropped so much later, at most."""
    group_most: int = 512
    """Messages in one group."""
    check_recent: int | None = None
    """Events whose chain is checked at a start; None for all of them."""


@dataclass(slots=True)
class Means:
    """What a server is given to work with."""

    store: Store
    keeper: Keeper
    doors: Doors
    bridge: Bridge = field(default_factory=Bridge)
    log: Log = field(default_factory=Log)
    clock: Clock = field(default_factory=SystemClock)
    notifier: Notifier = field(default_factory=lambda: Notifier(None))
    sealer: Sealer | None = None
    chance: Callable[[], bytes] = field(default=lambda: secrets.token_bytes(32))
