"""The talk with the link servers: dial, greet, tell, listen, and know when nobody is there.

A pure machine. Time and chance are passed in, what comes out is a list of things to do. A heartbeat
counts from the moment at which the table asked for it, so an answer that was held up on the way
proves nothing about now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from controller.faults.status import LinkStatus
from controller.link.outbox import Outbox
from record.link.messages import (
    VERSIONS,
    Ack,
    Beat,
    Bye,
    Checkpoint,
    Event,
    FromServer,
    FromTable,
    Hello,
    Noted,
    Receipt,
    ReceiptShown,
    ServerRefused,
    Welcome,
)

GREET_MS: Final = 3_000
MOST_GREET_MS: Final = 12_000
"""From the dial to the welcome. It grows with the tries: where thousands of tables come back at
once a handshake takes its time, and giving up would only make it longer."""
SILENT_BEATS: Final = 3
"""So many heartbeats without a word, and the line is dead."""
MOST_BEATS: Final = 64
"""Heartbeats whose answer is still waited for."""
CHECKPOINT_MS: Final = 45_000
NOTED_MS: Final = 5_000
"""A checkpoint that is not noted by then is sent again: at least one in 60 s gets there."""
SOON_MS: Final = 250
LONGEST_MS: Final = 15_000
"""Waits double from the first to the second."""
REFUSED_MS: Final = 15_000
"""What a person must look into is not tried again at once."""

HELLO_FIRST: Final = "E-LNK-011"
GAP: Final = "E-LNK-014"
NOT_LEADER: Final = "E-LNK-020"
VERSION: Final = "E-LNK-010"
AHEAD: Final = "E-LNK-060"
MISSING: Final = "E-LNK-061"
WENT_BACK: Final = "E-LNK-062"
NONSENSE: Final = "E-LNK-063"

Stage = Literal["waiting", "dialling", "greeting", "open", "closed"]
Chance = Callable[[int], int]
"""A number from 0 up to, not including, the limit."""


class Moment(NamedTuple):
    ms: int
    """Monotonic: for every wait."""
    wall_ms: int
    """For the record only."""


@dataclass(frozen=True, slots=True)
class TableIdentity:
    """Who this table is, for every ``Hello``."""

    table: str
    journal: str
    game: str
    program: str
    configuration: str
    meter_rule: Literal["sequential", "snapshot"]

    def hello(self, head: Head) -> Hello:
        return Hello(
            versions=VERSIONS,
            table=self.table,
            journal=self.journal,
            sent=head.sent,
            seq=head.seq,
            head=head.hash,
            game=self.game,
            program=self.program,
            configuration=self.configuration,
            meter_rule=self.meter_rule,
        )


class Head(NamedTuple):
    """Where the durable journal ends, and how many events are in it."""

    sent: int
    seq: int
    hash: str


# --- what to do --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dial:
    endpoint: str


@dataclass(frozen=True, slots=True)
class HangUp:
    pass


@dataclass(frozen=True, slots=True)
class Send:
    message: FromTable


@dataclass(frozen=True, slots=True)
class Fetch:
    """Read these events, no longer held, from the journal, and bring them with ``fetched``."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Prove:
    """Read the hash of this record from the journal, and bring it with ``proved``."""

    seq: int


@dataclass(frozen=True, slots=True)
class Tell:
    """For the writer: what the server said."""

    message: FromServer


@dataclass(frozen=True, slots=True)
class Pulse:
    """The server was there and had all of it when the table asked at this time."""

    asked_ms: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that a person must know. ``closed``: no wager may rest on this link now."""

    code: str
    text: str
    closed: bool = False


Do = Dial | HangUp | Send | Fetch | Prove | Tell | Pulse | Trouble


class LinkSession:
    """One table's talk with its servers, over any number of connections."""

    def __init__(
        self,
        identity: TableIdentity,
        endpoints: Sequence[str],
        head: Head,
        *,
        limit_ms: int,
        chance: Chance,
        now: Moment,
        receipt: Receipt | None = None,
    ) -> None:
        self.identity, self.endpoints = identity, tuple(endpoints)
        self.limit_ms = limit_ms
        self.head = head
        self.outbox = Outbox(head.sent)
        self.stage: Stage = "waiting"
        self.server, self.epoch, self.version = "", 0, 0
        self.receipt = receipt
        """The last one of the server, at first from the journal: shown after the next welcome."""
        self.testing = False
        """The table is in test mode: every heartbeat says so."""
        self.halted = ""
        """Why the server takes nothing more from this journal."""
        self.trouble = ""
        """The last thing that went wrong since the last welcome."""
        self._chance = chance
        self._at = 0
        self._failures = 0
        self._until_ms = now.ms + chance(2 * SOON_MS)
        self._hello_ms = 0
        self._heard_ms = 0
        self._beat_ms = 1_000
        self._next_beat_ms = 0
        self._beats: dict[int, int] = {}
        self._stamp = 0
        self._checkpoint_ms = 0
        self._unnoted: int | None = None
        self._fetch: Fetch | None = None
        self._said = ""
        self._watermark: int | None = None

    # --- time ------------------------------------------------------------------------------------

    @property
    def endpoint(self) -> str:
        return self.endpoints[self._at]

    @property
    def wake_ms(self) -> int | None:
        """When ``tick`` wants to be called next."""
        if self.stage == "closed":
            return None
        if self.stage != "open":
            return self._until_ms
        due = [self._next_beat_ms, self._heard_ms + self._silence_ms, self._checkpoint_ms]
        if self._fetch is None and (resend := self.outbox.wake_ms) is not None:
            due.append(resend)
        return min(due)

    def tick(self, now: Moment) -> list[Do]:
        if self.stage == "waiting" and now.ms >= self._until_ms:
            return self._dial(now)
        if self.stage in ("dialling", "greeting") and now.ms >= self._until_ms:
            return self._fail(now, "no answer")
        if self.stage != "open":
            return []
        if now.ms >= self._heard_ms + self._silence_ms:
            return self._fail(now, "the server fell silent")
        out: list[Do] = []
        if now.ms >= self._next_beat_ms:
            out += self._beat(now)
        if now.ms >= self._checkpoint_ms:
            out += self._checkpoint(now)
        return out + self._pump(now)

    @property
    def _silence_ms(self) -> int:
        return SILENT_BEATS * self._beat_ms

    # --- the connection --------------------------------------------------------------------------

    def _dial(self, now: Moment) -> list[Do]:
        patience_ms = min(GREET_MS << min(self._failures, 4), MOST_GREET_MS)
        self.stage, self._until_ms = "dialling", now.ms + patience_ms
        return [Dial(self.endpoint)]

    def ready(self, now: Moment) -> list[Do]:
        """Keys are proved both ways: the connection takes messages."""
        if self.stage != "dialling":
            return []
        self.stage = "greeting"
        return [self._hello(now)]

    def lost(self, now: Moment) -> list[Do]:
        """The connection is gone."""
        if self.stage in ("waiting", "closed"):
            return []
        return self._fail(now, "the connection broke")

    def close(self, why: str) -> list[Do]:
        """A clean end: the journal holds whatever was not sent."""
        talking = self.stage in ("greeting", "open")
        self.stage = "closed"
        return [Send(Bye(why)), HangUp()] if talking else [HangUp()]

    def _hello(self, now: Moment) -> Send:
        self._hello_ms = now.ms
        return Send(self.identity.hello(self.head))

    def _fail(self, now: Moment, why: str, *, least_ms: int = 0) -> list[Do]:
        """Hang up, and try the next endpoint after a while that is never the same."""
        self.trouble = f"{self.endpoint}: {why}"
        self.stage = "waiting"
        self.outbox.parted()
        self._beats.clear()
        self._fetch = None
        self._at = (self._at + 1) % len(self.endpoints)
        longest = min(SOON_MS << min(self._failures, 8), LONGEST_MS)
        longest = max(longest, least_ms)
        self._failures += 1
        self._until_ms = now.ms + longest // 2 + self._chance(longest // 2 + 1)
        return [HangUp()]

    # --- what the server says --------------------------------------------------------------------

    def heard(self, message: FromServer, now: Moment) -> list[Do]:
        if self.stage not in ("greeting", "open"):
            return []
        self._heard_ms = now.ms
        match message:
            case Welcome():
                return self._welcomed(message, now)
            case ServerRefused():
                return self._refused(message, now)
            case Bye(why):
                self._failures = 0
                return self._fail(now, f"the server ends: {why}")
            case _ if self.stage != "open":
                return []  # of the connection before this one's greeting
            case Ack(n):
                self.receipt = message.receipt or self.receipt
                return self._acked(n, message, now)
            case Beat(at_ms):
                return self._answered(at_ms, message, now)
            case Noted(seq):
                self.receipt = message.receipt or self.receipt
                if self._unnoted is not None and seq >= self._unnoted:
                    self._unnoted, self._checkpoint_ms = None, now.ms + CHECKPOINT_MS
                return [Tell(message)] if message.receipt is not None else []
            case _:
                return [Tell(message)]

    def _welcomed(self, welcome: Welcome, now: Moment) -> list[Do]:
        if welcome.version not in VERSIONS:
            text = f"the server speaks version {welcome.version}, this table {VERSIONS}"
            return [*self._told(VERSION, text), *self._fail(now, text, least_ms=REFUSED_MS)]
        before, self._watermark = self._watermark, welcome.n
        if not self.outbox.welcomed(welcome.n, now.ms):
            text = (
                f"the server has events up to {welcome.n}, this journal ends at "
                f"{self.outbox.last}: it was cut, or this is a copy of it"
            )
            self.halted = f"{text} ({AHEAD})"
            return [*self._told(AHEAD, text), *self._fail(now, text, least_ms=REFUSED_MS)]
        out: list[Do] = []
        if before is not None and welcome.n < before:
            text = f"the server went back from event {before} to {welcome.n}: sent again from there"
            out.append(Trouble(WENT_BACK, text))
        self.stage, self._failures, self.trouble = "open", 0, ""
        self.server, self.epoch, self.version = welcome.server, welcome.epoch, welcome.version
        self._beat_ms = max(50, min(welcome.beat_ms, self.limit_ms // 3))
        self._next_beat_ms = self._checkpoint_ms = now.ms
        self._unnoted = None
        if self.outbox.caught_up:
            self.halted = self._said = ""
        if self.receipt is not None and welcome.version >= 3:
            out.append(Send(ReceiptShown(self.receipt)))
        out.append(Tell(welcome))
        if 0 < welcome.seq < self.head.seq:
            out.append(Prove(welcome.seq))
        return [*out, *self._pulse(self._hello_ms, now), *self.tick(now)]

    def _refused(self, refused: ServerRefused, now: Moment) -> list[Do]:
        text = f"{refused.text} ({refused.code})"
        if refused.halted:
            self.halted = text
            return [*self._told(refused.code, text), *self._fail(now, text, least_ms=REFUSED_MS)]
        if refused.code == HELLO_FIRST:
            if self.stage == "greeting":
                return []  # hello is on its way: this answers what was sent before it
            self.stage, self._until_ms = "greeting", now.ms + GREET_MS
            return [self._hello(now)]
        if refused.code == NOT_LEADER:
            return self._fail(now, text)
        if refused.code == GAP and self.stage == "open":
            if self.outbox.expected(refused.expected, now.ms):
                self._watermark = self.outbox.acked
                return self._pump(now)
            return self._nonsense(f"the server waits for event {refused.expected}", now)
        if not refused.n:
            return [*self._told(refused.code, text), *self._fail(now, text, least_ms=REFUSED_MS)]
        # The event is sent again in a while, until the server takes it or halts the journal.
        self.outbox.refused(refused.n, now.ms)
        self.trouble = text
        return self._told(refused.code, f"event {refused.n}: {text}", closed=False)

    def _told(self, code: str, text: str, *, closed: bool = True) -> list[Do]:
        """Once, however often it is tried again."""
        again, self._said = self._said == code, code
        return [] if again else [Trouble(code, text, closed)]

    def _nonsense(self, text: str, now: Moment) -> list[Do]:
        text = f"{text}; this journal has {self.outbox.last}"
        return [*self._told(NONSENSE, text), *self._fail(now, text, least_ms=REFUSED_MS)]

    def _acked(self, n: int, message: FromServer, now: Moment) -> list[Do]:
        behind = not self.outbox.caught_up
        if not self.outbox.acknowledged(n, now.ms):
            return self._nonsense(f"the server acknowledges event {n}", now)
        self._watermark = self.outbox.acked
        out: list[Do] = [Tell(message)]
        if behind and self.outbox.caught_up:
            self.halted = self._said = ""
            out += self._beat(now)  # nothing waits for the link longer than needed
        return out + self._pump(now)

    # --- heartbeats ------------------------------------------------------------------------------

    def _beat(self, now: Moment) -> list[Do]:
        # A clock that stands still or is put back must not make an old answer new.
        at_ms = self._stamp = max(now.wall_ms, self._stamp + 1)
        self._beats[at_ms] = now.ms
        if len(self._beats) > MOST_BEATS:
            del self._beats[next(iter(self._beats))]
        self._next_beat_ms = now.ms + self._beat_ms
        return [Send(Beat(at_ms, test=self.testing and self.version >= 2))]

    def _answered(self, at_ms: int, message: Beat, now: Moment) -> list[Do]:
        out: list[Do] = [Tell(message)] if message.meters else []
        asked_ms = self._beats.get(at_ms)
        if asked_ms is None:
            return out  # the server's own: it is there, and proves no more
        self._beats = {k: at for k, at in self._beats.items() if at > asked_ms}
        return out + self._pulse(asked_ms, now)

    def _pulse(self, asked_ms: int, now: Moment) -> list[Do]:
        sound = self.outbox.caught_up and not self.outbox.stalled(now.ms, self.limit_ms)
        return [Pulse(asked_ms)] if sound and not self.halted else []

    # --- the journal -----------------------------------------------------------------------------

    def tests(self, on: bool, now: Moment) -> list[Do]:
        """Test mode began or ended: the floor hears of it at once."""
        if on == self.testing:
            return []
        self.testing = on
        return self._beat(now) if self.stage == "open" else []

    def grown(self, head: Head, events: Sequence[Event], now: Moment) -> list[Do]:
        """The durable journal ends here now, and these are its new events."""
        self.head = head
        self.outbox.grown(head.sent, events)
        return self._pump(now)

    def _pump(self, now: Moment) -> list[Do]:
        """Send what is held; ask for what is not, and send nothing behind it before it is there."""
        out: list[Do] = []
        if self._fetch is not None or self.stage != "open":
            return out
        held = self.outbox.recent
        numbers = self.outbox.wanted(now.ms)
        for n in numbers:
            if n not in held:
                last = next((m - 1 for m in numbers if m > n and m in held), numbers[-1])
                self._fetch = Fetch(n, last)
                return [*out, self._fetch]
            out.append(self._send(held[n], now))
        return out

    def _send(self, event: Event, now: Moment) -> Send:
        self.outbox.sent(event.n, now.ms)
        return Send(event)

    def fetched(self, fetch: Fetch, events: Sequence[Event], now: Moment) -> list[Do]:
        """What was asked for, in order; an event that is not there will never be there."""
        if fetch != self._fetch:
            return []  # of a connection that is over
        self._fetch = None
        if not events or events[0].n != fetch.first:
            text = f"the server waits for event {fetch.first}, which this journal no longer has"
            self.halted = f"{text} ({MISSING})"
            return [*self._told(MISSING, text), *self._fail(now, text, least_ms=REFUSED_MS)]
        due, out = self.outbox.wanted(now.ms), list[Do]()
        for event in events:
            if event.n in due and event.n == self.outbox.next:
                out.append(self._send(event, now))
        return out + self._pump(now)

    def proved(self, seq: int, hash: str, now: Moment) -> list[Do]:
        """The record as it stands on disk; the server compares it with what it was told once."""
        return [Send(Checkpoint(seq, hash, now.wall_ms))] if self.stage == "open" else []

    def unread(self) -> None:
        """The journal could not be read just now; it is asked again with the next beat."""
        self._fetch = None

    def _checkpoint(self, now: Moment) -> list[Do]:
        self._unnoted, self._checkpoint_ms = self.head.seq, now.ms + NOTED_MS
        return [Send(Checkpoint(self.head.seq, self.head.hash, now.wall_ms))]

    # --- status ----------------------------------------------------------------------------------

    def status(self, now: Moment) -> LinkStatus:
        ago = self.outbox.acked_ms
        return {
            "state": "halted" if self.halted else self.stage,
            "endpoint": self.endpoint,
            "endpoints": list(self.endpoints),
            "server": self.server,
            "epoch": self.epoch,
            "version": self.version,
            "events": self.outbox.last,
            "acknowledged": self.outbox.acked,
            "waiting": self.outbox.depth,
            "last_ack_ms": None if ago is None else now.ms - ago,
            "heard_ms": now.ms - self._heard_ms if self.stage == "open" else None,
            "halted": self.halted,
            "trouble": self.trouble,
        }
