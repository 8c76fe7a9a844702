"""The shell around a rig: ports on the loop, bus and pins in threads, monotonic time.

It makes no decision. What the rig's actions say is done; what happens is told to the rig; all
else the rig returns goes to ``on_reading``, in order, on the loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from drivers.base import BusDone, BusFailed
from drivers.bus import RecoverBus
from drivers.layout import TableLayout
from drivers.orders import Order
from drivers.rig import Batch, ReopenLine, Rig, ToLine
from drivers.transport.gpio import PinThread
from drivers.transport.i2c import BusThread
from drivers.transport.serial import SerialPort

SUPPLY_S: Final = 1.0
OnFrame = Callable[[str, Literal["in", "out"], bytes, int], None]
"""Device, direction, bytes, time: what went over a line. It must neither wait nor raise."""


def now_us() -> int:
    return time.monotonic_ns() // 1000


class Hub:
    def __init__(
        self,
        rig: Rig,
        layout: TableLayout,
        on_reading: Callable[[object], None],
        on_frame: OnFrame | None = None,
    ) -> None:
        self.rig = rig
        self.layout = layout
        self._on_reading = on_reading
        self.on_frame = on_frame
        self._loop = asyncio.get_running_loop()
        self._ports: dict[str, SerialPort] = {}
        self._wake: asyncio.TimerHandle | None = None
        self._supply: asyncio.TimerHandle | None = None
        self._bus: BusThread | None = None
        self._pins: PinThread | None = None
        self._closed = False

    def start(self) -> None:
        transport = self.layout.transport
        if self.layout.chips:
            self._bus = BusThread(transport.bus, transport.bus_argument, self._outcome)
        if self.layout.pins:
            self._pins = PinThread(
                self.layout.pins, transport.pin_factory, transport.pin_argument,
                self._levels, self._pins_failed,
            )  # fmt: skip
        for line in self.layout.lines:
            driver = self.rig.lines[line.name]
            port = SerialPort(line.port, driver.settings, _Ends(self, line.name))
            self._ports[line.name] = port
            port.open()
        if transport.throttled:
            self._read_supply()
        self._advance()

    def close(self) -> None:
        self._closed = True
        for timer in (self._wake, self._supply):
            if timer is not None:
                timer.cancel()
        for port in self._ports.values():
            port.close()
        if self._bus is not None:
            self._bus.close()
        if self._pins is not None:
            self._pins.close()

    def order(self, order: Order) -> None:
        self.run(self.rig.order(order, now_us()))

    def run(self, actions: list[object]) -> None:
        """Do what the rig says, in order, and hand its readings on."""
        if self._closed:
            return
        for action in actions:
            match action:
                case ToLine(line, data):
                    if self.on_frame is not None and self._ports[line].is_open:
                        self.on_frame(line, "out", data, now_us())
                    self._ports[line].write(data)
                case ReopenLine(line, reason):
                    self._ports[line].lose(reason)
                case Batch(number, address, ops) if self._bus is not None:
                    self._bus.submit(number, address, ops)
                case RecoverBus() if self._bus is not None:
                    self._bus.recover()
                    self._loop.call_soon(self._recovered)
                case _:
                    self._on_reading(action)
        self._schedule()

    # --- what happens --------------------------------------------------------------------------

    def _outcome(self, number: int, outcome: BusDone | BusFailed) -> None:
        self.run(self.rig.batch_finished(number, outcome, now_us()))

    def _recovered(self) -> None:
        self.run(self.rig.bus_recovered(worked=True, now_us=now_us()))

    def _levels(self, levels: dict[str, bool]) -> None:
        self.run(self.rig.pins_sampled(levels, now_us()))

    def _pins_failed(self, why: str) -> None:
        if self.rig.pins is not None:
            self.run(self.rig.pins.failed(why, now_us()))

    def _read_supply(self) -> None:
        """A small file of the kernel's; reading it does not wait for anything."""
        try:
            text = Path(self.layout.transport.throttled).read_text("ascii", "replace")
        except OSError as error:
            if self.rig.supply is not None:
                self.run(self.rig.supply.failed(str(error.strerror), now_us()))
        else:
            self.run(self.rig.supply_read(text, now_us()))
        if not self._closed:
            self._supply = self._loop.call_later(SUPPLY_S, self._read_supply)

    def _advance(self) -> None:
        self._wake = None
        self.run(self.rig.advance(now_us()))

    def _schedule(self) -> None:
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        wake_us = self.rig.wake_us
        if wake_us is not None and not self._closed:
            delay_s = max(0, wake_us - now_us()) / 1_000_000
            self._wake = self._loop.call_later(delay_s, self._advance)


class _Ends:
    """One port's listener."""

    def __init__(self, hub: Hub, name: str) -> None:
        self._hub = hub
        self._name = name

    def opened(self) -> None:
        self._hub.run(self._hub.rig.line_opened(self._name, now_us()))

    def closed(self, why: str) -> None:
        self._hub.run(self._hub.rig.line_closed(self._name, why, now_us()))

    def received(self, data: bytes) -> None:
        at_us = now_us()
        if self._hub.on_frame is not None:
            self._hub.on_frame(self._name, "in", data, at_us)
        self._hub.run(self._hub.rig.line_received(self._name, data, at_us))
