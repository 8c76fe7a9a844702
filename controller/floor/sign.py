"""The jackpot meters as a sign hears them: a CURVE key of its own, the server's publications."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import zmq

from record.link.keys import load_public, load_secret

TOPIC: Final = b"meters"
STALE_S: Final = 5.0


class Sign:
    """Subscribed until closed; ZeroMQ connects again by itself."""

    def __init__(self, endpoint: str, secret: Path, public: Path, server: Path) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.SUB)
        self._socket.linger = 0
        self._socket.curve_secretkey = load_secret(secret).reveal()
        self._socket.curve_publickey = load_public(public).encode()
        self._socket.curve_serverkey = load_public(server).encode()
        self._socket.subscribe(TOPIC)
        self._socket.connect(endpoint)
        self._at = (0, 0)
        self.meters: list[dict[str, Any]] = []
        self.heard_s = 0.0

    def listen(self, now_s: float) -> None:
        """Take everything that has come; the highest (epoch, seq) counts."""
        while True:
            try:
                *_, frame = self._socket.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                return
            told = json.loads(frame)
            at = (told["epoch"], told["seq"])
            if at > self._at:
                self._at, self.meters, self.heard_s = at, told["meters"], now_s

    def silent_s(self, now_s: float) -> int:
        """How long nothing came, once it is too long to be live; else 0."""
        silence = now_s - self.heard_s
        return int(silence) if self.meters and silence > STALE_S else 0

    def close(self) -> None:
        self._socket.close(0)
        self._context.term()
