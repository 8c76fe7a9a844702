"""Two machines and a floor: PostgreSQL with its standby, two link servers, tables that play.

Everything is real: two database servers with streaming replication, two processes of the link, and
CURVE sockets. ``Floor`` remembers what was ever acknowledged; ``missing`` is the judge.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zmq

from link.store.postgres import PostgresStore
from record.link.keys import load_public
from tests.link.server.test_server_process import COMMAND, PASSWORD, run
from tests.link.stranger import GaveUp, Message, Stranger
from tests.patience import PATIENCE_S
from tests.ports import two_ports
from tests.postgres import Instance

TABLES = ("table-1", "table-2", "table-3", "table-4")
WAGER_CENTS = 100
POOL = """
[pools.main]
tables = { table-1 = "MBS3", table-2 = "MBS3", table-3 = "MBS3", table-4 = "MBS3" }
meter_rule = "sequential"

[[pools.main.levels]]
level = "grand"
base_cents = 100000
reset_cents = 100000
rate = "1 %"
shares = { "royal flush" = 100, "straight flush" = 10 }
"""
BASE_CENTS = 100_000


def until(wanted: Callable[[], bool], said: Callable[[], str] = str) -> None:
    """A bound, not a measurement: it fails only if it never comes."""
    end = time.monotonic() + PATIENCE_S
    while not wanted():
        assert time.monotonic() < end, f"never came: {said()}"
        time.sleep(0.01)


class Pair:
    """Primary ``a`` and standby ``b``. ``synchronous``: each waits for the other."""

    def __init__(self, template: Path, *, synchronous: bool) -> None:
        names = ("'b'", "'a'") if synchronous else ("''", "''")
        self.a = Instance(copy_of=template, synchronous_standby_names="''")
        self.made = [self.a]
        self.a.start()
        self.a.create("link")
        self.b = self.follower(self.a, "b", names[1])
        self.a.configure(synchronous_standby_names=names[0])
        self.a.reload()
        until(lambda: self.following(self.a) == ("sync" if synchronous else "async"))

    def follower(self, of: Instance, name: str, waits_for: str) -> Instance:
        made = Instance(standby_of=of, name=name, synchronous_standby_names=waits_for)
        self.made.append(made)
        made.start()
        return made

    def following(self, primary: Instance) -> str:
        """``sync`` or ``async``, or nothing while nobody follows."""
        with primary.connect() as link:
            row = link.execute(
                "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'"
            ).fetchone()
        return str(row[0]) if row else ""

    def set_names(self, primary: Instance, names: str) -> None:
        """``synchronous_standby_names``, as somebody would who is in a hurry."""
        with primary.connect() as link:
            link.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
            link.execute("SELECT pg_reload_conf()")

    def url(self, *instances: Instance) -> str:
        hosts = ",".join(str(one.folder) for one in instances)
        return f"postgresql:///link?host={hosts}&user=postgres&target_session_attrs=read-write"

    def remove(self) -> None:
        for one in self.made:
            one.remove()


class Link:
    """One process of ``underfelt link``."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.config = folder, folder / "link.toml"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            command = [*COMMAND, "link", "--config", str(self.config)]
            self.process = subprocess.Popen(command, stderr=log, env=dict(os.environ))

    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8")

    def status(self) -> dict[str, Any]:
        """Empty while it does not answer."""
        _, out, _ = run("link", "status", "--json", "--config", str(self.config))
        answer = dict(json.loads(out)) if out else {}
        return {} if answer.get("ok") is False else answer

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class Table(threading.Thread):
    """Plays until it is told to stop, then until all of it is acknowledged."""

    def __init__(self, stranger: Stranger, endpoints: list[str]) -> None:
        super().__init__(daemon=True)
        self.stranger, self._endpoints = stranger, endpoints
        stranger.resend_s = 0.2
        self.told = 0
        """The highest number that was ever acknowledged to it."""
        self.closing, self.ended, self.paused = False, False, False
        self._seen = 0

    def _note(self) -> None:
        heard: list[Message] = self.stranger.heard
        for message in heard[self._seen :]:
            if message["t"] == "ack":
                self.told = max(self.told, message["n"])
        self._seen = len(heard)

    def run(self) -> None:
        joined, number = False, 0
        while not (self.ended or (self.closing and self._done())):
            if not joined:
                number += 1
                self.stranger.endpoint = self._endpoints[number % len(self._endpoints)]
                with suppress(GaveUp):
                    joined = self.stranger.join(0.5)["t"] == "welcome"
            elif not self.paused:
                if not self.closing and self._done():
                    self.stranger.wager(len(self.stranger.events) + 1, WAGER_CENTS)
                try:
                    self.stranger.deliver(1.0)
                except GaveUp:
                    joined = False
            else:
                time.sleep(0.01)
            self._note()
        self.stranger.close()

    def _done(self) -> bool:
        return self.stranger.acked >= len(self.stranger.events)


@dataclass
class Floor:
    """Both link servers over a pair, and the tables."""

    folder: Path
    pair: Pair
    links: list[Link] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)

    def open(self, *, required: bool) -> None:
        """Servers running, one of them leading; tables enrolled and playing."""
        first = self.folder / "link-1"
        ports = two_ports()
        url = self.pair.url(self.pair.a, self.pair.b)
        code, _, err = run(
            "link", "init", str(first), "--account=m.ng=manager", "--account=k.lee=supervisor",
            "--passwords-stdin",
            "--port", str(ports), "--store", url, stdin=f"{PASSWORD}\n" * 2,
        )  # fmt: skip
        assert code == 0, err
        text = (first / "link.toml").read_text("utf-8") + POOL
        more = "lease_ms = 600\nbeat_ms = 300\nstore_wait_ms = 400\n"
        more += f"require_synchronous_standby = {str(required).lower()}\n"
        text = text.replace("control = ", more + "control = ", 1)
        (first / "link.toml").write_text(text, "utf-8")
        self.links = [Link(first), self.copy("link-2", text, ports)]
        self.links[0].start()
        until(lambda: self.leader() is not None, self.logs)
        keys = self._enrol()
        self.links[1].start()  # and knows the keys from its first look on
        until(lambda: bool(self.links[1].status()), self.logs)
        server_key = load_public(first / "link.pub").encode()
        endpoints = [link.status()["endpoints"][0]["tables"] for link in self.links]
        for name in TABLES:
            # Receipts would stop a server over a database that lost what was acknowledged.
            versions = (3, 2, 1) if required else (2, 1)
            stranger = Stranger(endpoints[0], server_key, keys[name], name, versions=versions)
            self.tables.append(Table(stranger, endpoints))
            self.tables[-1].start()

    def copy(self, name: str, text: str, ports: int) -> Link:
        """Another server: the same keys, other addresses."""
        folder = self.folder / name
        shutil.copytree(
            self.folder / "link-1", folder, ignore=shutil.ignore_patterns("*.sock", "log")
        )
        text = text.replace('"link-1"', f'"{name}"')
        text = text.replace(f":{ports}", ":*").replace(f":{ports + 1}", ":*")
        (folder / "link.toml").write_text(text, "utf-8")
        return Link(folder)

    def _enrol(self) -> dict[str, tuple[bytes, bytes]]:
        keys = {name: zmq.curve_keypair() for name in TABLES}
        rows = "".join(f'{name},"{public.decode().replace(chr(34), chr(34) * 2)}"\n'
                       for name, (public, _) in keys.items())  # fmt: skip
        (self.folder / "floor.csv").write_text("name,key\n" + rows, "utf-8")

        def done() -> bool:
            leader = self.leader()
            if leader is None:
                return False
            code, _, err = run(
                "keys", "enrol", "--csv", str(self.folder / "floor.csv"), "--by", "m.ng",
                "--by", "k.lee", "--passwords-stdin", "--config", str(leader.config),
                stdin=f"{PASSWORD}\n" * 2,
            )  # fmt: skip
            assert code in (0, 69, 75) or "E-LNK-020" in err, err
            return code == 0

        until(done, self.logs)
        return keys

    def leader(self) -> Link | None:
        for link in self.links:
            if link.status().get("leading"):
                return link
        return None

    def epoch(self) -> int:
        leader = self.leader()
        return 0 if leader is None else int(leader.status().get("epoch", 0))

    def told(self) -> int:
        """How many events were ever acknowledged."""
        return sum(table.told for table in self.tables)

    def play(self, more: int) -> None:
        """Until so many more are acknowledged."""
        goal = self.told() + more
        until(lambda: self.told() >= goal, self.logs)

    def finish(self) -> int:
        """Nobody plays on, everything is acknowledged; how many events there were."""
        for table in self.tables:
            table.closing = True
        for table in self.tables:
            table.join(PATIENCE_S)
            assert not table.is_alive(), self.logs()
        return sum(len(table.stranger.events) for table in self.tables)

    def logs(self) -> str:
        return "\n".join(link.log()[-3000:] for link in self.links)

    def close(self) -> None:
        for table in self.tables:
            table.ended = True
        for table in self.tables:
            table.join(PATIENCE_S)
        for link in self.links:
            link.kill()


def missing(instance: Instance, floor: Floor) -> list[str]:
    """What was acknowledged and is not stored, or stored twice, or not in the pool to the unit."""
    found: list[str] = []
    with closing(PostgresStore(_url(instance))) as store:
        store.check()
        rows = [row for row in store.events() if row.journal]
        display = sum(b.units for b in store.load().balances if b.account == "display")
    times = Counter((row.journal, row.n) for row in rows)
    hashes = {(row.journal, row.n): row.hash for row in rows}
    for table in floor.tables:
        stranger = table.stranger
        for n in range(1, table.told + 1):
            key = (stranger.journal, n)
            if key not in times:
                found.append(f"{stranger.table}: event {n} was acknowledged and is not stored")
            elif hashes[key] != stranger.events[n - 1]["hash"]:
                found.append(f"{stranger.table}: event {n} is stored as another one")
    found += [f"{journal}: event {n} is stored {k} times" for (journal, n), k in times.items()
              if k != 1]  # fmt: skip
    exact = (BASE_CENTS * 100 + WAGER_CENTS * len(rows)) * 10_000
    if display != exact:
        found.append(f"the pool holds {display} units, its events make {exact}")
    return found


def _url(instance: Instance) -> str:
    return instance.url("link")
