"""The link server with a hundred CURVE tables, one event in flight each, beside what it stands on.

    python -m bench.link_server [SECONDS] [REPEATS] [TABLES]

``echo`` is a bare CURVE ROUTER that drains and answers: no ledger, no store, no check. ``no sync``
is the server on a store that never flushes, ``durable`` the same as it runs. The client shares the
machine, so CPU per event is the figure that carries over. Events per group show that acks wait for
the commit: never more than there are tables.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import zmq

from bench.common import Target, print_ratios, verdict, versions

HERE: Final = "bench.link_server"
MODES: Final = ("echo", "no sync", "durable")
TICK: Final = os.sysconf("SC_CLK_TCK")


# --- servers, each a process ---------------------------------------------------------------------


def serve(mode: str, folder: Path) -> None:
    keys = json.loads((folder / "keys.json").read_text())
    if mode == "echo":
        _echo(keys["server"][1].encode(), folder)
        return
    from link.ledger.terms import Pool, PoolTerms, Terms
    from link.server.doors import DoorPlan, Doors, Limits
    from link.server.keeper import Keeper
    from link.server.server import Means, Plan, Server
    from link.store.sqlite import SqliteStore
    from record.link.keys import SecretKey

    store = SqliteStore(folder / "link.db", flush=mode != "no sync")
    tables = dict.fromkeys(keys["tables"], "MBS3")
    level = Terms(
        level="grand",
        base_cents=100_000,
        reset_cents=100_000,
        rate_ppm=10_000,
        hidden_ppm=5_000,
        shares={"royal flush": 100},
    )
    pool = Pool(pool="main", terms=PoolTerms(tables=tables), levels=(level,))
    plan = DoorPlan("tcp://127.0.0.1:*", "", SecretKey(keys["server"][1]))
    doors = Doors((plan,), Limits())
    means = Means(store=store, keeper=Keeper(store, f"bench {os.getpid()}", 60_000), doors=doors)
    server = Server(Plan(name="bench", pools=(pool,), beat_ms=60_000), means)
    server.open()
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    (folder / "endpoint").write_text(server.endpoints()[0]["tables"])
    server.run()
    (folder / "groups").write_text(str(server.counts["groups"]))
    server.close()


def _echo(secret: bytes, folder: Path) -> None:
    context = zmq.Context()
    door = context.socket(zmq.ROUTER)
    door.curve_server, door.curve_secretkey = True, secret
    door.bind("tcp://127.0.0.1:*")
    found = door.get(zmq.LAST_ENDPOINT)
    assert isinstance(found, bytes)
    (folder / "endpoint").write_text(found.rstrip(b"\0").decode())
    receive, send, quick = door.recv, door.send, zmq.NOBLOCK
    answer = b'{"t":"ack","n":1234}'
    while True:
        door.poll()
        got: list[bytes] = []
        try:
            while len(got) < 512:
                got.append(receive(quick))
                receive(quick)
        except zmq.Again:
            pass
        for peer in got:
            send(peer, quick | zmq.SNDMORE)
            send(answer, quick)


# --- the tables ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    events_s: float
    p99_ms: float
    cpu_us: float
    per_group: float


def hello(name: str, journal: str) -> bytes:
    zero = "0" * 64
    return json.dumps(
        {"t": "hello", "versions": [2], "table": name, "journal": journal, "sent": 0, "seq": 0,
         "head": zero, "game": "MBS3", "program": "bench", "configuration": zero}
    ).encode()  # fmt: skip


def event(n: int) -> bytes:
    return (
        b'{"t":"event","n":%d,"seq":%d,"hash":"%064x","at_ms":1762000000000,"body":{"what":'
        b'"contributed","round":%d,"wagers":[[1,100,1],[3,100,1],[6,100,1]]}}' % (n, n, n, n)
    )


def tables(endpoint: str, keys: dict[str, list[str]], server_key: str) -> list[zmq.Socket[bytes]]:
    context = zmq.Context(1)
    context.set(zmq.MAX_SOCKETS, 4_096)
    made = []
    for number, (name, (public, secret)) in enumerate(keys.items()):
        socket = context.socket(zmq.DEALER)
        socket.linger = 0
        socket.curve_publickey, socket.curve_secretkey = public.encode(), secret.encode()
        socket.curve_serverkey = server_key.encode()
        socket.rcvtimeo = 60_000
        socket.connect(endpoint)
        socket.send(hello(name, f"{number:032x}"))
        made.append(socket)
    for socket in made:
        socket.recv()
    return made


def drive(sockets: list[zmq.Socket[bytes]], seconds: float) -> tuple[int, list[float], float]:
    """One event in flight at each table; acked events, latencies, and how long it took."""
    poller = zmq.Poller()
    number: dict[zmq.Socket[bytes], int] = {}
    sent: dict[zmq.Socket[bytes], float] = {}
    now = time.perf_counter
    for socket in sockets:
        poller.register(socket, zmq.POLLIN)
        number[socket] = 1
        sent[socket] = now()
        socket.send(event(1))
    start = now()
    end = start + seconds
    latencies: list[float] = []
    waiting = len(sockets)
    while waiting:
        for socket, _ in poller.poll(60_000):
            assert isinstance(socket, zmq.Socket)
            data = socket.recv()
            if b'"ack"' not in data:
                raise RuntimeError(data)
            at = now()
            latencies.append(at - sent[socket])
            if at >= end:
                waiting -= 1
                continue
            number[socket] += 1
            sent[socket] = at
            socket.send(event(number[socket]))
    return len(latencies), latencies, now() - start


# --- one run -------------------------------------------------------------------------------------


def measure(mode: str, count: int, seconds: float, place: Path) -> Figures:
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        pairs, server_key = prepare(folder, count)
        process = subprocess.Popen([sys.executable, "-m", HERE, "serve", mode, name])
        try:
            endpoint = _endpoint(folder, process)
            sockets = tables(endpoint, pairs, server_key)
            before = cpu_s(process.pid)
            acked, latencies, took = drive(sockets, seconds)
            cpu = cpu_s(process.pid) - before
            for socket in sockets:
                socket.close(0)
        finally:
            process.terminate()
            process.wait()
        made = int((folder / "groups").read_text()) if mode != "echo" else 0
    latencies.sort()
    p99 = latencies[int(len(latencies) * 0.99)] * 1e3
    return Figures(acked / took, p99, cpu / acked * 1e6, acked / made if made else 0.0)


def prepare(folder: Path, count: int) -> tuple[dict[str, list[str]], str]:
    """Keys, and a store that knows them."""
    from link import registry
    from link.ledger.ledger import Ledger
    from link.ledger.orders import SERVER
    from link.store import open_store

    pairs = {f"t{n}": [k.decode() for k in zmq.curve_keypair()] for n in range(count)}
    server = [k.decode() for k in zmq.curve_keypair()]
    keys = {"tables": pairs, "server": server}
    (folder / "keys.json").write_text(json.dumps(keys))
    store = open_store(str(folder / "link.db"), create=True)
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
    return pairs, server[0]


def _endpoint(folder: Path, process: subprocess.Popen[bytes]) -> str:
    for _ in range(3_000):
        path = folder / "endpoint"
        if path.exists() and path.read_text():
            return path.read_text()
        if process.poll() is not None:
            raise RuntimeError("the server ended")
        time.sleep(0.01)
    raise RuntimeError("the server never listened")


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def main(argv: list[str]) -> int:
    if argv[:1] == ["serve"]:
        serve(argv[1], Path(argv[2]))
        return 0
    seconds = float(argv[0]) if argv else 3.0
    repeats = int(argv[1]) if len(argv) > 1 else 3
    count = int(argv[2]) if len(argv) > 2 else 100
    print(versions("pyzmq", "msgspec"), f"{count} CURVE tables, one event in flight each")
    with tempfile.TemporaryDirectory() as place:
        runs: dict[str, list[Figures]] = {mode: [] for mode in MODES}
        for _ in range(repeats):
            for mode in MODES:
                runs[mode].append(measure(mode, count, seconds, Path(place)))
    return report(runs, count)


def report(runs: dict[str, list[Figures]], count: int) -> int:
    def medians(read: Callable[[Figures], float]) -> dict[str, float]:
        return {mode: median(read(one) for one in found) for mode, found in runs.items()}

    rates, tails = medians(lambda f: f.events_s), medians(lambda f: f.p99_ms)
    cpus, grouped = medians(lambda f: f.cpu_us), medians(lambda f: f.per_group)
    print("acknowledged events")
    print_ratios(rates, "no sync", "events/s")
    missed = verdict(rates, [Target("durable", "no sync", 0.8)])
    print("p99 latency")
    print_ratios(tails, "no sync", "ms")
    missed |= verdict(tails, [Target("durable", "no sync", 1.5, at_most=True)])
    print("CPU of the server")
    print_ratios(cpus, "echo", "us/event")
    missed |= verdict(cpus, [Target("durable", "echo", 2.0, at_most=True)])
    print(
        f"events a group: {grouped['durable']:.1f} (never above {count}: acks wait for the commit)"
    )
    return missed | (grouped["durable"] > count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
