"""A whole link server in virtual time, without sockets: frames and lines in, everything said out.

Server, ledger, store, control socket's answers and receipts are the product's; clock, keys and
chance are fixed. So the same input always leads to the same bytes.
"""

from __future__ import annotations

import hashlib
import io
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, cast
from unittest.mock import patch

import zmq

from link import registry
from link.ledger.ledger import Ledger
from link.ledger.terms import MustHit, Pool, PoolTerms, Terms
from link.registry import Stamp, Wanted
from link.server import control
from link.server import server as server_module
from link.server.bridge import Answer, Bridge, Request
from link.server.doors import Doors
from link.server.keeper import Keeper
from link.server.log import Log
from link.server.means import Means, ServerPlan
from link.server.requests import Asked
from link.server.server import Server
from link.store.sqlite import SqliteStore
from record.kit.lines import line_of
from record.link.keys import encode_z85
from tests.link.ledger.support import Sealed
from tests.link.people import settle

BEGAN_MS: Final = 1_700_000_000_000
TABLES: Final = {"T1": "MBS3", "T2": "MEGA", "T3": "MBS3"}
BASE_CENTS: Final = 5_000_000


def seeded(*what: object) -> bytes:
    """32 bytes of chance that everybody can draw again."""
    return hashlib.sha256(" ".join(map(str, what)).encode()).digest()


def public_of(name: str) -> str:
    return encode_z85(seeded("table key", name))


def pools() -> tuple[Pool, ...]:
    main = Terms(
        level="grand", base_cents=BASE_CENTS, reset_cents=BASE_CENTS, rate_ppm=10_000,
        shares={"royal flush": 100, "straight flush": 10},
    )  # fmt: skip
    hidden = Terms(
        level="mystery", base_cents=1_000, reset_cents=500, rate_ppm=100_000, shares={},
        must_hit=MustHit(1_020, 1_060),
    )  # fmt: skip
    found = []
    for pool, levels in (("main", (main, hidden)), ("mega", (main,))):
        game = "MEGA" if pool == "mega" else "MBS3"
        tables = {table: played for table, played in TABLES.items() if played == game}
        members = PoolTerms(tables=tables, denominations_cents=(100, 500))
        found.append(Pool(pool=pool, terms=members, levels=levels))
    return tuple(found)


class Said(NamedTuple):
    """One row of a dialogue. ``way``: ``>`` to the server, ``<`` from it."""

    at_ms: int
    who: str
    way: str
    text: str

    def row(self) -> str:
        return f"{self.at_ms}\t{self.who}\t{self.way}\t{self.text}\n"


def dialogue(text: str) -> list[Said]:
    found = []
    for line in text.splitlines():
        at_ms, who, way, said = line.split("\t")
        found.append(Said(int(at_ms), who, way, said))
    return found


class _Frame:
    more = False

    def __init__(self, data: bytes, user: str) -> None:
        self.bytes, self._user = data, user

    def get(self, _name: str) -> str:
        return self._user


class _Door:
    """A ROUTER and an XPUB at once."""

    def __init__(self) -> None:
        self.waiting: deque[Any] = deque()
        self.sent: list[bytes] = []

    def recv(self, _flags: int, copy: bool = True) -> Any:  # noqa: ARG002
        if not self.waiting:
            raise zmq.Again
        return self.waiting.popleft()

    def send(self, data: bytes, _flags: int) -> None:
        self.sent.append(data)


class _Doors:
    def __init__(self) -> None:
        self.zap = None
        self.tables, self.signs = [_Door()], [_Door()]
        self.bound = [("tcp://link:5701", "tcp://link:5702")]

    def secrets(self) -> list[bytes]:
        return [seeded("server key")]

    def close(self, linger_ms: int = 0) -> None: ...


class _Poller:
    def __init__(self, door: _Door) -> None:
        self._door = door

    def poll(self, _wait_ms: int) -> list[tuple[_Door, int]]:
        return [(self._door, 1)] if self._door.waiting else []


class _Bridge(Bridge):
    """Whoever asks turns the loop."""

    server: Server

    def ask(self, asked: Asked, timeout_s: float = 0) -> Answer:
        request = Request(asked)
        self._waiting.append(request)
        self.server.turn(0)
        return request.done.result(timeout_s)


class _Clock:
    ms = BEGAN_MS

    def now_ms(self) -> int:
        return self.ms

    def mono_ms(self) -> int:
        return self.ms - BEGAN_MS + 10_000


class _Store(SqliteStore):
    clock = str(BEGAN_MS)


class Link:
    """``rows`` is the dialogue so far."""

    def __init__(self, folder: Path) -> None:
        self.rows: list[Said] = []
        self.unheard: dict[str, list[bytes]] = {}
        """Said to tables that did not speak just before."""
        self._folder = str(folder)
        self._doors, self._clock, self._chances = _Doors(), _Clock(), 0
        store = _Store(folder / "link.db", create=True, flush=False)
        self.store = store
        _founded(store)
        bridge = _Bridge()
        means = Means(
            store=store,
            keeper=Keeper(store, "golden", 5_000),
            doors=cast(Doors, self._doors),
            bridge=bridge,
            log=Log(io.StringIO()),
            clock=self._clock,
            sealer=Sealed(),
            chance=self._chance,
        )
        self.server = bridge.server = Server(ServerPlan(name="link-1", pools=pools()), means)
        self.server._poller = cast(zmq.Poller, _Poller(self._doors.tables[0]))
        self.control = control.Control(folder / "control.sock", bridge, means.log)
        self.server.turn(0)

    def _chance(self) -> bytes:
        self._chances += 1
        return seeded("chance", self._chances)

    def hears(self, at_ms: int, table: str, frame: bytes) -> list[bytes]:
        """A frame of a table; what this table is answered."""
        self._clock.ms = max(self._clock.ms, at_ms)
        self.rows.append(Said(at_ms, table, ">", frame.decode()))
        door = self._doors.tables[0]
        door.waiting += [table.encode(), _Frame(frame, public_of(table))]
        self.server.turn(0)
        return self._said(at_ms, table)

    def asked(self, at_ms: int, line: str) -> dict[str, Any]:
        """A line on the control socket; its answer."""
        self._clock.ms = max(self._clock.ms, at_ms)
        self.rows.append(Said(at_ms, "control", ">", line))
        answer = self.control.answer(line.encode() + b"\n", 1_000)
        told = line_of(answer).decode().rstrip("\n").replace(self._folder, "/link")
        self.rows.append(Said(at_ms, "control", "<", told))
        self._said(at_ms, "")
        return dict(answer)

    def _said(self, at_ms: int, table: str) -> list[bytes]:
        answers = []
        door, sign = self._doors.tables[0], self._doors.signs[0]
        for whom, frame in zip(door.sent[::2], door.sent[1::2], strict=True):
            self.rows.append(Said(at_ms, whom.decode(), "<", frame.decode()))
            if whom == table.encode():
                answers.append(frame)
            else:
                self.unheard.setdefault(whom.decode(), []).append(frame)
        for _topic, frame in zip(sign.sent[::2], sign.sent[1::2], strict=True):
            self.rows.append(Said(at_ms, "sign", "<", frame.decode()))
        door.sent, sign.sent = [], []
        return answers

    def again(self, rows: list[Said]) -> None:
        """Everything that was said to the server, at its time."""
        for row in rows:
            if row.way == ">" and row.who == "control":
                self.asked(row.at_ms, row.text)
            elif row.way == ">":
                self.hears(row.at_ms, row.who, row.text.encode())

    def close(self) -> None:
        self.server.close()


def _founded(store: SqliteStore) -> None:
    """The first accounts and the tables' keys."""
    store.migrate(at_ms=1)
    epoch = store.lead("golden", 1_000)
    assert epoch is not None
    ledger = Ledger((), store.load())
    people = settle(ledger)
    group = ledger.group(epoch)
    wanted = [Wanted(public_of(name), name, "table") for name in TABLES]
    group.keys = {row.public: row for row in registry.enrol({}, wanted, Stamp("test", 1))}
    group.accounts = people
    store.commit(group)
    store.resign(epoch)


@contextmanager
def link_at(folder: Path) -> Iterator[Link]:
    """``SEND`` is bound to libzmq's own class, so the door's stands in for it."""
    with patch.object(server_module, "SEND", _Door.send):
        link = Link(folder)
        try:
            yield link
        finally:
            link.close()
