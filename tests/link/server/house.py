"""A real link server in this process: real CURVE sockets on loopback, a real SQLite store.

The loop runs in a thread of its own, as it does in the daemon; tests talk to it over the wire, or
through the bridge like the control socket does.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import zmq

from link.config import Limits, LinkConfig, ServerOptions
from link.ledger.terms import Pool, PoolTerms, Terms
from link.registry import Wanted
from link.rows import KeyRole
from link.server.bridge import Bridge
from link.server.clock import SYSTEM_CLOCK, Clock
from link.server.compose import compose
from link.server.control import Control
from link.server.doors import METERS_KEPT, DoorPlan, Doors
from link.server.log import Log
from link.server.requests import (
    LISTS,
    QUESTIONS,
    Adopt,
    Asked,
    Backup,
    Changes,
    CheckPassword,
    GiveOrder,
    WhoIs,
    WrongPassword,
)
from link.server.server import Server
from link.store import open_store
from link.store.base import Store
from record.link.keys import SecretKey
from tests.link.people import PASSWORD, founded, made
from tests.link.stranger import Stranger
from tests.patience import PATIENCE_S

Pair = tuple[bytes, bytes]
ANY = "tcp://127.0.0.1:*"
KINDS: dict[str, type[Asked]] = {
    **QUESTIONS,
    **LISTS,
    "changes": Changes,
    "account": WhoIs,
    "failed": WrongPassword,
    "adopt": Adopt,
    "password": CheckPassword,
    "order": GiveOrder,
    "backup": Backup,
}
"""Every request that the loop answers."""


def pool(
    *tables: str, rate_ppm: int = 10_000, base_cents: int = 100_000, game: str = "MBS3"
) -> Pool:
    """One level: 1 % of each wager, 1,000.00 to begin with."""
    terms = Terms(
        level="grand",
        base_cents=base_cents,
        reset_cents=base_cents,
        rate_ppm=rate_ppm,
        shares={"royal flush": 100, "straight flush": 10},
    )
    return Pool(
        pool="main",
        terms=PoolTerms(tables=dict.fromkeys(tables, game), denominations_cents=(100, 500)),
        levels=(terms,),
    )


@dataclass
class House:
    """Keys and store of one link; servers are started on it and stopped."""

    folder: Path
    tables: tuple[str, ...]
    where: str = ""
    acknowledged: bool = True
    pairs: dict[str, Pair] = field(default_factory=dict)
    server_keys: Pair = field(default_factory=zmq.curve_keypair)
    running: list[Live] = field(default_factory=list)
    strangers: list[Stranger] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.where = self.where or str(self.folder / "link.db")
        self.pairs = {name: zmq.curve_keypair() for name in (*self.tables, "sign-1")}
        store = open_store(self.where, create=True)
        wanted = [Wanted(self.public(name), name, self.role(name)) for name in self.pairs]
        founded(store, wanted, acknowledged=self.acknowledged)
        store.close()

    @staticmethod
    def role(name: str) -> KeyRole:
        return "sign" if name.startswith("sign") else "table"

    def public(self, name: str) -> str:
        return self.pairs[name][0].decode()

    def start(self, **changes: Any) -> Live:
        live = Live.start(self, **changes)
        self.running.append(live)
        return live

    def stranger(self, name: str, live: Live, **changes: Any) -> Stranger:
        made = Stranger(
            changes.pop("endpoint", live.endpoint),
            changes.pop("server_key", self.server_keys[0]),
            changes.pop("keys", self.pairs.get(name) or zmq.curve_keypair()),
            changes.pop("table", name),
            **changes,
        )
        self.strangers.append(made)
        return made

    def store(self) -> Store:
        """Between two servers."""
        return open_store(self.where)

    def close(self) -> None:
        for stranger in self.strangers:
            stranger.close()
        for live in self.running:
            live.stop()


@dataclass
class Live:
    """A server that runs."""

    log: io.StringIO
    server: Server = field(init=False)
    bridge: Bridge = field(default_factory=Bridge)
    thread: threading.Thread = field(init=False)
    control: Control | None = None
    failed: list[BaseException] = field(default_factory=list)
    _built: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def start(cls, house: House, *, wait: bool = True, **changes: Any) -> Live:
        live = cls(io.StringIO())
        live.thread = threading.Thread(target=live._run, args=(house, changes), daemon=True)
        live.thread.start()
        assert live._built.wait(PATIENCE_S), "never built"
        assert not (wait and live.failed), live.failed  # else who asks looks at how it ended
        if wait:
            live.until(lambda: live.ask("status")["leading"])
        return live

    def _build(
        self,
        house: House,
        *,
        open_it: Callable[[], Store] | None = None,
        clock: Clock | None = None,
        limits: Limits | None = None,
        meters_kept: int = METERS_KEPT,
        doors: tuple[DoorPlan, ...] | None = None,
        control: Path | None = None,
        pools: tuple[Pool, ...] | None = None,
        name: str = "link-1",
        **options: Any,
    ) -> None:
        """In the loop's own thread: a store belongs to the thread that opened it."""
        secret = SecretKey(house.server_keys[1].decode())
        config = LinkConfig(
            server=ServerOptions(name=name, control=control or house.folder / "c", **options),
            limits=limits or Limits(),
            pools=(pool(*house.tables),) if pools is None else pools,
        )
        link = compose(
            config,
            (open_it or house.store)(),
            clock or SYSTEM_CLOCK,
            network=Doors(doors or (DoorPlan(ANY, ANY, secret),), config.limits, meters_kept),
            log=Log(self.log),
            bridge=self.bridge,
        )
        self.server = link.server
        self.server.open()
        if control is not None:
            self.control = link.control
            self.control.start()

    def _run(self, house: House, changes: dict[str, Any]) -> None:
        try:
            self._build(house, **changes)
            self._built.set()
            self.server.run()
        except BaseException as error:
            self.failed.append(error)
        finally:
            self._built.set()
            if hasattr(self, "server"):
                self.server.close()

    @property
    def endpoint(self) -> str:
        return self.server.endpoints()[0].tables

    @property
    def signs(self) -> str:
        return self.server.endpoints()[0].signs

    def ask(self, verb: str, **given: Any) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self.bridge.ask(KINDS[verb](**given)))
        return found

    def listed(self, verb: str) -> list[dict[str, Any]]:
        """All pages."""
        found, cursor = list[dict[str, Any]](), ""
        while True:
            page = self.ask(verb, cursor=cursor)
            found += page[verb]
            cursor = page["next"]
            if not cursor:
                return found

    def order(self, order: Any, *people: str) -> dict[str, Any]:
        signers = tuple((name, made(PASSWORD)[1]) for name in people)
        return self.ask("order", order=order, signers=signers, source=0)

    def counts(self) -> dict[str, int]:
        counts: dict[str, int] = self.ask("status")["counts"]
        return counts

    def alarms(self) -> list[dict[str, Any]]:
        """All but the one about the first accounts, oldest first."""
        return [alarm for alarm in reversed(self.listed("alarms")) if alarm["code"] != "E-ACT-011"]

    def meter(self) -> int:
        cents: int = self.ask("meters")["meters"][0]["cents"]
        return cents

    def until(self, wanted: Callable[[], bool], timeout_s: float = PATIENCE_S) -> None:
        """A bound, not a measurement: it fails only if it never comes."""
        end = time.monotonic() + timeout_s
        while not wanted():
            assert time.monotonic() < end, f"never came; log: {self.log.getvalue()[-2000:]}"
            assert not self.failed, self.failed
            time.sleep(0.01)

    def stop(self) -> None:
        if self.thread.is_alive():
            self.server.stop()
            self.thread.join(PATIENCE_S)
            assert not self.thread.is_alive()
        if self.control is not None:
            self.control.close()


@contextmanager
def house_of(folder: Path, *tables: str) -> Iterator[House]:
    house = House(folder, tables)
    try:
        yield house
    finally:
        house.close()
