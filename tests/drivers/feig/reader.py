"""A reader at the end of a line in virtual time, for the driver's tests; faults put in by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from drivers.base import Reopen, Write
from drivers.feig.codec import Frame, encode
from drivers.feig.driver import FeigReader
from drivers.machines import LineAction
from drivers.orders import Order
from drivers.readings import Antenna, AntennaRead, Reading
from tests.drivers.feig.vectors import frames, heard, octets

Sent = list[tuple[int, bytes]]
"""What goes to the host: microseconds after the request, bytes."""

TAG = {n: f"E0040100{n:08X}" for n in range(1, 60)}


def answer(command: int, status: int, data: bytes = b"", address: int = 1) -> bytes:
    return encode(Frame(address, command, bytes((status,)) + data, advanced=True))


@dataclass
class Reader:
    device_id: str = "0A1B2C01"
    eeprom: bytearray = field(default_factory=lambda: bytearray(11) + bytearray((5, 0, 0)))
    ram: bytearray = field(default_factory=lambda: bytearray(11) + bytearray((5, 0, 0)))
    keeps_configuration: bool = True
    powered: bool = True
    selected: tuple[int, int] = (0, 0)
    tags: dict[tuple[int, int], set[str]] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    per_answer: int = 8
    answer_us: int = 10_000
    requests: list[bytes] = field(default_factory=list)
    spoil: Callable[[bytes, Sent], Sent] | None = None
    """Called with each request and what would be answered; gives what is answered instead."""

    def hear(self, data: bytes) -> Sent:
        self.requests.append(data)
        if not self.powered:
            return []
        (request,) = frames(heard(data))
        sent = [(self.answer_us, self.reply(request))]
        return self.spoil(data, sent) if self.spoil is not None else sent

    def reply(self, request: Frame) -> bytes:
        command, body = request.command, request.body
        if command == 0x66:
            return answer(command, 0, octets(self.device_id))
        if command == 0x65:
            return answer(command, 0, octets("03 03 00 44 53 0D 30"))
        if command in (0x80, 0x81):
            block = self.eeprom if body[0] & 0x80 else self.ram
            if command == 0x80:
                return answer(command, 0, bytes(block))
            if self.keeps_configuration:
                block[:] = body[1:]
            return answer(command, 0)
        if command == 0xDD:
            self.selected = (body[0], body[1])
        if command == 0xB0:
            return self.inventory(more=body[1] == 0x80)
        return answer(command, 0)

    def inventory(self, *, more: bool) -> bytes:
        if not more:
            self.pending = sorted(self.tags.get(self.selected, ()))
        now, self.pending = self.pending[: self.per_answer], self.pending[self.per_answer :]
        if not now:
            return answer(0xB0, 0x01)
        sets = b"".join(b"\x03\x00" + octets(tag) for tag in now)
        return answer(0xB0, 0x94 if self.pending else 0x00, bytes((len(now),)) + sets)

    def commands(self) -> list[str]:
        """The requests as CMD and DATA in hex, without frame and CRC."""
        return [data[4:-2].hex(" ").upper() for data in self.requests]


@dataclass
class Bench:
    """Driver and reader, one clock."""

    reader: Reader = field(default_factory=Reader)
    driver: FeigReader = field(default_factory=lambda: FeigReader("chips-1", "0A1B2C01"))
    now_us: int = 0
    open: bool = False
    reopens: bool = False
    reopen_us: int = 0
    heard: list[Reading | Reopen] = field(default_factory=list)
    wire: list[tuple[int, bytes]] = field(default_factory=list)

    def take(self, actions: Iterable[LineAction]) -> None:
        for action in actions:
            if isinstance(action, Write):
                assert self.open
                for us, data in self.reader.hear(action.data):
                    self.inject(data, us)
            else:
                self.heard.append(action)
                if isinstance(action, Reopen):
                    self.open = False
                    self.reopen_us = self.now_us + 100_000

    def start(self, run_us: int = 500_000) -> Bench:
        self.open = True
        self.take(self.driver.opened(self.now_us))
        return self.run(run_us)

    def order(self, order: Order) -> Bench:
        self.take(self.driver.order(order, self.now_us))
        return self

    def inject(self, data: bytes, after_us: int = 0) -> None:
        """A serial line keeps the order: what is late makes the rest late."""
        before_us = self.wire[-1][0] if self.wire else 0
        self.wire.append((max(self.now_us + after_us, before_us), data))

    def run(self, run_us: int) -> Bench:
        end_us = self.now_us + run_us
        for _ in range(1_000_000):
            wake_us = self.driver.wake_us
            byte_us = self.wire[0][0] if self.wire else None
            open_us = self.reopen_us if self.reopens and not self.open else None
            times = [time for time in (wake_us, byte_us, open_us) if time is not None]
            if not times or min(times) > end_us:
                break
            self.now_us = max(self.now_us, min(times))
            if open_us is not None and open_us <= self.now_us:
                self.close("reopening")
                self.open = True
                self.take(self.driver.opened(self.now_us))
            elif byte_us is not None and byte_us <= self.now_us:
                self.take(self.driver.received(self.wire.pop(0)[1], self.now_us))
            else:
                self.take(self.driver.advance(self.now_us))
        else:
            raise AssertionError("the driver wakes without end")
        self.now_us = end_us
        return self

    def close(self, why: str = "unplugged") -> None:
        self.open = False
        self.wire.clear()
        self.take(self.driver.closed(why, self.now_us))

    def flush(self) -> list[Reading | Reopen]:
        out, self.heard = self.heard, []
        return out

    def reads(self) -> list[tuple[Antenna, frozenset[str]]]:
        return [(r.antenna, frozenset(r.tags)) for r in self.heard if isinstance(r, AntennaRead)]
