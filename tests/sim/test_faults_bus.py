"""Row 10: SDA held low. Boards are unknown at once, serial lines and pins never notice."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from drivers.bus import BusAction, RecoverBus
from drivers.rig import RigAction
from hw_sim.clock import SECOND
from tests.sim.faults_bench import CHIPS, READY, UNKNOWN, Bench, Watch, inventories


class _Recording(Bench):
    """Notes when a recovery was asked for."""

    recoveries_us: list[int]

    def run(self, actions: Sequence[RigAction | BusAction]) -> None:
        if not hasattr(self, "recoveries_us"):
            self.recoveries_us = []
        self.recoveries_us += [self.now_us for a in actions if isinstance(a, RecoverBus)]
        super().run(actions)


@pytest.fixture(scope="module")
def stuck() -> tuple[_Recording, Watch, list[int]]:
    """Thirty seconds stuck, cards drawn meanwhile."""
    bench = _Recording()
    bench.set_up()
    watch = Watch(bench)
    bench.fault("stuck")
    drawn = [bench.draw() for _ in range(6)]
    bench.run_for(watch.from_us + 30 * SECOND - bench.now_us)
    return bench, watch, drawn


Stuck = tuple[_Recording, Watch, list[int]]


def test_every_board_is_unknown_within_a_second_and_says_so_once(stuck: Stuck) -> None:
    _, watch, _ = stuck
    for board in CHIPS:
        assert [r.state for r in watch.states(board)] == [UNKNOWN], board
        assert (watch.left_ready_after_us(board) or 0) <= SECOND
        assert watch.codes(board) <= {"E-EXP-006", "E-DSP-003", "E-DSP-013"}
        assert watch.codes(board)


def test_recovery_is_tried_at_most_once_in_ten_seconds(stuck: Stuck) -> None:
    bench, watch, _ = stuck
    times = bench.recoveries_us
    assert len(times) == 3
    assert all(b - a >= 10 * SECOND for a, b in itertools.pairwise(times))
    assert times[0] - watch.from_us <= 2 * SECOND
    assert watch.more("bus")["E-BUS-001"] == len(times) + 1
    assert watch.more("bus")["recoveries"] == len(times)


def test_lines_pins_and_supply_go_on_as_if_nothing_were(stuck: Stuck) -> None:
    bench, watch, drawn = stuck
    assert watch.disturbed(CHIPS) == {}
    assert watch.idle(CHIPS) == []
    assert bench.cards() == drawn
    assert inventories(bench, "chips-1") > 100


def test_afterwards_every_board_is_found_again_and_its_levels_start_anew() -> None:
    bench = Bench().set_up(cards=False, sensing=False)
    bench.sim.keyboard.down("PLAY")
    bench.run_for(SECOND)
    lamps, meter = bench.sim.lamps(), bench.sim.meter()
    bench.fault("stuck")
    bench.run_for(4 * SECOND)
    bench.fault("stuck off")
    bench.run_for(11 * SECOND)
    assert {bench.state(board) for board in CHIPS} == {READY}
    assert bench.keys() == ["PLAY"], "a key held all the while is one press"
    assert (bench.sim.lamps(), bench.sim.meter()) == (lamps, meter)
