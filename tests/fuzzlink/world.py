"""A link server without sockets, over a real store: what its loop does, step by step, by one seed.

Everything else is the server's own. Only the network is queues, so that a history is the same
whenever it is run again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections import Counter, deque
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

import msgspec

from link.config import LinkConfig, ServerOptions
from link.ledger.terms import Pool
from link.registry import Wanted
from link.rows import Group
from link.server.compose import compose
from link.server.floor import Floor
from link.server.log import Log
from link.server.requests import GiveOrder
from link.server.staff_orders import read_order
from link.store.base import Store
from link.store.errors import Failed
from record.kit.outside import INT64, NotStrict, read_json
from record.link.keys import encode_z85
from record.link.messages import VERSION
from tests.fuzzlink.followers import Follower, WatchedFeed
from tests.link.ledger.support import Sealed
from tests.link.people import PASSWORD, founded, made
from tests.link.queues import Queues, TurningBridge

TABLES: Final = ("T1", "T2", "T3", "T4")
START_MS: Final = 1_773_100_000_000
LEASE_MS: Final = 3_600_000
SECRET: Final = b"s" * 32
OTHER: Final = "another password of mine"
FEED_FAILED: Final = "<3>feed: "


class Clock:
    def __init__(self) -> None:
        self.wall_ms, self.ticks_ms = START_MS, 1_000_000
        self.slow_ms = 0
        """So long everything takes that looks at the time."""

    def now_ms(self) -> int:
        return self.wall_ms

    def mono_ms(self) -> int:
        self.go(self.slow_ms)
        return self.ticks_ms

    def go(self, ms: int) -> None:
        self.wall_ms += ms
        self.ticks_ms += ms


class Table:
    """A table as the protocol page has it; what it is made to say may be anything."""

    def __init__(self, name: str, rng: Random) -> None:
        self.name = name
        self.public = encode_z85(hashlib.sha256(name.encode()).digest())
        self.rng = rng
        self.connections = 0
        self.peer = b""
        self.version = VERSION
        self.receipt: list[Any] | None = None
        self.acked: dict[str, int] = {}
        """Journal to what was acknowledged last."""
        self.heard: deque[dict[str, Any]] = deque(maxlen=50)
        self.begin()

    def begin(self) -> None:
        """A new card: another journal."""
        self.journal = f"{self.rng.getrandbits(128):032x}"
        self.events: list[dict[str, Any]] = []
        self.seq, self.head, self.round = 0, "0" * 64, 0
        self.wagers: dict[int, list[list[int]]] = {}
        self.joined = False
        self.halted = ""
        self.connect()

    def connect(self) -> None:
        self.astray = False
        """A broken hello may name another journal: what is acknowledged then is not of this one."""
        self.connections += 1
        self.peer, self.joined = f"{self.name}-{self.connections}".encode(), False

    def hello(self, **changes: Any) -> dict[str, Any]:
        said: dict[str, Any] = {
            "t": "hello", "versions": [self.version, 1], "table": self.name,
            "journal": self.journal, "sent": len(self.events), "seq": self.seq, "head": self.head,
            "game": "MBS3", "program": "fuzz", "configuration": "0" * 64,
        }  # fmt: skip
        return {**said, **changes}

    def record(self, what: str) -> str:
        self.seq += 1
        self.head = hashlib.sha256(f"{self.head}{self.seq}{what}".encode()).hexdigest()
        return self.head

    def event(self, body: Any) -> dict[str, Any]:
        """The next of its journal."""
        self.record(repr(body))
        made = {"t": "event", "n": len(self.events) + 1, "seq": self.seq, "hash": self.head,
                "at_ms": 1_000 * self.seq, "body": body}  # fmt: skip
        self.events.append(made)
        return made

    def take(self, data: bytes) -> None:
        message = json.loads(data)
        self.heard.append(message)
        kind = message["t"]
        if "receipt" in message:
            self.receipt = message["receipt"]
        if kind == "ack" and not self.astray:
            self.acked[self.journal] = max(self.acked.get(self.journal, 0), message["n"])
        elif kind == "welcome":
            self.joined, self.halted = True, ""
            known = 0 if self.astray else self.acked.get(self.journal, 0)
            assert message["n"] >= known, "an acknowledged event is gone"
        elif kind == "bye":
            self.joined = False
        elif kind == "refused":
            if message.get("halted"):
                self.halted = message["code"]
            if message["code"] in ("E-LNK-011", "E-LNK-019", "E-LNK-020"):
                self.joined = False


class World:
    """Stores are opened by ``reopen``; a crash leaves nothing but what is in them."""

    def __init__(self, reopen: Callable[[], Store], pools: tuple[Pool, ...], rng: Random) -> None:
        self.reopen, self.pools, self.rng = reopen, pools, rng
        self.clock = Clock()
        self.sealer = Sealed()
        self.tables = [Table(name, rng) for name in TABLES]
        self.steps = self.starts = 0
        self.undone = 0
        self.log = io.StringIO()
        self._read = 0
        """Of the log."""
        self.passwords: dict[str, str] = {}
        self.done: Counter[str] = Counter()
        """Orders that were carried out."""
        self.followers = [Follower(), Follower()]
        self.longest = rng.choice((3, 20, 500))
        """Of the feed's log."""
        self.clock.slow_ms = rng.choice((0, 0, 7))
        self._set_up()
        self.start()

    def chance(self) -> bytes:
        return self.rng.randbytes(32)

    def _set_up(self) -> None:
        store = self.reopen()
        keys = [Wanted(table.public, table.name, "table") for table in self.tables]
        founded(store, keys, acknowledged=self.rng.random() < 0.5)
        store.close()

    # --- the server ------------------------------------------------------------------------------

    def start(self) -> None:
        self.starts += 1
        self.store = self.reopen()
        self.network, self.bridge = Queues(SECRET), TurningBridge()
        self.feed = WatchedFeed(lambda: self.clock.ticks_ms / 1_000, self.longest)
        self.feed.durable = lambda: self.store.standing().last_event
        self.bridge.feed = self.feed
        link = compose(
            LinkConfig(server=ServerOptions(name="link-1", lease_ms=LEASE_MS), pools=self.pools),
            self.store,
            self.clock,
            self.chance,
            self.network,
            log=Log(self.log),
            sealer=self.sealer,
            bridge=self.bridge,
            holder="fuzz",  # the same: it need not wait for the lease of the one that crashed
            pause=lambda _s: None,
        )
        self.control = link.control
        self.server = self.bridge.server = link.server
        self.server.open()
        for _ in range(3):
            self.turn()
        assert self.floor.epoch
        assert self.server.office.chain.findings == []

    @property
    def floor(self) -> Floor:
        assert self.server.floor is not None, self.log.getvalue()[-2_000:]
        return self.server.floor

    def lose(self) -> None:
        """The store is away for a moment: it leads no longer, and then again."""
        commit, floor = self.store.commit, self.server.floor

        def away(group: Group) -> None:  # noqa: ARG001
            raise Failed(self.store.place, "planted: it is away")

        self.store.commit = away  # type: ignore[method-assign]
        for _ in range(3):
            if self.server.floor is floor:
                self.floor.ledger.alarm("E-STO-009", "", "planted", self.clock.wall_ms)
                self.turn()
        self.store.commit = commit  # type: ignore[method-assign]
        assert self.server.floor is None
        for follower in self.followers:
            follower.read(self)
        self.clock.go(LEASE_MS)
        self.turn()
        assert self.floor.epoch

    def crash(self) -> None:
        """Nothing is said and nothing is finished."""
        self.store.close()
        for table in self.tables:
            table.connect()

    def stop(self) -> None:
        self.server.close()

    def turn(self) -> None:
        self.server.turn(0)
        undone = self.server.counts["undone"]
        assert undone == 0, f"the loop had to undo an input: {self.log.getvalue()[-1_500:]}"
        self._listen()
        peers = {table.peer: table for table in self.tables}
        said, self.network.sent = self.network.sent, []
        for peer, data in said:
            if peer in peers:
                peers[peer].take(data)

    def _listen(self) -> None:
        """What goes wrong with the feed alone is a line of the log and nothing else."""
        self.log.seek(self._read)
        said = self.log.read()
        self._read = self.log.tell()
        assert not said.startswith(FEED_FAILED), said
        assert f"\n{FEED_FAILED}" not in said, said

    def send(self, table: Table, message: Any) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        if b"hello" in data and table.journal.encode() not in data:
            table.astray = True
        self.network.waiting.append((table.peer, table.public, data))

    # --- people ----------------------------------------------------------------------------------

    def ask(self, request: Mapping[str, Any] | bytes) -> Mapping[str, Any]:
        answer = self.answer(request)
        self.turn()
        return answer

    def answer(self, request: Mapping[str, Any] | bytes) -> Mapping[str, Any]:
        line = request if isinstance(request, bytes) else json.dumps(request).encode()
        answer = self.control.answer(line, os.geteuid())
        assert answer.get("error") != "E-SVC-008", f"{line[:300]!r}: {self.log.getvalue()[-1500:]}"
        self._listen()
        return answer

    def password_of(self, name: str) -> str:
        return self.passwords.get(name, PASSWORD)

    def order(self, order: Mapping[str, Any], *people: str) -> Mapping[str, Any]:
        """As the control socket does after the passwords were proved."""
        try:
            given = read_json(json.dumps(order).encode(), most_int=INT64, longest=60_000)
            wanted = read_order(given)
        except (NotStrict, ValueError) as error:
            return {"error": "E-ACT-007", "text": str(error)}
        signers = tuple((name, made(self.password_of(name))[1]) for name in people)
        answer: dict[str, Any] = msgspec.to_builtins(self.bridge.ask(GiveOrder(wanted, signers, 0)))
        assert answer.get("error") != "E-SVC-008", f"{order}: {self.log.getvalue()[-1_500:]}"
        self.turn()
        if "ok" in answer:
            self.done[str(order["what"])] += 1
            self._learn(order)
        return answer

    def _learn(self, order: Mapping[str, Any]) -> None:
        """Whose password is another one now."""
        if "proof" in order:
            words = {made(word)[0].key: word for word in (PASSWORD, OTHER)}
            self.passwords[order["name"]] = words[order["key"]]
