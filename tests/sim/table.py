"""A whole table in virtual time: devices, people, and the product as the daemon composes it.

Its disk can lose power at any call, and it then starts again; devices and people live on while the
computer is away, as they do under a real table. The link is scripted here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random
from typing import Any, Final

import controller.table
from controller.daemon.compose import compose
from controller.daemon.house_options import HouseOptions
from controller.daemon.inputs import Input, Released, Tick, Told
from controller.daemon.linking import Link, LinkPlan, NoLink, Put
from controller.daemon.setup import JournalSetup, LinkSetup, TableSetup
from controller.daemon.standalone import Standalone
from controller.history.sealing import TableKey
from controller.history.snapshot import Opening
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.shell.desk.recent import Direction, Recent
from controller.table.options import DEFAULTS
from controller.table.texts import parse_texts
from drivers.readings import Reading
from hw_sim.clock import MS, SECOND, Timer
from hw_sim.people.director import Director
from hw_sim.scenario import Expected, Scenario
from record.journal import JournalFailed
from tests.record.journal.simdisk import PowerCut, SimDisk
from tests.sim.devices import VirtualDevices

TODAY: Final = date(2026, 1, 1)
HOUSE: Final = "OURS"
METER: Final = 12_345_678
TEXTS: Final = Path(controller.table.__file__).parent / "texts" / "en.toml"
LONGEST_US: Final = 3_600 * SECOND
FOLDER: Final = Path("journal")
KEY: Final = TableKey(bytes(range(32)))
BOOT_US: Final = 3 * SECOND
SEGMENT: Final = 1 << 20


@dataclass(frozen=True)
class Chip:
    cents: int
    kind: str
    house: str = HOUSE
    status: str = "in play"


@dataclass(frozen=True)
class VirtualClock:
    table: VirtualTable

    def now_us(self) -> int:
        return self.table.bench.now_us

    def wall_ms(self) -> int:
        return self.table._ms()

    def today(self) -> date:
        return TODAY

    def utc_offset_min(self) -> int:
        return 0


@dataclass
class VirtualTable:
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
    servers: LinkSetup | None = None
    """Its link servers; None: the script below says what a server would."""
    recent: Recent | None = None
    """Gets readings and frames, as in the daemon."""

    def __post_init__(self) -> None:
        self.bench = self._devices()
        if self.bench.sim.shuffler is not None:  # a brisk machine: time without an event is dull
            self.bench.sim.shuffler.shuffle_takes_us = (3 * SECOND, 9 * SECOND)
        rack = self.bench.sim.felt.rack.all_known()
        self._register = {c.uid.hex().upper(): Chip(c.cents, c.kind) for c in rack}
        self._random = Random(self.seed)
        self._chances = Random(f"chance {self.seed}")  # what a cut takes does not depend on it
        self._wake: Timer | None = None
        self._up = False
        self._magic: tuple[str | None, int | None] = (None, None)
        self.disk.cut_at = self.cut_at
        self.director = Director(self.scenario, self.bench.faults, self)

    def _devices(self) -> VirtualDevices:
        scenario = self.scenario
        return VirtualDevices(scenario.layout_path, scenario.seed, self._reading, self._frame)

    # --- running -------------------------------------------------------------------------------

    def play(self, until: Callable[[], bool] = lambda: False) -> None:
        """To the end of the scenario, or until something is so."""
        self.begin()
        self.play_on(until)

    def begin(self) -> None:
        """The computer and the devices; nobody plays yet."""
        self._guarded(self._boot)
        self.bench.begin()

    def play_on(self, until: Callable[[], bool] = lambda: False) -> None:
        self.director.start()
        clock = self.bench.clock
        while not (self.director.ending.done or self.director.ending.failed or until()):
            due = clock.next_us
            assert due is not None
            assert due < LONGEST_US, f"no end: {self.bench.sim.prompt()}"
            self._step(due)
        assert not self.director.ending.failed, self.director.ending.failed

    def play_next(self, scenario: Scenario) -> None:
        """Another scenario at the same table."""
        self.scenario = scenario
        self.director = Director(scenario, self.bench.faults, self)
        self.play_on()

    def _step(self, due_us: int) -> None:
        self._guarded(lambda: self.bench.clock.run_until(due_us))

    def run_for(self, us: int) -> None:
        """Time passes, whatever happens to the computer meanwhile."""
        clock = self.bench.clock
        until_us = clock.now_us + us
        while clock.next_us is not None and clock.next_us <= until_us:
            self._step(clock.next_us)
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
        self.bench.restart(self.table.rig)

    def _boot(self) -> None:
        self.starts += 1
        clock = VirtualClock(self)
        self.table = compose(self._setup(), self.disk, clock, self._chance, self._network)
        self.writer, self.journal = self.table.writer, self.table.journal
        if self.starts == 1:
            self.bench.rig = self.table.rig
        self._up = True
        self._release(self.writer.start(self.bench.now_us))
        self._greet()

    def _setup(self) -> TableSetup:
        """What a configuration would name."""
        mega = self.scenario.game == "MEGA"
        texts = parse_texts(TEXTS.read_text("utf-8"))
        return TableSetup(
            name="crash",
            opening=Opening(self.scenario.game, self.scenario.settings, TODAY.isoformat()),
            layout=self.bench.layout,
            layout_sha256="1" * 64,
            journal=JournalSetup(path=FOLDER, segment_bytes=self.segment),
            key=KEY,
            find=self._register.get,
            house=HOUSE,
            choices=HouseOptions(texts, DEFAULTS),
            configuration="0" * 64,
            link=self.servers,
            standalone=Standalone(METER, *self._magic, scripted=mega),
        )

    def _network(self, _plan: LinkPlan, _put: Put) -> Link:
        return NoLink()

    def _chance(self, size: int) -> bytes:
        return self._chances.randbytes(size)

    def _ms(self) -> int:
        return 1_700_000_000_000 + self.bench.now_us // MS

    # --- the one way ---------------------------------------------------------------------------

    def _reading(self, reading: Reading) -> None:
        if self.recent is not None:
            self.recent.reading(reading)
        self._put(reading)

    def _frame(self, port: str, direction: Direction, data: bytes, at_us: int) -> None:
        if self.recent is not None:
            self.recent.frame(port, direction, data, at_us)

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

    def _greet(self) -> None:
        if self.writer.core.state.rules.book.progressive is not None:
            self._put(Told(f.MeterReported(METER), f.Measured("link")))

    def _claimed(self) -> None:
        locked = f.JackpotLocked(self.writer.core.state.meter)
        self._later(Told(locked, f.Measured("link")))

    def meter(self, amount_cents: int) -> None:
        self._later(Told(f.MeterReported(amount_cents), f.Measured("link")))

    def lost(self) -> None:
        self._later(Told(f.LinkLost(), f.Measured("link")))

    def back(self) -> None:
        self._later(Told(f.LinkRestored(), f.Measured("link")))

    def select(self, magic: str | None, lucky: int | None) -> None:
        self._magic = (magic, lucky)
        if self._up:
            self.writer.selecting.scripted = Standalone(
                METER, magic, lucky, scripted=True
            ).selection()


def differences(expected: Expected, result: Any) -> list[str]:
    """What the settlement says otherwise than the file; empty if it came out as written."""
    found = []
    if result["round_status"] != expected.status:
        found.append(f"status {result['round_status']}, expected {expected.status}")
    nets = {row["seat"]: row["net"] for row in result["seats"]}
    if nets != expected.net:
        found.append(f"net {nets}, expected {expected.net}")
    said = {
        f"seat {row['seat']} {spot} {wager['status']} {wager['win']}"
        for row in result["seats"]
        for spot, wager in row["wagers"].items()
    }
    said |= {
        f"seat {row['seat']} {award['kind']} {award['amount']}"
        for row in result["seats"]
        for award in row.get("awards", ())
    }
    found += [f"no {pay!r} in {sorted(said)}" for pay in expected.pays if pay not in said]
    cited = set(result["clauses"])
    found += [f"{clause} not cited in {cited}" for clause in set(expected.clauses) - cited]
    return found
