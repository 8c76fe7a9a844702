"""A whole link server in virtual time, without sockets: frames and lines in, everything said out.

Server, ledger, store, control socket's answers and receipts are the product's; clock, keys and
chance are fixed. So the same input always leads to the same bytes.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from link.config import LinkConfig, ServerOptions
from link.ledger.terms import MustHit, Pool, PoolTerms, Terms
from link.registry import Wanted
from link.server.compose import compose
from link.server.log import Log
from link.store.sqlite import SqliteStore
from record.kit.lines import line_of
from record.link.keys import encode_z85
from tests.link.ledger.support import Sealed
from tests.link.people import founded
from tests.link.queues import Queues, TurningBridge

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
        self._network = Queues(seeded("server key"), ("tcp://link:5701", "tcp://link:5702"))
        self._clock, self._chances = _Clock(), 0
        store = _Store(folder / "link.db", create=True, flush=False)
        self.store = store
        founded(store, [Wanted(public_of(name), name, "table") for name in TABLES], "golden")
        bridge = TurningBridge()
        link = compose(
            LinkConfig(server=ServerOptions(name="link-1"), pools=pools()),
            store,
            self._clock,
            self._chance,
            self._network,
            log=Log(io.StringIO()),
            sealer=Sealed(),
            bridge=bridge,
            holder="golden",
        )
        self.control = link.control
        self.server = bridge.server = link.server
        self.server.turn(0)

    def _chance(self) -> bytes:
        self._chances += 1
        return seeded("chance", self._chances)

    def hears(self, at_ms: int, table: str, frame: bytes) -> list[bytes]:
        """A frame of a table; what this table is answered."""
        self._clock.ms = max(self._clock.ms, at_ms)
        self.rows.append(Said(at_ms, table, ">", frame.decode()))
        self._network.waiting.append((table.encode(), public_of(table), frame))
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
        network = self._network
        for whom, frame in network.sent:
            self.rows.append(Said(at_ms, whom.decode(), "<", frame.decode()))
            if whom == table.encode():
                answers.append(frame)
            else:
                self.unheard.setdefault(whom.decode(), []).append(frame)
        for frame in network.published:
            self.rows.append(Said(at_ms, "sign", "<", frame.decode()))
        network.sent, network.published = [], []
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


@contextmanager
def link_at(folder: Path) -> Iterator[Link]:
    link = Link(folder)
    try:
        yield link
    finally:
        link.close()
