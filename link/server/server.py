"""The loop: take all that waits, step, commit one group, answer. One thread owns all of it.

Nothing is answered before its group is durable. When the lead is lost everything in memory is
thrown away and nothing more is said but "not the leader"; it is built anew from the store when this
server leads again.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import zmq
from zmq.backend import Socket as BareSocket

from link.ledger.ledger import Ledger
from link.receipts import Receipts
from link.rows import KeyRow
from link.server.floor import NOT_TAKEN, Floor
from link.server.gate import Alarms, Gate
from link.server.keeper import StepDown
from link.server.means import Means, ServerPlan, Steady
from link.server.office import Office
from link.server.publisher import QUICK, QUICK_MORE, Publisher
from link.server.service import NO_MEMORY, LoopService
from link.server.sessions import Peer
from link.server.witness import compare
from link.store.errors import (
    Conflict,
    Failed,
    Fenced,
    NotStorable,
    Rewound,
    StoreError,
    Unknown,
    Unsafe,
)
from record.kit.words import counted
from record.link.codec import encode
from record.link.messages import Bye, Receipt, ServerRefused

IDLE_MS: Final = 250
"""The longest sleep: timers are looked at so often."""
NOT_LEADING: Final = ServerRefused("E-LNK-020", "this server does not lead; try the next one")
STANDBY_RELOAD_MS: Final = 30_000
ADMITTED_AT_ONCE: Final = 256
LOSES_THE_LEAD: Final = (StepDown, Failed, Unknown, Fenced, Conflict, Unsafe)
"""Unsafe too: a database that lost its standby or was switched over may be right again in a minute;
until then nothing is acknowledged."""
CLOCK_SLACK_MS: Final = 2_000
CLOCK_AGAIN_MS: Final = 3_600_000
"""A clock so far behind is an alarm, every hour."""
CAREFUL_MS: Final = 10_000
"""So long every input has a group of its own after a group of several broke: tables send what was
not answered again within a few seconds."""
SEND: Final = BareSocket.send
"""What ``zmq.Socket.send`` adds, for kinds of sockets that are not used here, takes longer too."""
COLLECT_AFTER: Final = 50_000
"""Objects until the collector looks at the youngest. What a table leaves behind has no cycles, and
with ten thousand tables a look takes a tenth of all time if it is taken as often as usual."""


class Server:
    def __init__(self, plan: ServerPlan, means: Means) -> None:
        self.plan, self._means = plan, means
        self._doors, self._keeper, self._log = means.doors, means.keeper, means.log
        self.clock = Steady(means.clock)
        self._clock_ms = 0
        """When its alarm was raised last; monotonic."""
        self.gate = Gate()
        self.office = Office(self.gate)
        self.floor: Floor | None = None
        self.counts: Counter[str] = Counter()
        self._service = LoopService(self, means.bridge, means.store)
        self._poller = zmq.Poller()
        self._receipts = Receipts(means.doors.secrets())
        self._publisher = Publisher(plan.name, publish_ms=plan.publish_ms, beat_ms=plan.beat_ms)
        self._reloaded_ms = self._expired_ms = self._tended_ms = 0
        self._rebind_ms: dict[str, int] = {}
        """What is to be bound anew, ``tables`` or ``signs``, and when."""
        self._denied = Alarms(1_000)
        self._more = self._ready = self._stopping = False
        self._frames: list[tuple[Peer, KeyRow, bytes]] = []
        """Taken in this turn, the last one perhaps only half."""
        self._careful_ms = 0
        """Until then one input at a time."""
        self._fed_ms = 0
        self.trouble = ""
        """Why it does not lead, if that is no choice of its own."""
        self.cautions: list[tuple[str, str]] = []
        """Code and text of what is to be an alarm when it leads."""

    # --- life -------------------------------------------------------------------------------------

    def open(self) -> None:
        """Bound and listening; who leads is decided with the first turns."""
        self._doors.open()
        self._listen()

    def run(self) -> None:
        gc.set_threshold(COLLECT_AFTER)
        while not self._stopping:
            self.turn(self._patience_ms())

    def stop(self) -> None:
        """From a signal handler."""
        self._stopping = True
        self._means.bridge.wake()

    def close(self) -> None:
        """Everybody is told, the lead is given back, the store is closed."""
        self._means.notifier.stopping()
        floor, self.floor = self.floor, None
        if floor is not None:
            for peer, data in floor.end(Bye("the server stops")):
                self._send(None, peer, data)
        self._service.abandon("the server stops")
        self._doors.close(linger_ms=200)
        try:
            self._keeper.resign()
        except StoreError as error:
            self._log.warning(str(error), fault_code=error.code)
        self._means.store.close()
        self._means.bridge.close()

    def _listen(self) -> None:
        self._poller = zmq.Poller()
        for socket in self._doors.all():
            self._poller.register(socket, zmq.POLLIN)
        self._poller.register(self._means.bridge.wake_fd, zmq.POLLIN)

    def _patience_ms(self) -> int:
        if self._more:
            return 0
        mono = self.clock.mono_ms()
        wait = min(IDLE_MS, self._keeper.next_ms - mono)
        if self.floor is not None:
            due = self.floor.ledger.due_ms()
            if due is not None:
                wait = min(wait, due - self.clock.now_ms())
            wait = min(wait, self._publisher.wait_ms(mono))
        return max(wait, 0)

    # --- one turn ---------------------------------------------------------------------------------

    def turn(self, wait_ms: int) -> None:
        ready = dict(self._poller.poll(wait_ms))
        now, mono = self.clock.now_ms(), self.clock.mono_ms()
        self._ended(self.gate.refresh(now), mono)
        if mono >= self._keeper.next_ms or self._keeper.overdue(mono):
            # By itself: however often it fails, tables and people get their answers.
            self._or_step_down(lambda: self._lead(now, mono))
            now = self.clock.now_ms()  # it may be later: the store knows when its last record came
        self._or_step_down(lambda: self._contained(lambda: self._serve(ready, now, mono), mono))

    def _contained(self, act: Callable[[], None], mono: int) -> None:
        """Nothing from outside ends the loop: whatever an input breaks is undone by going back to
        what is stored, and only the source of that input is stopped."""
        self._frames.clear()
        try:
            act()
        except (*LOSES_THE_LEAD, KeyboardInterrupt, MemoryError):
            raise
        except Rewound as error:
            self._rewound(error)
        except StoreError as error:
            if not isinstance(error, NotStorable):
                raise
            self._contain(error, mono)
        except Exception as error:
            self._contain(error, mono)

    def _contain(self, error: Exception, mono: int) -> None:
        floor, frames, asked = self.floor, list(self._frames), self._service.open_requests()
        why = f"{type(error).__name__}: {error}"
        self._log.error(f"undone: {why}", fault_code=NOT_TAKEN)
        self.counts["undone"] += 1
        self._service.undone()
        if floor is None:
            return
        if not frames and not asked:
            raise error  # nobody's input: the ledger itself
        floor.restart(self._load(floor.now_ms))
        if len(frames) == 1 and not asked:
            floor.quarantine(*frames[0], why)
            self._keeper.commit(floor.ledger.group(floor.epoch))
            for peer, data in floor.answers():
                self._send(floor, peer, data)
        elif frames:
            # One of several: each gets a group of its own when it comes again.
            self._careful_ms = mono + CAREFUL_MS

    def _serve(self, ready: dict[Any, int], now: int, mono: int) -> None:
        if self.floor is not None:
            self.floor.at(now, mono)
        if self._doors.zap in ready:
            self._admit(mono)
        careful = mono < self._careful_ms
        self._drain(ready, 1 if careful else self.plan.group_most)
        if not (careful and self._frames):
            self._service.serve(1 if careful else None)
        if self.floor is not None:
            self._conclude(self.floor, mono)
        else:
            self._service.idle()
        self._look_after(mono)

    def _or_step_down(self, act: Callable[[], None]) -> None:
        try:
            act()
        except LOSES_THE_LEAD as error:
            self._keeper.forget(self.clock.mono_ms())
            unknown = isinstance(error, StepDown) and error.unknown
            self._step_down(str(error), error.code, unknown=unknown)
        except MemoryError:  # wherever it was: what is in memory may be half of something
            self._keeper.forget(self.clock.mono_ms())
            self._step_down("the server has no memory left", NO_MEMORY, unknown=True)

    def _drain(self, ready: dict[Any, int], most: int) -> None:
        self._more = False
        for number, door in enumerate(self._doors.tables):
            if door in ready and (most > 1 or not self._frames):
                self._take_from(number, door, most)
        for sign in self._doors.signs:
            if sign is not None and sign in ready:
                self._publisher.subscriptions(sign)

    def _take_from(self, number: int, door: zmq.Socket[bytes], most: int) -> None:
        receive, holder, floor = door.recv, self.gate.holder, self.floor
        frames = self._frames
        try:
            for _ in range(most):
                peer = (number, receive(QUICK))
                frame = receive(QUICK, copy=False)
                data = self._whole(door) if frame.more else frame.bytes
                if floor is None:
                    self._send(None, peer, encode(NOT_LEADING))
                    continue
                key = holder(_user_of(frame))
                if key is None:
                    self.counts["revoked"] += 1
                    floor.refuse_key(peer)
                else:
                    frames.append((peer, key, data))
                    floor.take(peer, key, data)
            self._more = True
        except zmq.Again:
            pass

    def _whole(self, door: zmq.Socket[bytes]) -> bytes:
        """A message of several frames is none of ours: what is left of it is taken and dropped."""
        more = True
        while more:
            rest = door.recv(QUICK, copy=False)
            more = rest.more
        return b""

    def _conclude(self, floor: Floor, mono: int) -> None:
        floor.tick()
        if mono - self._expired_ms >= self.plan.beat_ms:
            self._expired_ms = mono
            floor.expire()
        group = floor.ledger.group(floor.epoch)
        self.office.into(group)
        if group:
            self._keeper.commit(group)
            self._publisher.changed = True
            self.counts["groups"] += 1
            for alarm in group.alarms:
                self._log.warning(alarm.text, table_id=alarm.table, fault_code=alarm.code)
            self.office.committed()
            self._ended(self.gate.refresh(floor.now_ms), mono)
        self._service.committed()  # first: what breaks below must not be told as "nothing changed"
        for peer, data in floor.answers():
            self._send(floor, peer, data)
        self.counts["published"] += self._publisher.publish(floor, self._doors.signs, mono)

    def _send(self, floor: Floor | None, peer: Peer, data: bytes) -> None:
        door = self._doors.tables[peer[0]]
        try:
            SEND(door, peer[1], QUICK_MORE)
            SEND(door, data, QUICK)
        except zmq.ZMQError:  # gone, or so slow that its queue is full: it must say hello again
            if floor is not None:
                floor.drop(peer)

    # --- handshakes -------------------------------------------------------------------------------

    def _admit(self, mono: int) -> None:
        for _ in range(ADMITTED_AT_ONCE):
            try:
                request = self._doors.zap.recv_multipart(QUICK)
            except zmq.Again:
                break
            answer, denied = self.gate.answer(request)
            self._doors.zap.send_multipart(answer)
            self.counts["denied" if denied else "admitted"] += 1
            if denied is not None:
                told = self._denied.raised("", f"{denied.address}: {denied.why}", mono)
                if told is not None:
                    self._alarm_denied(told)

    def _alarm_denied(self, text: str) -> None:
        if self.floor is not None:
            self.floor.alarm("E-LNK-042", "", f"handshake refused: {text}")
        else:
            self._log.warning(f"handshake refused: {text}", fault_code="E-LNK-042")

    # --- leading ----------------------------------------------------------------------------------

    def _lead(self, now: int, mono: int) -> None:
        try:
            taken = self._keeper.lead(mono)
        except StepDown:
            self._stand_by(mono)
            raise
        if taken:
            self._begin(now, mono)
        elif not self._keeper.epoch:
            self._stand_by(mono)
        self._tell_ready()

    def _stand_by(self, mono: int) -> None:
        """A standby answers handshakes too, whatever keeps it from leading: tables are told to try
        the next server."""
        self._tell_ready()
        if not self._reloaded_ms or mono - self._reloaded_ms >= STANDBY_RELOAD_MS:
            self.clock.not_before(self._means.store.last_ms())
            self.office.load(self._means.store.load())
            self._reloaded_ms = mono

    def _begin(self, now: int, mono: int) -> None:
        store = self._means.store
        self._means.notifier.more_time(60_000_000)
        self.clock.not_before(store.last_ms())
        now = self.clock.now_ms()
        if said := store.rewound():
            raise Rewound(store.place, said)
        if not self.counts["led"]:
            store.check(recent=self.plan.check_recent, between=self._means.notifier.feed)
        ledger = self._load(now)
        self.counts["led"] += 1
        self.floor = Floor(
            ledger,
            server=self.plan.name,
            epoch=self._keeper.epoch,
            beat_ms=self.plan.beat_ms,
            receipts=self._receipts,
            compare=self._compare,
        )
        self.floor.at(now, mono)
        self.trouble = ""
        self._log.info(f"leading, epoch {self._keeper.epoch}, {store.place}")
        if caution := store.caution():
            self.floor.alarm("E-STO-014", "", caution)
        for code, text in self.cautions:
            self.floor.alarm(code, "", text)
        self.cautions.clear()

    def _load(self, now: int) -> Ledger:
        """Ledger, keys and accounts as they are stored."""
        store = self._means.store
        saved = store.load()

        ledger = Ledger(
            self.plan.pools,
            saved,
            recall=store.event,
            sealer=self._means.sealer,
            chance=self._means.chance,
        )
        self.office.begin(ledger, saved, store.staff(), now)
        ledger.open(now)
        group = ledger.group(self._keeper.epoch)
        if group:
            self._keeper.commit(group)
        self.gate.refresh(now)
        return ledger

    def _compare(self, table: str, receipt: Receipt) -> None:
        assert self.floor is not None
        compare(self._means.store, self._keeper, self.floor.ledger.state.event - 1, table, receipt)

    def _rewound(self, error: Rewound) -> None:
        """On record first, so that no start after this one takes anything either."""
        floor = self.floor
        if floor is not None:
            floor.restart(self._load(floor.now_ms))
            floor.ledger.alarm(error.code, "", error.what[:500], floor.now_ms)
            self._keeper.commit(floor.ledger.group(floor.epoch))
        raise error

    def _step_down(self, why: str, code: str, *, unknown: bool = False) -> None:
        floor, self.floor = self.floor, None
        if floor is not None or why != self.trouble:
            self._log.error(f"not leading: {why}", fault_code=code)
        self.trouble = why
        done = "look whether it was done before you repeat it" if unknown else "nothing changed"
        self._service.abandon(f"this server does not lead any more: {why}; {done}")
        if floor is not None:
            for peer, data in floor.end(NOT_LEADING):
                self._send(None, peer, data)

    def _tell_ready(self) -> None:
        if not self._ready:
            self._ready = True
            self._means.notifier.ready(self.status_line())

    # --- upkeep -----------------------------------------------------------------------------------

    def _look_after(self, mono: int) -> None:
        for _, text in self._denied.due(mono):
            self._alarm_denied(text)
        self._watch_clock(mono)
        for kind, at in list(self._rebind_ms.items()):
            if mono >= at:
                del self._rebind_ms[kind]
                self._rebind(kind)
        if not self._more and mono - self._tended_ms >= 1_000:
            self._tended_ms = mono
            self._means.store.tend()
        watchdog_us = self._means.notifier.watchdog_us or 3_000_000
        if mono - self._fed_ms >= watchdog_us // 3_000:
            self._fed_ms = mono
            self._means.notifier.feed()
            self._means.notifier.status(self.status_line())

    def _watch_clock(self, mono: int) -> None:
        behind_ms = self.clock.behind_ms()
        if behind_ms < CLOCK_SLACK_MS or self.floor is None:
            self._clock_ms = 0 if behind_ms < CLOCK_SLACK_MS else self._clock_ms
        elif not self._clock_ms or mono - self._clock_ms >= CLOCK_AGAIN_MS:
            self._clock_ms = mono
            said = f"the clock is {behind_ms // 1_000} s behind the last record; set it right"
            self.floor.alarm("E-LNK-043", "", f"{said}; keys are judged by the later time")

    def _ended(self, rows: Sequence[KeyRow], mono: int) -> None:
        """Keys that are over: they hear no more meters, and a revoked one is cut off altogether."""
        for row in rows:
            kinds = ("signs", "tables") if row.revoked_ms and row.role == "table" else ("signs",)
            for kind in kinds:
                at = mono + self.plan.rebind_ms
                self._rebind_ms[kind] = min(self._rebind_ms.get(kind, at), at)

    def _rebind(self, kind: str) -> None:
        """A revoked key is cut off from what it still hears; everybody else connects again."""
        for number in range(len(self._doors.tables)):
            if kind == "signs":
                self._doors.reopen_signs(number)
                continue
            self._doors.reopen_tables(number)
            if self.floor is not None:
                for session in [s for s in self.floor.sessions if s.peer[0] == number]:
                    self.floor.drop(session.peer)
        self._listen()
        self._log.info(f"{kind}: connections dropped, a key has ended")

    def turn_between(self) -> None:
        """Work goes on while something long is done in the loop."""
        self.turn(0)

    def now_ms(self) -> int:
        return self.clock.now_ms()

    def endpoints(self) -> list[dict[str, str]]:
        return [{"tables": tables, "signs": signs} for tables, signs in self._doors.bound]

    def status_line(self) -> str:
        floor = self.floor
        if floor is None:
            return f"{self.plan.name}: standing by{self.trouble and f': {self.trouble}'}"
        tables = counted(len(floor.sessions), "table")
        return f"{self.plan.name}: leading, epoch {floor.epoch}, {tables}"


def _user_of(frame: zmq.Frame) -> str:
    """Whom the handshake admitted; never from the message itself."""
    try:
        user = frame.get("User-Id")
    except zmq.ZMQError:
        return ""
    return user if isinstance(user, str) else ""
