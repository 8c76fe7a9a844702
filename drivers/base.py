"""What every driver shares: states, faults, identities, counters and what goes to a wire.

Time is an integer number of microseconds of a monotonic clock and only ever passed in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

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
