"""The daemon's parts around one table, without devices and without waiting.

Readings go through the real writer into a real journal; what it releases goes where the daemon
sends it: to the link's session, the log, the metrics, the frame log and the rings of the shell.
Only sockets, threads and devices are missing. The journal's disk does not wait for its medium.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from controller.daemon.compose import compose
from controller.daemon.frames import Frames, open_frames
from controller.daemon.house_options import HouseOptions
from controller.daemon.inputs import KeepFrom
from controller.daemon.journald import RateLimit
from controller.daemon.linking import LinkPlan, NoLink, Put
from controller.daemon.logbook import Logbook
from controller.daemon.metrics import Process, metrics
from controller.daemon.setup import Clock, JournalSetup, LinkSetup, TableSetup
from controller.daemon.standalone import Standalone
from controller.daemon.writer import Input, Released, Tick, Told
from controller.faults.status import Status
from controller.history.snapshot import Opening
from controller.link.hearing import Heard
from controller.link.session import (
    Dial,
    Do,
    Fetch,
    LinkSession,
    Moment,
    Prove,
    Pulse,
    Send,
    Tell,
)  # fmt: skip
from controller.rules.engine import facts as f
from controller.shell.desk.recent import Recent
from controller.table.options import DEFAULTS
from drivers.layout import LineLayout, TableLayout, Transport
from drivers.orders import Order
from drivers.readings import Reading
from record.journal.disk import RealDisk
from record.link.events import Claimed
from record.link.keys import SecretKey
from record.link.messages import Event
from tests.clauses.tables import TODAY
from tests.controller.history.desk import WrittenTable
from tests.controller.link.model import Committed, ModelServer
from tests.controller.table.console_player import ENGLISH, STEP_US, seat_map
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


SERVERS: Final = LinkSetup(
    endpoints=("tcp://a:1",), secret=SecretKey("1" * 40), server="0" * 40, limit_ms=LIMIT_MS,
    meter_rule="sequential",
)  # fmt: skip


class QuickClock:
    def __init__(self, table: WholeTable) -> None:
        self._table = table

    def now_us(self) -> int:
        return self._table.now_us

    def wall_ms(self) -> int:
        return BEGAN_MS + self.now_us() // 1000 * QUICKER

    def today(self) -> date:
        return TODAY

    def utc_offset_min(self) -> int:
        return 0


class Dialled(NoLink):
    """The talk with a link server that answers at once."""

    def __init__(self, plan: LinkPlan, put: Put, clock: Clock) -> None:
        self.cursor, self._put, self._clock = plan.cursor, put, clock
        self.server = ModelServer(rate=0, beat_ms=500, committed=Committed(pool_cents=METER))
        self._acked: int | None = None
        self.session = LinkSession(
            plan.identity, plan.servers.endpoints, plan.head, limit_ms=plan.servers.limit_ms,
            chance=lambda _most: 0, now=self.now,
        )  # fmt: skip

    @property
    def now(self) -> Moment:
        return Moment(self._clock.now_us() // 1000, self._clock.wall_ms())

    def released(self, released: Released) -> None:
        self.cursor.add(released.outbox)
        self._do(self.session.grown(released.head, released.outbox, self.now))
        for _ in range(4):
            self._do(self.session.tick(self.now))
        outbox = self.session.outbox
        if outbox.acked != self._acked:
            self._acked = outbox.acked
            self._put(KeepFrom(self.cursor.seq_after(outbox.acked or 0, outbox.following)))

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
                    self._put(Heard(message))
                case Pulse(asked_ms):
                    self._put(Heard(asked_us=asked_ms * 1000))
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
    """What ``compose`` makes of an empty folder, and what the daemon has beside it."""

    folder: Path = Path()
    opening: Opening | None = None
    linked: bool = False

    def __post_init__(self) -> None:
        self.begin()
        self.map = seat_map(self.state.rules.book.key)
        self.dialled: Dialled | None = None
        self.made = compose(self._setup(), Unsynced(), QuickClock(self), _seeds(), self._network)
        self.writer, self.core = self.made.writer, self.made.writer.core
        self.recent, self.logbook = Recent(), Logbook(0)
        self.frames: Frames = open_frames(self.folder / "journal", KEY, bytes, frozenset({"shoe"}))
        self.limit = RateLimit(clock=lambda: self.now_us / 1e6)
        self._take(self.writer.start(self.now_us))
        self.made.link.start()
        self._work()

    def _setup(self) -> TableSetup:
        assert self.opening is not None
        lines: dict[str, dict[Any, tuple[int, str]]] = {}
        for spot in self.map.spots:
            antenna = self.antenna(*spot)
            lines.setdefault(antenna.reader, {})[antenna] = spot
        return TableSetup(
            name="long",
            opening=self.opening,
            layout=TableLayout(
                "long", 7, Transport(),
                tuple(LineLayout(name, "feig", "", antennas=at) for name, at in lines.items()),
                {}, {},
            ),
            journal=JournalSetup(
                path=self.folder / "journal", segment_bytes=SEGMENT, retention_days=1
            ),
            key=KEY,
            find=self.register.get,
            house="OURS",
            choices=HouseOptions(ENGLISH, DEFAULTS),
            link=SERVERS if self.linked else None,
            standalone=Standalone(METER),
        )  # fmt: skip

    def _network(self, plan: LinkPlan, put: Put) -> Dialled:
        self.dialled = Dialled(plan, put, QuickClock(self))
        return self.dialled

    def close(self) -> None:
        self.made.journal.close()
        self.frames.close()

    @property
    def kept(self) -> tuple[object, ...]:
        """Everything that the daemon holds on to."""
        link = () if self.dialled is None else (self.dialled.session, self.dialled.cursor)
        return (self.made, self.recent, self.logbook, self.frames, self.limit, *link)

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

    def _work(self, *inputs: Input) -> list[Order]:
        """These inputs, and what the link says to what followed from them."""
        inbox, orders = self.made.inbox, list[Order]()
        for one in inputs:
            inbox.put(one)
        while group := inbox.take()[0]:
            orders += self._take(self.writer.work(group, self.now_us))
        return orders

    def _take(self, released: Released) -> list[Order]:
        self._log(released)
        self.made.link.released(released)
        return self._heard(list(released.orders))

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
            "link": None if self.dialled is None else self.dialled.session.status(self.dialled.now),
            "disk": {"free_bytes": self.made.journal.free_bytes},
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
