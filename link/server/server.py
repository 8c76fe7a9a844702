"""The loop: take all that waits, step, commit one group, answer. One thread owns all of it.

Nothing is answered before its group is durable. When the lead is lost everything in memory is
thrown away and every message is answered "not the leader"; it is loaded from the store again when
this server leads again.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from link.config import LinkConfig
from link.ledger.ledger import Ledger
from link.ledger.mystery import Sealer
from link.receipts import Receipts
from link.rows import KeyRow
from link.server.bridge import Bridge
from link.server.clock import Clock, SteadyClock
from link.server.doors import Network
from link.server.floor import NOT_TAKEN, Floor
from link.server.gate import AlarmLimiter, Gate
from link.server.leadership import LOSES_THE_LEAD, Leadership, StepDown
from link.server.log import Log
from link.server.publisher import Publisher
from link.server.replies import Endpoints
from link.server.service import NO_MEMORY, UNDONE, LoopService
from link.server.sessions import Peer
from link.server.staff_office import StaffOffice
from link.server.teller import Teller
from link.store.base import Store
from link.store.errors import NotStorable, Rewound, StoreError
from record.kit.notify import Notifier
from record.kit.words import counted
from record.link.codec import encode
from record.link.messages import Bye, Receipt, ServerRefused

IDLE_MS: Final = 250
"""The longest sleep: timers are looked at so often."""
NOT_LEADING: Final = ServerRefused("E-LNK-020", "this server does not lead; try the next one")
STANDBY_RELOAD_MS: Final = 30_000
CLOCK_SLACK_MS: Final = 2_000
CLOCK_AGAIN_MS: Final = 3_600_000
"""A clock so far behind is an alarm, every hour."""
CAREFUL_MS: Final = 10_000
"""So long every input has a group of its own after a group of several broke: tables send what was
not answered again within a few seconds."""
COLLECT_AFTER: Final = 50_000
"""Objects until the collector looks at the youngest. What a table leaves behind has no cycles, and
with ten thousand tables a look takes a tenth of all time if it is taken as often as usual."""


class Server:
    """Put together by ``link.server.compose``."""

    def __init__(
        self,
        config: LinkConfig,
        *,
        store: Store,
        leadership: Leadership,
        network: Network,
        bridge: Bridge,
        clock: Clock,
        chance: Callable[[], bytes],
        sealer: Sealer | None,
        log: Log,
        notifier: Notifier,
        cautions: Sequence[tuple[str, str]] = (),
    ) -> None:
        """``cautions``: code and text of what becomes an alarm when it leads."""
        self.config, self.store = config, store
        self._leadership, self._network, self._bridge = leadership, network, bridge
        self._chance, self._sealer = chance, sealer
        self._log, self._notifier = log, notifier
        self._cautions = list(cautions)
        self.clock = SteadyClock(clock)
        self._clock_ms = 0
        """When the alarm about the clock was raised last; monotonic."""
        self.gate = Gate()
        self.office = StaffOffice(self.gate)
        self.floor: Floor | None = None
        """None: it does not lead."""
        self.counts: Counter[str] = Counter()
        self._service = LoopService(self, bridge, store)
        self.teller = Teller(self, store, bridge.feed)
        self._receipts = Receipts(network.secrets())
        options = config.server
        self._publisher = Publisher(
            options.name, publish_ms=options.publish_ms, beat_ms=options.beat_ms
        )
        self._reloaded_ms = self._expired_ms = self._tended_ms = 0
        self._rebind_ms: dict[Literal["tables", "signs"], int] = {}
        """Which connections are to be dropped, and when."""
        self._denied = AlarmLimiter(1_000)
        self._ready = self._stopping = False
        self._frames: list[tuple[Peer, KeyRow, bytes]] = []
        """Taken in this turn, the last one perhaps only half."""
        self._careful_ms = 0
        """Until then one input at a time."""
        self._fed_ms = 0
        self.trouble = ""
        """Why it does not lead, unless another server does."""

    # --- life -------------------------------------------------------------------------------------

    def open(self) -> None:
        """Bound and listening; who leads is decided with the first turns."""
        self._network.open(self._bridge.wake_fd)

    def run(self) -> None:
        gc.set_threshold(COLLECT_AFTER)
        while not self._stopping:
            self.turn(self._patience_ms())

    def stop(self) -> None:
        """From a signal handler."""
        self._stopping = True
        self._bridge.wake()

    def close(self) -> None:
        """Tables are told, the lead is given back, the store is closed."""
        self._notifier.stopping()
        floor, self.floor = self.floor, None
        if floor is not None:
            for peer, data in floor.end(Bye("the server stops")):
                self._network.send(peer, data)
        self._service.abandon("the server stops")
        self._network.close(linger_ms=200)
        try:
            self._leadership.resign()
        except StoreError as error:
            self._log.warning(str(error), fault_code=error.code)
        self.store.close()
        self._bridge.close()

    def _patience_ms(self) -> int:
        if self._network.more:
            return 0
        mono = self.clock.mono_ms()
        wait = min(IDLE_MS, self._leadership.next_ms - mono)
        if self.floor is not None:
            due = self.floor.ledger.due_ms()
            if due is not None:
                wait = min(wait, due - self.clock.now_ms())
            wait = min(wait, self._publisher.wait_ms(mono))
        if (tell_ms := self.teller.wait_ms(mono)) is not None:
            wait = min(wait, tell_ms)
        return max(wait, 0)

    # --- one turn ---------------------------------------------------------------------------------

    def turn(self, wait_ms: int) -> None:
        self._network.poll(wait_ms)
        now, mono = self.clock.now_ms(), self.clock.mono_ms()
        self._ended(self.gate.refresh(now), mono)
        if mono >= self._leadership.next_ms or self._leadership.overdue(mono):
            # By itself: however often it fails, tables and people get their answers.
            self._or_step_down(lambda: self._lead(now, mono))
            now = self.clock.now_ms()  # it may be later: the store knows when its last record came
        self._or_step_down(lambda: self._contained(lambda: self._serve(now, mono), mono))

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
        self.teller.begin()
        if len(frames) == 1 and not asked:
            floor.quarantine(*frames[0], why)
            group = floor.ledger.group(floor.epoch)
            self._leadership.commit(group)
            self._answer(floor)
            self.teller.committed(group)
        elif frames:
            # One of several: each gets a group of its own when it comes again.
            self._careful_ms = mono + CAREFUL_MS

    def _serve(self, now: int, mono: int) -> None:
        if self.floor is not None:
            self.floor.at(now, mono)
        self._network.admit(lambda request: self._admitted(request, mono))
        careful = mono < self._careful_ms
        self._take(1 if careful else self.config.limits.group_most)
        if self._network.subscribed():
            self._publisher.subscribed()
        if not (careful and self._frames):
            self._service.serve(1 if careful else None)
        if self.floor is not None:
            self._conclude(self.floor, mono)
        else:
            self._service.committed()  # without a ledger there is nothing to commit
        # Only here: what the feed is made from is committed, and nothing was added to it since.
        self.teller.turn(mono, asked=self._service.follower_waits())
        self._service.told()
        self._look_after(mono)

    def _or_step_down(self, act: Callable[[], None]) -> None:
        try:
            act()
        except LOSES_THE_LEAD as error:
            self._leadership.forget(self.clock.mono_ms())
            unknown = isinstance(error, StepDown) and error.unknown
            self._step_down(str(error), error.code, unknown=unknown)
        except MemoryError:  # wherever it was: what is in memory may be half of something
            self._leadership.forget(self.clock.mono_ms())
            self._step_down("the server has no memory left", NO_MEMORY, unknown=True)

    def _take(self, most: int) -> None:
        holder, floor, frames = self.gate.holder, self.floor, self._frames
        for peer, user, data in self._network.received(most):
            if floor is None:
                self._network.send(peer, encode(NOT_LEADING))
                continue
            key = holder(user)
            if key is None:
                self.counts["revoked"] += 1
                floor.refuse_key(peer)
            else:
                frames.append((peer, key, data))
                floor.take(peer, key, data)

    def _conclude(self, floor: Floor, mono: int) -> None:
        floor.tick()
        if mono - self._expired_ms >= self.config.server.beat_ms:
            self._expired_ms = mono
            floor.expire()
        group = floor.ledger.group(floor.epoch)
        self.office.into(group)
        if group:
            self._leadership.commit(group)
            self._publisher.changed = True
            self.counts["groups"] += 1
            for alarm in group.alarms:
                self._log.warning(alarm.text, table_id=alarm.table, fault_code=alarm.code)
            self.office.committed()
            self._ended(self.gate.refresh(floor.now_ms), mono)
        self._service.committed()  # first: if the rest breaks, "nothing changed" would be wrong
        self._answer(floor)
        if group:
            self._publisher.hits(group, floor, self._network)
            self.teller.committed(group)
        self.counts["published"] += self._publisher.publish(floor, self._network, mono)

    def _answer(self, floor: Floor) -> None:
        for peer, data in floor.answers():
            if not self._network.send(peer, data):
                floor.drop(peer)  # it must say hello again

    # --- handshakes -------------------------------------------------------------------------------

    def _admitted(self, request: Sequence[bytes], mono: int) -> list[bytes]:
        answer, denied = self.gate.answer(request)
        self.counts["denied" if denied else "admitted"] += 1
        if denied is not None:
            said = f"address {denied.address}: handshake refused: {denied.why}"
            told = self._denied.raised((), said, mono)
            if told is not None:
                self._alarm_denied(told)
        return answer

    def _alarm_denied(self, text: str) -> None:
        if self.floor is not None:
            self.floor.alarm("E-LNK-042", "", text)
        else:
            self._log.warning(text, fault_code="E-LNK-042")

    # --- leading ----------------------------------------------------------------------------------

    def _lead(self, now: int, mono: int) -> None:
        try:
            taken = self._leadership.lead(mono)
        except StepDown:
            self._stand_by(mono)
            raise
        if taken:
            self._begin(now, mono)
        elif not self._leadership.epoch:
            self._stand_by(mono)
        self._tell_ready()

    def _stand_by(self, mono: int) -> None:
        """A standby answers handshakes too, whatever keeps it from leading: tables are told to try
        the next server."""
        self._tell_ready()
        if not self._reloaded_ms or mono - self._reloaded_ms >= STANDBY_RELOAD_MS:
            self.clock.not_before(self.store.last_ms())
            self.office.load(self.store.load())
            self._reloaded_ms = mono

    def _begin(self, now: int, mono: int) -> None:
        store = self.store
        self._notifier.more_time(60_000_000)
        self.clock.not_before(store.last_ms())
        now = self.clock.now_ms()
        if said := store.rewound():
            raise Rewound(store.place, said)
        if not self.counts["led"]:
            recent = self.config.server.check_recent or None
            store.check(recent=recent, between=self._notifier.feed)
        ledger = self._load(now)
        self.counts["led"] += 1
        self.floor = Floor(
            ledger,
            server=self.config.server.name,
            epoch=self._leadership.epoch,
            beat_ms=self.config.server.beat_ms,
            receipts=self._receipts,
            compare=self._compare,
        )
        self.floor.at(now, mono)
        self.trouble = ""
        self._log.info(f"leading, epoch {self._leadership.epoch}, {store.place}")
        if caution := store.caution():
            self.floor.alarm("E-STO-014", "", caution)
        for code, text in self._cautions:
            self.floor.alarm(code, "", text)
        self._cautions.clear()
        self.teller.begin()

    def _load(self, now: int) -> Ledger:
        """Ledger, keys and accounts as they are stored."""
        saved = self.store.load()
        ledger = Ledger(
            self.config.pools,
            saved,
            recall=self.store.event,
            sealer=self._sealer,
            chance=self._chance,
        )
        self.office.begin(ledger, saved, self.store.staff(), now)
        ledger.open(now)
        group = ledger.group(self._leadership.epoch)
        if group:
            self._leadership.commit(group)
        self.gate.refresh(now)
        return ledger

    def _compare(self, table: str, receipt: Receipt) -> None:
        assert self.floor is not None
        self._leadership.compare(self.floor.ledger.state.event - 1, table, receipt)

    def _rewound(self, error: Rewound) -> None:
        """On record first, so that no start after this one takes anything either."""
        floor = self.floor
        if floor is not None:
            floor.restart(self._load(floor.now_ms))
            floor.ledger.alarm(error.code, "", error.what[:500], floor.now_ms)
            self._leadership.commit(floor.ledger.group(floor.epoch))
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
                self._network.send(peer, data)
            self.teller.begin()

    def _tell_ready(self) -> None:
        if not self._ready:
            self._ready = True
            self._notifier.ready(self.status_line())

    # --- upkeep -----------------------------------------------------------------------------------

    def _look_after(self, mono: int) -> None:
        for _, text in self._denied.due(mono):
            self._alarm_denied(text)
        self._watch_clock(mono)
        for kind, at in list(self._rebind_ms.items()):
            if mono >= at:
                del self._rebind_ms[kind]
                self._rebind(kind)
        if not self._network.more and mono - self._tended_ms >= 1_000:
            self._tended_ms = mono
            self.store.tend()
            self.teller.tend()
        watchdog_us = self._notifier.watchdog_us or 3_000_000
        if mono - self._fed_ms >= watchdog_us // 3_000:
            self._fed_ms = mono
            self._notifier.feed()
            self._notifier.status(self.status_line())

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
            kinds: list[Literal["tables", "signs"]] = ["signs"]
            if row.revoked_ms and row.role == "table":
                kinds.append("tables")
            for kind in kinds:
                at = mono + self.config.server.rebind_ms
                self._rebind_ms[kind] = min(self._rebind_ms.get(kind, at), at)

    def _rebind(self, kind: Literal["tables", "signs"]) -> None:
        """A revoked key is cut off from what it still hears; everyone else connects again."""
        self._network.reopen(kind)
        if kind == "tables" and self.floor is not None:
            for session in list(self.floor.sessions):
                self.floor.drop(session.peer)
        self._log.info(f"{kind}: connections dropped, a key has ended")

    def clock_is_behind(self) -> bool:
        return self.clock.behind_ms() >= CLOCK_SLACK_MS

    def said(self, text: str) -> None:
        self._log.error(text, fault_code=UNDONE)

    def standby_part(self) -> dict[str, Any]:
        """For the feed: who this server is, and how it stands."""
        floor = self.floor
        return {
            "name": self.config.server.name,
            "leading": floor is not None,
            "epoch": 0 if floor is None else floor.epoch,
            "trouble": self.trouble,
            "clock_behind_ms": self.clock.behind_ms() // 1_000 * 1_000,
            "standing": self.office.chain.standing(),
            "store": self.store.place,
        }

    def endpoints(self) -> list[Endpoints]:
        return [Endpoints(tables, signs) for tables, signs in self._network.bound]

    def status_line(self) -> str:
        floor, name = self.floor, self.config.server.name
        if floor is None:
            return f"{name}: standing by{self.trouble and f': {self.trouble}'}"
        return f"{name}: leading, epoch {floor.epoch}, {counted(len(floor.sessions), 'table')}"
