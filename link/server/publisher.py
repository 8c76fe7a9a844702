"""Meters for signs: absolute values, when they changed, when somebody came, and now and then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import zmq

from link.server.doors import TOPIC
from link.server.floor import Floor
from record.link.codec import encode
from record.link.messages import Meters, MeterValue

QUICK: Final = int(zmq.NOBLOCK)
QUICK_MORE: Final = int(zmq.NOBLOCK | zmq.SNDMORE)
"""Plain numbers: joining two flags at every message takes longer than sending it."""


class Publisher:
    def __init__(self, server: str, *, publish_ms: int, beat_ms: int) -> None:
        self._server, self._publish_ms, self._beat_ms = server, publish_ms, beat_ms
        self._sequence = 0
        self._shown: tuple[MeterValue, ...] | None = None
        """None: somebody waits for a snapshot."""
        self.changed = False
        """Something was committed, or somebody subscribed, since the last publication."""
        self._published_ms = 0

    def wait_ms(self, mono: int) -> int:
        """What changed is shown as soon as it may be; otherwise once in every interval."""
        pause = self._publish_ms if self.changed else self._beat_ms
        return self._published_ms + pause - mono

    def subscriptions(self, door: zmq.Socket[bytes]) -> None:
        try:
            while True:
                told = door.recv(QUICK)
                if told[:1] == b"\x01":
                    self.changed, self._shown = True, None
        except zmq.Again:
            pass

    def publish(self, floor: Floor, doors: Sequence[zmq.Socket[bytes] | None], mono: int) -> bool:
        """True if something was said."""
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
        data = encode(Meters(self._server, floor.epoch, self._sequence, meters))
        for door in doors:
            if door is not None:
                door.send(TOPIC, QUICK_MORE)
                door.send(data, QUICK)
        return True
