"""One run of each system: started, driven by so many clients, stopped; what came out of it."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import psycopg

from bench import link_parts
from bench.link_parts import House, at_share, cpu_s, event
from bench.peers import wires
from bench.peers.daemon import flushes, free_port, program, running
from tests.postgres import Instance


@dataclass(frozen=True, slots=True)
class Figures:
    acked_s: float
    p50_ms: float
    p99_ms: float
    flushes: int
    per_flush: float
    """Events a flush; infinite if there was none."""
    server_us: float
    client_us: float
    """CPU an event."""


class Watch:
    """Clocks and counters of one run, from ``begin`` to ``figures``."""

    def __init__(self, folder: Path, pids: Callable[[], list[int]]) -> None:
        self._folder, self._pids = folder, pids

    def begin(self) -> None:
        self._server_s, self._client_s = cpu_s(*self._pids()), time.process_time()
        self._flushes, self._start = flushes(self._folder), time.perf_counter()

    def figures(self, latencies: list[float]) -> Figures:
        took = time.perf_counter() - self._start
        flushed = flushes(self._folder) - self._flushes
        client_s = time.process_time() - self._client_s
        server_s = cpu_s(*self._pids()) - self._server_s
        latencies.sort()
        acked = len(latencies)
        return Figures(
            acked / took,
            at_share(latencies, 0.5) * 1e3,
            at_share(latencies, 0.99) * 1e3,
            flushed,
            acked / flushed if flushed else float("inf"),
            server_s / acked * 1e6,
            client_s / acked * 1e6,
        )


Run = Callable[[int, float], Figures]
"""With so many clients, for so many seconds."""


class Systems:
    """All of them, in folders under ``place``. PostgreSQL runs all the time, the others only while
    they are measured; every run begins with an empty store."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._number = count(1)
        self._postgres = Instance(max_connections="150", shared_buffers="256MB")
        self._postgres.start()

    def close(self) -> None:
        self._postgres.remove()

    def runs(self) -> Mapping[str, Run]:
        return {
            "link": partial(self._link, "durable"),
            "link, no sync": partial(self._link, "no sync"),
            "link on PostgreSQL": partial(self._link, "postgresql"),
            "Redis, always": self._redis,
            "NATS, sync always": self._nats,
            "Mosquitto, QoS 1": self._mosquitto,
            "PostgreSQL, one insert": self._insert,
        }

    def _folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self._place))

    def _link(self, mode: str, clients: int, seconds: float) -> Figures:
        folder, at = self._folder(), ""
        if mode == "postgresql":
            at = self._postgres.create(f"link{next(self._number)}")
        house = House.build(folder, clients, at)
        with house.server(mode) as server:

            def pids() -> list[int]:
                return [server.pid, *(self._backends() if at else [])]

            watch = Watch(folder, pids)
            sockets = link_parts.joined(house, server.tables, clients)
            watch.begin()
            latencies, _ = link_parts.drive(sockets, seconds)
            figures = watch.figures(latencies)
            for socket in sockets:
                socket.close(0)
        return figures

    def _backends(self) -> list[int]:
        """PostgreSQL's processes: the server and its children."""
        found = [self._postgres.pid]
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                except OSError:
                    continue
                if int(parent) == self._postgres.pid:
                    found.append(int(entry.name))
        return found

    def _redis(self, clients: int, seconds: float) -> Figures:
        folder, port = self._folder(), free_port()
        settings = {
            "port": str(port),
            "bind": "127.0.0.1",
            "dir": str(folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
        }
        words = [program("redis-server")]
        for name, value in settings.items():
            words += [f"--{name}", value]
        with running(words, folder, port) as pid:
            return _driven(wires.RedisClient, port, Watch(folder, lambda: [pid]), clients, seconds)

    def _nats(self, clients: int, seconds: float) -> Figures:
        folder, port = self._folder(), free_port()
        file = folder / "nats.conf"
        file.write_text(
            f'listen: "127.0.0.1:{port}"\n'
            f'jetstream {{ store_dir: "{folder}/store", sync_interval: always }}\n'
        )
        with running([program("nats-server"), "-c", str(file)], folder, port) as pid:
            wires.nats_stream(port)
            return _driven(wires.NatsClient, port, Watch(folder, lambda: [pid]), clients, seconds)

    def _mosquitto(self, clients: int, seconds: float) -> Figures:
        folder, port = self._folder(), free_port()
        file = folder / "mosquitto.conf"
        file.write_text(
            f"listener {port} 127.0.0.1\nallow_anonymous true\nlog_type error\n"
            f"persistence true\npersistence_location {folder}/\n"
            "max_queued_messages 0\nmax_inflight_messages 0\n"
            + ("user root\n" if os.geteuid() == 0 else "")
        )
        with running([program("mosquitto"), "-c", str(file)], folder, port) as pid:
            wires.mqtt_subscriber(port)
            return _driven(wires.MqttClient, port, Watch(folder, lambda: [pid]), clients, seconds)

    def _insert(self, clients: int, seconds: float) -> Figures:
        url = self._postgres.create(f"insert{next(self._number)}")
        with psycopg.connect(url, autocommit=True) as link:
            link.execute(
                "CREATE TABLE events (table_id text, n bigint, body bytea,"
                " PRIMARY KEY (table_id, n))"
            )
        watch = Watch(self._postgres.folder, self._backends)
        return asyncio.run(_inserted(url, clients, seconds, watch))


def _driven(
    kind: type[wires.Client], port: int, watch: Watch, clients: int, seconds: float
) -> Figures:
    return watch.figures(asyncio.run(wires.drive(kind, port, clients, seconds, watch.begin)))


async def _inserted(url: str, clients: int, seconds: float, watch: Watch) -> Figures:
    links = [
        await psycopg.AsyncConnection.connect(url, autocommit=True, prepare_threshold=1)
        for _ in range(clients)
    ]
    latencies: list[float] = []
    now = time.perf_counter

    async def play(number: int, end: float) -> None:
        cursor, table, n = links[number].cursor(), f"t{number}", 0
        while now() < end:
            n += 1
            start = now()
            await cursor.execute("INSERT INTO events VALUES (%s, %s, %s)", (table, n, event(n)))
            latencies.append(now() - start)

    watch.begin()
    end = now() + seconds
    await asyncio.gather(*(play(number, end) for number in range(clients)))
    figures = watch.figures(latencies)
    for link in links:
        await link.close()
    return figures
