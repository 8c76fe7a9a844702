"""A link server without sockets, over a real store: what its loop does, step by step, by one seed.

Everything else is the server's own: gate, floor, ledger, office, service, keeper, store. Only the
doors are queues, so that a history is the same whenever it is run again.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import deque
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

import zmq

from link import registry
from link.ledger.ledger import Ledger
from link.ledger.terms import Pool
from link.registry import Stamp, Wanted
from link.server.bridge import Answer, Bridge, Request
from link.server.control import Control
from link.server.floor import Floor
from link.server.keeper import Keeper
from link.server.log import Log
from link.server.means import Means, ServerPlan
from link.server.orders import read_order
from link.server.requests import Asked, StaffOrder
from link.server.server import Server
from link.server.sessions import Peer
from link.store.base import SqlStore
from record.kit.outside import INT64, NotStrict, read_json
from record.link.keys import encode_z85
from tests.link.ledger.support import Sealed
from tests.link.people import PASSWORD, made, settle

TABLES: Final = ("T1", "T2", "T3", "T4")
START_MS: Final = 1_773_100_000_000
SECRET: Final = b"s" * 32


class Frame:
    more = False

    def __init__(self, data: bytes, user: str) -> None:
        self.bytes, self._user = data, user

    def get(self, _name: str) -> str:
        return self._user


class Line:
    """A door that is a queue: routing id first, then the frame, as ZeroMQ gives them."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[bytes, str, bytes]] = deque()

    def recv(self, _flags: int = 0, copy: bool = True) -> Any:
        if not self.waiting:
            raise zmq.Again
        peer, user, data = self.waiting[0]
        if copy:
            return peer
        self.waiting.popleft()
        return Frame(data, user)


class Doors:
    def __init__(self) -> None:
        self.zap = object()
        self.line = Line()
        self.tables, self.signs, self.bound = [self.line], [None], [("tables", "")]

    def secrets(self) -> list[bytes]:
        return [SECRET]

    def open(self) -> None:
        """Always."""

    def close(self, linger_ms: int = 0) -> None:
        """Nothing to close."""

    def poll(self, _wait_ms: int) -> list[tuple[Line, int]]:
        return [(self.line, 1)] if self.line.waiting else []


class Loop(Server):
    """Says what it would send to ``said``."""

    def __init__(self, plan: ServerPlan, means: Means) -> None:
        super().__init__(plan, means)
        self.said: list[tuple[bytes, bytes]] = []

    def _listen(self) -> None:
        self._poller = self._doors  # type: ignore[assignment]

    def _send(self, floor: Floor | None, peer: Peer, data: bytes) -> None:  # noqa: ARG002
        self.said.append((peer[1], data))


class Turned(Bridge):
    """Whoever asks takes the loop's turns himself."""

    server: Loop

    def ask(self, asked: Asked, timeout_s: float = 0) -> Answer:
        request = Request(asked)
        self._waiting.append(request)
        for _ in range(50):
            self.server.turn(0)
            if request.done.done():
                return request.done.result()
        raise AssertionError(f"{asked} was never answered; {timeout_s}")


class Clock:
    def __init__(self) -> None:
        self.wall_ms, self.ticks_ms = START_MS, 1_000_000

    def now_ms(self) -> int:
        return self.wall_ms

    def mono_ms(self) -> int:
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
        self.version = 3
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

    def __init__(
        self, reopen: Callable[[], SqlStore], pools: tuple[Pool, ...], rng: Random
    ) -> None:
        self.reopen, self.pools, self.rng = reopen, pools, rng
        self.clock = Clock()
        self.sealer = Sealed()
        self.tables = [Table(name, rng) for name in TABLES]
        self.steps = self.starts = 0
        self.undone = 0
        self.log = io.StringIO()
        self._set_up()
        self.start()

    def chance(self) -> bytes:
        return self.rng.randbytes(32)

    def _set_up(self) -> None:
        store = self.reopen()
        store.migrate(at_ms=1)
        epoch = store.lead("test", 1_000)
        assert epoch is not None
        ledger = Ledger((), store.load())
        people = settle(ledger)
        group = ledger.group(epoch)
        wanted = [Wanted(table.public, table.name, "table") for table in self.tables]
        group.keys = {row.public: row for row in registry.enrol({}, wanted, Stamp("test", 1))}
        group.accounts = people
        store.commit(group)
        store.resign(epoch)
        store.close()

    # --- the server ------------------------------------------------------------------------------

    def start(self) -> None:
        self.starts += 1
        self.store = self.reopen()
        self.doors = Doors()
        bridge = Turned()
        means = Means(
            store=self.store,
            # The same holder: it need not wait for the lease of the one that crashed.
            keeper=Keeper(self.store, "fuzz", 3_600_000, pause=lambda _s: None),
            doors=self.doors,  # type: ignore[arg-type]
            bridge=bridge,
            log=Log(self.log),
            clock=self.clock,
            sealer=self.sealer,
            chance=self.chance,
        )
        self.server = bridge.server = Loop(ServerPlan(name="link-1", pools=self.pools), means)
        self.bridge = bridge
        self.control = Control(__file__, bridge, means.log)  # type: ignore[arg-type]
        self.server.open()
        for _ in range(3):
            self.turn()
        assert self.server.floor is not None, self.log.getvalue()[-2_000:]

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
        peers = {table.peer: table for table in self.tables}
        said, self.server.said = self.server.said, []
        for peer, data in said:
            if peer in peers:
                peers[peer].take(data)

    def send(self, table: Table, message: Any) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        if b"hello" in data and table.journal.encode() not in data:
            table.astray = True
        self.doors.line.waiting.append((table.peer, table.public, data))

    # --- people ----------------------------------------------------------------------------------

    def ask(self, request: Mapping[str, Any] | bytes) -> Mapping[str, Any]:
        line = request if isinstance(request, bytes) else json.dumps(request).encode()
        answer = self.control.answer(line, 0)
        assert answer.get("error") != "E-SVC-008", f"{line[:300]!r}: {self.log.getvalue()[-1500:]}"
        self.turn()
        return answer

    def order(self, order: Mapping[str, Any], *people: str) -> Mapping[str, Any]:
        """As the control socket does after the passwords were proved."""
        try:
            given = read_json(json.dumps(order).encode(), most_int=INT64, longest=60_000)
            wanted = read_order(given)
        except (NotStrict, ValueError) as error:
            return {"error": "E-ACT-007", "text": str(error)}
        signers = tuple((name, made(PASSWORD)[1]) for name in people)
        answer = self.bridge.ask(StaffOrder(wanted, signers, 0))
        assert answer.get("error") != "E-SVC-008", f"{order}: {self.log.getvalue()[-1_500:]}"
        self.turn()
        return answer
