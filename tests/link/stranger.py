"""A table written by a stranger from docs/protocols/link.md alone: zmq, json and nothing of ours.

One event at a time, sent again until it is acknowledged; hello whenever the server asks for it.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable
from typing import Any

import zmq

from tests.patience import PATIENCE_S

Message = dict[str, Any]


class GaveUp(Exception):
    """Not answered in time."""


class Stranger:
    """``endpoint`` may be changed at any time; ``connect`` then goes there."""

    def __init__(
        self,
        endpoint: str,
        server_key: bytes,
        keys: tuple[bytes, bytes],
        table: str,
        *,
        game: str = "MBS3",
        journal: str | None = None,
        versions: tuple[int, ...] = (3, 2, 1),
    ) -> None:
        self.endpoint, self.server_key = endpoint, server_key
        self.public, self.secret = keys
        self.table, self.game, self.versions = table, game, versions
        self.journal = journal or secrets.token_hex(16)
        self.events: list[Message] = []
        """The outbox: kept for ever, event n at n - 1."""
        self.acked = 0
        self.receipt: list[Any] | None = None
        """The last one that the server gave."""
        self.beat_ms = 1_000
        self.version = 0
        self.meters: dict[tuple[str, str], Message] = {}
        self.heard: list[Message] = []
        self.resend_s = 0.5
        self.immediate = 1
        self._context: zmq.Context[zmq.Socket[bytes]] | None = None
        self._socket: zmq.Socket[bytes] | None = None

    # --- the connection ---------------------------------------------------------------------------

    def connect(self) -> None:
        self.disconnect()
        self._context = self._context or zmq.Context()
        socket = self._context.socket(zmq.DEALER)
        socket.linger = 0
        socket.curve_publickey, socket.curve_secretkey = self.public, self.secret
        socket.curve_serverkey = self.server_key
        socket.immediate = self.immediate
        socket.reconnect_ivl, socket.reconnect_ivl_max = 20, 200
        socket.connect(self.endpoint)
        self._socket = socket

    def disconnect(self) -> None:
        if self._socket is not None:
            self._socket.close(0)
            self._socket = None

    def close(self) -> None:
        self.disconnect()
        if self._context is not None:
            self._context.destroy(0)
            self._context = None

    def send(self, message: Message | bytes, *more: bytes) -> bool:
        """False while there is no connection to send it over."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self._socket is not None
        try:
            self._socket.send_multipart([data, *more], zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def receive(self, timeout_s: float) -> Message | None:
        assert self._socket is not None
        if not self._socket.poll(max(0, int(timeout_s * 1000))):
            return None
        message: Message = json.loads(self._socket.recv())
        self._note(message)
        return message

    def _note(self, message: Message) -> None:
        self.heard.append(message)
        self.receipt = message.get("receipt", self.receipt)
        if message["t"] == "ack":
            self.acked = max(self.acked, message["n"])
        elif message["t"] == "welcome":
            # The server's word counts: after a restore it may have less than it had acknowledged.
            self.acked, self.version = message["n"], message["version"]
            self.beat_ms = message["beat_ms"]
            if self.version >= 3 and self.receipt is not None:
                self.send({"t": "receipt", "receipt": self.receipt})
        for meter in message.get("meters", ()):
            self.meters[meter["pool"], meter["level"]] = meter

    # --- what a table says ------------------------------------------------------------------------

    def hello(self) -> Message:
        seq = self.events[-1]["seq"] if self.events else 0
        head = self.events[-1]["hash"] if self.events else "0" * 64
        return {
            "t": "hello",
            "versions": list(self.versions),
            "table": self.table,
            "journal": self.journal,
            "sent": len(self.events),
            "seq": seq,
            "head": head,
            "game": self.game,
            "program": "stranger 1",
            "configuration": "0" * 64,
        }

    def write(self, body: Message) -> Message:
        """Into the outbox, as the table's journal would have it."""
        n = len(self.events) + 1
        text = f"{self.journal} {n} {json.dumps(body, sort_keys=True)}"
        event = {
            "t": "event",
            "n": n,
            "seq": 10 * n,
            "hash": hashlib.sha256(text.encode()).hexdigest(),
            "at_ms": time.time_ns() // 1_000_000,
            "body": body,
        }
        self.events.append(event)
        return event

    def wager(self, round_number: int, cents: int, seat: int = 1) -> Message:
        return self.write(
            {"what": "contributed", "round": round_number, "wagers": [[seat, cents, 1]]}
        )

    # --- until it is done -------------------------------------------------------------------------

    def until(
        self,
        wanted: Callable[[Message], bool],
        timeout_s: float = PATIENCE_S,
        again: Message | None = None,
    ) -> Message:
        """The first message that is wanted; ``again`` is sent now and whenever nothing comes."""
        end = time.monotonic() + timeout_s
        next_send = 0.0
        while time.monotonic() < end:
            if again is not None and time.monotonic() >= next_send:
                sent = self.send(again)
                next_send = time.monotonic() + (self.resend_s if sent else 0.01)
            message = self.receive(min(0.01, end - time.monotonic()))
            if message is not None and wanted(message):
                return message
        raise GaveUp(f"{self.table}: nothing wanted came; heard {self.heard[-5:]}")

    def join(self, timeout_s: float = PATIENCE_S) -> Message:
        """Connect and say hello until welcomed or refused."""
        self.connect()
        return self.greet(timeout_s)

    def greet(self, timeout_s: float = PATIENCE_S) -> Message:
        return self.until(
            lambda m: m["t"] in ("welcome", "refused") and m.get("code") != "E-LNK-011",
            timeout_s,
            self.hello(),
        )

    def deliver(self, timeout_s: float = PATIENCE_S) -> None:
        """Send what is not acknowledged, in order, again and again, until all of it is."""
        end = time.monotonic() + timeout_s
        sent, next_send = 0, 0.0
        while self.acked < len(self.events):
            now = time.monotonic()
            if now >= end:
                raise GaveUp(f"{self.table}: {self.acked} of {len(self.events)} acknowledged")
            n = self.acked + 1
            if sent != n or now >= next_send:
                done = self.send(self.events[n - 1])
                sent, next_send = n, now + (self.resend_s if done else 0.01)
            message = self.receive(0.01)
            if message is None or message["t"] != "refused":
                continue
            if message["code"] == "E-LNK-011":
                self.send(self.hello())
                sent = 0
            elif message["code"] != "E-LNK-014":
                raise GaveUp(f"{self.table}: {message}")

    def beat(self, timeout_s: float = PATIENCE_S) -> Message:
        at = time.time_ns() // 1_000_000
        return self.until(
            lambda m: m["t"] == "beat" and m["at_ms"] == at, timeout_s, {"t": "beat", "at_ms": at}
        )

    def bye(self, timeout_s: float = PATIENCE_S) -> Message:
        self.send({"t": "bye", "why": "done"})
        return self.until(lambda m: m["t"] == "bye", timeout_s)
