"""Bad networks in user space: messages lost, late, twice, in another order; lines that go dead.

``Chaos`` stands between one table and the server and speaks CURVE to both, so it can treat whole
messages; a seed decides, and the same seed decides the same. ``Wire`` carries bytes and can stop
carrying them without a word, as a pulled cable does.
"""

from __future__ import annotations

import heapq
import random
import selectors
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import zmq

from tests.patience import PATIENCE_S

Pair = tuple[bytes, bytes]
ANY: Final = "tcp://127.0.0.1:*"


@dataclass(frozen=True, slots=True)
class Weather:
    """Probabilities of each misfortune of a message; delays are at most ``delay_s``."""

    drop: float = 0.0
    twice: float = 0.0
    late: float = 0.0
    delay_s: float = 0.05


CALM: Final = Weather()


class Chaos:
    """``weather`` and the two partitions may be set at any time."""

    def __init__(self, server: str, server_key: bytes, keys: Pair, seed: int = 1) -> None:
        self.weather = CALM
        self.to_server = self.to_table = True
        """False: nothing passes in this direction."""
        self.drop_acks = 0
        """So many acks more are lost."""
        self.passed = self.lost = 0
        self.recorded: list[bytes] = []
        """What the table sent, as an eavesdropper inside the cipher would have it."""
        self._random = random.Random(seed)
        self.public, secret = zmq.curve_keypair()
        self._context = zmq.Context()
        self._front = self._context.socket(zmq.ROUTER)
        self._front.linger = 0
        self._front.curve_server, self._front.curve_secretkey = True, secret
        self._front.bind(ANY)
        found = self._front.get(zmq.LAST_ENDPOINT)
        assert isinstance(found, bytes)
        self.endpoint = found.rstrip(b"\0").decode()
        self._back = self._context.socket(zmq.DEALER)
        self._back.linger = 0
        self._back.curve_publickey, self._back.curve_secretkey = keys
        self._back.curve_serverkey = server_key
        self._back.reconnect_ivl = 20
        self._back.connect(server)
        self._table = b""
        self._later: list[tuple[float, int, bool, bytes]] = []
        self._number = 0
        self._stop = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop = True
        self._thread.join(PATIENCE_S)
        self._front.close(0)
        self._back.close(0)
        self._context.destroy(0)

    def _run(self) -> None:
        poller = zmq.Poller()
        poller.register(self._front, zmq.POLLIN)
        poller.register(self._back, zmq.POLLIN)
        while not self._stop:
            ready = dict(poller.poll(5))
            if self._front in ready:
                self._table, data = self._front.recv_multipart()
                self.recorded.append(data)
                self._meet(up=True, data=data)
            if self._back in ready:
                self._meet(up=False, data=self._back.recv())
            while self._later and self._later[0][0] <= time.monotonic():
                _, _, up, data = heapq.heappop(self._later)
                self._pass(up=up, data=data)

    def _meet(self, *, up: bool, data: bytes) -> None:
        """What becomes of one message."""
        if not (self.to_server if up else self.to_table):
            self.lost += 1
            return
        if not up and self.drop_acks and b'"t":"ack"' in data:
            self.drop_acks -= 1
            self.lost += 1
            return
        chance, weather = self._random.random, self.weather
        if chance() < weather.drop:
            self.lost += 1
            return
        for _ in range(2 if chance() < weather.twice else 1):
            if chance() < weather.late:  # others overtake it
                self._number += 1
                at = time.monotonic() + chance() * weather.delay_s
                heapq.heappush(self._later, (at, self._number, up, data))
            else:
                self._pass(up=up, data=data)

    def _pass(self, *, up: bool, data: bytes) -> None:
        self.passed += 1
        with suppress(zmq.Again):
            if up:
                self._back.send(data, zmq.NOBLOCK)
            else:
                self._front.send_multipart([self._table, data], zmq.NOBLOCK)


class Wire:
    """TCP, byte by byte; ``dead`` keeps every connection open and moves nothing."""

    def __init__(self, server: str) -> None:
        host, _, port = server.removeprefix("tcp://").rpartition(":")
        self._server = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        self.dead = False
        self._stop = False
        self._sockets: list[socket.socket] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop = True
        self._thread.join(PATIENCE_S)
        for one in (*self._sockets, self._listener):
            one.close()

    def _run(self) -> None:
        chosen = selectors.DefaultSelector()
        chosen.register(self._listener, selectors.EVENT_READ, None)
        while not self._stop:
            if self.dead:
                time.sleep(0.005)
                continue
            for key, _ in chosen.select(0.02):
                if key.data is None:
                    self._accept(chosen)
                else:
                    self._carry(chosen, key)
        chosen.close()

    def _accept(self, chosen: selectors.BaseSelector) -> None:
        near, _ = self._listener.accept()
        far = socket.create_connection(self._server)
        self._sockets += [near, far]
        chosen.register(near, selectors.EVENT_READ, far)
        chosen.register(far, selectors.EVENT_READ, near)

    @staticmethod
    def _carry(chosen: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        source, target = key.fileobj, key.data
        assert isinstance(source, socket.socket)
        assert isinstance(target, socket.socket)
        try:
            data = source.recv(65_536)
            if data:
                target.sendall(data)
                return
        except OSError:
            pass
        for one in (source, target):
            with suppress(KeyError, ValueError):
                chosen.unregister(one)
            one.close()
