"""The largest table keeps its time budget (docs/protocols/timing.md), in virtual time."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from drivers.base import BusOp, DeviceState, StateReported
from drivers.orders import ShowLamps, ShowPrompt, SweepAntennas, WatchAntennas
from drivers.readings import Antenna, AntennaRead, Shown, SpotSettled, SweepAgreed
from hw_sim.clock import MS, SECOND
from hw_sim.scenario import HERE
from tests.sim.devices import VirtualDevices

PAGE = Path(__file__).resolve().parents[2] / "docs" / "protocols" / "timing.md"
RUN_US = 20 * SECOND


class Watched(VirtualDevices):
    """Notes when each chip was asked."""

    def __init__(self) -> None:
        super().__init__(HERE / "tables" / "full.toml")
        self.batches: dict[int, list[int]] = defaultdict(list)
        self.polled: tuple[object, ...] = ()
        """All that was read while nothing was ordered."""

    def batch(self, address: int, ops: tuple[BusOp, ...]) -> None:
        self.batches[address].append(self.now_us)
        super().batch(address, ops)

    def worst_us(self, times: list[int], since_us: int) -> int:
        inside = [since_us, *(t for t in times if t > since_us), self.now_us]
        return max(b - a for a, b in pairwise(inside))


@pytest.fixture(scope="module")
def table() -> Watched:
    """Three chips on each of the 42 spots, all devices ready, all spots watched for a while."""
    table = Watched()
    felt = table.sim.felt
    for seat, spot in table.layout.spots.values():
        felt.place(seat, spot, felt.rack.pay_stack(500, 3))
    table.start()
    table.run_for(2 * SECOND)
    states = {r.device: r.state for r in table.readings if isinstance(r, StateReported)}
    assert set(states.values()) == {DeviceState.READY}
    assert len(states) == 6 + 11 + 2
    table.order(WatchAntennas(frozenset(table.layout.spots)))
    table.run_for(RUN_US)
    table.polled = tuple(table.readings)
    return table


@pytest.mark.parametrize(
    ("chips", "every_ms"),
    [
        (("keys-1", "keys-2", "sensors"), 75),
        (("lamps-1", "lamps-2", "acceptors"), 600),
        (("meter-1", "meter-2", "meter-3", "magic", "prompt"), 900),
    ],
)
def test_every_chip_is_polled_in_time(
    table: Watched, chips: tuple[str, ...], every_ms: int
) -> None:
    for chip in chips:
        worst_us = table.worst_us(table.batches[table.layout.boards[chip]], 2 * SECOND)
        assert worst_us <= every_ms * MS, (chip, worst_us)


def test_every_armed_spot_is_read_once_a_cycle(table: Watched) -> None:
    reads: dict[Antenna, list[int]] = defaultdict(list)
    for reading in table.polled:
        if isinstance(reading, AntennaRead):
            assert len(reading.tags) == 3
            reads[reading.antenna].append(reading.at_us)
    assert reads.keys() == table.layout.spots.keys()
    busiest_cycle_us = 1_870 * MS  # 12 spots on the busiest reader, as 1.71 s for 11
    for antenna, times in reads.items():
        worst_us = max(b - a for a, b in pairwise(times))
        assert worst_us <= busiest_cycle_us, (antenna, worst_us)
    settled = {r.antenna for r in table.polled if isinstance(r, SpotSettled)}
    assert settled == table.layout.spots.keys()


def test_nothing_was_in_trouble(table: Watched) -> None:
    assert not table.rig.bus.counters["failed"]
    bad = {
        (name, code): count
        for name, counters in table.rig.counters().items()
        for code, count in counters.items()
        if code.startswith("E-")
    }
    assert not bad


def test_a_sweep_of_all_spots_keeps_the_page(table: Watched) -> None:
    begun_us = table.now_us
    table.order(SweepAntennas(1, frozenset(table.layout.spots)))
    table.run_for(8 * SECOND)
    (agreed,) = [r for r in table.readings if isinstance(r, SweepAgreed)]
    assert not agreed.uncertain
    assert all(len(tags) == 3 for _, tags in agreed.tags)
    one_visit_us = 200 * MS
    assert agreed.at_us - begun_us <= 3_720 * MS + one_visit_us  # 12 spots, as 3.40 s for 11


def test_orders_reach_lamps_and_prompt_in_time(table: Watched) -> None:
    for order, device, limit_ms in (
        (ShowLamps(("live",) * 7), "lamps-1", 60),
        (ShowLamps(("open",) * 7), "lamps-2", 60),
        (ShowPrompt(("A" * 20, "B" * 20, "C" * 20, "D" * 20)), "prompt", 400),
    ):
        before = len(table.readings)
        ordered_us = table.now_us
        table.order(order)
        table.run_for(SECOND)
        shown = [
            r.at_us for r in table.readings[before:] if isinstance(r, Shown) and r.device == device
        ]
        assert shown, device
        assert shown[0] - ordered_us <= limit_ms * MS, (device, shown[0] - ordered_us)
    assert table.sim.prompt() == ["A" * 20, "B" * 20, "C" * 20, "D" * 20]
    assert table.sim.lamps() == ["open"] * 7


def test_the_page_states_these_figures() -> None:
    text = PAGE.read_text("utf-8")
    stated = re.findall(r"every (\d+) ms", text)
    assert stated[:4] == ["75", "600", "900", "900"]
    assert "| 60 ms |" in text
    assert "| 400 ms |" in text
