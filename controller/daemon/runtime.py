"""The daemon's event loop: devices on one side, the writer's thread on the other, a queue between.

Readings wait in a bounded queue; the writer takes all that wait as one group. While it is at the
disk, ports are polled and the watchdog is fed. Orders go to the devices only after the writer has
given them back.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar, cast

from controller.daemon.logbook import Entry, say
from controller.daemon.status import beside_of
from controller.daemon.writer import CaughtUp, Input, Overrun, Released, Tick, Writer
from controller.link.hearing import Heard
from drivers.base import StateReported
from drivers.cards.link import CardDriver
from drivers.layout import TableLayout
from drivers.orders import Order
from drivers.readings import AntennaFailed, AntennaRead, Reading
from drivers.rig import Rig
from drivers.transport.clock import now_us
from drivers.transport.hub import Hub, OnFrame
from record.journal import JournalError

QUEUE: Final = 4096
"""Readings that wait at most; a table makes some fifty a second."""
ANEW_S: Final = 3.0
"""By then every spot has been read and has settled (docs/protocols/timing.md)."""
Seen = TypeVar("Seen")


class Runtime:
    """Runs until ``stop``. ``fatal`` ends the process when the disk has failed."""

    def __init__(
        self,
        writer: Writer,
        rig: Rig,
        layout: TableLayout,
        *,
        deliver: Callable[[tuple[object, ...]], None] = lambda _effects: None,
        linked: Callable[[Released], None] = lambda _released: None,
        fatal: Callable[[int], None] = os._exit,
        on_frame: OnFrame | None = None,
    ) -> None:
        self.writer = writer
        self.status: Mapping[str, Any] = {}
        self.beside = beside_of(writer)
        """As the last group left it; the writer itself is of its own thread."""
        self.overflows = 0
        self._deliver = deliver
        self.linked = linked
        self._fatal = fatal
        self._loop = asyncio.get_running_loop()
        self.listeners: list[Callable[[Reading], None]] = []
        """Told of every reading of a device, before anything is made of it."""
        self.logged: Callable[[Mapping[str, Any]], None] = lambda _status: None
        """Told the status after every group, last of all."""
        self._hub = Hub(rig, layout, self._read, on_frame)
        self._queue: deque[Input] = deque()
        self._waiting = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "writer")
        self._wake: asyncio.TimerHandle | None = None
        self._stopping = ""
        self._lost = False
        self._states: dict[str, StateReported] = {}
        self._working = 0
        self.groups = 0

    @property
    def stopping(self) -> str:
        """Why it was told to stop; empty while it runs."""
        return self._stopping

    @property
    def is_idle(self) -> bool:
        """Nothing waits for the writer and it is not at work."""
        return not self._queue and not self._working

    @property
    def queue_depth(self) -> int:
        """Inputs that wait for the writer."""
        return len(self._queue)

    def _read(self, reading: Reading) -> None:
        for told in self.listeners:
            told(reading)
        self.put(reading)

    async def look(self, ask: Callable[[Writer], Seen]) -> Seen:
        """Ask between two groups, in the writer's thread: all that is seen is on disk. What is
        asked must be quick, and change nothing."""
        return await self._loop.run_in_executor(self._thread, ask, self.writer)

    async def direct(self, work: Callable[[Writer, int], tuple[Released, Seen]]) -> Seen:
        """A group of its own, for test mode: written by the writer's thread, then released."""
        released, seen = await self._off_loop(work, self.writer, now_us())
        self._release(released)
        return cast(Seen, seen)

    def order(self, order: Order) -> None:
        """To the devices, past the table: for test mode alone."""
        self._hub.order(order)

    def probe(self, line: str, data: bytes, heard: Callable[[bytes], None]) -> bool:
        """Raw bytes on a line whose driver rests meanwhile; False if the port is not open."""
        return self._hub.probe(line, data, heard)

    def unprobe(self) -> None:
        self._hub.unprobe()

    def challenge(self, device: str, nonce: bytes, digest: bytes) -> bool:
        """Ask a card device for the digest of its program; False: it is not one."""
        driver = self._hub.rig.lines.get(device)
        if not isinstance(driver, CardDriver):
            return False
        self._hub.challenge(device, nonce, digest)
        return True

    def put(self, one: Input) -> None:
        """An input for the writer; too many at once hold the round and have it read again."""
        if isinstance(one, AntennaRead | AntennaFailed):
            return  # single inventories: the chip field has made of them what counts
        # What the link says is said once, and comes at its own slow pace: it is never left out.
        if len(self._queue) >= QUEUE and not isinstance(one, Heard):
            if isinstance(one, StateReported):
                self._states[one.device] = one  # the last word of each device is never lost
            else:
                self._lost = True
                self.overflows += 1
            return
        self._queue.append(one)
        self._waiting.set()

    def stop(self, why: str) -> None:
        self._stopping = self._stopping or why
        self._waiting.set()

    async def run(
        self, opened: Mapping[str, Any], missing: list[tuple[str, bytes]], ready: Callable[[], None]
    ) -> None:
        """Journal who we are, let the devices start, then write until stopped."""
        first = await self._off_loop(self.writer.start, opened, missing, now_us())
        self._hub.start()
        self._release(first)
        ready()
        while not self._stopping:
            await self._waiting.wait()
            self._waiting.clear()
            if self._queue:
                await self._group()
        await self._off_loop(self.writer.stop, self._stopping)
        self._hub.close()
        self._thread.shutdown()

    async def _group(self) -> None:
        group = list(self._queue)
        self._queue.clear()
        group += self._states.values()
        self._states.clear()
        lost, self._lost = self._lost, False
        if lost:
            group.append(Overrun(self.overflows))
        self._release(await self._off_loop(self.writer.work, group, now_us()))
        self.groups += 1
        if lost:  # the round holds until then; the last overrun counts
            self._loop.call_later(ANEW_S, self.put, CaughtUp(self.overflows))
            self._release(await self._off_loop(self.writer.read_anew))

    async def _off_loop(self, work: Callable[..., Any], *arguments: Any) -> Any:
        self._working += 1
        try:
            return await self._loop.run_in_executor(self._thread, work, *arguments)
        except Exception as error:
            # What the journal does not hold must not be acted upon: the next start reads the disk.
            # Only a journal's error is told in full: any other's text might name a card.
            journal = isinstance(error, JournalError)
            said = str(error) if journal else type(error).__name__
            alarm = "journal failed" if journal else "failed"
            say(Entry(alarm, logging.CRITICAL, f"the writer stopped: {said}"))
            self._hub.close()
            self._fatal(os.EX_IOERR)
            raise
        finally:
            self._working -= 1

    def _release(self, released: Released) -> None:
        self.status, self.beside = released.status, released.beside
        if released.effects:
            self._deliver(released.effects)
        self.linked(released)  # before the orders: a message is faster than a display
        for order in released.orders:
            self._hub.order(order)
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        if released.wake_us is not None:
            delay_s = max(0, released.wake_us - now_us()) / 1_000_000
            self._wake = self._loop.call_later(delay_s, self.put, Tick())
        self.logged(released.status)
