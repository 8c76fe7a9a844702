"""A simulated table in real time: ptys, a socket for bus and pins, files beside them.

This is the only part of the simulator that reads a clock. It lets the table's own clock follow the
machine's, and never lets it run ahead.
"""

from __future__ import annotations

import asyncio
import re
import time
import traceback
from pathlib import Path

from hw_sim.cable import Cable
from hw_sim.faults import FaultError, Faults
from hw_sim.line import Line
from hw_sim.ports import PtyPort
from hw_sim.sockets import TableSocket
from hw_sim.table import SimTable

TICK_S = 0.001
IDLE_S = 0.02


class SimShell:
    """Runs until cancelled."""

    def __init__(
        self, table: SimTable, run: Path, layout_text: str, cable: Cable | None = None
    ) -> None:
        """``cable``: to a link server; the table gets its near end from the file ``link``."""
        self.table = table
        self.cable = cable
        self.run_dir = run
        self.faults = Faults(table, self)
        self._layout_text = layout_text
        self._ports: dict[str, PtyPort] = {}
        self._links: dict[str, Path] = {}
        self._socket = TableSocket(table.bus, table.pins)
        self._flags = -1

    async def start(self) -> None:
        self.run_dir.mkdir(parents=True, exist_ok=True)
        loop = asyncio.get_running_loop()
        for wired in self.table.layout.lines:
            link = self.run_dir / Path(wired.port).name
            self._links[wired.name] = link
            self._ports[wired.name] = PtyPort(self.table.lines[wired.name], link, loop)
        await self._socket.start(self.run_dir / "table.sock")
        if self.cable is not None:
            near = await self.cable.start()
            (self.run_dir / "link").write_text(near + "\n", "ascii")
        self._write_files()

    async def run(self) -> None:
        """Let the table's clock follow the machine's."""
        start = time.monotonic_ns() // 1000 - self.table.clock.now_us
        while True:
            now_us = time.monotonic_ns() // 1000 - start
            try:
                self.table.clock.run_until(now_us)
            except Exception:  # a bug of one device must not stop the others
                traceback.print_exc()
            if self._flags != self.table.throttled:
                self._write_flags()
            due = self.table.clock.next_us
            ahead_s = IDLE_S if due is None else (due - now_us) / 1_000_000
            await asyncio.sleep(min(max(ahead_s, TICK_S), IDLE_S))

    async def close(self) -> None:
        await self._socket.close()
        if self.cable is not None:
            await self.cable.close()
            (self.run_dir / "link").unlink(missing_ok=True)
        (self.run_dir / "table.sock").unlink(missing_ok=True)
        for port in self._ports.values():
            port.hang_up()

    # --- cabling, for the fault verbs ----------------------------------------------------------

    def unplug(self, line: Line) -> None:
        line.unplug()

    def replug(self, line: Line) -> None:
        if not line.connected:
            line.replug()
            self._ports[line.name].open()

    def rename(self, line: Line) -> None:
        """Away and back at once; the kernel gives it another number, udev the same name."""
        if not line.connected:
            raise FaultError(f"{line.name!r}: it is unplugged; replug it first")
        port = self._ports[line.name]
        old = str(port.link.readlink())
        line.unplug()
        line.replug()
        port.open(other_than=old)

    def swap(self, one: Line, other: Line) -> None:
        """Somebody put the two plugs back the wrong way round."""
        first, second = self._ports[one.name], self._ports[other.name]
        first.link, second.link = second.link, first.link
        for line in (one, other):
            line.unplug()
        for line in (one, other):
            line.replug()
            self._ports[line.name].open()

    def stick(self, line: Line, *, on: bool) -> None:
        line.stuck = on
        self._ports[line.name].listen(on=not on)

    def link(self, *, on: bool) -> None:
        if self.cable is None:
            raise FaultError("link: no link cable goes through this simulator (--link-cable)")
        (self.cable.restore if on else self.cable.cut)()

    # --- files ---------------------------------------------------------------------------------

    def _write_files(self) -> None:
        self._write_flags()
        text = self._layout_text
        for wired in self.table.layout.lines:
            text = _point(text, "port", wired.port, self._links[wired.name].name)
        for key, name in (
            ("bus_argument", "table.sock"),
            ("pin_argument", "table.sock"),
            ("throttled", "throttled"),
        ):
            text = _point(text, key, None, name)
        (self.run_dir / "layout.toml").write_text(text, "utf-8")
        rows = [
            f"{chip.uid.hex().upper()},{chip.cents},{chip.kind},sim"
            for chip in self.table.felt.rack.all_known()
        ]
        batch = "\n".join(["uid,value,class,series", *rows]) + "\n"
        (self.run_dir / "chips.csv").write_text(batch, "utf-8")

    def _write_flags(self) -> None:
        self._flags = self.table.throttled
        new = self.run_dir / "throttled.new"
        new.write_text(f"{self._flags:x}\n", "ascii")
        new.replace(self.run_dir / "throttled")


def _point(text: str, key: str, old: str | None, path: str) -> str:
    """The layout with this key's path filled in, beside the file; every one if no old value is
    given."""
    value = ".*?" if old is None else re.escape(old)
    return re.sub(rf'^{key} = "{value}"', lambda _: f'{key} = "{path}"', text, flags=re.MULTILINE)
