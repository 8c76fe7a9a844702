"""A link server without sockets: a network of queues, and a bridge on which asking takes turns.

Everything else is the server's own, so a history gives the same answers whenever it is run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Literal

from link.server.bridge import Bridge, Request
from link.server.doors import TOPIC
from link.server.replies import Reply
from link.server.requests import Asked
from link.server.server import Server
from link.server.sessions import Peer


class Queues:
    """``link.server.doors.Network``: what comes is put into ``waiting``; what goes out is kept."""

    def __init__(self, secret: bytes, bound: tuple[str, str] = ("tables", "")) -> None:
        self.bound = [bound]
        self.more = False
        self.waiting: deque[tuple[bytes, str, bytes]] = deque()
        """Routing id, key, message."""
        self.sent: list[tuple[bytes, bytes]] = []
        self.published: list[bytes] = []
        self._secret = secret

    def secrets(self) -> list[bytes]:
        return [self._secret]

    def open(self, wake_fd: int) -> None:
        """Always open."""

    def poll(self, wait_ms: int) -> None:
        """Nothing to wait for."""

    def received(self, most: int) -> Iterator[tuple[Peer, str, bytes]]:
        for _ in range(min(most, len(self.waiting))):
            routing_id, key, data = self.waiting.popleft()
            yield (0, routing_id), key, data
        self.more = bool(self.waiting)

    def send(self, peer: Peer, data: bytes) -> bool:
        self.sent.append((peer[1], data))
        return True

    def admit(self, answer: Callable[[list[bytes]], list[bytes]]) -> None:
        """Without handshakes."""

    def subscribed(self) -> bool:
        return False

    def publish(self, data: bytes, topic: bytes = TOPIC) -> None:
        if topic == TOPIC:
            self.published.append(data)

    def reopen(self, kind: Literal["tables", "signs"]) -> None:
        """Connections are names here."""

    def close(self, linger_ms: int = 0) -> None:
        """Nothing to close."""


class TurningBridge(Bridge):
    """Asking takes the turns of the loop until the answer is there."""

    server: Server

    def ask(self, asked: Asked, timeout_s: float = 0) -> Reply:
        request = Request(asked)
        self._waiting.append(request)
        for _ in range(50):
            self.server.turn(0)
            if request.done.done():
                return request.done.result()
        raise AssertionError(f"{asked} was never answered; {timeout_s}")
