"""A whole table in virtual time whose network is virtual too, with a model server behind it.

What ``controller.link.client`` does with a socket is done here with the virtual clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from controller.daemon.inputs import Released
from controller.daemon.linking import Link, LinkPlan, Put
from controller.daemon.setup import LinkSetup
from controller.link.hearing import Heard
from controller.link.session import (
    Dial,
    Do,
    Fetch,
    HangUp,
    LinkSession,
    Moment,
    Prove,
    Pulse,
    Send,
    Tell,
    Trouble,
)
from hw_sim.clock import MS, Timer
from record.link.events import Claimed
from record.link.keys import SecretKey
from record.link.messages import Event
from record.link.outbox import OUTBOX, event_of
from tests.controller.link.model import Committed, ModelServer
from tests.sim.table import METER, VirtualTable

LIMIT_US: Final = 5_000 * MS
WIRE_US: Final = 2 * MS
PEOPLE_US: Final = 1_000 * MS


def full_pool() -> ModelServer:
    """A pool that wagers do not move, so that a scenario's literal amounts hold."""
    return ModelServer(rate=0, committed=Committed(pool_cents=METER))


@dataclass
class LinkedTable(VirtualTable):
    server: ModelServer = field(default_factory=full_pool)
    reachable: bool = True
    """Is there a network?"""
    pulses: int = 0

    def __post_init__(self) -> None:
        self.servers = LinkSetup(
            endpoints=("tcp://a:1", "tcp://b:1"),
            secret=SecretKey("0" * 40),
            server="0" * 40,
            limit_ms=LIMIT_US // MS,
            meter_rule="sequential",
        )
        self.session: LinkSession | None = None
        self._line = 0
        self._tick: Timer | None = None
        super().__post_init__()

    def now(self) -> Moment:
        return Moment(self.bench.now_us // MS, self._ms())

    def _network(self, plan: LinkPlan, put: Put) -> Link:
        self._cursor = plan.cursor
        self._line += 1
        self.session = LinkSession(
            plan.identity, plan.servers.endpoints, plan.head, limit_ms=plan.servers.limit_ms,
            chance=self._random.randrange, now=self.now(), receipt=plan.receipt,
        )  # fmt: skip
        return super()._network(plan, put)

    def _greet(self) -> None:
        self._wake_session()

    def _claimed(self) -> None:
        """The server answers, not the script."""

    def _release(self, released: Released) -> None:
        super()._release(released)
        if self.session is not None and self._up:
            self._cursor.add(released.outbox)
            self.do(self.session.grown(released.head, released.outbox, self.now()))

    # --- the session -----------------------------------------------------------------------------

    def _wake_session(self) -> None:
        if self._tick is not None:
            self._tick.cancel()
            self._tick = None
        if self.session is not None and (wake := self.session.wake_ms) is not None:
            self._tick = self.bench.clock.at(wake * MS, partial(self._alive, self._ticked))

    def _alive(self, what: Any, *arguments: Any, line: int | None = None) -> None:
        if self._up and self.session is not None and line in (None, self._line):
            what(*arguments)

    def _ticked(self) -> None:
        assert self.session is not None
        self._tick = None
        self.do(self.session.tick(self.now()))

    def break_line(self) -> None:
        self._line += 1
        assert self.session is not None
        self.do(self.session.lost(self.now()))

    def do(self, todo: list[Do]) -> None:
        session = self.session
        assert session is not None
        for one in todo:
            match one:
                case Dial():
                    self._line += 1
                    if self.reachable:
                        self._wire(lambda: self.do(session.ready(self.now())))
                case HangUp():
                    self._line += 1
                case Send(message):
                    self._wire(lambda message=message: self._arrive(message))
                case Fetch(first, last):
                    events = self._cursor.read(first, last)
                    self._wire(lambda fetch=one, events=events: self.do(
                        session.fetched(fetch, events, self.now())))  # fmt: skip
                case Prove(seq):
                    digest = self._cursor.hash_of(seq)
                    self._wire(lambda seq=seq, digest=digest: self.do(
                        session.proved(seq, digest, self.now())))  # fmt: skip
                case Tell(message):
                    self._later(Heard(message))
                case Pulse(asked_ms):
                    self.pulses += 1
                    self._later(Heard(asked_us=asked_ms * MS))
                case Trouble(code, text, closed):
                    self._later(Heard(closed=closed, alarm={"code": code, "detail": text}))
        self._wake_session()

    def _wire(self, what: Any) -> None:
        self.bench.clock.after(WIRE_US, partial(self._alive, what, line=self._line))

    def _arrive(self, message: Any) -> None:
        if not self.reachable:
            return
        for reply in self.server.take((self.starts, self._line), message):
            self._wire(lambda reply=reply: self._answer(reply))
        if isinstance(message, Event) and isinstance(message.body, Claimed):
            self.bench.clock.after(PEOPLE_US, self._verify)

    def _verify(self) -> None:
        """People have looked at hand and deck, whatever the table is doing meanwhile."""
        self.server.people = True
        if self._up and self.session is not None and self.session.stage == "open":
            for told in self.server.verified():
                self._wire(lambda told=told: self._answer(told))

    def _answer(self, message: Any) -> None:
        assert self.session is not None
        if self.reachable:
            self.do(self.session.heard(message, self.now()))

    # --- afterwards ------------------------------------------------------------------------------

    def drain(self, seconds: int = 10) -> None:
        """Let the link finish what the round has left."""
        self.reachable = True
        end = self.bench.now_us + seconds * 1_000_000
        while (due := self.bench.clock.next_us) is not None and due <= end:
            self._guarded(partial(self.bench.clock.run_until, due))

    def journalled(self) -> list[Event]:
        return [event_of(r) for r in self.journal.records() if r.kind == OUTBOX]
