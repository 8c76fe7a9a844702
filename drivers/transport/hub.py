"""The shell around a rig: ports on the loop, bus and pins in threads, monotonic time.

It makes no decision. It carries out the rig's actions and reports to the rig what happens. The
readings that the rig returns go to ``on_reading``, in order, on the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Literal

from drivers.base import DeviceState, Fault, LineSettings, StateReported
from drivers.contained import Contained
from drivers.layout import LineLayout, TableLayout
from drivers.machines import LineAction
from drivers.orders import Order
from drivers.readings import Reading
from drivers.rig import NEVER, ReopenLine, Rig, RigAction, ToLine
from drivers.transport.aside import Aside
from drivers.transport.clock import now_us
from drivers.transport.gpio import PinThread
from drivers.transport.i2c import BusThread
from drivers.transport.serial import SerialPort

SUPPLY_S: Final = 1.0
LOOK_S: Final = 0.25
"""How often it is seen whether a batch on the bus hangs: after 0.75 s at the latest."""
GRID_US: Final = 2_000
"""Whatever is due waits for a common time: readers that are asked together answer together, and one
wake-up serves all of them."""
OnFrame = Callable[[str, Literal["in", "out"], bytes, int], None]
"""Device, direction, bytes, time: what went over a line. It must neither wait nor raise."""


class Hub:
    def __init__(
        self,
        rig: Rig,
        layout: TableLayout,
        on_reading: Callable[[Reading], None],
        on_frame: OnFrame | None = None,
    ) -> None:
        self.rig = rig
        self.layout = layout
        self._on_reading = on_reading
        self.on_frame = on_frame
        self._loop = asyncio.get_running_loop()
        self._ports: dict[str, SerialPort] = {}
        self._wake: asyncio.TimerHandle | None = None
        self._wake_us = NEVER
        self._supply: asyncio.TimerHandle | None = None
        self._look: asyncio.TimerHandle | None = None
        self._bus: BusThread | None = None
        self._pins: PinThread | None = None
        self._asides: list[Aside] = []
        self._closed = False
        self._probed: tuple[str, Callable[[bytes], None]] | None = None
        """The line whose driver rests while somebody looks at its raw bytes."""

    def start(self) -> None:
        transport = self.layout.transport
        if self.layout.boards:
            self._bus = BusThread(self.rig.bus, transport.bus, transport.bus_argument, self.run)
            self._look_at_bus()
        if self.layout.pins:
            self._pins = PinThread(
                self.layout.pins, transport.pin_factory, transport.pin_argument,
                self._levels, self._pins_failed,
            )  # fmt: skip
        for line in self.layout.lines:
            driver = self.rig.lines[line.name]
            if isinstance(driver, Contained):
                self._aside(line, driver)
            else:
                self._open(line, partial(getattr, driver, "settings"))
        if transport.throttled:
            self._read_supply()
        self._advance()

    def _open(self, line: LineLayout, settings: Callable[[], LineSettings]) -> None:
        if not self._closed:
            port = SerialPort(line.port, settings, _Ends(self, line.name))
            self._ports[line.name] = port
            port.open()

    def _aside(self, line: LineLayout, driver: Contained) -> None:
        """A vendor's driver runs in a thread of its own; its port waits for its settings."""

        def said(actions: list[LineAction]) -> None:
            self.run(self.rig.line_said(line.name, actions, now_us()))

        def made(_settings: LineSettings) -> None:
            self._open(line, lambda: driver.known_settings)

        aside = Aside(driver, said, made)
        self._asides.append(aside)
        self.rig.replace_line(aside)

    def close(self) -> None:
        self._closed = True
        for aside in self._asides:
            aside.close()
        for timer in (self._wake, self._supply, self._look):
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
        if self._bus is not None and self.rig.bus.takes(order):
            self.run(self._bus.order(order))

    def challenge(self, line: str, nonce: bytes, digest: bytes) -> None:
        self.run(self.rig.challenge(line, nonce, digest, now_us()))

    def probe(self, line: str, data: bytes, heard: Callable[[bytes], None]) -> bool:
        """Write raw bytes; what comes back goes to ``heard`` until ``unprobe``."""
        self.unprobe()
        port = self._ports.get(line)
        if port is None or not port.is_open:
            return False
        self._probed = (line, heard)
        port.write(data)
        return True

    def unprobe(self) -> None:
        """The driver takes over again, with a reopened port."""
        probed, self._probed = self._probed, None
        if probed is not None:
            self._ports[probed[0]].lose("probed")

    def run(self, actions: Sequence[RigAction]) -> None:
        """Do what the rig says, in order, and hand its readings on."""
        if self._closed:
            return
        for action in actions:
            match action:
                case ToLine(line) if self._probed is not None and self._probed[0] == line:
                    pass
                case ToLine(line) | ReopenLine(line) if line not in self._ports:
                    pass  # a driver that speaks before its port is there
                case ToLine(line, data):
                    if self.on_frame is not None and self._ports[line].is_open:
                        self.on_frame(line, "out", data, now_us())
                    self._ports[line].write(data)
                case ReopenLine(line, reason):
                    self._ports[line].lose(reason)
                case StateReported(device=device, state=state) if device in self._ports:
                    if state is not DeviceState.UNKNOWN:
                        self._ports[device].heard()
                    self._on_reading(action)
                case _:
                    self._on_reading(action)
        self._schedule()

    def took(self, line: str, data: bytes) -> bool:
        """True if a technician is reading the raw line and took these bytes."""
        if self._probed is None or self._probed[0] != line:
            return False
        self._probed[1](data)
        return True

    # --- what happens --------------------------------------------------------------------------

    def _look_at_bus(self) -> None:
        if self._bus is not None and not self._closed:
            self.run(self._bus.look())
            self._look = self._loop.call_later(LOOK_S, self._look_at_bus)

    def _levels(self, levels: dict[str, bool]) -> None:
        if self._bus is not None and levels.get("expander_int") is False:
            self._bus.nudge()
        self.run(self.rig.pins_sampled(levels, now_us()))

    def _pins_failed(self, why: str) -> None:
        self.run(self.rig.pins_failed(why, now_us()))

    def _read_supply(self) -> None:
        """A small file of the kernel's; reading it does not wait for anything."""
        try:
            text = Path(self.layout.transport.throttled).read_text("ascii", "replace")
        except OSError as error:
            self.run(self.rig.supply_failed(str(error.strerror), now_us()))
        else:
            self.run(self.rig.supply_read(text, now_us()))
        if not self._closed:
            self._supply = self._loop.call_later(SUPPLY_S, self._read_supply)

    def _advance(self) -> None:
        self._wake = None
        self._wake_us = NEVER
        self.run(self.rig.advance(now_us()))

    def _schedule(self) -> None:
        """A timer that comes too early does no harm: only one that comes too late is replaced."""
        due_us = self.rig.wake_us
        if due_us is None or self._closed:
            return
        wake_us = -(-due_us // GRID_US) * GRID_US
        if wake_us >= self._wake_us:
            return
        if self._wake is not None:
            self._wake.cancel()
        self._wake_us = wake_us
        self._wake = self._loop.call_at(wake_us / 1_000_000, self._advance)


class _Ends:
    """One port's listener."""

    def __init__(self, hub: Hub, name: str) -> None:
        self._hub = hub
        self._name = name

    def opened(self) -> None:
        self._hub.run(self._hub.rig.line_opened(self._name, now_us()))

    def failed(self, fault: Fault) -> None:
        self._hub.run(self._hub.rig.line_failed(self._name, fault, now_us()))

    def closed(self, why: str) -> None:
        self._hub.run(self._hub.rig.line_closed(self._name, why, now_us()))

    def received(self, data: bytes) -> None:
        at_us = now_us()
        if self._hub.on_frame is not None:
            self._hub.on_frame(self._name, "in", data, at_us)
        if self._hub.took(self._name, data):
            return
        self._hub.run(self._hub.rig.line_received(self._name, data, at_us))
