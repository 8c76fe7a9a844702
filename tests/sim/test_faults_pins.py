"""Row 11 and the supply: chattering contacts, lost edges, rails and flags."""

from __future__ import annotations

import pytest

from drivers.gpio.driver import SILENT_US
from drivers.readings import SupplyRead, SwitchRead
from hw_sim.clock import MS, SECOND
from tests.sim.faults_bench import READY, UNKNOWN, Bench, Watch

CORRECTED_US = 100 * MS
"""Two samples of the transport, 50 ms apart; docs/protocols/gpio.md allows 120 ms."""


class _Edged(Bench):
    """Every edge that is told makes a sample at once: the worst that a shell may do."""

    def start(self) -> None:
        super().start()
        self.sim.pins.listeners.append(lambda _number, _level: self.look_at_pins())


def switches(watch: Watch) -> list[tuple[str, bool]]:
    return [(r.name, r.on) for r in watch.readings if isinstance(r, SwitchRead)]


@pytest.mark.parametrize("bench", [Bench(), _Edged()], ids=("sampled", "sampled at every edge"))
def test_two_hundred_edges_in_five_milliseconds_are_one_change(bench: Bench) -> None:
    bench.set_up(cards=False, sensing=False)
    for pin, level, on in (
        ("door", 1, True), ("door", 0, False),
        ("supervisor_key", 0, True), ("supervisor_key", 1, False),
        ("power_fail", 0, True), ("power_fail", 1, False),
    ):  # fmt: skip
        watch = Watch(bench)
        bench.fault(f"bounce {pin} {level} 200")
        bench.run_for(500 * MS)
        assert switches(watch) == [(pin, on)]
    watch = Watch(bench)
    bench.fault("bounce door 0 200")
    bench.run_for(500 * MS)
    assert switches(watch) == [], "it came to rest where it was"
    assert bench.not_ready() == {}


@pytest.mark.parametrize("pin", ["door", "supervisor_key", "power_fail"])
@pytest.mark.parametrize("offset_ms", [0, 13, 26, 39])
def test_a_lost_edge_is_corrected_by_the_level(pin: str, offset_ms: int) -> None:
    bench = _Edged()
    bench.set_up(cards=False, sensing=False)
    bench.run_for(offset_ms * MS)
    bench.fault(f"edges {pin}")
    at_rest = bench.sim.pins.levels[bench.sim.layout.pins[pin]]
    for level in (not at_rest, at_rest):
        watch = Watch(bench)
        bench.fault(f"pin {pin} {int(level)}")
        bench.run_for(CORRECTED_US)
        assert switches(watch) == [(pin, level != at_rest)]
    bench.fault(f"edges {pin} off")


def test_the_interrupt_wire_cut_costs_no_key() -> None:
    bench = _Edged()
    bench.set_up(cards=False, sensing=False)
    bench.fault("edges expander_int")
    for key in ("OPEN", "1", "CALL"):
        bench.sim.keyboard.press(key)
        bench.run_for(500 * MS)
    assert bench.keys() == ["OPEN", "1", "CALL"]


def test_door_and_rail_are_told_by_their_verbs() -> None:
    bench = Bench().set_up(cards=False, sensing=False)
    for sentence, told in (
        ("door open", ("door", True)), ("door closed", ("door", False)),
        ("powerfail", ("power_fail", True)), ("powerfail off", ("power_fail", False)),
    ):  # fmt: skip
        watch = Watch(bench)
        bench.fault(sentence)
        bench.run_for(CORRECTED_US)
        assert switches(watch) == [told]


def test_under_voltage_is_told_within_two_seconds_and_its_memory_stays() -> None:
    bench = Bench().set_up(cards=False, sensing=False)
    watch = Watch(bench)
    bench.fault("undervoltage")
    bench.run_for(2 * SECOND)
    bench.fault("undervoltage off")
    bench.run_for(2 * SECOND)
    assert [r.flags for r in watch.readings if isinstance(r, SupplyRead)] == [0x50005, 0x50000]
    assert watch.disturbed([]) == {}


def test_pins_that_are_sampled_no_more_are_unknown_within_a_second() -> None:
    bench = Bench().set_up(cards=False, sensing=False)
    watch = Watch(bench)
    bench.sampling = False
    bench.run_for(SECOND)
    assert [(r.state, r.reason and r.reason.code) for r in watch.states("pins")] == [
        (UNKNOWN, "E-PIN-001")
    ]
    assert (watch.left_ready_after_us("pins") or 0) <= SILENT_US
    bench.sampling = True
    bench._sample()
    bench.run_for(SECOND)
    assert bench.state("pins") is READY
    assert len(switches(watch)) == 3, "every pin is told again"
    assert watch.more("pins")["silences"] == 1
