"""Cables and stuck writes for real: the simulator in a process of its own, ptys, a socket.

Outcomes are polled with a generous deadline; no time is asserted, as the machine may be busy. What
the times must be is asserted in virtual time (test_faults_lines).
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from drivers.base import DeviceIdentified, DeviceState, StateReported
from drivers.build import build
from drivers.layout import load
from drivers.orders import LockCards, ShowLamps, ShowMeter, ShowSign, WatchAntennas
from drivers.readings import Reading, SwitchRead
from drivers.transport.hub import Hub
from tests.e2e.table import ROOT, start, wait_for
from tests.patience import PATIENCE_S

READY, UNKNOWN, LOCKED = DeviceState.READY, DeviceState.UNKNOWN, DeviceState.LOCKED


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    run = tmp_path_factory.mktemp("live") / "run"
    sim = start("sim", "--game", "MBS3", "--run", str(run))
    try:
        wait_for(run / "control", sim)
        yield run
    finally:
        stop(sim)


def stop(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


class Live:
    """The drivers on the loop, with what they said last."""

    def __init__(self, run: Path) -> None:
        self.run_dir = run
        self.layout = load(run / "layout.toml")
        self.rig = build(self.layout)
        self.states: dict[str, StateReported] = {}
        self.identified: Counter[str] = Counter()
        self.switches: dict[str, bool] = {}
        self.ticks = 0
        self.hub = Hub(self.rig, self.layout, self._heard)

    def _heard(self, reading: Reading) -> None:
        if isinstance(reading, StateReported):
            self.states[reading.device] = reading
        elif isinstance(reading, DeviceIdentified):
            self.identified[reading.device] += 1
        elif isinstance(reading, SwitchRead):
            self.switches[reading.name] = reading.on

    async def fault(self, sentence: str) -> None:
        """In a thread: the loop must be free to read its ports meanwhile."""
        address = (self.run_dir / "control").read_text("ascii").strip()
        body = json.dumps({"do": sentence}).encode()

        request = urllib.request.Request(
            f"{address}/fault", body, {"Content-Type": "application/json"}
        )

        def post() -> None:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                assert answer.status == 200

        await asyncio.to_thread(post)

    async def until(self, what: Callable[[], bool], why: str) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE_S
        while not what():
            assert loop.time() < deadline, f"{why}: {self.states}"
            await asyncio.sleep(0.02)

    def is_in(self, device: str, state: DeviceState, code: str | None = None) -> bool:
        said = self.states.get(device)
        reason = None if said is None or said.reason is None else said.reason.code
        return said is not None and said.state is state and code in (None, reason)

    def all_ready(self) -> bool:
        lines = [*self.rig.lines, *(chip.name for chip in self.rig.bus.boards), "pins", "supply"]
        return all(self.is_in(device, READY) for device in lines)

    def work(self) -> dict[str, int]:
        """How much every device did so far; the sign is asked every ten seconds only."""
        return {d: c.total() for d, c in self.rig.counters().items() if d != "sign"}

    async def others_work(self, *but: str) -> None:
        """Every other device goes on: its counters rise, and it is READY."""
        before = self.work()
        others = [device for device in before if device not in but]
        await self.until(
            lambda: all(self.work()[d] > before[d] for d in others), "somebody stands still"
        )
        quiet = [d for d in others if d != "bus"]
        await self.until(lambda: all(self.is_in(d, READY) for d in quiet), "somebody was hurt")

    async def tick(self) -> None:
        while True:
            self.ticks += 1
            await asyncio.sleep(0.01)


def live(run: Path, play: Callable[[Live], Awaitable[None]]) -> None:
    async def main() -> None:
        table = Live(run)
        ticking = asyncio.create_task(table.tick())
        table.hub.start()
        for order in (
            WatchAntennas(frozenset(table.layout.spots)), LockCards(locked=False),
            ShowLamps(("open",) * 7), ShowMeter("1,234.56"), ShowSign("$1,234.56"),
        ):  # fmt: skip
            table.hub.order(order)
        try:
            await table.until(table.all_ready, "not all ready at the start")
            await play(table)
            await table.until(table.all_ready, "not all ready at the end")
        finally:
            ticking.cancel()
            table.hub.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("line", "code"), [("chips-1", "E-FEIG-011"), ("shoe", "E-CDP-011"), ("sign", "E-DSP-025")]
)
def test_unplugged_in_the_middle_of_its_talk_and_plugged_in_again(
    run_dir: Path, line: str, code: str
) -> None:
    async def play(table: Live) -> None:
        port = table.run_dir / line
        await table.fault(f"unplug {line}")
        await table.until(lambda: table.is_in(line, UNKNOWN, "E-SER-001"), "still there")
        assert not port.exists()
        await table.others_work(line)
        before = table.identified[line]
        await table.fault(f"replug {line}")
        await table.until(lambda: table.is_in(line, READY), "not back")
        if line != "sign":
            assert table.identified[line] == before + 1
        assert table.hub._ports[line]._failures == 0, "the back-off starts anew"
        assert table.rig.counters()[line][code] >= 1

    live(run_dir, play)


def test_renamed_by_the_kernel_and_found_under_its_port(run_dir: Path) -> None:
    async def play(table: Live) -> None:
        port = table.run_dir / "shoe"
        old, before = port.readlink(), table.identified["shoe"]
        await table.fault("rename shoe")
        await table.until(lambda: table.identified["shoe"] > before, "not identified again")
        assert port.readlink() != old
        await table.until(lambda: table.is_in("shoe", READY), "not back")
        await table.others_work("shoe")

    live(run_dir, play)


def test_two_readers_swapped_are_locked_until_they_are_put_right(run_dir: Path) -> None:
    async def play(table: Live) -> None:
        await table.fault("swap chips-1 chips-2")
        for line in ("chips-1", "chips-2"):
            await table.until(
                lambda line=line: table.is_in(line, LOCKED, "E-FEIG-016"),  # type: ignore[misc]
                f"{line} is not locked",
            )
        await table.others_work("chips-1", "chips-2")
        await table.fault("swap chips-1 chips-2")

    live(run_dir, play)


def test_a_write_that_is_stuck_never_stops_the_loop(run_dir: Path) -> None:
    """Nobody reads the shoe's port: its buffers are filled until a byte does not move."""

    async def play(table: Live) -> None:
        port = table.hub._ports["shoe"]
        await table.fault("stick shoe")

        def given_up() -> bool:
            if len(port._waiting) < 2_000:  # the kernel takes some more now and then
                port.write(bytes(1_000))
            return table.is_in("shoe", UNKNOWN, "E-CDP-011")

        ticks = table.ticks
        await table.until(given_up, "never given up")
        assert table.ticks > ticks + 10, "the loop stood still"
        await table.others_work("shoe")
        await table.fault("stick shoe off")

    live(run_dir, play)


def test_a_stuck_bus_hangs_its_thread_only(run_dir: Path) -> None:
    async def play(table: Live) -> None:
        chips = [chip.name for chip in table.rig.bus.boards]
        await table.fault("stuck")
        await table.until(lambda: all(table.is_in(c, UNKNOWN) for c in chips), "still known")
        ticks = table.ticks
        await table.others_work("bus", *chips)
        assert table.ticks > ticks
        await table.fault("stuck off")

    live(run_dir, play)


def test_a_simulator_that_was_killed_is_found_again(tmp_path: Path) -> None:
    """Ports, bus and pins all go at once, as when a hub or a board loses its supply."""
    run = tmp_path / "run"
    command = ("sim", "--game", "MBS3", "--run", str(run))
    sims = [start(*command)]
    wait_for(run / "control", sims[0])

    async def play(table: Live) -> None:
        stop(sims[-1])
        devices = [d for d in table.work() if d not in ("bus", "supply")]
        await table.until(lambda: all(table.is_in(d, UNKNOWN) for d in devices), "still there")
        (run / "control").unlink()
        sims.append(start(*command))
        await table.until((run / "control").exists, "no second simulator")
        await table.until(table.all_ready, "not all found again")
        assert table.switches["supervisor_key"] is False
        await table.fault("pin supervisor_key 0")
        await table.until(lambda: table.switches["supervisor_key"], "the key is not seen")

    try:
        live(run, play)
    finally:
        for sim in sims:
            stop(sim)


def test_a_table_works_from_another_folder_than_the_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The simulator was given a path relative to where it was started."""
    run = tmp_path / "run"
    where = os.path.relpath(run, ROOT)
    sim = start("sim", "--game", "MBS3", "--run", where)

    async def play(table: Live) -> None:
        assert table.all_ready()

    try:
        wait_for(run / "control", sim)
        monkeypatch.chdir(tmp_path)
        live(Path("run"), play)
    finally:
        stop(sim)
