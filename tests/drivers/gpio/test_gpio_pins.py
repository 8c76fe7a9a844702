"""Pins: levels, not edges; one logical event however the contact bounces."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.base import DeviceState, StateReported
from drivers.gpio.driver import PinsDriver
from drivers.readings import SwitchRead

MS = 1_000
START = 9_000_000_000
REST = {"supervisor_key": True, "door": False, "power_fail": True, "expander_int": True}
VECTORS = tomllib.loads((Path(__file__).parents[2] / "vectors" / "gpio.toml").read_text("utf-8"))


def switches(readings: list[object]) -> list[tuple[str, bool]]:
    return [(r.name, r.on) for r in readings if isinstance(r, SwitchRead)]


def states(readings: list[object]) -> list[tuple[str, str]]:
    return [
        (r.state.value, r.reason.code if r.reason else "")
        for r in readings
        if isinstance(r, StateReported)
    ]


class Pi:
    """The shell: samples when it is due, in virtual time, and hears edges."""

    def __init__(self) -> None:
        self.driver = PinsDriver()
        self.now_us = START
        self.levels = dict(REST)
        self.samples = 0

    def set(self, name: str, level: bool, *, edge: bool = True) -> None:
        if self.levels[name] != level:
            self.levels[name] = level
            if edge:
                self.driver.edge(self.now_us)

    def run(self, ms: int, *, sampling: bool = True) -> list[object]:
        said: list[object] = []
        for _ in range(ms):
            self.now_us += MS
            if sampling and self.driver.sample_due_us <= self.now_us:
                self.samples += 1
                said += self.driver.sampled(self.levels, self.now_us)
            elif self.driver.wake_us <= self.now_us:
                said += self.driver.advance(self.now_us)
        return said


@pytest.mark.parametrize("vector", VECTORS["pin"], ids=lambda v: v["title"])
def test_vectors(vector: dict[str, Any]) -> None:
    driver = PinsDriver()
    heard = []
    for ms, level in vector["samples"]:
        said = driver.sampled(REST | {vector["name"]: bool(level)}, START + ms * MS)
        for reading in said:
            if isinstance(reading, SwitchRead) and reading.name == vector["name"]:
                assert reading.at_us == START + ms * MS
                heard.append([ms, int(reading.on)])
    assert heard == vector["readings"]


def test_every_pin_is_reported_once_at_the_start_then_ready() -> None:
    said = Pi().run(300)
    assert switches(said) == [("supervisor_key", False), ("door", False), ("power_fail", False)]
    assert states(said) == [("ready", "")]


@pytest.mark.parametrize("name", ["supervisor_key", "door", "power_fail"])
def test_two_hundred_edges_in_five_milliseconds_are_one_event(name: str) -> None:
    pi = Pi()
    pi.run(300)
    before = pi.samples
    said: list[object] = []
    for edge in range(200):
        pi.set(name, REST[name] == bool(edge % 2))
        if edge % 40 == 39:
            said += pi.run(1)
    pi.set(name, not REST[name])
    said += pi.run(200)
    assert switches(said) == [(name, True)]
    assert pi.samples - before <= 5


def test_a_lost_edge_is_corrected_by_the_next_sample() -> None:
    pi = Pi()
    pi.run(300)
    pi.set("door", True, edge=False)
    assert switches(pi.run(121)) == [("door", True)]
    pi.set("door", False, edge=False)
    assert switches(pi.run(121)) == [("door", False)]


@pytest.mark.parametrize("at_ms", range(300, 400, 9))
def test_a_failing_rail_is_known_26_milliseconds_after_its_edge(at_ms: int) -> None:
    pi = Pi()
    pi.run(at_ms)
    pi.set("power_fail", False)
    assert switches(pi.run(26)) == [("power_fail", True)]


def test_a_dip_shorter_than_the_filter_is_nothing() -> None:
    pi = Pi()
    pi.run(333)
    pi.set("power_fail", False)
    said = pi.run(15)
    pi.set("power_fail", True)
    said += pi.run(300)
    assert switches(said) == []


def test_the_interrupt_line_of_the_expanders_is_no_reading() -> None:
    pi = Pi()
    pi.run(300)
    pi.set("expander_int", False)
    assert pi.run(300) == []


def test_no_sample_for_a_second_is_unknown_and_every_pin_is_told_again() -> None:
    pi = Pi()
    pi.run(300)
    said = pi.run(1000, sampling=False)
    assert states(said) == [("unknown", "E-PIN-001")]
    assert states(pi.run(5000, sampling=False)) == []
    said = pi.run(300)
    assert len(switches(said)) == 3
    assert states(said) == [("ready", "")]


def test_a_host_that_slept_starts_anew_with_its_first_sample() -> None:
    pi = Pi()
    pi.run(300)
    pi.now_us += 60_000 * MS
    said = pi.run(300)
    assert states(said) == [("unknown", "E-PIN-001"), ("ready", "")]


def test_sampling_that_fails_is_unknown_at_once_with_its_reason() -> None:
    pi = Pi()
    pi.run(300)
    (report,) = pi.driver.failed("GPIOPinInUse: 17", pi.now_us)
    assert isinstance(report, StateReported)
    assert report.state is DeviceState.UNKNOWN
    assert report.reason is not None
    assert report.reason.detail == "GPIOPinInUse: 17"


def test_a_sample_without_a_pin_counts_for_nothing() -> None:
    pi = Pi()
    pi.run(300)
    del pi.levels["door"]
    said = pi.run(1100)
    assert switches(said) == []
    assert states(said) == [("unknown", "E-PIN-002")]
    assert pi.driver.counters["E-PIN-002"] > 0


@given(st.lists(st.tuples(st.integers(1, 150), st.booleans(), st.booleans())))
@settings(max_examples=50)
def test_whatever_the_contact_does_the_last_report_is_its_level_at_rest(
    story: list[tuple[int, bool, bool]],
) -> None:
    pi = Pi()
    said = pi.run(300)
    for ms, level, edge in story:
        pi.set("door", level, edge=edge)
        said += pi.run(ms)
    said += pi.run(200)
    doors = [on for name, on in switches(said) if name == "door"]
    assert doors[-1] == pi.levels["door"]
    assert all(a != b for a, b in pairwise(doors)), "once per change"
