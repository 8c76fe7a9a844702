"""A table that keeps its credits as the page says: a disk that survives a host that does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from drivers.base import DeviceState, StateReported
from drivers.mcp23017.acceptors import AcceptorsDriver, SensorsDriver
from drivers.mcp23017.handshakes import CreditHandshakes
from drivers.orders import AcknowledgeCredit, EnableAcceptors, Order, ReleaseCredit
from drivers.readings import CreditOffered, CreditReturned, CreditTaken
from tests.drivers.mcp23017.model import MS, Acceptor, Bench, Board

SEAT = 3
ALL_SEATS = frozenset(range(1, 8))


@dataclass
class Disk:
    counted: int = 0
    open: bool = False
    doubts: int = 0


@dataclass
class Floor:
    """Seat 3's acceptor, both chips, and the host that may die."""

    write_ms: int = 0
    """How long the disk takes before an order may follow."""
    sensors_board: Board = field(default_factory=Board)
    acceptors_board: Board = field(default_factory=Board)
    acceptor: Acceptor = field(default_factory=Acceptor)
    disk: Disk = field(default_factory=Disk)
    now_us: int = 5_000_000
    said: list[object] = field(default_factory=list)
    enabled: frozenset[int] = ALL_SEATS

    def __post_init__(self) -> None:
        self.boot()

    def boot(self) -> None:
        handshakes = CreditHandshakes("acceptors")
        sensors = SensorsDriver("sensors", 0x22, handshakes)
        acceptors = AcceptorsDriver("acceptors", 0x23, handshakes)
        self.sensors: SensorsDriver = sensors
        self.acceptors: AcceptorsDriver = acceptors
        self.bench = Bench(
            [(sensors, self.sensors_board), (acceptors, self.acceptors_board)], self.now_us
        )
        self.pending: list[tuple[int, object]] = []
        self.heard_of_start = False
        self.first_ready = True
        self.order(EnableAcceptors(self.enabled))

    def order(self, order: Order) -> None:
        self.take(self.acceptors.order(order, self.now_us))

    def ack(self) -> bool:
        return bool(self.acceptors_board.driven() >> SEAT - 1 & 1)

    def enable(self) -> bool:
        return bool(self.acceptors_board.driven() >> SEAT + 7 & 1)

    def world(self, now_us: int) -> None:
        self.acceptor.step(now_us, enable=self.enable(), ack=self.ack())
        bit = 1 << SEAT + 7
        self.sensors_board.low = bit if self.acceptor.throat else 0

    def insert(self) -> bool:
        return self.acceptor.insert(enable=self.enable(), ack=self.ack())

    def run(self, ms: int) -> None:
        end_us = self.now_us + ms * MS
        while self.now_us < end_us:
            stride = min(self.stride(), (end_us - self.now_us) // MS)
            self.bench.now_us = self.now_us + (stride - 1) * MS
            self.take(self.bench.run(1, self.world))
            self.now_us = self.bench.now_us
            while self.pending and self.pending[0][0] <= self.now_us:
                self.write(self.pending.pop(0)[1])

    def stride(self) -> int:
        """Milliseconds until something can happen: few while a chip is on its way."""
        if self.pending:
            return 1
        due_us = min(self.sensors.wake_us, self.acceptors.wake_us)
        rest = max(1, (due_us - self.now_us) // MS)
        return min(rest, 5) if self.acceptor.throat else rest

    def take(self, readings: Sequence[object]) -> None:
        self.said += readings
        self.pending += [(self.now_us + self.write_ms * MS, r) for r in readings]

    def down(self, ms: int) -> None:
        """The host is away; what was not on disk is lost."""
        for _ in range(-(-ms // 5)):
            self.now_us += 5 * MS
            self.world(self.now_us)

    def write(self, reading: object) -> None:
        disk = self.disk
        match reading:
            case CreditOffered(_, seat, number):
                self.heard_of_start = True
                if not disk.open:
                    disk.counted += 1
                    disk.open = True
                self.order(AcknowledgeCredit(seat, number))
            case CreditTaken(_, seat, number):
                self.heard_of_start = True
                disk.open = False
                self.order(ReleaseCredit(seat, number))
            case CreditReturned():
                disk.counted -= disk.open
                disk.open = False
            case StateReported("acceptors", DeviceState.READY, reason) if self.first_ready:
                self.first_ready = False
                if disk.open and not self.heard_of_start and not self.ack():
                    self.rule(lost=reason is not None)

    def rule(self, *, lost: bool) -> None:
        """An open credit of a former run that nobody offers or takes."""
        self.disk.open = False
        if lost:
            self.disk.doubts += 1
        else:
            self.disk.counted -= 1


def ready_floor(write_ms: int = 0) -> Floor:
    floor = Floor(write_ms)
    floor.run(300)
    return floor
