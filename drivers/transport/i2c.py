"""The I2C bus in a thread of its own: smbus2 blocks, and its object is not safe between threads.

The loop hands over one batch at a time and gets its outcome back, or hears nothing within the
deadline: then the thread is given up (it may hang in the kernel for ever) and a new one is started
when the bus is to be recovered. Which class opens the bus is a dotted path of the layout file.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from drivers.base import BusDone, BusFailed, BusOp, ReadBlock, ReadByte, WriteBlock, WriteByte


class SMBusLike(Protocol):
    """What we use of ``smbus2.SMBus``."""

    def write_byte(self, i2c_addr: int, value: int) -> None: ...

    def read_byte(self, i2c_addr: int) -> int: ...

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None: ...

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]: ...

    def close(self) -> None: ...


Outcome = BusDone | BusFailed
Job = tuple[int, int, tuple[BusOp, ...]]


def dotted(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def run_batch(bus: SMBusLike, address: int, ops: Sequence[BusOp]) -> Outcome:
    """One chip's operations, in order, up to the first that fails."""
    results: list[bytes] = []
    for index, op in enumerate(ops):
        try:
            results.append(_run(bus, address, op))
        except OSError as error:
            return BusFailed(index, error.errno or 0)
    return BusDone(tuple(results))


def _run(bus: SMBusLike, address: int, op: BusOp) -> bytes:
    match op:
        case WriteByte(value):
            bus.write_byte(address, value)
            return b""
        case ReadByte():
            return bytes((bus.read_byte(address),))
        case WriteBlock(register, data):
            bus.write_i2c_block_data(address, register, list(data))
            return b""
        case ReadBlock(register, length):
            return bytes(bus.read_i2c_block_data(address, register, length))


class BusThread:
    """``submit`` a batch; ``answer(number, outcome)`` is called on the loop when it is through."""

    def __init__(self, factory: str, argument: str, answer: Callable[[int, Outcome], None]) -> None:
        self._factory = factory
        self._argument = argument
        self._answer = answer
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._start()

    def submit(self, number: int, address: int, ops: tuple[BusOp, ...]) -> None:
        self._jobs.put((number, address, ops))

    def recover(self) -> None:
        """Leave the old thread to its fate and open the bus anew in another."""
        self._jobs.put(None)
        self._jobs = queue.SimpleQueue()
        self._start()

    def close(self) -> None:
        self._jobs.put(None)

    def _start(self) -> None:
        threading.Thread(target=self._work, args=(self._jobs,), name="i2c", daemon=True).start()

    def _work(self, jobs: queue.SimpleQueue[Job | None]) -> None:
        bus: SMBusLike | None = None
        while (job := jobs.get()) is not None:
            number, address, ops = job
            outcome: Outcome
            try:
                if bus is None:
                    bus = cast(SMBusLike, dotted(self._factory)(self._argument))
                outcome = run_batch(bus, address, ops)
            except OSError as error:  # the bus itself does not open
                outcome = BusFailed(0, error.errno or 0)
            try:
                self._loop.call_soon_threadsafe(self._answer, number, outcome)
            except RuntimeError:  # the loop is closed: nobody waits any more
                break
        if bus is not None:
            bus.close()
