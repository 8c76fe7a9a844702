"""One betting spot's hysteresis: from inventories to "this has been so long enough".

Pure (docs/protocols/chip-sensing.md section 2). It knows its own inventories only; what other spots
hold is the field's affair.
"""

from __future__ import annotations

from collections import deque

from drivers.chips.policy import Policy
from drivers.readings import Uid

NOTHING: frozenset[Uid] = frozenset()


class Spot:
    __slots__ = (
        "_changes",
        "_latest_us",
        "_policy",
        "_run_length",
        "heard_us",
        "lost",
        "moving",
        "run",
        "settled",
        "since_us",
        "stood",
    )

    def __init__(self, policy: Policy, now_us: int) -> None:
        self._policy = policy
        self.settled: frozenset[Uid] | None = None
        """What was reported as settled and still counts."""
        self.stood: frozenset[Uid] = NOTHING
        """What was settled last, counting or not: what a removal is measured against."""
        self.moving = False
        self.lost = False
        self.heard_us = now_us
        self.run: frozenset[Uid] | None = None
        """The tags of the latest inventories, as far back as they are the same."""
        self._run_length = 0
        self.since_us = 0
        """When the run began."""
        self._latest_us = 0
        self._changes: deque[bool] = deque(maxlen=policy.restless_of)

    def read(self, tags: frozenset[Uid], at_us: int, now_us: int) -> bool:
        """Take one complete inventory; True if the spot began to move with it."""
        self.heard_us = now_us
        self.lost = False
        changed = self.run is not None and tags != self.run
        if self.run is None or changed:
            self.run = tags
            self._run_length = 0
            self.since_us = at_us
        self._run_length += 1
        self._latest_us = at_us
        self._changes.append(changed)
        # Without a change there are no more changes among the latest inventories than before.
        if changed and sum(self._changes) >= self._policy.restless:
            return self.stir()
        return False

    def stir(self) -> bool:
        """What was settled no longer counts until the spot settles again; True if it still did."""
        if self.moving:
            return False
        self.moving = True
        self.settled = None
        return True

    @property
    def sure(self) -> bool:
        """The run is long enough to count, in inventories and in time."""
        if self.run is None:
            return False
        policy = self._policy
        reads, window_us = policy.arrive_reads, policy.arrive_us
        if self.moving or self.stood - self.run:
            reads, window_us = policy.leave_reads, policy.leave_us
        return self._run_length >= reads and self._latest_us - self.since_us >= window_us

    @property
    def news(self) -> bool:
        return self.sure and (self.moving or self.run != self.settled)

    def settle(self) -> frozenset[Uid]:
        tags = self.run if self.run is not None else NOTHING
        self.settled = self.stood = tags
        self.moving = False
        self._changes.clear()
        return tags

    def lose(self) -> bool:
        """It cannot be read; True if that is new. What stood there is remembered, not counted."""
        new = not self.lost
        self.lost = True
        self.moving = False
        self.settled = None
        self.run = None
        self._run_length = 0
        self._changes.clear()
        return new
