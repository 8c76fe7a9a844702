"""What the link's benchmarks share: servers as processes of their own, tables as sockets.

    python -m bench.link_parts MODE FOLDER

is one server until SIGTERM. ``echo`` is a bare CURVE ROUTER that drains and sends every frame back:
no ledger, no store, no check. ``durable`` is the link server on SQLite as it runs, ``no sync`` the
same on a store that never flushes, ``postgresql`` the same on PostgreSQL.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import zmq

HERE: Final = "bench.link_parts"
PATIENCE_MS: Final = 60_000


# --- servers, each a process ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class House:
    """A folder with keys, and a store that knows them."""

    folder: Path
    tables: dict[str, list[str]]
    """Table to public and secret key."""
    server_key: str

    @classmethod
    def build(cls, folder: Path, count: int, store_at: str = "") -> House:
        """``store_at``: where the store is, if not in the folder."""
        from link import registry
        from link.ledger.ledger import Ledger
        from link.ledger.orders import SERVER
        from link.store import open_store

        pairs = {f"t{n}": [k.decode() for k in zmq.curve_keypair()] for n in range(count)}
        server = [k.decode() for k in zmq.curve_keypair()]
        at = store_at or str(folder / "link.db")
        (folder / "house.json").write_text(
            json.dumps({"tables": pairs, "server": server, "store": at})
        )
        store = open_store(at, create=True)
        store.migrate(at_ms=1)
        epoch = store.lead("prepare", 1_000) or 0
        ledger = Ledger((), store.load())
        ledger.note("set up", "", (SERVER,), 1)
        group = ledger.group(epoch)
        wanted = [registry.Wanted(pair[0], table) for table, pair in pairs.items()]
        group.keys = {r.public: r for r in registry.enrol({}, wanted, registry.Stamp("bench", 1))}
        store.commit(group)
        store.resign(epoch)
        store.close()
        return cls(folder, pairs, server[0])

    @contextmanager
    def server(self, mode: str, **plan: int) -> Iterator[Running]:
        """``plan``: settings of the server's plan that differ."""
        for name in ("bound", "groups"):
            (self.folder / name).unlink(missing_ok=True)
        words = [sys.executable, "-m", HERE, mode, str(self.folder), json.dumps(plan)]
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(words, stderr=log)
        running = Running(self.folder, process)
        try:
            running.await_bound()
            yield running
        finally:
            running.stop()


class Running:
    """A server. ``tables`` and ``signs`` are its endpoints."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self._folder, self._process = folder, process
        self.pid = process.pid
        self.tables = self.signs = ""

    def await_bound(self) -> None:
        bound = self._folder / "bound"
        until = time.monotonic() + PATIENCE_MS / 1_000
        while not bound.exists():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"no server: {(self._folder / 'log').read_text()[-2000:]}")
            time.sleep(0.01)
        self.tables, self.signs = json.loads(bound.read_text())

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()

    def groups(self) -> int:
        """How many it committed; known once it has stopped."""
        return int((self._folder / "groups").read_text())


def serve(mode: str, folder: Path, plan: Mapping[str, int]) -> None:
    raise_descriptors()
    house = json.loads((folder / "house.json").read_text())
    if mode == "echo":
        _echo(house["server"][1].encode(), folder)
        return
    from link.config import Limits, LinkConfig, ServerOptions
    from link.ledger.terms import Pool, PoolTerms, Terms
    from link.server.compose import compose
    from link.server.doors import DoorPlan, Doors
    from link.store import open_store
    from link.store.sqlite import SqliteStore
    from record.link.keys import SecretKey

    at = house["store"]
    store = SqliteStore(Path(at), flush=False) if mode == "no sync" else open_store(at)
    level = Terms(
        level="grand",
        base_cents=100_000,
        reset_cents=100_000,
        rate_ppm=10_000,
        hidden_ppm=5_000,
        shares={"royal flush": 100},
    )
    terms = PoolTerms(tables=dict.fromkeys(house["tables"], "MBS3"))
    pool = Pool(pool="main", terms=terms, levels=(level,))
    here = "tcp://127.0.0.1:*"
    doors = Doors((DoorPlan(here, here, SecretKey(house["server"][1])),), Limits())
    settings: dict[str, Any] = {"beat_ms": 60_000, "lease_ms": 60_000} | dict(plan)
    config = LinkConfig(server=ServerOptions(name="bench", **settings), pools=(pool,))
    server = compose(config, store, network=doors).server
    server.open()
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    bound = server.endpoints()[0]
    _tell(folder, bound.tables, bound.signs)
    server.run()
    (folder / "groups").write_text(str(server.counts["groups"]))
    server.close()


def _echo(secret: bytes, folder: Path) -> None:
    context = zmq.Context()
    door = context.socket(zmq.ROUTER)
    door.curve_server, door.curve_secretkey = True, secret
    door.backlog = 1024
    door.bind("tcp://127.0.0.1:*")
    _tell(folder, endpoint(door), "")
    receive, send = door.recv, door.send
    quick, more = int(zmq.NOBLOCK), int(zmq.NOBLOCK | zmq.SNDMORE)
    while True:
        door.poll()
        got: list[tuple[bytes, bytes]] = []
        try:
            while len(got) < 512:
                got.append((receive(quick), receive(quick)))
        except zmq.Again:
            pass
        for peer, frame in got:
            send(peer, more)
            send(frame, quick)


def endpoint(socket: zmq.Socket[bytes]) -> str:
    found = socket.get(zmq.LAST_ENDPOINT)
    assert isinstance(found, bytes)
    return found.rstrip(b"\0").decode()


def _tell(folder: Path, tables: str, signs: str) -> None:
    part = folder / "bound.part"
    part.write_text(json.dumps([tables, signs]))
    part.rename(folder / "bound")


# --- tables --------------------------------------------------------------------------------------


def hello(name: str, journal: str, sent: int = 0, head: str = "0" * 64) -> bytes:
    return json.dumps(
        {"t": "hello", "versions": [2], "table": name, "journal": journal, "sent": sent,
         "seq": sent, "head": head, "game": "MBS3", "program": "bench",
         "configuration": "0" * 64}
    ).encode()  # fmt: skip


def event(n: int) -> bytes:
    return (
        b'{"t":"event","n":%d,"seq":%d,"hash":"%064x","at_ms":1762000000000,"body":{"what":'
        b'"contributed","round":%d,"wagers":[[1,100,1],[3,100,1],[6,100,1]]}}' % (n, n, n, n)
    )


def context_for(sockets: int) -> zmq.Context[zmq.Socket[bytes]]:
    context = zmq.Context(1)
    context.set(zmq.MAX_SOCKETS, sockets + 16)
    return context


def dealer(
    context: zmq.Context[zmq.Socket[bytes]], at: str, pair: list[str], server_key: str
) -> zmq.Socket[bytes]:
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    socket.curve_publickey, socket.curve_secretkey = pair[0].encode(), pair[1].encode()
    socket.curve_serverkey = server_key.encode()
    socket.rcvtimeo = PATIENCE_MS
    socket.connect(at)
    return socket


def joined(house: House, at: str, count: int) -> list[zmq.Socket[bytes]]:
    """The first ``count`` tables, welcome."""
    context = context_for(count)
    made = []
    for number, (name, pair) in enumerate(list(house.tables.items())[:count]):
        socket = dealer(context, at, pair, house.server_key)
        socket.send(hello(name, f"{number:032x}"))
        made.append(socket)
    for socket in made:
        socket.recv()
    return made


def drive(sockets: list[zmq.Socket[bytes]], seconds: float) -> tuple[list[float], float]:
    """One event in flight at each table; the latency of each answer, and how long it took."""
    poller = zmq.Poller()
    number: dict[zmq.Socket[bytes], int] = {}
    sent: dict[zmq.Socket[bytes], float] = {}
    now = time.perf_counter
    start = now()
    for socket in sockets:
        poller.register(socket, zmq.POLLIN)
        number[socket] = 1
        sent[socket] = now()
        socket.send(event(1))
    end = start + seconds
    latencies: list[float] = []
    waiting = len(sockets)
    while waiting:
        ready = poller.poll(PATIENCE_MS)
        if not ready:
            raise RuntimeError("no answer in a minute")
        for socket, _ in ready:
            assert isinstance(socket, zmq.Socket)
            data = socket.recv()
            if b'"refused"' in data:
                raise RuntimeError(data)
            at = now()
            latencies.append(at - sent[socket])
            if at >= end:
                waiting -= 1
                continue
            number[socket] += 1
            sent[socket] = at
            socket.send(event(number[socket]))
    return latencies, now() - start


# --- the machine ---------------------------------------------------------------------------------


def raise_descriptors() -> None:
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def cpu_s(*pids: int) -> float:
    """Of these processes and all their threads, to the nanosecond; a clock tick is too coarse for
    a hundred backends."""
    total = 0
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def resident_kb(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") // 1024


def at_share(values: list[float], share: float) -> float:
    """The value that so great a share does not exceed; ``values`` are sorted."""
    return values[min(len(values) - 1, int(len(values) * share))]


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3]) if len(sys.argv) > 3 else {})
