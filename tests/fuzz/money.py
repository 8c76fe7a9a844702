"""One wrong reading is never a fact about money: whole drivers, one answer wrong under a right CRC.

Chips: a reader's machine and the chip field over a healthy reader of which exactly one answer is
corrupted so that no checksum can see it. Nothing settled or agreed may hold what was never there.
Cards: a shoe of which one event contradicts its own numbering; no card may pass without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from drivers.base import DeviceState, Reopen, StateReported, Write
from drivers.chips.field import ChipField
from drivers.feig.driver import FeigReader
from drivers.machines import LineAction
from drivers.orders import SweepAntennas, WatchAntennas
from drivers.readings import Antenna, SpotSettled, SweepAgreed, TagOnTwoSpots, Uid
from tests.fuzz import mutate, wire
from tests.fuzz.reader_model import DEVICE_ID, NAME, Reader, Tags, corrupted
from tests.fuzz.tally import FRAMES, Bound, Broken, Tally, Target

Truth = frozenset[Uid]
DOUBLED: Final = "on two spots"
CHANGE_US: Final = 1_700_000
SWEEP_US: Final = 3_300_000
END_US: Final = 13_000_000


def hexed(uids: list[bytes]) -> Truth:
    return frozenset(Uid(uid.hex().upper()) for uid in uids)


class Table:
    """A reader's machine, the field and a healthy reader, in virtual time."""

    def __init__(self, rng: Random, tags: Tags) -> None:
        self.rng = rng
        self.now = 1_000
        self.driver = FeigReader(NAME, DEVICE_ID.hex().upper(), 1)
        self.field = ChipField()
        self.model = Reader(tags)
        self.truths: dict[Antenna, list[Truth]] = {a: [hexed(t)] for a, t in tags.items()}
        self.corrupt_from_us = END_US
        self.inventories_only = True
        self.times = 1
        """How many answers in a row are corrupted, all in the same way."""
        self.way = ""
        self.noise: mutate.Mutator | None = None
        """What a bad cable does to one answer in four."""
        self.spoiled = 0
        self.settled = 0
        self.doubled = 0
        self.sweep: SweepAgreed | None = None
        self.locked = False
        self._lie: tuple[int, bytes] | None = None
        self._lied_about: Antenna | None = None
        self._line: list[tuple[int, bytes]] = []

    @property
    def antennas(self) -> frozenset[Antenna]:
        return frozenset(self.truths)

    def change(self, tags: Tags) -> None:
        self.model.tags = tags
        for antenna, uids in tags.items():
            self.truths[antenna].append(hexed(uids))

    def order(self, order: WatchAntennas | SweepAntennas) -> None:
        self._tell(self.field.order(order, self.now))
        self._do(self.driver.order(order, self.now))

    def run(self, until_us: int) -> None:
        while self.sweep is None:
            times = [until_us, *(at for at, _ in self._line)]
            times += [t for t in (self.driver.wake_us, self.field.wake_us) if t is not None]
            self.now = max(self.now, min(times))
            if self.now >= until_us:
                return
            due = [data for at, data in self._line if at <= self.now]
            self._line = [it for it in self._line if it[0] > self.now]
            for data in due:
                self._do(self.driver.received(data, self.now))
            self._do(self.driver.advance(self.now))
            self._tell(self.field.advance(self.now))

    def _do(self, actions: Sequence[LineAction]) -> None:
        for action in actions:
            if isinstance(action, Write | Reopen):
                if isinstance(action, Write):
                    self._answer(action.data)
                continue
            if isinstance(action, StateReported) and action.state is DeviceState.LOCKED:
                self.locked = True
            self._tell(self.field.heard(action, self.now))

    def _answer(self, request: bytes) -> None:
        delay, command, body = self.model.answer(request)
        if self._lies(command):
            if self._lie is None:
                others = [
                    u for a, t in self.model.tags.items() if a != self.model.selected for u in t
                ]
                self.way, command, body = corrupted(self.rng, command, body, others)
                self._lie = command, body
                self._lied_about = self.model.selected
            command, body = self._lie
            self.times -= 1
        data, at = wire.feig(1, command, body), self.now + delay
        if self.noise is None or self.rng.random() < 0.75:
            self._line.append((at, data))
            return
        self.spoiled += 1
        for piece in mutate.pieces(self.rng, self.noise(self.rng, data, wire.feig(1, 0xDD, b"\0"))):
            self._line.append((at, piece))
            at += self.rng.choice((0, 1_000, 4_900, 5_100, 11_900, 12_100))

    def _lies(self, command: int) -> bool:
        if self.times == 0 or self.now < self.corrupt_from_us:
            return False
        if self._lie is not None and self.model.selected != self._lied_about:
            return False
        return command == 0xB0 or not self.inventories_only

    def _tell(self, readings: Sequence[object]) -> None:
        for reading in readings:
            match reading:
                case SpotSettled(antenna, tags, _):
                    self.settled += 1
                    if tags not in self.truths[antenna]:
                        raise Broken(f"settled {sorted(tags)} after {self.way}, at {antenna}")
                case SweepAgreed(_, agreed, _, _):
                    self.sweep = reading
                    for antenna, tags in agreed:
                        if tags != self.truths[antenna][-1]:
                            raise Broken(f"agreed {sorted(tags)} after {self.way}, at {antenna}")
                case TagOnTwoSpots():
                    self.doubled += 1
                case _:
                    pass


def random_tags(rng: Random) -> Tags:
    found: Tags = {}
    for output in range(1, rng.randint(2, 4) + 1):
        count = rng.choice((0, 1, 1, 2, 3, 10))
        found[Antenna(NAME, 1, output)] = [b"\xe0\x04" + rng.randbytes(6) for _ in range(count)]
    return found


def _moved(rng: Random, tags: Tags) -> Tags:
    """A chip comes, goes or changes its spot, or all stay."""
    after = {antenna: list(uids) for antenna, uids in tags.items()}
    spots = list(after)
    here, there = rng.choice(spots), rng.choice(spots)
    match rng.choice(("stay", "come", "go", "move")):
        case "come":
            after[here].append(b"\xe0\x04" + rng.randbytes(6))
        case "go" if after[here]:
            after[here].pop()
        case "move" if after[here]:
            after[there].append(after[here].pop())
    return after


def play(rng: Random, table: Table, tags: Tags) -> None:
    """Start-up, polling, a change, a sweep."""
    table._do(table.driver.opened(table.now))
    table.order(WatchAntennas(table.antennas))
    table.run(CHANGE_US)
    table.change(_moved(rng, tags))
    table.run(SWEEP_US)
    table.order(SweepAntennas(1, table.antennas))
    table.run(END_US)
    if table.sweep is None:
        raise Broken("the sweep was never answered")


def _count(table: Table, row: str, tally: Tally) -> None:
    tally[row, "settled"] += table.settled
    if table.sweep is None:
        return
    whole = len(table.sweep.tags) == len(table.truths)
    tally[row, "sweeps agreed" if whole else "sweeps uncertain"] += 1
    tally[row, "locked"] += table.locked
    tally[row, DOUBLED] += table.doubled


def chips_case(rng: Random, tally: Tally) -> None:
    tags = random_tags(rng)
    table = Table(rng, tags)
    table.corrupt_from_us = rng.randrange(300_000, 4_200_000)
    table.inventories_only = rng.random() < 0.75
    play(rng, table, tags)
    row = table.way or "none was due"
    tally[row, FRAMES] += 1
    _count(table, row, tally)


def noise_case(rng: Random, tally: Tally) -> None:
    """The same table on a line that spoils one answer in four, all in one way."""
    tags = random_tags(rng)
    table = Table(rng, tags)
    row, table.noise = rng.choice((*mutate.GUARDED.items(), *mutate.OTHERS.items()))
    play(rng, table, tags)
    tally[row, FRAMES] += table.spoiled
    tally[row, "scenarios"] += 1
    _count(table, row, tally)


NOISE: Final = Target(
    "feig-driver",
    "FEIG driver and chip field on a line that spoils one answer in four",
    noise_case,
    (FRAMES, "scenarios", "settled", "sweeps agreed", "sweeps uncertain", "locked", DOUBLED),
    (Bound("told to be on two spots, and never was", DOUBLED, None),),
    one_in=500,
    notes=(
        "Nothing may settle or agree that is not so, and every sweep must be answered. "
        "*frames*: the answers that were spoiled."
    ),
)
TARGET: Final = Target(
    "money-chips",
    "Chips: one answer of a reader wrong under a right CRC",
    chips_case,
    (FRAMES, "settled", "sweeps agreed", "sweeps uncertain", "locked", DOUBLED),
    (Bound("told to be on two spots, and never was", DOUBLED, None),),
    one_in=200,
    row_title="the one answer",
    notes=(
        "Each row counts whole scenarios: start-up, polling, a chip that comes, goes or "
        "moves, a sweep; one answer is wrong. Nothing may settle, agree or be told to be on "
        "two spots that is not so. *uncertain*, *locked*: the sweep said so; a wrong "
        "identity locks the reader."
    ),
)
