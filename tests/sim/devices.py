"""Devices in virtual time: the simulator's, and the product's drivers on the same wires.

Everything runs on the simulator's clock; nothing sleeps and nothing is shared but bytes, transfers
and levels. What a shell does with ports, bus and pins is done here with none of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from drivers.base import BusDone, BusFailed, BusOp, ReadBlock, ReadByte, WriteBlock, WriteByte
from drivers.build import build
from drivers.bus import BusAction, RecoverBus
from drivers.layout import load as load_layout
from drivers.orders import Order
from drivers.readings import Reading
from drivers.rig import ReopenLine, Rig, RigAction, ToLine
from drivers.transport.hub import OnFrame
from hw_sim.clock import MS, SECOND, Timer
from hw_sim.faults import FaultError, Faults
from hw_sim.layout import load as load_sim_layout
from hw_sim.line import Line
from hw_sim.table import SimTable

SAMPLE_US = 50 * MS
BACK_OFF_US = 100 * MS
STUCK_US = SECOND
BUS_DEADLINE_US = 2 * SECOND


class _Plug:
    """The host's end of one port: an open file on the host, or the lack of one."""

    def __init__(self, host: VirtualDevices, port: str) -> None:
        self.host = host
        self.port = port
        self.open = True

    def deliver(self, data: bytes) -> None:
        if self.open:
            self.host.received(self.port, data)

    def hang_up(self) -> None:
        if self.open:
            self.open = False
            self.host.lost(self.port, "the line hung up")


class VirtualDevices:
    """``on_reading`` gets everything that comes out of the rig, ``on_frame`` all bytes of a line.

    The devices outlive the computer: a restart brings a new rig and opens every port again.
    """

    def __init__(
        self,
        layout: Path,
        seed: int = 1,
        on_reading: Callable[[Reading], None] = lambda _reading: None,
        on_frame: OnFrame = lambda _port, _direction, _data, _at_us: None,
    ) -> None:
        self.sim = SimTable(load_sim_layout(layout), seed)
        self.clock = self.sim.clock
        self.layout = load_layout(layout)
        self.rig = build(self.layout)
        self.faults = Faults(self.sim, self)
        self.readings: list[Reading] = []
        self.counts: Counter[str] = Counter()
        self._on_reading, self._on_frame = on_reading, on_frame
        self._behind = {name: name for name in self.sim.lines}
        """Port name to the line that is plugged into it."""
        self._plugs: dict[str, _Plug] = {}
        self._wake: Timer | None = None
        self._bus_hangs: Timer | None = None

    @property
    def now_us(self) -> int:
        return self.clock.now_us

    def start(self) -> None:
        for port in self._behind:
            self._open(port)
        self._sample()
        self._supply()
        self._advance()

    def begin(self) -> None:
        """Start, each part by itself: the power may go in any of them."""
        for port in self._behind:
            self.clock.after(0, partial(self._open, port))
        for part in (self._sample, self._supply, self._advance):
            self.clock.after(0, part)

    def restart(self, rig: Rig) -> None:
        for plug in self._plugs.values():
            plug.open = False
        self._plugs.clear()
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        number = self.rig.bus.number
        self.rig = rig
        self.rig.bus.number = number + 1000  # what the old one still waits for is nobody's now
        for port in self._behind:
            self._open(port)
        self._advance()

    def run_for(self, us: int) -> None:
        self.clock.run_until(self.now_us + us)

    def received(self, port: str, data: bytes) -> None:
        self._on_frame(port, "in", data, self.now_us)
        self.run(self.rig.line_received(port, data, self.now_us))

    def order(self, order: Order) -> None:
        self.run(self.rig.order(order, self.now_us))
        self._run_bus(self.rig.bus.order(order, self.now_us))

    def run(self, actions: Sequence[RigAction | BusAction]) -> None:
        for action in actions:
            match action:
                case ToLine(line, data):
                    self._write(line, data)
                case ReopenLine(line, reason):
                    self._close(line)
                    self.lost(line, reason)
                case RecoverBus():
                    self.clock.after(0, self._recovered)
                case _:
                    self.readings.append(action)
                    self._on_reading(action)
        self._schedule()

    # --- ports ---------------------------------------------------------------------------------

    def _line(self, port: str) -> Line:
        return self.sim.lines[self._behind[port]]

    def _open(self, port: str) -> None:
        line = self._line(port)
        if port in self._plugs:
            return
        if not line.connected:
            self.clock.after(BACK_OFF_US, lambda: self._open(port))
            return
        plug = self._plugs[port] = _Plug(self, port)
        line.plug_in(plug)
        self.counts["opened " + port] += 1
        self.run(self.rig.line_opened(port, self.now_us))

    def _close(self, port: str) -> None:
        plug = self._plugs.get(port)
        if plug is not None:
            plug.open = False

    def lost(self, port: str, why: str) -> None:
        """The port is gone: tell the driver, and try again after a while."""
        self._plugs.pop(port, None)
        self.run(self.rig.line_closed(port, why, self.now_us))
        self.clock.after(BACK_OFF_US, lambda: self._open(port))

    def _write(self, port: str, data: bytes) -> None:
        if port not in self._plugs:
            return
        self._on_frame(port, "out", data, self.now_us)
        line = self._line(port)
        if line.stuck:
            plug = self._plugs[port]
            self.clock.after(STUCK_US, lambda: self._still_stuck(port, plug))
        else:
            line.from_host(data)

    def _still_stuck(self, port: str, plug: _Plug) -> None:
        if self._plugs.get(port) is plug and self._line(port).stuck:
            self._close(port)
            self.lost(port, "write stuck")

    # --- cabling, for the fault verbs ----------------------------------------------------------

    def unplug(self, line: Line) -> None:
        line.unplug()

    def replug(self, line: Line) -> None:
        line.replug()

    def rename(self, line: Line) -> None:
        line.unplug()
        line.replug()

    def swap(self, one: Line, other: Line) -> None:
        ports = {name: port for port, name in self._behind.items()}
        first, second = ports[one.name], ports[other.name]
        for line in (one, other):
            line.unplug()
        self._behind[first], self._behind[second] = other.name, one.name
        for line in (one, other):
            line.replug()

    def stick(self, line: Line, *, on: bool) -> None:
        line.stuck = on

    def link(self, *, on: bool) -> None:
        raise FaultError(f"link {on}: no link cable goes through this simulator")

    # --- bus -----------------------------------------------------------------------------------

    def _run_bus(self, said: Sequence[BusAction]) -> None:
        """What the bus machine said, and then its next batch: what the shell's thread does."""
        self.run(said)
        batch = self.rig.bus.next_batch(self.now_us)
        if batch is not None:
            board, ops = batch
            self.batch(board.address, ops)
        self._schedule()

    def batch(self, address: int, ops: tuple[BusOp, ...]) -> None:
        """Run it at once; its outcome arrives when the bits would have been through."""
        took_us, results, number = 0, [], self.rig.bus.number
        outcome: BusDone | BusFailed | None = None
        for index, op in enumerate(ops):
            data, read = _transfer(op)
            took_us += self.sim.bus.duration_us(len(data), read)
            try:
                results.append(self.sim.bus.transfer(address, data, read))
            except OSError as error:
                outcome = BusFailed(index, error.errno or 0)
                took_us += SECOND if self.sim.bus.stuck else 0
                break
        final = outcome or BusDone(tuple(results))
        self.counts["batches"] += 1
        self.clock.after(took_us, lambda: self._outcome(number, final))

    def _outcome(self, number: int, outcome: BusDone | BusFailed) -> None:
        self._run_bus(self.rig.bus.finished(outcome, self.now_us, number))

    def _recovered(self) -> None:
        self._run_bus(self.rig.bus.recovered(worked=True, now_us=self.now_us))

    # --- pins and supply -----------------------------------------------------------------------

    def _sample(self) -> None:
        self.clock.after(SAMPLE_US, self._sample)
        self.look_at_pins()

    def look_at_pins(self) -> None:
        levels = {n: self.sim.pins.levels[number] for n, number in self.layout.pins.items()}
        if levels.get("expander_int") is False:
            self.rig.bus.nudge(self.now_us)
        self.run(self.rig.pins_sampled(levels, self.now_us))
        self._run_bus([])

    def _supply(self) -> None:
        self.clock.after(SECOND, self._supply)
        self.run(self.rig.supply_read(f"{self.sim.throttled:x}\n", self.now_us))

    # --- time ----------------------------------------------------------------------------------

    def _advance(self) -> None:
        self._wake = None
        self.run(self.rig.advance(self.now_us))
        self._run_bus(self.rig.bus.timed_out(self.now_us))

    def _schedule(self) -> None:
        wakes = [due for due in (self.rig.wake_us, self.rig.bus.wake_us) if due is not None]
        if not wakes:
            return
        wake_us = min(wakes)
        if self._wake is not None:
            if self._wake.at_us == max(wake_us, self.now_us):
                return
            self._wake.cancel()
        self._wake = self.clock.at(wake_us, self._advance)


def _transfer(op: BusOp) -> tuple[bytes, int]:
    """An operation as a transfer: bytes to write, bytes to read (docs/protocols/simulator.md)."""
    match op:
        case WriteByte(value):
            return bytes((value,)), 0
        case ReadByte():
            return b"", 1
        case WriteBlock(register, data):
            return bytes((register,)) + data, 0
        case ReadBlock(register, length):
            return bytes((register,)), length
