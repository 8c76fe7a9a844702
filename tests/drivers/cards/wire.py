"""A card device's end of the line for tests: its own encoder, bit by bit, and a scripted bench.

Shares no code with the driver, so that the two cannot agree on a mistake.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from drivers.base import MS, Reopen, StateReported, Write
from drivers.cards.driver import CardDriver
from drivers.orders import AcknowledgeReading, Order

BOOT = 0x2A
BEAT = 250 * MS


def crc(data: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            low = (register ^ byte >> bit) & 1
            register = register >> 1 ^ 0x82F63B78 * low
    return register ^ 0xFFFFFFFF


def wire(dev: int, kind: int, flags: int, seq: int, payload: bytes = b"") -> bytes:
    body = struct.pack("<BBBBH", 1, dev, kind, flags, seq) + payload
    body += struct.pack("<I", crc(body))
    out = b""
    for block in body.split(b"\0"):
        out += bytes([len(block) + 1]) + block
    return out + b"\0"


@dataclass(frozen=True)
class Said:
    """What the host wrote, taken apart."""

    kind: int
    flags: int
    seq: int
    payload: bytes


def taken_apart(data: bytes) -> list[Said]:
    found = []
    for chunk in data.split(b"\0"):
        if not chunk:
            continue
        body, at = b"", 0
        while at < len(chunk):
            body += chunk[at + 1 : at + chunk[at]] + b"\0"
            at += chunk[at]
        body = body[:-1]
        assert crc(body[:-4]) == struct.unpack("<I", body[-4:])[0]
        version, dev, kind, flags, seq = struct.unpack("<BBBBH", body[:6])
        assert (version, dev) == (1, 0)
        found.append(Said(kind, flags, seq, body[6:-4]))
    return found


def hello_r(
    serial: str = "SH-000001", firmware: str = "580A1F977263C001", boot: int = BOOT, proto: int = 1
) -> bytes:
    return struct.pack(
        "<8s8s12s8sIB", b"UFELT", b"SHOE-1", serial.encode(), bytes.fromhex(firmware), boot, proto
    )


def status(load: int = 12, number: int = 0, waiting: int = 0, err: int = 0, lid: int = 0) -> bytes:
    state = 4 if err else 3
    return struct.pack("<BBHBHIIIB", state, lid, 40, 0, err, 60, load, number, waiting)


def beat(boot: int = BOOT, switches: int = 0, err: int = 0) -> bytes:
    return struct.pack("<IBBH", boot, 4 if err else 1, switches, err)


def card(draw: int, code: int = 0x29, err: int = 0, confidence: int = 98) -> bytes:
    return struct.pack("<IBBBB", draw, code, err, confidence, 0)


@dataclass
class Bench:
    """A driver in virtual time, and a device that says what the test tells it to."""

    driver: CardDriver
    dev: int = 0x10
    now: int = 1_000_000
    boot: int = BOOT
    readings: list[object] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    reopened: int = 0
    raw: bytes = b""

    def _keep(self, actions: Sequence[object]) -> None:
        for action in actions:
            if isinstance(action, Write):
                self.raw += action.data
                self.said += taken_apart(action.data)
            elif isinstance(action, Reopen):
                self.reopened += 1
            else:
                self.readings.append(action)

    def open(self) -> None:
        self._keep(self.driver.opened(self.now))

    def close(self) -> None:
        self._keep(self.driver.closed("unplugged", self.now))

    def send(self, kind: int, flags: int, seq: int, payload: bytes = b"") -> None:
        self.line(wire(self.dev, kind, flags, seq, payload))

    def line(self, data: bytes) -> None:
        self._keep(self.driver.received(data, self.now))

    def order(self, order: Order) -> None:
        self._keep(self.driver.order(order, self.now))

    def challenge(self, nonce: bytes, expected: bytes) -> None:
        self._keep(self.driver.challenge(nonce, expected, self.now))

    def event(self, kind: int, seq: int, payload: bytes, *, again: bool = False) -> None:
        self.send(kind, 3 if again else 1, seq, payload)

    def on_disk(self, reading: object) -> None:
        key = getattr(reading, "key", 0)
        assert key > 0
        self.order(AcknowledgeReading(self.driver.name, key))

    def wait(self, time_us: int, *, beating: bool = False, switches: int = 0, err: int = 0) -> None:
        """Let time pass, waking the driver exactly when it asks to be woken."""
        end = self.now + time_us
        next_beat = self.now + BEAT if beating else end + 1
        for _ in range(10_000):
            wake = self.driver.wake_us
            due = min(next_beat, end if wake is None else max(wake, self.now))
            if due > end:
                break
            self.now = due
            if beating and due == next_beat:
                next_beat += BEAT
                self.send(0x04, 0, 0, beat(self.boot, switches, err))
            if wake is not None and wake <= self.now:
                self._keep(self.driver.advance(self.now))
            if due == end and (self.driver.wake_us or end + 1) > end:
                break
        else:
            raise AssertionError("the driver wants to be woken without end")
        self.now = end

    def session(self, state: bytes | None = None, identity: bytes | None = None) -> None:
        """Answer HELLO and STATUS, and the lock that follows."""
        self.send(0x02, 0, 0, hello_r(boot=self.boot) if identity is None else identity)
        self.answer_status(state)
        self.acknowledge_all()

    def answer_status(self, state: bytes | None = None) -> None:
        self.send(0x03, 0, self.last(0x03).seq, status() if state is None else state)

    def acknowledge_all(self) -> None:
        """Answer what the host waits for, until it waits for nothing."""
        answered: set[int] = set()
        while self.said and self.said[-1].flags & 1 and self.said[-1].seq not in answered:
            answered.add(self.said[-1].seq)
            self.send(0x7E, 0, self.said[-1].seq)

    def last(self, kind: int) -> Said:
        return [it for it in self.said if it.kind == kind][-1]

    def kinds(self) -> list[int]:
        return [it.kind for it in self.said]

    def acks(self) -> list[int]:
        return [it.seq for it in self.said if it.kind == 0x7E]

    def states(self) -> list[str]:
        return [it.state.value for it in self.readings if isinstance(it, StateReported)]

    def clear(self) -> None:
        self.readings.clear()
        self.said.clear()
        self.raw = b""
