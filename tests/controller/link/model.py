"""A tiny link server in the tests: a watermark per journal, a sum, claims; and a network that lies.

It shares nothing with ``link/``. What it has committed survives its crashes, not a restore.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any

from controller.link.session import (
    Dial,
    Do,
    Fetch,
    HangUp,
    Head,
    LinkSession,
    Moment,
    Pulse,
    Send,
    TableIdentity,
    Tell,
    Trouble,
)
from record.link.codec import encode, from_server, from_table
from record.link.events import AnyBody, Claimed, Contributed, Reversed, Wager
from record.link.messages import (
    Ack,
    AwardChanged,
    Beat,
    Bye,
    Checkpoint,
    Event,
    Hello,
    Locked,
    LockedAward,
    MeterValue,
    Noted,
    ServerRefused,
    Welcome,
)

JOURNAL = "00112233445566778899aabbccddeeff"
WALL_MS = 1_700_000_000_000


@dataclass
class Committed:
    """What survives a crash of the server."""

    events: list[Event] = field(default_factory=list)
    pool_cents: int = 0
    awards: int = 0
    locks: dict[int, Locked] = field(default_factory=dict)
    heads: list[tuple[int, str]] = field(default_factory=list)

    def copy(self) -> Committed:
        heads = list(self.heads)
        return Committed(list(self.events), self.pool_cents, self.awards, dict(self.locks), heads)


@dataclass
class ModelServer:
    """``rate``: cents of the pool for every cent wagered; plain numbers, so the sum is plain."""

    rate: int = 1
    reset_cents: int = 0
    beat_ms: int = 1_000
    epoch: int = 1
    leads: bool = True
    committed: Committed = field(default_factory=Committed)
    greeted: set[Any] = field(default_factory=set)
    halted: str = ""
    refuse: dict[int, str] = field(default_factory=dict)
    """Events that are refused, with their code."""
    mute: bool = False
    byes: int = 0
    people: bool = False
    """Have they verified what is locked?"""

    @property
    def n(self) -> int:
        return len(self.committed.events)

    def meters(self) -> tuple[MeterValue, ...]:
        return (MeterValue("main", "grand", self.committed.pool_cents, 1),)

    def take(self, peer: Any, message: Any) -> list[Any]:
        if self.mute:
            return []
        if isinstance(message, Hello):
            return self._hello(peer, message)
        if isinstance(message, Bye):
            self.greeted.discard(peer)
            self.byes += 1
            return []
        if peer not in self.greeted:
            return [ServerRefused("E-LNK-011", "say hello first")]
        match message:
            case Beat(at_ms):
                return [Beat(at_ms, self.meters())]
            case Checkpoint(seq, hash_):
                self.committed.heads.append((seq, hash_))
                return [Noted(seq)]
            case Event():
                return self._event(message)
        raise AssertionError(message)

    def _hello(self, peer: Any, hello: Hello) -> list[Any]:
        if not self.leads:
            return [ServerRefused("E-LNK-020", "not the leader")]
        if self.halted:
            return [ServerRefused("E-LNK-015", self.halted, halted=True)]
        self.greeted.add(peer)
        welcome = Welcome(
            max(hello.versions), "model", self.epoch, self.n, self.beat_ms, self.meters()
        )
        return [welcome, *self.committed.locks.values(), *self.verified()]

    def verified(self) -> list[AwardChanged]:
        """What people have done since the lock, if they have."""
        if not self.people:
            return []
        return [
            AwardChanged(locked.round, a.seat, a.award, "verified", a.cents)
            for locked in self.committed.locks.values()
            for a in locked.awards
        ]

    def _event(self, event: Event) -> list[Any]:
        if event.n in self.refuse:
            return [ServerRefused(self.refuse[event.n], "no", n=event.n)]
        if event.n > self.n + 1:
            return [ServerRefused("E-LNK-014", "a gap", n=event.n, expected=self.n + 1)]
        if event.n <= self.n:
            if self.committed.events[event.n - 1] != event:
                self.halted = f"fork at {event.n}"
                return [ServerRefused("E-LNK-030", self.halted, n=event.n, halted=True)]
            return [Ack(self.n, self.meters()), *self._told(event.body)]
        self.committed.events.append(event)
        match event.body:
            case Contributed(_, wagers):
                self.committed.pool_cents += self.rate * sum(w.cents for w in wagers)
            case Reversed(_, wagers):
                self.committed.pool_cents -= self.rate * sum(w.cents for w in wagers)
            case Claimed():
                self._lock(event.body)
        return [Ack(self.n, self.meters()), *self._told(event.body)]

    def _told(self, body: AnyBody) -> list[Any]:
        locked = self.committed.locks.get(body.round)
        return [locked] if locked is not None and isinstance(body, Claimed) else []

    def _lock(self, body: Claimed) -> None:
        """By the meter as it then stands, in the order of the claims."""
        jackpot = meter = self.committed.pool_cents
        awards = []
        for seat, _, percent in ((c.seat, c.hand, c.percent) for c in body.claims):
            self.committed.awards += 1
            cents = meter * percent // 100
            awards.append(LockedAward(seat, f"main/1/{self.committed.awards}", cents))
            meter = self.reset_cents if percent == 100 else meter - cents
        self.committed.pool_cents = meter
        locked = Locked(body.round, jackpot, self.reset_cents, tuple(awards))
        self.committed.locks[body.round] = locked


# --- a table that is nothing but its journal -----------------------------------------------------


class Paper:
    """A journal of events alone."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.seq = 0

    def write(self, body: AnyBody) -> None:
        self.seq += 3  # a fact and what it owes
        n = len(self.events) + 1
        hash_ = sha256(f"{n} {body}".encode()).hexdigest()
        self.events.append(Event(n, self.seq, hash_, WALL_MS + self.seq, body))

    @property
    def head(self) -> Head:
        last = self.events[-1].hash if self.events else "0" * 64
        return Head(len(self.events), self.seq, last)

    @property
    def cents(self) -> int:
        posted = [b.wagers for e in self.events if isinstance(b := e.body, Contributed)]
        back = [b.wagers for e in self.events if isinstance(b := e.body, Reversed)]
        return sum(w.cents for ws in posted for w in ws) - sum(w.cents for ws in back for w in ws)


def contributed(number: int, cents: int = 100) -> Contributed:
    return Contributed(number, (Wager(1, cents, 1),))


IDENTITY = TableIdentity("table-1", JOURNAL, "MBS3", "0" * 64, "1" * 64, "sequential")


@dataclass
class Lies:
    """How often the network loses, doubles or holds up a message."""

    lose: float = 0.0
    double: float = 0.0
    delay_ms: int = 0
    """At most; with 0 messages keep their order."""


class World:
    """One table, several endpoints, a network, and time that only moves when asked."""

    def __init__(
        self, servers: Sequence[ModelServer], seed: int = 1, limit_ms: int = 5_000
    ) -> None:
        self.servers = list(servers)
        self.random = Random(seed)
        self.lies = Lies()
        self.paper = Paper()
        self.limit_ms = limit_ms
        self.now_ms = 0
        self.skew_ms = 0
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self._line = 0
        self.server: ModelServer | None = None
        self.told: list[Any] = []
        self.pulses: list[tuple[int, int]] = []
        self.troubles: list[Trouble] = []
        self.sent: list[Any] = []
        self.fetches: list[Fetch] = []
        self.start_table()

    @property
    def now(self) -> Moment:
        return Moment(self.now_ms, WALL_MS + self.now_ms + self.skew_ms)

    def start_table(self) -> None:
        """After a crash only the journal is left."""
        self._cut()
        endpoints = [f"tcp://model-{i}:1" for i in range(len(self.servers))]
        self.session = LinkSession(
            IDENTITY, endpoints, self.paper.head, limit_ms=self.limit_ms,
            chance=self.random.randrange, now=self.now,
        )  # fmt: skip

    def write(self, body: AnyBody) -> None:
        self.paper.write(body)
        self.do(self.session.grown(self.paper.head, self.paper.events[-1:], self.now))

    # --- time ------------------------------------------------------------------------------------

    def at(self, ms: int, what: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._heap, (ms, self._count, what))

    def run(self, for_ms: int) -> None:
        end = self.now_ms + for_ms
        while True:
            wake = self.session.wake_ms
            due = self._heap[0][0] if self._heap else None
            times = [t for t in (wake, due) if t is not None and t <= end]
            if not times:
                break
            self.now_ms = max(self.now_ms, min(times))
            if due is not None and due <= self.now_ms:
                heapq.heappop(self._heap)[2]()
            else:
                self.do(self.session.tick(self.now))
        self.now_ms = end

    # --- the line --------------------------------------------------------------------------------

    def _cut(self) -> None:
        self._line += 1
        self.server = None

    def break_line(self) -> None:
        self._cut()
        self.do(self.session.lost(self.now))

    def do(self, todo: list[Do]) -> None:
        for one in todo:
            match one:
                case Dial(endpoint):
                    self._cut()
                    self.server = self.servers[int(endpoint[12])]
                    self._later(self._ready)
                case HangUp():
                    self._cut()
                case Send(message):
                    self.sent.append(message)
                    self._carry(encode(message), self._arrive)
                case Fetch(first, last):
                    self.fetches.append(one)
                    events = self.paper.events[first - 1 : last]
                    self._later(lambda fetch=one, events=events: self.do(  # type: ignore[misc]
                        self.session.fetched(fetch, events, self.now)))  # fmt: skip
                case Tell(message):
                    self.told.append(message)
                case Pulse(asked_ms):
                    self.pulses.append((self.now_ms, asked_ms))
                case Trouble():
                    self.troubles.append(one)

    def _later(self, what: Callable[[], None], most_ms: int = 1) -> None:
        line = self._line
        self.at(self.now_ms + self.random.randint(0, most_ms),
                lambda: what() if line == self._line else None)  # fmt: skip

    def _ready(self) -> None:
        self.do(self.session.ready(self.now))

    def _carry(self, frame: bytes, to: Callable[[bytes], None]) -> None:
        lies = self.lies
        if self.random.random() < lies.lose:
            return
        for _ in range(2 if self.random.random() < lies.double else 1):
            self._later(lambda: to(frame), lies.delay_ms)

    def _arrive(self, frame: bytes) -> None:
        assert self.server is not None
        for reply in self.server.take(self._line, from_table(frame)):
            self._carry(encode(reply), self._answer)

    def _answer(self, frame: bytes) -> None:
        self.do(self.session.heard(from_server(frame), self.now))
