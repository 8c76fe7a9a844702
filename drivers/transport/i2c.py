"""The I2C bus in a thread of its own: smbus2 blocks, and its object is not safe between threads.

The thread runs the bus machine by itself, because waking another thread costs more than most
batches do. When a batch has no outcome in its time the thread is given up (it may hang in the
kernel for ever) and a new one is started. Which class opens the bus is a dotted path of the layout
file.

A batch is one transaction, its operations joined by repeated starts: one call and one wake-up
instead of dozens. An adapter that cannot do that gets one SMBus call for each operation.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from ctypes import c_char
from errno import (
    EBADF,
    ECONNREFUSED,
    ECONNRESET,
    EIO,
    ENODEV,
    ENOENT,
    ENOTCONN,
    ENOTTY,
    EOPNOTSUPP,
    EPIPE,
    ESHUTDOWN,
)
from typing import Any, Final, Protocol, cast

from drivers.base import BusDone, BusFailed, BusOp, ReadBlock, ReadByte, WriteBlock, WriteByte
from drivers.bus import BusAction, BusMachine, RecoverBus
from drivers.orders import Order
from drivers.readings import Reading
from drivers.transport.clock import now_us
from drivers.transport.loop import T, dotted, on_loop

GRID_US: Final = 10_000
"""Batches wait for a common time, so that one wake-up serves several boards. Orders do not wait."""
LONGEST_US: Final = 1_000_000
PLAIN_I2C: Final = 0x1
"""I2C_FUNC_I2C: the adapter takes transactions of several messages."""
READ: Final = 0x1
"""I2C_M_RD in the flags of a message."""
BYTES: Final = tuple(c_char * length for length in range(34))
"""Buffers of a message: a register and up to 32 bytes."""
MOST_HANGING: Final = 4
"""Threads that hang in the kernel; no more are started until one of them is free again."""
GONE: Final = frozenset(
    (EBADF, ECONNREFUSED, ECONNRESET, ENODEV, ENOENT, ENOTCONN, ENOTTY, EPIPE, ESHUTDOWN)
)
"""The adapter or its driver went away: what a board on a bus that works never causes."""
MOST_MESSAGES: Final = 42
"""I2C_RDWR_IOCTL_MAX_MSGS: what the kernel takes at once."""


class SMBusLike(Protocol):
    """What we use of ``smbus2.SMBus``."""

    funcs: int

    def write_byte(self, i2c_addr: int, value: int) -> None: ...

    def read_byte(self, i2c_addr: int) -> int: ...

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None: ...

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]: ...

    def i2c_rdwr(self, *i2c_msgs: Any) -> None: ...

    def close(self) -> None: ...


Outcome = BusDone | BusFailed


def messages_of(address: int, ops: Sequence[BusOp]) -> tuple[list[Any], list[Any]]:
    """A batch as messages of one transaction; by operation what is read into, None for a write."""
    from smbus2 import i2c_msg

    messages: list[Any] = []
    buffers: list[Any] = []

    def say(data: bytes) -> None:
        messages.append(i2c_msg(address, 0, len(data), BYTES[len(data)].from_buffer_copy(data)))

    def hear(length: int) -> None:
        buffers.append(BYTES[length]())
        messages.append(i2c_msg(address, READ, length, buffers[-1]))

    for op in ops:
        if isinstance(op, WriteBlock):
            say(bytes((op.register,)) + op.data)
            buffers.append(None)
        elif isinstance(op, WriteByte):
            say(op.value.to_bytes())
            buffers.append(None)
        elif isinstance(op, ReadBlock):
            say(op.register.to_bytes())
            hear(op.length)
        else:
            hear(1)
    return messages, buffers


class Runner:
    """Runs batches on an open bus, each as the adapter can."""

    def __init__(self, bus: SMBusLike) -> None:
        self._bus = bus
        self._joins = bool(bus.funcs & PLAIN_I2C)
        self._joins_reads = self._joins
        """Some adapters (BCM2835) take one read in a transaction, and only as its last message."""

    def run(self, address: int, ops: Sequence[BusOp]) -> Outcome:
        """One board's operations, in order, up to the first that fails."""
        inner_read = any(isinstance(op, ReadByte | ReadBlock) for op in ops[:-1])
        if self._joins_reads if inner_read else self._joins:
            try:
                return self._joined(address, ops)
            except OSError as error:
                if error.errno != EOPNOTSUPP:
                    return _failed(0, error)
            self._joins_reads = False
            self._joins = self._joins and inner_read
        return self._one_by_one(address, ops)

    def _joined(self, address: int, ops: Sequence[BusOp]) -> BusDone:
        messages, buffers = messages_of(address, ops)
        for first in range(0, len(messages), MOST_MESSAGES):
            self._bus.i2c_rdwr(*messages[first : first + MOST_MESSAGES])
        return BusDone(tuple([b"" if buffer is None else buffer.raw for buffer in buffers]))

    def _one_by_one(self, address: int, ops: Sequence[BusOp]) -> Outcome:
        results: list[bytes] = []
        for index, op in enumerate(ops):
            try:
                results.append(_run(self._bus, address, op))
            except OSError as error:
                return _failed(index, error)
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
    """Runs the bus machine: batches as they fall due, ``heard(readings)`` on the loop.

    The loop is woken for readings only, which are rare. Every use of the machine holds its lock,
    which is free while a batch runs.
    """

    def __init__(
        self,
        machine: BusMachine,
        factory: str,
        argument: str,
        heard: Callable[[list[Reading]], None],
    ) -> None:
        self._machine = machine
        self._factory = factory
        self._argument = argument
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._turn = 0
        """Which thread has the bus; one that was given up may still hang in an earlier turn."""
        self._threads: list[threading.Thread] = []
        self._start()

    # --- from the loop -------------------------------------------------------------------------

    def order(self, order: Order) -> list[Reading]:
        with self._lock:
            readings = self._machine.order(order, now_us())
        self._wakes.put(None)
        return readings

    def nudge(self) -> None:
        with self._lock:
            self._machine.nudge(now_us())
        self._wakes.put(None)

    def look(self) -> list[Reading]:
        """A batch without an outcome in its time: give up its thread and start another."""
        with self._lock:
            readings, recovers = _split(self._machine.timed_out(now_us()))
            if not recovers:
                return readings
            hanging = sum(thread.is_alive() for thread in self._threads)
            self._machine.recovered(worked=hanging <= MOST_HANGING, now_us=now_us())
            if hanging <= MOST_HANGING:
                self._start()
        return readings

    def close(self) -> None:
        with self._lock:
            self._turn += 1
        self._wakes.put(None)

    # --- the thread ----------------------------------------------------------------------------

    def _start(self) -> None:
        self._turn += 1
        self._wakes = queue.SimpleQueue()
        work = threading.Thread(target=self._work, args=(self._turn,), name="i2c", daemon=True)
        self._threads = [thread for thread in self._threads if thread.is_alive()] + [work]
        work.start()

    def _work(self, turn: int) -> None:
        bus = _Opened(self._factory, self._argument)
        try:
            while self._pass(turn, bus):
                pass
        except Exception as error:  # our own mistake: it is the loop's to end the process
            self._on_loop(_raise, error)
        finally:
            bus.close()

    def _pass(self, turn: int, bus: _Opened) -> bool:
        """One batch, or a pause until the next is due; False when the bus is another thread's, or
        when nobody listens any more."""
        wakes, machine = self._wakes, self._machine
        with self._lock:
            if turn != self._turn or self._loop.is_closed():
                return False
            readings: list[Reading] = []
            if machine.stuck:
                readings = self._heed(machine.timed_out(now_us()), bus)
            batch = machine.next_batch(now_us())
            number, due_us = machine.number, machine.wake_us
        if readings:
            self._on_loop(self._heard, readings)
        if batch is None:
            wait_us = LONGEST_US if due_us is None else -(-due_us // GRID_US) * GRID_US - now_us()
            with suppress(queue.Empty):
                wakes.get(timeout=max(wait_us, 0) / 1_000_000)
            return True
        board, ops = batch
        outcome = bus.run(board.address, ops)
        with self._lock:
            # For a thread that was given up this is an outcome too late: counted, and no more.
            readings = self._heed(machine.finished(outcome, now_us(), number), bus)
        if readings:
            self._on_loop(self._heard, readings)
        return True

    def _heed(self, said: list[BusAction], bus: _Opened) -> list[Reading]:
        """The readings; a recovery closes the bus, and the next batch opens it."""
        readings, recovers = _split(said)
        if recovers:
            bus.close()
            self._machine.recovered(worked=True, now_us=now_us())
        return readings

    def _on_loop(self, act: Callable[[T], None], what: T) -> None:
        if not on_loop(self._loop, act, what):
            with self._lock:
                self._turn += 1


class _Opened:
    """The bus, opened when it is first needed; a bus that does not open fails its batches."""

    def __init__(self, factory: str, argument: str) -> None:
        self._factory = factory
        self._argument = argument
        self._bus: SMBusLike | None = None
        self._runner: Runner | None = None

    def run(self, address: int, ops: tuple[BusOp, ...]) -> Outcome:
        try:
            if self._runner is None:
                self._bus = cast(SMBusLike, dotted(self._factory)(self._argument))
                self._runner = Runner(self._bus)
        except Exception as error:  # whatever the class does that somebody named in the layout
            why = error.strerror if isinstance(error, OSError) and error.strerror else repr(error)
            return BusFailed(0, getattr(error, "errno", None) or EIO, f"{self._argument}: {why}")
        try:
            return self._runner.run(address, ops)
        except Exception as error:
            return BusFailed(0, EIO, f"{self._argument}: {error!r}")

    def close(self) -> None:
        bus, self._bus, self._runner = self._bus, None, None
        if bus is not None:
            with suppress(Exception):  # it is gone already, which is why we are here
                bus.close()


def _failed(index: int, error: OSError) -> BusFailed:
    errno = error.errno or EIO
    return BusFailed(index, errno, (error.strerror or repr(error)) if errno in GONE else "")


def _split(said: list[BusAction]) -> tuple[list[Reading], bool]:
    """The readings, and whether the bus is to be opened again."""
    readings = [one for one in said if not isinstance(one, RecoverBus)]
    return readings, len(readings) < len(said)


def _raise(error: Exception) -> None:
    raise error
