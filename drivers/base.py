"""What every driver shares: states, faults, identities, counters and the shapes of the machines.

A driver is pure. Bytes, results and the time go in; actions come out. Time is an integer number of
microseconds of a monotonic clock and only ever passed in. Two shapes exist: a ``LineDriver`` talks
over a serial line, a ``BoardDriver`` over transactions on an I2C bus. Both report readings
(``drivers.readings``); neither knows a game, a seat's wager or a rule.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, Protocol

from drivers.orders import Order

MS: Final = 1_000
SECOND: Final = 1_000_000


class DeviceState(Enum):
    UNKNOWN = "unknown"
    """Nothing valid was heard, or not for too long: whatever it said last counts no more."""
    READY = "ready"
    DEGRADED = "degraded"
    """It works in part; the reason says which part does not."""
    LOCKED = "locked"
    """It is not the device that belongs here; a person must clear it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A typed fault: a stable code that has a line in docs/protocols, and what was seen."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Identity:
    """What a device says of itself in its handshake."""

    vendor: str
    model: str
    serial: str
    firmware: str


@dataclass(frozen=True, slots=True)
class StateReported:
    """A device changed its state. Sent once per change."""

    device: str
    state: DeviceState
    reason: Fault | None
    at_us: int


@dataclass(frozen=True, slots=True)
class DeviceIdentified:
    device: str
    identity: Identity
    at_us: int


Counters = Counter[str]
"""What went over the wire, by name: frames, bytes, faults by code, retries, reopenings."""


class Reporter:
    """The state of a device, reported once per change of the state or of its reason's code."""

    def __init__(self, device: str, counters: Counters | None = None) -> None:
        """With ``counters`` every reason that is reported is counted there by its code."""
        self._device = device
        self._counters = counters
        self._reported: tuple[DeviceState, str] | None = None

    @property
    def state(self) -> DeviceState:
        return DeviceState.UNKNOWN if self._reported is None else self._reported[0]

    def report(self, state: DeviceState, reason: Fault | None, now_us: int) -> list[object]:
        news = (state, reason.code if reason is not None else "")
        if news == self._reported:
            return []
        self._reported = news
        if reason is not None and self._counters is not None:
            self._counters[reason.code] += 1
        return [StateReported(self._device, state, reason, now_us)]


# --- serial lines ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LineSettings:
    baud: int
    bytesize: Literal[7, 8] = 8
    parity: Literal["N", "E", "O"] = "N"
    stopbits: Literal[1, 2] = 1

    @property
    def char_us(self) -> int:
        """The time of one character on the line, rounded up."""
        bits = 1 + self.bytesize + (self.parity != "N") + self.stopbits
        return -(-bits * SECOND // self.baud)


@dataclass(frozen=True, slots=True)
class Write:
    """Put these bytes on the line, in order, as soon as it takes them."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Reopen:
    """Close the line and open it again by its port path, after the transport's back-off."""

    reason: Fault


class LineDriver(Protocol):
    """A device on a serial line, as a machine. Each call returns what to do, in order.

    ``Write`` and ``Reopen`` are for the transport, everything else is a reading for the table.
    """

    name: str
    counters: Counters

    @property
    def settings(self) -> LineSettings: ...

    @property
    def wake_us(self) -> int | None:
        """When ``advance`` wants to be called next; None while only bytes can wake it."""

    def opened(self, now_us: int) -> list[object]: ...

    def closed(self, why: str, now_us: int) -> list[object]: ...

    def received(self, data: bytes, now_us: int) -> list[object]: ...

    def order(self, order: Order, now_us: int) -> list[object]:
        """Take an order; one that is not for this kind of device is ignored."""

    def advance(self, now_us: int) -> list[object]: ...


# --- the I2C bus -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WriteByte:
    """One byte alone: a command (``SMBus.write_byte``)."""

    value: int


@dataclass(frozen=True, slots=True)
class ReadByte:
    """One byte with no register (``SMBus.read_byte``)."""


@dataclass(frozen=True, slots=True)
class WriteBlock:
    """Register and up to 32 bytes (``SMBus.write_i2c_block_data``)."""

    register: int
    data: bytes


@dataclass(frozen=True, slots=True)
class ReadBlock:
    """Up to 32 bytes from a register on (``SMBus.read_i2c_block_data``)."""

    register: int
    length: int


BusOp = WriteByte | ReadByte | WriteBlock | ReadBlock


@dataclass(frozen=True, slots=True)
class BusDone:
    """All operations went through; one entry per operation, empty for writes."""

    data: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class BusFailed:
    """The operation at ``index`` failed; those after it were not tried."""

    index: int
    errno: int
    gone: str = ""
    """Why the whole bus is lost, where the adapter itself failed and not a board on it."""


class BoardDriver(Protocol):
    """A board on the I2C bus, as a machine. The bus runs one batch of one board at a time."""

    name: str
    address: int
    counters: Counters

    @property
    def wake_us(self) -> int:
        """When the next batch is due; in the past means now."""

    def plan(self, now_us: int) -> tuple[BusOp, ...]:
        """The batch to run now; ``finish`` is called with its outcome before the next plan."""

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> list[object]: ...

    def order(self, order: Order, now_us: int) -> list[object]:
        """Take an order; one that is not for this kind of board is ignored."""

    def bus_lost(self, why: str, now_us: int) -> list[object]:
        """The whole bus is gone (stuck, or its adapter): the board's state is unknown."""
