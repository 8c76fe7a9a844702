"""The daemon's parts around one table, without devices and without waiting.

Readings go through the real writer into a real journal; what it releases goes where the daemon
sends it: to the link's session, the log, the metrics, the frame log and the rings of the shell.
Only sockets, threads and devices are missing. The journal's disk does not wait for its medium.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from controller.daemon.frames import Frames, open_frames
from controller.daemon.journald import RateLimit
from controller.daemon.logbook import Logbook
from controller.daemon.metrics import Process, metrics
from controller.daemon.selecting import Selecting
from controller.daemon.testmode import TestMode
from controller.daemon.writer import Input, Released, Tick, Told, Writer
from controller.faults.status import Status
from controller.history.selection.selector import Selector
from controller.link.cursor import Cursor, Places
from controller.link.hearing import Heard, Hearing
from controller.link.session import (
    Dial,
    Do,
    Fetch,
    Head,
    LinkSession,
    Moment,
    Prove,
    Pulse,
    Send,
    TableIdentity,
    Tell,
)  # fmt: skip
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.shell.desk.recent import Recent
from drivers.orders import Order
from drivers.readings import Reading
from record.journal import Journal
from record.journal.disk import RealDisk
from record.link.events import Claimed
from record.link.messages import Event
from tests.controller.history.desk import WrittenTable
from tests.controller.link.model import Committed, ModelServer
from tests.controller.table.console_player import STEP_US
from tests.paper import KEY

SEGMENT: Final = 64 << 10
QUICKER: Final = 200
"""The wall clock runs ahead, so that some fifty rounds fill the day that the journal keeps."""
BEGAN_MS: Final = 1_773_144_000_000
METER: Final = 1_000_000
LIMIT_MS: Final = 5_000


class Unsynced(RealDisk):
    """Nobody pulls a plug here."""

    def sync(self, handle: int) -> None: ...

    def sync_folder(self, path: Path) -> None: ...


@dataclass
class Dialled:
    """The talk with a link server that answers at once."""

    table: WholeTable
    server: ModelServer = field(
        default_factory=lambda: ModelServer(
            rate=0, beat_ms=500, committed=Committed(pool_cents=METER)
        )
    )

    def __post_init__(self) -> None:
        journal = self.table.journal
        places = Places()
        self.cursor = Cursor(self.table.folder / "journal", places, Unsynced())
        identity = TableIdentity(
            "long", journal.journal_id, self.table.state.rules.book.key, "0" * 64, "1" * 64,
            "sequential",
        )  # fmt: skip
        head = Head(0, journal.next_seq - 1, journal.head.hex())
        self.session = LinkSession(
            identity, ["tcp://a:1"], head, limit_ms=LIMIT_MS, chance=lambda _most: 0, now=self.now
        )
        self._heard: list[Heard] = []

    @property
    def now(self) -> Moment:
        return Moment(self.table.now_us // 1000, self.table.wall_ms())

    def released(self, released: Released) -> list[Heard]:
        """A group is durable; returns what the server has to say to it."""
        self.cursor.add(released.outbox)
        self._do(self.session.grown(released.head, released.outbox, self.now))
        for _ in range(4):
            self._do(self.session.tick(self.now))
        outbox = self.session.outbox
        self.table.journal.keep_from_seq = self.cursor.seq_after(
            outbox.acked or 0, outbox.following
        )
        heard, self._heard = self._heard, []
        return heard

    def _do(self, todo: list[Do]) -> None:
        for one in todo:
            match one:
                case Dial():
                    self._do(self.session.ready(self.now))
                case Send(message):
                    self._send(message)
                case Fetch(first, last):
                    events = self.cursor.read(first, last)
                    self._do(self.session.fetched(one, events, self.now))
                case Prove(seq):
                    self._do(self.session.proved(seq, self.cursor.hash_of(seq), self.now))
                case Tell(message):
                    self._heard.append(Heard(message))
                case Pulse(asked_ms):
                    self._heard.append(Heard(asked_us=asked_ms * 1000))
                case _:
                    raise AssertionError(f"a link that is well says {one}")

    def _send(self, message: Any) -> None:
        said = self.server.take(1, message)
        if isinstance(message, Event) and isinstance(message.body, Claimed):
            self.server.people = True
            said += self.server.verified()
        for reply in said:
            self._do(self.session.heard(reply, self.now))


@dataclass
class WholeTable(WrittenTable):
    """``folder`` and ``journal`` first: the table_log writes into the same journal."""

    folder: Path = Path()
    journal: Any = None
    linked: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.journal, Journal)
        assert self.table_log is not None
        selector = Selector(self.journal.journal_id, _seeds(), bytes, bytes)
        self.writer = Writer(
            self.core,
            self.table_log,
            self.journal,
            Selecting(selector),
            TestMode(self.core, self.table_log),
            clock_ns=lambda: self.now_us * 1000,
        )
        self.recent, self.logbook = Recent(), Logbook(0)
        self.frames: Frames = open_frames(self.folder / "journal", KEY, bytes, frozenset({"shoe"}))
        self.limit = RateLimit(clock=lambda: self.now_us / 1e6)
        self.link: Dialled | None = None
        if self.linked:
            self.writer.hearing = Hearing(LIMIT_MS * 1000, self.journal.journal_id)
            self.link = Dialled(self)
        self._take(self.writer.start(self.now_us))

    def wall_ms(self) -> int:
        return BEGAN_MS + self.now_us // 1000 * QUICKER

    @property
    def kept(self) -> tuple[object, ...]:
        """Everything that the daemon holds on to."""
        link = () if self.link is None else (self.link.session, self.link.cursor)
        parts = (self.recent, self.logbook, self.frames, self.limit)
        return (self.writer, self.table_log, self.journal, self.core, *parts, *link)

    # --- the one way -----------------------------------------------------------------------------

    def feed(self, reading: Reading) -> list[Order]:
        self.recent.reading(reading)
        self.recent.frame("shoe", "in", repr(reading).encode(), self.now_us)
        self.frames.note("shoe", "in", repr(reading).encode(), self.now_us)
        return self._work(reading)

    def wait(self, us: int = STEP_US) -> list[Order]:
        self.now_us += us
        return self._work(Tick())

    def fact(self, what: f.What, device: str = "link") -> list[Order]:
        return self._work(Told(what, f.Measured(device)))

    def _work(self, one: Input) -> list[Order]:
        return self._take(self.writer.work([one], self.now_us))

    def _take(self, released: Released) -> list[Order]:
        self._log(released)
        heard = [] if self.link is None else self.link.released(released)
        orders = self._heard(list(released.orders))
        for effect in released.effects:
            if isinstance(effect, fx.ClaimJackpot) and self.link is None:
                orders += self.fact(f.JackpotLocked(self.core.state.meter))
        if heard:
            orders += self._take(self.writer.work(heard, self.now_us))
        return orders

    def _log(self, released: Released) -> None:
        if self.logbook.differs(released.status):
            for entry in self.logbook.look(released.status, self.now_us):
                record = logging.makeLogRecord({"msg": entry.text, **entry._asdict()})
                self.limit.filter(record)
        self.limit.left_out()

    def between_rounds(self) -> None:
        """What the daemon does beside the table: frames away, and somebody asks for metrics."""
        self.frames.write_away()
        status: Status = {
            **self.writer.status(),
            "table": "long",
            "link": None if self.link is None else self.link.session.status(self.link.now),
            "disk": {"free_bytes": self.journal.free_bytes},
            "overflows": 0,
            "frames_lost": self.frames.lost,
        }
        metrics(status, Process(sync=self.writer.sync_times, records=self.writer.table_log.written))


def _seeds() -> Callable[[int], bytes]:
    """A stream of bytes that does not repeat itself."""
    made = [0]

    def source(size: int) -> bytes:
        made[0] += 1
        return bytes((made[0] * 7 + place * 31) % 256 for place in range(size))

    return source
