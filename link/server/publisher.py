"""Meters for signs: absolute values, when they changed, when a sign subscribed, and regularly."""

from __future__ import annotations

from typing import Final, Literal

from link.rows import Group
from link.server.doors import HITS_TOPIC, Network
from link.server.floor import Floor
from record.link.codec import encode
from record.link.messages import Hit, Meters, MeterValue

HITS: Final[dict[str, Literal["locked", "won"]]] = {"locked": "locked", "approved": "won"}
"""Steps of an award that signs hear of."""


class Publisher:
    def __init__(self, server: str, *, publish_ms: int, beat_ms: int) -> None:
        self._server, self._publish_ms, self._beat_ms = server, publish_ms, beat_ms
        self._sequence = self._hits = 0
        self._shown: tuple[MeterValue, ...] | None = None
        """None: a sign waits for a snapshot."""
        self.changed = False
        """Something was committed, or a sign subscribed, since the last publication."""
        self._published_ms = 0

    def wait_ms(self, mono: int) -> int:
        """A change is shown as soon as it may be; otherwise once in every interval."""
        pause = self._publish_ms if self.changed else self._beat_ms
        return self._published_ms + pause - mono

    def subscribed(self) -> None:
        """A sign waits for a snapshot."""
        self.changed, self._shown = True, None

    def hits(self, group: Group, floor: Floor, network: Network) -> None:
        """Who has hit and what, once the group is durable."""
        for step in group.steps:
            state = HITS.get(step.state)
            if state is not None:
                row = group.awards[step.award]
                self._hits += 1
                hit = Hit(
                    server=self._server,
                    epoch=floor.epoch,
                    seq=self._hits,
                    award=row.award,
                    pool=row.pool,
                    level=row.level,
                    table=row.table,
                    cents=row.cents,
                    state=state,
                )
                network.publish(encode(hit), HITS_TOPIC)

    def publish(self, floor: Floor, network: Network, mono: int) -> bool:
        """True if something was published."""
        if mono - self._published_ms < self._publish_ms:
            return False
        due = mono - self._published_ms >= self._beat_ms
        if not (due or self.changed):
            return False
        self.changed = False
        meters = floor.ledger.meters()
        if not due and meters == self._shown:
            return False
        self._sequence += 1
        self._published_ms, self._shown = mono, meters
        network.publish(encode(Meters(self._server, floor.epoch, self._sequence, meters)))
        return True
