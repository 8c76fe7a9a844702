"""A bus with smbus2's methods over the simulator's boards, in this process: a test may hang it."""

from __future__ import annotations

import ctypes
import errno
import random
import threading
from collections.abc import Sequence
from typing import Any, ClassVar

from hw_sim.bus import Bus
from hw_sim.clock import Clock
from hw_sim.devices.hd44780 import Hd44780
from hw_sim.devices.ht16k33 import Ht16k33
from hw_sim.devices.mcp23017 import Mcp23017

EXPANDER, OTHER, PROMPT, METER = 0x20, 0x21, 0x3F, 0x70
READ = 0x1


class BoardsBus:
    """Loaded by dotted path; ``made`` are all that were opened under a name."""

    made: ClassVar[dict[str, list[BoardsBus]]] = {}
    opening: ClassVar[dict[str, Exception]] = {}
    """Names under which no bus opens, and what happens instead."""
    most = 42

    def __init__(self, name: str) -> None:
        self.funcs = 0x1
        self.calls: list[str] = []
        self.closed = False
        self.refuses: set[str] = set()
        """"all": no transactions of several messages; "reads": none with a read inside."""
        self.hangs: threading.Event | None = None
        self.hung = threading.Event()
        self.raises: Exception | None = None
        if (refused := self.opening.get(name)) is not None:
            raise refused
        earlier = self.made.setdefault(name, [])
        self.bus: Bus = earlier[0].bus if earlier else _wired()
        earlier.append(self)

    def write_byte(self, i2c_addr: int, value: int) -> None:
        self._transfer("write_byte", i2c_addr, bytes((value,)), 0)

    def read_byte(self, i2c_addr: int) -> int:
        return self._transfer("read_byte", i2c_addr, b"", 1)[0]

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        self._transfer("write_block", i2c_addr, bytes((register, *data)), 0)

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]:
        return list(self._transfer("read_block", i2c_addr, bytes((register,)), length))

    def i2c_rdwr(self, *i2c_msgs: Any) -> None:
        self.calls.append("i2c_rdwr")
        reads = [bool(message.flags & READ) for message in i2c_msgs]
        if len(i2c_msgs) > self.most:
            raise OSError(errno.EINVAL, "too many messages")
        if "all" in self.refuses or ("reads" in self.refuses and any(reads[:-1])):
            raise OSError(errno.EOPNOTSUPP, "not supported")
        for message in i2c_msgs:
            if message.flags & READ:
                found = self._moved(message.addr, b"", message.len)
                ctypes.memmove(message.buf, found, message.len)
            else:
                self._moved(message.addr, bytes(message), 0)

    def close(self) -> None:
        self.closed = True

    def _transfer(self, call: str, address: int, data: bytes, read: int) -> bytes:
        self.calls.append(call)
        return self._moved(address, data, read)

    def _moved(self, address: int, data: bytes, read: int) -> bytes:
        if self.raises is not None:
            raise self.raises
        if self.hangs is not None:
            self.hung.set()
            self.hangs.wait()
        return self.bus.transfer(address, data, read)


def _wired() -> Bus:
    bus = Bus(Clock())
    bus.add(EXPANDER, Mcp23017())
    bus.add(OTHER, Mcp23017())
    bus.add(PROMPT, Hd44780(random.Random(1)))
    bus.add(METER, Ht16k33(random.Random(1)))
    return bus


DOTTED = f"{BoardsBus.__module__}.{BoardsBus.__name__}"
