"""A crowd of tables, or of signs, in one process; told what to do line by line.

    python -m bench.link_crowd FOLDER FIRST COUNT

Commands come as lines of JSON, one answer each: ``{"do": "join", "at": ENDPOINT}``, ``{"do":
"load", "rate": PER_S, "seconds": S}``, ``{"do": "leave"}``; ``{"do": "subscribe", "at": ENDPOINT}``
and ``{"do": "listen", "seconds": S}`` for signs.
"""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any, Final

import zmq

from bench.link_parts import at_share, context_for, dealer, event, hello, raise_descriptors

AT_ONCE: Final = 250
HELLO_AGAIN_S: Final = 10.0
"""A table without an answer by then tries again on a new socket, as a table does."""
GIVEN_UP_S: Final = 120.0
LOOKED_AT: Final = 64
"""Of the oldest events without an answer, at once."""
NAP_S: Final = 0.000_3


class Table:
    __slots__ = ("acked", "index", "n", "socket")

    def __init__(self, index: int) -> None:
        self.index = index
        self.socket: zmq.Socket[bytes] | None = None
        self.n = self.acked = 0


class Crowd:
    def __init__(self, folder: Path, first: int, count: int) -> None:
        house = json.loads((folder / "house.json").read_text())
        self._pairs = list(house["tables"].items())
        self._server_key: str = house["server"][0]
        self._context = context_for(2 * count)
        self._tables = [Table(index) for index in range(first, first + count)]
        self._next = 0
        self._signs: list[zmq.Socket[bytes]] = []

    # --- tables -----------------------------------------------------------------------------------

    def join(self, at: str) -> dict[str, Any]:
        """As many at a time as the system's queue of connections takes; how long until the last
        one is welcome."""
        start = time.perf_counter()
        coming, waiting, again = deque(self._tables), deque[tuple[Table, float]](), 0
        while coming or waiting:
            while coming and len(waiting) < AT_ONCE:
                table = coming.popleft()
                self._greet(table, at)
                waiting.append((table, time.perf_counter()))
            for _ in range(len(waiting)):
                table, asked = waiting.popleft()
                if self._heard(table):
                    continue
                if time.perf_counter() - asked > HELLO_AGAIN_S:
                    again += 1
                    self._close(table)
                    self._greet(table, at)
                    asked = time.perf_counter()
                waiting.append((table, asked))
            if time.perf_counter() - start > GIVEN_UP_S:
                raise RuntimeError(f"{len(coming) + len(waiting)} tables never joined")
            time.sleep(0.002)
        return {"seconds": time.perf_counter() - start, "again": again}

    def _greet(self, table: Table, at: str) -> None:
        name, pair = self._pairs[table.index]
        table.socket = dealer(self._context, at, pair, self._server_key)
        head = f"{table.n:064x}"
        table.socket.send(hello(name, f"{table.index:032x}", table.n, head))

    def _heard(self, table: Table) -> bool:
        assert table.socket is not None
        try:
            data = table.socket.recv(zmq.NOBLOCK)
        except zmq.Again:
            return False
        if b'"refused"' in data:
            raise RuntimeError(data)
        return True

    def _close(self, table: Table) -> None:
        if table.socket is not None:
            table.socket.close(0)
            table.socket = None

    def leave(self) -> dict[str, Any]:
        for table in self._tables:
            self._close(table)
        return {}

    def load(self, rate: float, seconds: float) -> dict[str, Any]:
        """Events at this rate whatever the answers do, one table after the other; latency counts
        from when an event was due."""
        waiting: deque[tuple[Table, int, float]] = deque()
        latencies: list[float] = []
        tables, total, sent = self._tables, int(rate * seconds), 0
        clock = time.perf_counter
        start = clock()
        while (sent < total or waiting) and clock() < start + seconds + 20:
            now = clock()
            while sent < total and (due := start + sent / rate) <= now:
                table = tables[self._next % len(tables)]
                self._next += 1
                table.n += 1
                assert table.socket is not None
                table.socket.send(event(table.n), zmq.NOBLOCK)
                waiting.append((table, table.n, due))
                sent += 1
            for _ in range(min(len(waiting), LOOKED_AT)):
                table, n, due = waiting.popleft()
                if self._acked(table) >= n:
                    latencies.append(clock() - due)
                else:
                    waiting.append((table, n, due))
            time.sleep(NAP_S)
        took = clock() - start
        latencies.sort()
        return {
            "acked": len(latencies),
            "unacked": total - len(latencies),
            "p50_ms": at_share(latencies, 0.5) * 1e3,
            "p99_ms": at_share(latencies, 0.99) * 1e3,
            "seconds": took,
        }

    def _acked(self, table: Table) -> int:
        """An ack is for every event up to its own."""
        assert table.socket is not None
        try:
            while True:
                data = table.socket.recv(zmq.NOBLOCK)
                if b'"refused"' in data:
                    raise RuntimeError(data)
                found = data.find(b'"n":')
                end = min(i for i in (data.find(b",", found), data.find(b"}", found)) if i > 0)
                table.acked = int(data[found + 4 : end])
        except zmq.Again:
            return table.acked

    # --- signs ------------------------------------------------------------------------------------

    def subscribe(self, at: str) -> dict[str, Any]:
        """Until every one of them has heard something."""
        for table in self._tables:
            _, pair = self._pairs[table.index]
            sign = self._context.socket(zmq.SUB)
            sign.linger = 0
            sign.curve_publickey, sign.curve_secretkey = pair[0].encode(), pair[1].encode()
            sign.curve_serverkey = self._server_key.encode()
            sign.subscribe(b"meters")
            sign.connect(at)
            self._signs.append(sign)
        silent = list(self._signs)
        until = time.monotonic() + GIVEN_UP_S
        while silent:
            silent = [sign for sign in silent if not sign.poll(0)]
            if time.monotonic() > until:
                raise RuntimeError(f"{len(silent)} signs hear nothing")
            time.sleep(0.05)
        self._drain()
        return {}

    def listen(self, seconds: float) -> dict[str, Any]:
        """How many publications came in all."""
        self._drain()
        heard = 0
        start = time.perf_counter()
        while time.perf_counter() < start + seconds:
            time.sleep(0.05)
            heard += self._drain()
        return {"heard": heard, "bytes": self._bytes}

    def _drain(self) -> int:
        heard = 0
        for sign in self._signs:
            try:
                while True:
                    self._bytes = sum(map(len, sign.recv_multipart(zmq.NOBLOCK)))
                    heard += 1
            except zmq.Again:
                pass
        return heard


def main(argv: list[str]) -> int:
    raise_descriptors()
    crowd = Crowd(Path(argv[0]), int(argv[1]), int(argv[2]))
    for line in sys.stdin:
        words = json.loads(line)
        act = getattr(crowd, words.pop("do"))
        print(json.dumps(act(**words)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
