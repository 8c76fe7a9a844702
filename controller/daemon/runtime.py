"""The daemon's event loop: devices on one side, the writer's thread on the other, an inbox between.

The writer takes all that waits in the inbox as one group. While it is at the disk, ports are polled
and the watchdog is fed. Orders go to the devices only after the writer has given them back.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar, cast

from controller.daemon.compose import Table
from controller.daemon.inputs import CaughtUp, Input, Released, Tick
from controller.daemon.logbook import Entry, say
from controller.daemon.status import beside_of
from controller.daemon.writer import Writer
from controller.faults.status import Status
from drivers.cards.driver import CardDriver
from drivers.orders import Order
from drivers.readings import Reading
from drivers.transport.clock import now_us
from drivers.transport.hub import Hub, OnFrame
from record.journal import JournalError

READ_AGAIN_S: Final = 3.0
"""By then every spot has been read and has settled (docs/protocols/timing.md)."""
Seen = TypeVar("Seen")


class Runtime:
    """Runs a table until ``stop``. ``fatal`` ends the process when the disk has failed."""

    def __init__(
        self,
        table: Table,
        *,
        fatal: Callable[[int], None] = os._exit,
        on_frame: OnFrame | None = None,
    ) -> None:
        self.writer = table.writer
        self.status: Status = table.writer.status()
        self.beside = beside_of(table.writer)
        """As the last group left them; the writer itself belongs to its own thread."""
        self._inbox, self._link, self._fatal = table.inbox, table.link, fatal
        self._loop = asyncio.get_running_loop()
        self.listeners: list[Callable[[Reading], None]] = []
        """Get every reading of a device, before anything is made of it."""
        self.watchers: list[Callable[[Released], None]] = []
        """Get everything that a group released, last of all."""
        self._hub = Hub(table.rig, table.setup.layout, self._read, on_frame)
        self._thread = ThreadPoolExecutor(1, "writer")
        self._wake: asyncio.TimerHandle | None = None
        self._stopping = ""
        self._working = 0
        self.groups = 0

    @property
    def stopping(self) -> str:
        """Why it stops; empty while it runs."""
        return self._stopping

    @property
    def is_idle(self) -> bool:
        """Nothing waits for the writer and it is not at work."""
        return not self._inbox.depth and not self._working

    @property
    def queue_depth(self) -> int:
        """Inputs that wait for the writer."""
        return self._inbox.depth

    @property
    def overflows(self) -> int:
        """Readings lost since the start, because too many came at once."""
        return self._inbox.overflows

    def _read(self, reading: Reading) -> None:
        for listener in self.listeners:
            listener(reading)
        self.put(reading)

    def put(self, one: Input) -> None:
        self._inbox.put(one)

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

    def stop(self, why: str) -> None:
        self._stopping = self._stopping or why
        self._inbox.wake()

    async def run(self, ready: Callable[[], None]) -> None:
        """Journal who we are, let the devices start, then write until stopped."""
        first = await self._off_loop(self.writer.start, now_us())
        self._hub.start()
        self._link.start()
        self._release(first)
        ready()
        while not self._stopping:
            await self._inbox.wait()
            if self._inbox.depth:
                await self._group()
        await self._off_loop(self.writer.stop, self._stopping)
        self._hub.close()
        self._thread.shutdown()

    async def _group(self) -> None:
        group, lost = self._inbox.take()
        self._release(await self._off_loop(self.writer.work, group, now_us()))
        self.groups += 1
        if lost:  # the round holds until then; the last overrun counts
            self._loop.call_later(READ_AGAIN_S, self.put, CaughtUp(self.overflows))
            self._release(await self._off_loop(self.writer.read_again))

    async def _off_loop(self, work: Callable[..., Any], *arguments: Any) -> Any:
        self._working += 1
        try:
            return await self._loop.run_in_executor(self._thread, work, *arguments)
        except Exception as error:
            # What the journal does not hold must not be acted upon: the next start reads the disk.
            # Only a journal's error is shown in full: any other's text might name a card.
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
        self._link.released(released)  # before the orders: a message is faster than a display
        for order in released.orders:
            self._hub.order(order)
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        if released.wake_us is not None:
            delay_s = max(0, released.wake_us - now_us()) / 1_000_000
            self._wake = self._loop.call_later(delay_s, self.put, Tick())
        for watcher in self.watchers:
            watcher(released)
