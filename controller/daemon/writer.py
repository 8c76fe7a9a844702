"""The one writer: what devices, people and other parts say goes in; what may be done comes out.

It owns the table core and the journal and runs in a thread of its own, a group of inputs at a time.
Nothing of a group leaves it before the group is on disk; if the disk fails, nothing does.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from controller.daemon.changing import CONFIGURATION, Changing, Reloaded, Verdict
from controller.daemon.decks import DECKWATCH, Decks
from controller.daemon.house_options import HouseOptions
from controller.daemon.inputs import (
    Blocked,
    CaughtUp,
    Input,
    JournalLike,
    KeepFrom,
    Noted,
    Overrun,
    Released,
    Tick,
    Told,
)
from controller.daemon.metrics import SyncTimes
from controller.daemon.picture import Picture
from controller.daemon.safemode import SHELL, order_of
from controller.daemon.selecting import Selecting
from controller.daemon.status import beside_of, status_of
from controller.daemon.testmode import CHANGED, POWER, STOPPED, TestMode, blocked
from controller.faults.status import AuthorRow, DeviceStatus, Status
from controller.history.entries import dump
from controller.history.table_log import TableLog
from controller.link.hearing import Due, Heard, Hearing
from controller.link.session import Head
from controller.link.witness import AT_LAST, WITNESS
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.betting import selection_due
from controller.rules.engine.settlement import to_open
from controller.rules.engine.state import Phase
from controller.table.core import TableCore
from controller.table.odometer import CountUp
from controller.table.play import ForCaller
from drivers.base import DeviceIdentified, StateReported
from drivers.orders import (
    AcknowledgeReading,
    EnableAcceptors,
    LockCards,
    Order,
    ShowPrompt,
    WatchAntennas,
)
from drivers.readings import MetersRead, Reading, Shown

LINK: Final = f.Measured("link")
SELECTOR: Final = f.Measured("selector")
ODOMETER: Final = "odometer"
RETRY_US: Final = 5_000_000
"""How often a full disk is looked at again."""

__all__ = ["CaughtUp", "Input", "Noted", "Overrun", "Released", "Tick", "Told", "Writer"]


@dataclass
class Writer:
    core: TableCore
    table_log: TableLog
    journal: JournalLike
    selecting: Selecting
    test: TestMode
    """While it is on nothing becomes a fact."""
    opened: Mapping[str, Any] = field(default_factory=dict)
    """The record of this start: who we are."""
    missing: Sequence[tuple[str, bytes]] = ()
    """Records that a power cut took: they follow from the last fact."""
    devices: dict[str, DeviceStatus] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    alarms: list[dict[str, Any]] = field(default_factory=list)
    alarm_counts: Counter[str] = field(default_factory=Counter)
    decks: Decks = field(default_factory=Decks)
    changing: Changing = field(default_factory=Changing)
    meters: frozenset[str] = frozenset()
    """Displays that count up: their single steps are read back, but not journalled."""
    steps: dict[str, Shown] = field(default_factory=dict)
    """The last step that each of them showed in the count-up under way."""
    chosen: HouseOptions | None = None
    """What the configuration in force chooses besides its rules."""
    hearing: Hearing | None = None
    """What the link server says; None at a table without one."""
    locked: str = ""
    """Why the table is locked out; nothing is accepted until somebody with authority clears it."""
    clock_ns: Callable[[], int] = time.monotonic_ns
    """Only to say how long the disk takes."""
    sync_times: SyncTimes = field(default_factory=SyncTimes)
    picture: Picture = field(default_factory=Picture)
    """What people see of the table, for those who follow it."""
    _durable_seq: int = 0
    _ended: bool = False
    """A round has ended since the last group."""
    _retry_us: int = 0

    @property
    def is_full(self) -> bool:
        return self.journal.full

    def start(self, now_us: int) -> Released:
        """The first group: what the power cut took, who we are, then every order."""
        self.table_log.write(list(self.missing))
        self._append("opened", self.opened)
        self.test.restarted()
        for alarm in self.decks.told():
            self._alarm(alarm)
        self.core.set_mode(now_us)
        if self.table_log.may_write_snapshot:
            self.table_log.write_snapshot()
        if not self.locked and (request := selection_due(self.core.state)):
            self._select(request.round_no, request.seats, now_us)
        self._linked(now_us)
        self._sync()
        return self._released(list(self.core.orders_now()), self._owed())

    def _owed(self) -> list[ForCaller]:
        """Effects of the last facts that a power cut may have taken: each is keyed by its round."""
        state = self.core.state
        waits = state.phase is Phase.SETTLEMENT and state.claims and state.jackpot is None
        owed = waits and not to_open(state)
        return [fx.ClaimJackpot(state.round_no, state.claims)] if owed else []

    def lock(self, why: str, by: str) -> Released:
        """Lock the table out: it stays so over any restart."""
        self.locked = why
        self._append("lock", {"why": why, "by": by})
        self._sync()
        return self._released([], [])

    def unlock(self, people: Sequence[str]) -> Released:
        """Cleared by two people; the table continues where it was."""
        self.locked = ""
        self._append("unlock", {"by": list(people)})
        self._sync()
        return self._released(list(self.core.orders_now()), [])

    def work(self, inputs: Sequence[Input], now_us: int) -> Released:
        """One group, from the inputs to the disk."""
        orders: list[Order] = []
        effects: list[ForCaller] = []
        self._prepare(now_us)
        self.core.health.disk_full = self.journal.full
        for one in inputs:
            self.counts["inputs"] += 1
            orders += self._linked(now_us)
            orders += self._take(one, now_us)
            effects += self._outbox(orders, now_us)
        orders += self._linked(now_us)
        effects += self._outbox(orders, now_us)
        if self.verdict() == "apply" and not (self.locked or self.journal.full):
            if self.test.is_on:  # its holder may have lost the role
                orders += self._end_test(CHANGED, now_us)
                effects += self._outbox(orders, now_us)
            self._reconfigure(now_us)
            orders += self.core.advance(now_us)
        if self.table_log.snapshot_due:
            self.table_log.write_snapshot()
        self._end_count_up()
        self._sync()
        self.counts["groups"] += 1
        return self._released(orders, effects)

    def _prepare(self, now_us: int) -> None:
        """Between rounds there is time to fill the next segment, and to look for room again."""
        ended, self._ended = self._ended, False
        retry = self.journal.full and now_us >= self._retry_us
        if self.core.state.phase is Phase.IDLE and (ended or retry):
            self._retry_us = now_us + RETRY_US
            self.journal.prepare()

    def stop(self, why: str) -> None:
        if self.decks.changed and not self.journal.full:
            self._save_decks()
        if self.test.is_on:
            self.test.end(STOPPED)
        self._keep_receipt(AT_LAST)
        self._append("closed", {"why": why})
        self._sync()

    def order_safe_mode(self, on: bool, user: str, now_us: int) -> tuple[Released, Blocked | None]:
        """A person at the shell closes the progressive or opens it; or why not."""
        what, why = order_of(self, on, user)
        orders: list[Order] = []
        if what is not None:
            orders = self.core.fact(f.Fact(what, SHELL, now_us // 1000), now_us)
        effects = self._outbox(orders, now_us)
        self._sync()
        return self._released(orders, effects), why

    def read_again(self) -> Released:
        """Readings were lost: every spot is read again, and cards and credits come again."""
        orders: list[Order] = []
        if not self.test.is_on:  # its end reads everything again
            watched = [o for o in self.core.orders_now() if isinstance(o, WatchAntennas)]
            orders = [WatchAntennas(frozenset()), *watched]
        return replace(self._released([], []), orders=tuple(orders))

    # --- test mode -----------------------------------------------------------------------------

    def begin_test(self, by: AuthorRow) -> tuple[Released, Blocked | None]:
        """The table out of play, on the record first; or why not."""
        why = blocked(self)
        if why is not None:
            return self._released([], []), why
        self.test.begin(by)
        self._sync()
        return replace(self._released([], []), orders=tuple(self.test.orders())), None

    def test_cards(self, on: bool) -> Released:
        """From here on a card that is drawn belongs to the test; or no longer."""
        self.test.draw_cards(on)
        return self._released([], [])

    def test_picture(self) -> Released:
        """After a test: what players see is what they saw, and the table is still out of play."""
        return replace(self._released([], []), orders=tuple(self.test.picture()))

    def end_test(self, why: str, now_us: int) -> Released:
        """The table continues where it was."""
        orders = self._end_test(why, now_us) if self.test.is_on else []
        effects = self._outbox(orders, now_us)
        self._sync()
        return self._released(orders, effects)

    def _end_test(self, why: str, now_us: int) -> list[Order]:
        """Everything is shown as it was, every chip is read again, and what waited is handled."""
        orders: list[Order] = [WatchAntennas(frozenset())]
        for one in self.test.end(why):
            orders += self._take(one, now_us)
        return orders + self.core.orders_now()

    def _aside(self, one: Reading, now_us: int) -> list[Order]:
        """A reading in test mode: evidence as ever, and no fact."""
        self._note(one)
        match self.test.place(one):
            case "power":
                return [*self._end_test(POWER, now_us), *self.core.take(one, now_us)]
            case "card":
                return [self.test.drew(one)]
            case "table":
                self.core.take(one, now_us)
            case _:
                pass
        return []

    # --- inputs --------------------------------------------------------------------------------

    def _take(self, one: Input, now_us: int) -> list[Order]:
        if self.locked and not isinstance(one, Noted | Reloaded | Heard | KeepFrom):
            self._note(one)
            return []  # unacknowledged: cards and credits are told again once it is cleared
        match one:
            case Tick():
                return self.core.advance(now_us)
            case Told() if self.test.is_on:
                self.test.later(one)
                return []
            case Told(what, by):
                if isinstance(what, f.BetsOpened) and self.journal.full:
                    return []
                return self.core.fact(f.Fact(what, by, now_us // 1000), now_us)
            case Noted("alarm", body):
                self._alarm(body)
                return []
            case Noted(kind, body):
                self._append(kind, body)
                return []
            case Overrun(lost):
                self.core.health.overrun = lost
                self._alarm({"code": "queue overflow", "lost": lost})
                return self.core.advance(now_us)
            case CaughtUp(lost):
                if self.core.health.overrun == lost:
                    self.core.health.overrun = 0
                return self.core.advance(now_us)
            case Heard():
                if self.hearing is not None:
                    self.hearing.take(one)
                return []
            case KeepFrom(seq):
                self.journal.keep_from_seq = seq
                return []
            case Reloaded():
                self.changing.take(one)
                self._append(CONFIGURATION, self.changing.told(self.verdict()))
                return []
            case _ if self.test.is_on:
                return self._aside(one, now_us)
            case _:
                self._note(one)
                return self.core.take(one, now_us)

    def _linked(self, now_us: int) -> list[Order]:
        """Facts of the link, before anything else is taken: no wager locks without a heartbeat."""
        hearing, orders = self.hearing, list[Order]()
        if hearing is None:
            return orders
        last: Due | None = None
        held = self.locked or self.test.is_on
        while not held and (due := hearing.due(self.core.state, now_us)) not in (None, last):
            assert due is not None
            orders += self._tell(due.selections, due.what, LINK, now_us)
            last = due  # one that is refused is not told again before something has changed
        while hearing.alarms:
            self._alarm(hearing.alarms.pop(0))
        self._keep_receipt(now_us)
        return orders

    def _keep_receipt(self, now_us: int) -> None:
        witness = None if self.hearing is None else self.hearing.witness
        if witness is not None and (body := witness.write(now_us, full=self.journal.full)):
            self._append(WITNESS, body)

    def _note(self, reading: Input) -> None:
        """Readings that are evidence by themselves: states, identities, what a display showed."""
        self.picture.note(reading)
        match reading:
            case StateReported(device, state, reason):
                code, detail = ("", "") if reason is None else (reason.code, reason.detail)
                told: DeviceStatus = {"state": state.value, "code": code, "detail": detail}
                self.devices[device] = told
                self._append("device", {"device": device, **told})
            case DeviceIdentified(device, identity):
                self._append(
                    "device",
                    {
                        "device": device,
                        "vendor": identity.vendor,
                        "model": identity.model,
                        "serial": identity.serial,
                        "firmware": identity.firmware,
                    },
                )
            case MetersRead(device, meters):
                self._append("device", {"device": device, "meters": dict(meters)})
            case Shown(device) if device in self.meters and self.core.meter.run is not None:
                self.steps[device] = reading
            case Shown():
                self._show(reading)
            case _:
                pass

    def _show(self, shown: Shown) -> None:
        device, content = shown.device, shown.content
        if self.shown.get(device) != content:
            self.shown[device] = content
            self._append("shown", {"device": device, "content": content, "at_us": shown.at_us})

    def _end_count_up(self) -> None:
        """The last steps of a count-up that is over; what its last order changed comes again."""
        if self.steps and self.core.meter.run is None:
            steps, self.steps = self.steps, {}
            for shown in steps.values():
                self._show(shown)

    # --- effects -------------------------------------------------------------------------------

    def _outbox(self, orders: list[Order], now_us: int) -> list[ForCaller]:
        """Answer what can be answered here; the rest is for others."""
        left: list[ForCaller] = []
        while self.core.outbox:
            effect = self.core.outbox.pop(0)
            match effect:
                case fx.RequestSelection(round_no, seats):
                    orders += self._select(round_no, seats, now_us)
                case fx.RaiseAlarm(code, seat, detail, clause):
                    self._alarm({"code": code, "seat": seat, "detail": detail, "clause": clause})
                case CountUp(from_cents, to_cents, start_us, over_us):
                    told = {"from": from_cents, "to": to_cents, "at_us": start_us}
                    self._append(ODOMETER, {**told, "over_ms": over_us // 1000})
                case fx.Refused():
                    self.counts["refused"] += 1
                case fx.PublishRound():
                    self._ended = True
                    self.counts["rounds"] += 1
                    self._watch_decks()
                    left.append(effect)
                case _:
                    left.append(effect)
        return left

    def _watch_decks(self) -> None:
        """The round is closed and its cards still lie in the state."""
        for alarm in self.decks.closed(self.core.state):
            self._alarm(alarm)
        if self.decks.due and not self.journal.full:
            self._save_decks()

    def _save_decks(self) -> None:
        self.table_log.append(DECKWATCH, self.decks.body())

    def _alarm(self, alarm: Mapping[str, Any]) -> None:
        self.alarms = [*self.alarms[-19:], dict(alarm)]
        self.alarm_counts[str(alarm["code"])] += 1
        self._append("alarm", alarm)

    # --- another configuration -----------------------------------------------------------------

    def verdict(self) -> Verdict:
        in_round = self.core.state.phase is not Phase.IDLE
        return self.changing.verdict(in_round=in_round, table_open=not self.core.table_closed)

    def _reconfigure(self, now_us: int) -> None:
        """Another configuration from here on: the snapshot that follows is where its
        settings begin."""
        told, chosen = self.changing.apply(self.table_log.memory)
        self._append(CONFIGURATION, told)
        if chosen is not None:
            self.chosen = chosen
            self.core.configure(chosen.texts, chosen.options)
            self.core.set_mode(now_us)
        self.table_log.write_snapshot()

    def _select(self, round_no: int, seats: tuple[int, ...], now_us: int) -> list[Order]:
        orders: list[Order] = []
        for bodies, what in self.selecting.draw(
            round_no, seats, self.core.state.rules, self._alarm
        ):
            orders += self._tell(bodies, what, SELECTOR, now_us)
        return orders

    def _tell(
        self, bodies: Sequence[bytes], what: f.What, by: f.Source, now_us: int
    ) -> list[Order]:
        """A fact, and the records of the draw that it stands on before it."""
        for body in bodies:
            self.table_log.append("selection", body)
        return self.core.fact(f.Fact(what, by, now_us // 1000), now_us)

    # --- out -----------------------------------------------------------------------------------

    def _sync(self) -> None:
        began, before = self.clock_ns(), self._durable_seq
        self.journal.sync()
        self._durable_seq = self.journal.next_seq - 1
        if self._durable_seq != before:
            self.sync_times.note(self.clock_ns() - began)

    def _append(self, kind: str, body: Mapping[str, Any]) -> None:
        self.table_log.append(kind, dump(body))

    def _released(self, orders: list[Order], effects: list[ForCaller]) -> Released:
        outbox, self.table_log.outgoing = tuple(self.table_log.outgoing), []
        happened, self.table_log.happened = self.table_log.happened, []
        if self.locked:
            lines = ("TABLE LOCKED", "", self.locked[:20].upper(), "WAIT")
            orders = [LockCards(True), EnableAcceptors(frozenset()), ShowPrompt(lines)]
        if self.test.is_on:  # what the table would show waits; a card of a test is acknowledged
            orders = [order for order in orders if isinstance(order, AcknowledgeReading)]
        news = self.picture.news(happened)  # before the status, which says if that failed
        still = self.locked or self.test.is_on
        wake_us = None if still else self._wake_us()  # time stands for a locked table
        return Released(
            tuple(orders),
            tuple(effects),
            wake_us,
            self.status(),
            self._head(),
            outbox,
            self.test.is_on,
            beside_of(self),
            self.picture.now,  # the status has just made them
            news,
        )

    def _head(self) -> Head:
        journal = self.journal
        sent = self.table_log.memory.sent or 0
        return Head(sent, journal.next_seq - 1, journal.head.hex())

    def _wake_us(self) -> int | None:
        wakes = [self.core.wake_us]
        if self.hearing is not None:
            wakes.append(self.hearing.wake_us(self.core.state, full=self.journal.full))
        return min((at for at in wakes if at is not None), default=None)

    def status(self) -> Status:
        return status_of(self)
