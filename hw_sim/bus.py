"""The simulated I2C bus: boards by address, and what a bus does when it is ill.

A board sees what it would see on the wire: the bytes of a write after its address, or a read of so
many bytes. How an SMBus call becomes such transfers is in ``hw_sim/client/bus.py``.
"""

from __future__ import annotations

import errno
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Protocol

from hw_sim.clock import Clock

BIT_US: Final = 10
"""100 kHz."""


class Nak(Exception):
    """The board does not acknowledge."""


class Board(Protocol):
    def write(self, data: bytes) -> None:
        """A write transfer: the first byte is usually a register or command."""

    def read(self, length: int) -> bytes:
        """A read transfer from wherever the last write left the pointer."""

    def power_cycle(self) -> None:
        """Brown-out: registers as at power-on."""


@dataclass
class BoardFaults:
    absent: bool = False
    nak_next: int = 0
    nak_every: int = 0
    """Every n-th transfer is not acknowledged."""
    stale_next: int = 0
    """So many reads return what the read before them returned."""
    count: int = 0
    last_read: bytes = b""


@dataclass
class Bus:
    clock: Clock
    boards: dict[int, Board] = field(default_factory=dict)
    faults: dict[int, BoardFaults] = field(default_factory=dict)
    stuck: bool = False
    """SDA held low: every transfer times out."""
    transfers: int = 0
    messages: Counter[int] = field(default_factory=Counter)
    """By address: writes and reads that were acknowledged, however they were joined."""

    def add(self, address: int, board: Board) -> None:
        self.boards[address] = board
        self.faults[address] = BoardFaults()

    def transfer(self, address: int, data: bytes, read: int) -> bytes:
        """One transfer: write ``data`` if any, then (repeated start) read ``read`` bytes if any.

        Raises OSError with the errno that Linux gives.
        """
        self.transfers += 1
        if self.stuck:
            raise OSError(errno.ETIMEDOUT, "bus stuck")
        board = self.boards.get(address)
        faults = self.faults.get(address)
        if board is None or faults is None or faults.absent:
            raise OSError(errno.EREMOTEIO, "no acknowledge")
        faults.count += 1
        if faults.nak_next:
            faults.nak_next -= 1
            raise OSError(errno.EREMOTEIO, "no acknowledge")
        if faults.nak_every and faults.count % faults.nak_every == 0:
            raise OSError(errno.EREMOTEIO, "no acknowledge")
        try:
            if data:
                board.write(data)
            answer = board.read(read) if read else b""
        except Nak:
            raise OSError(errno.EREMOTEIO, "no acknowledge") from None
        self.messages[address] += bool(data) + bool(read)
        if read:
            if faults.stale_next and faults.last_read:
                faults.stale_next -= 1
                answer = (faults.last_read * read)[:read]
            else:
                faults.last_read = answer
        return answer

    @staticmethod
    def duration_us(written: int, read: int) -> int:
        """The time of a transfer at 100 kHz: address, bytes, acknowledges, start and stop."""
        parts = (1 if written or not read else 0) + (1 if read else 0)
        return BIT_US * (9 * (parts + written + read) + 2)
