"""A whole table in virtual time whose disk can lose power at any call, and which then starts again.

The devices and the people live on while the computer is away, as they do under a real table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from controller.daemon.compose import Parts, put_together
from controller.daemon.standalone import Standalone
from controller.daemon.writer import Input, Released, Tick, Told
from controller.history.sealing import CardSealer, TableKey
from controller.history.snapshot import Opening
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.table.spots import SeatMap
from controller.table.texts import parse_texts
from drivers.build import build
from drivers.readings import Reading
from hw_sim.clock import MS, SECOND, Timer
from hw_sim.people.director import Director
from hw_sim.scenario import Scenario
from record.journal import Journal, JournalFailed
from tests.journal.simdisk import PowerCut, SimDisk
from tests.sim.host import HOUSE, LONGEST_US, METER, TEXTS, TODAY, _Chip
from tests.sim.virtual import VirtualTable

FOLDER: Final = Path("journal")
KEY: Final = TableKey(bytes(range(32)))
BOOT_US: Final = 3 * SECOND
SEGMENT: Final = 1 << 20


class Bench(VirtualTable):
    """Devices that outlive the computer: a start brings a new rig and opens every port again."""

    def begin(self) -> None:
        """Each part by itself: the power may go in any of them."""
        for port in self._behind:
            self.clock.after(0, partial(self._open, port))
        for part in (self._sample, self._supply, self._advance):
            self.clock.after(0, part)

    def restart(self) -> None:
        for plug in self._plugs.values():
            plug.open = False
        self._plugs.clear()
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        number = self.rig.bus.number
        self.rig = build(self.layout)
        self.rig.bus.number = number + 1000  # what the old one still waits for is nobody's now
        for port in self._behind:
            self._open(port)
        self._advance()


@dataclass(frozen=True)
class VirtualClock:
    table: CrashTable

    def now_us(self) -> int:
        return self.table.bench.now_us

    def wall_ms(self) -> int:
        return self.table._ms()

    def today(self) -> date:
        return TODAY

    def utc_offset_min(self) -> int:
        return 0


@dataclass
class CrashTable:
    """Plays a scenario; ``cut_at`` is the disk call at which the power goes, 0 for never."""

    scenario: Scenario
    cut_at: int = 0
    seed: int = 1
    disk: SimDisk = field(default_factory=SimDisk)
    results: dict[int, Any] = field(default_factory=dict)
    starts: int = 0
    cuts: int = 0
    on_released: Callable[[Released], None] | None = None
    left_by: Callable[[SimDisk, Random], SimDisk] = SimDisk.after_cut
    """What the next start finds of the disk after the cut."""
    goes_on: bool = False
    """A disk that fails ends the process; somebody starts it again."""
    segment: int = SEGMENT
    failed: str = ""
    """Why the process ended itself."""
    link_limit_us: int | None = None

    def __post_init__(self) -> None:
        self.bench = self._devices()
        if self.bench.sim.shuffler is not None:
            self.bench.sim.shuffler.shuffle_takes_us = (3 * SECOND, 9 * SECOND)
        rack = self.bench.sim.felt.rack.all_known()
        self._register = {c.uid.hex().upper(): _Chip(c.cents, c.kind) for c in rack}
        self._random = Random(self.seed)
        self._wake: Timer | None = None
        self._up = False
        self._magic: tuple[str | None, int | None] = (None, None)
        self.disk.cut_at = self.cut_at
        self.director = Director(self.scenario, self.bench.faults, self)

    def _devices(self) -> Bench:
        return Bench(self.scenario.layout_path, self.scenario.seed, self._reading)

    # --- running -------------------------------------------------------------------------------

    def play(self, until: Callable[[], bool] = lambda: False) -> None:
        """To the end of the scenario, or until something is so."""
        clock = self.bench.clock
        self._guarded(self._boot)
        self.bench.begin()
        self.director.start()
        while not (self.director.ending.done or self.director.ending.failed or until()):
            due = clock.next_us
            assert due is not None
            assert due < LONGEST_US, f"no end: {self.bench.sim.prompt()}"
            self._guarded(lambda due=due: clock.run_until(due))  # type: ignore[misc]
        assert not self.director.ending.failed, self.director.ending.failed

    def run_for(self, us: int) -> None:
        """Time passes, whatever happens to the computer meanwhile."""
        clock = self.bench.clock
        until_us = clock.now_us + us
        while clock.next_us is not None and clock.next_us <= until_us:
            due = clock.next_us
            self._guarded(lambda due=due: clock.run_until(due))  # type: ignore[misc]
        clock.run_until(until_us)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except PowerCut:
            self.cuts += 1
            self._ended(self.left_by(self.disk, self._random))
        except JournalFailed as error:
            if not self.goes_on:
                raise
            self.failed = str(error)
            self._ended(self.disk.after_kill())

    def _ended(self, left: SimDisk) -> None:
        self._up, self.disk = False, left
        self.bench.clock.after(BOOT_US, self._boot_again)

    def _boot_again(self) -> None:
        self._boot()
        self.bench.restart()

    def _boot(self) -> None:
        self.starts += 1
        self.journal = Journal.open(
            FOLDER, table="crash", disk=self.disk, segment_bytes=self.segment, now_ms=self._ms()
        )
        cards, clock = self._cards(), VirtualClock(self)
        made = put_together(
            self.journal, cards, KEY, self._parts(), clock=clock, chance=self._chance
        )
        self.writer = made.writer
        self._up = True
        self._dial()
        missing = list(made.replayed.missing)
        self._release(self.writer.start({"start": self.starts}, missing, self.bench.now_us))
        self._greet()

    def _parts(self) -> Parts:
        """What a configuration would name."""
        mega = self.scenario.game == "MEGA"
        card_line = self.bench.sim.layout.line_of_kind("cdp-shoe", "cdp-shuffler")
        return Parts(
            opening=Opening(self.scenario.game, self.scenario.settings, TODAY.isoformat()),
            seat_map=SeatMap(self.bench.layout.spots),
            find=self._register.get,
            texts=parse_texts(TEXTS.read_text("utf-8")),
            house=HOUSE,
            card_devices=frozenset({card_line.name} if card_line else ()),
            link_limit_us=self.link_limit_us,
            scripted=Standalone(METER, *self._magic, scripted=True).selection() if mega else None,
        )

    def _cards(self) -> CardSealer:
        return CardSealer(KEY, self.journal.journal_id, self._random.randbytes)

    def _chance(self, size: int) -> bytes:
        return self._random.randbytes(size)

    def _ms(self) -> int:
        return 1_700_000_000_000 + self.bench.now_us // MS

    # --- the one way ---------------------------------------------------------------------------

    def _reading(self, reading: Reading) -> None:
        self._put(reading)

    def _put(self, one: Input) -> None:
        if self._up:
            self._release(self.writer.work([one], self.bench.now_us))

    def _release(self, released: Released) -> None:
        """Durable by now: orders to the devices, effects to the link."""
        if self.on_released is not None:
            self.on_released(released)
        starts = self.starts
        for order in released.orders:
            self.bench.clock.after(0, lambda order=order: self._order(order, starts))  # type: ignore[misc]
        for effect in released.effects:
            match effect:
                case fx.PublishRound(number, _, result):
                    self.results[number] = result
                case fx.ClaimJackpot():
                    self._claimed()
        if self._wake is not None:
            self._wake.cancel()
        self._wake = None
        if released.wake_us is not None:
            self._wake = self.bench.clock.at(released.wake_us, lambda: self._put(Tick()))

    def _order(self, order: Any, starts: int) -> None:
        if self._up and starts == self.starts:
            self.bench.order(order)

    def _later(self, one: Input) -> None:
        self.bench.clock.after(0, lambda: self._put(one))

    # --- the scripted link ---------------------------------------------------------------------

    def _dial(self) -> None:
        """Before the writer starts."""

    def _greet(self) -> None:
        if self.writer.core.state.rules.book.progressive is not None:
            self._put(Told(f.MeterReported(METER), f.Measured("link")))

    def _claimed(self) -> None:
        self._later(Told(f.JackpotLocked(METER), f.Measured("link")))

    def meter(self, amount_cents: int) -> None:
        self._later(Told(f.MeterReported(amount_cents), f.Measured("link")))

    def lost(self) -> None:
        self._later(Told(f.LinkLost(), f.Measured("link")))

    def back(self) -> None:
        self._later(Told(f.LinkRestored(), f.Measured("link")))

    def select(self, magic: str | None, lucky: int | None) -> None:
        self._magic = (magic, lucky)
        if self._up:
            self.writer.scripted = Standalone(METER, magic, lucky, scripted=True).selection()
