"""Rows 9 and 12 at the felt: flapping chips, broken antennas; and credits through every trouble."""

from __future__ import annotations

from typing import Final

import pytest

from drivers.orders import SweepAntennas
from drivers.readings import (
    AntennaFailed,
    CreditOffered,
    CreditTaken,
    SpotLost,
    SpotMoving,
    SpotSettled,
    SweepAgreed,
)
from hw_sim.clock import MS, SECOND
from tests.sim.faults_bench import (
    DEGRADED,
    READY,
    Bench,
    Watch,
    settled_wrongly,
    standing,
    truth_of,
)

# --- chips ---------------------------------------------------------------------------------------


def test_a_flapping_chip_is_one_moving_spell_and_settles_when_it_lies_still() -> None:
    bench = Bench().set_up(cards=False)
    truth = truth_of(bench)
    flapping = bench.antenna(1, "1")
    watch = Watch(bench)
    bench.fault("flap 1 1")
    bench.run_for(20 * SECOND)
    said = [r for r in watch.readings if isinstance(r, SpotMoving | SpotSettled | SpotLost)]
    assert [(type(r), r.antenna) for r in said] == [(SpotMoving, flapping)]
    assert watch.disturbed([]) == {}, "the reader is well"
    bench.fault("flap 1 1 off")
    bench.run_for(5 * SECOND)
    assert settled_wrongly(watch, truth) == []
    assert standing(bench)[1, "1"] == truth[1, "1"]


def test_a_sweep_over_a_flapping_chip_calls_that_spot_uncertain_and_no_other_wrong() -> None:
    bench = Bench().set_up(cards=False)
    truth = truth_of(bench)
    flapping = bench.antenna(1, "1")
    bench.fault("flap 1 1")
    bench.run_for(3 * SECOND)
    for number in range(1, 6):
        watch = Watch(bench)
        bench.order(SweepAntennas(number, frozenset(bench.layout.spots)))
        bench.run_for(15 * SECOND)
        [sweep] = [r for r in watch.readings if isinstance(r, SweepAgreed)]
        assert set(sweep.uncertain) <= {flapping}
        for antenna, tags in sweep.tags:
            place = bench.layout.spots[antenna]
            allowed = {truth.get(place, frozenset())}
            if antenna == flapping:
                allowed.add(frozenset())  # it was really away, twice running
            assert tags in allowed


def test_a_broken_antenna_is_lost_alone_and_its_reader_degraded() -> None:
    bench = Bench().set_up(cards=False)
    truth = truth_of(bench)
    watch = Watch(bench)
    bench.fault("antenna 1 1")
    bench.run_for(5 * SECOND)
    lost = [r for r in watch.readings if isinstance(r, SpotLost)]
    assert [(r.antenna, r.code) for r in lost] == [(bench.antenna(1, "1"), "E-FEIG-020")]
    assert (bench.state("chips-1"), bench.reason("chips-1")) == (DEGRADED, "E-FEIG-020")
    assert (watch.left_ready_after_us("chips-1") or 0) <= SECOND
    assert watch.more("chips-1")["E-FEIG-020"] >= 3
    failed = [r for r in watch.readings if isinstance(r, AntennaFailed)]
    assert len(failed) <= 6, "at most one visit a second"
    assert watch.disturbed(["chips-1"]) == {}
    bench.fault("antenna 1 1 off")
    bench.run_for(4 * SECOND)
    assert bench.not_ready() == {}
    assert standing(bench)[1, "1"] == truth[1, "1"]
    assert settled_wrongly(watch, truth) == []


def test_chips_moved_while_a_reader_is_away_are_told_when_it_is_back() -> None:
    bench = Bench().set_up(cards=False)
    bench.fault("unplug chips-1")
    bench.run_for(SECOND)
    bench.sim.felt.take(1, "1")
    bench.lay(2, "1", 700)
    watch = Watch(bench)
    bench.run_for(SECOND)
    assert not [r for r in watch.readings if isinstance(r, SpotSettled)]
    bench.fault("replug chips-1")
    bench.run_for(5 * SECOND)
    assert settled_wrongly(watch, truth_of(bench)) == []
    assert standing(bench)[1, "1"] == frozenset()
    assert standing(bench)[2, "1"] == truth_of(bench)[2, "1"]


# --- credits -------------------------------------------------------------------------------------

SEAT: Final = 3
TROUBLES: Final = (
    "nak acceptors 2", "nak acceptors 6", "nak sensors 2", "nak sensors 6",
    "stale acceptors 3", "stale sensors 3", "absent acceptors", "absent sensors",
    "brownout sensors", "stuck",
)  # fmt: skip
STEPS_US: Final = (0, 30 * MS, 60 * MS, 90 * MS, 130 * MS, 180 * MS, 300 * MS, 400 * MS)
"""After the chip goes in: drawn in, offered, acknowledged, dropped, taken, released."""


def end(trouble: str) -> str | None:
    return f"{trouble} off" if trouble.startswith(("absent", "stuck")) else None


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_credit_is_neither_lost_nor_doubled_whenever_the_trouble_comes(trouble: str) -> None:
    """One credit per step of the handshake; box, readings and numbers agree after each."""
    bench = Bench().set_up(cards=False, sensing=False)
    acceptors = bench.sim.acceptors
    assert acceptors is not None
    for after_us in STEPS_US:
        before = len([r for r in bench.readings if isinstance(r, CreditTaken)])
        assert acceptors.insert(SEAT)
        bench.run_for(after_us)
        bench.fault(trouble)
        bench.run_for(2 * SECOND)
        if (off := end(trouble)) is not None:
            bench.fault(off)
            bench.run_for(12 * SECOND if trouble == "stuck" else 4 * SECOND)
        offered = [r for r in bench.readings if isinstance(r, CreditOffered)]
        taken = [r for r in bench.readings if isinstance(r, CreditTaken)]
        assert len(taken) == before + 1, f"after {after_us} us"
        assert [r.number for r in taken] == [r.number for r in offered]
        assert acceptors.boxes[SEAT] == len(taken)
        assert acceptors.returned[SEAT] == 0
    assert bench.not_ready() == {}


@pytest.mark.parametrize("after_us", STEPS_US)
def test_a_credit_over_a_loss_of_the_acceptors_supply_is_told_or_in_doubt(after_us: int) -> None:
    """Taken, returned, or in doubt with the seat named; never silently one or the other."""
    bench = Bench().set_up(cards=False, sensing=False)
    acceptors = bench.sim.acceptors
    assert acceptors is not None
    assert acceptors.insert(SEAT)
    bench.run_for(after_us)
    bench.fault("brownout acceptors")
    bench.run_for(6 * SECOND)
    offered, taken, returned = bench.credits()
    assert offered == 1
    assert taken + returned <= 1
    if taken + returned == 0:
        assert (bench.state("acceptors"), bench.reason("acceptors")) == (DEGRADED, "E-ACC-002")
    else:
        assert bench.state("acceptors") is READY
        assert (acceptors.boxes[SEAT], acceptors.returned[SEAT]) == (taken, returned)
    assert bench.states["acceptors"][1].reason is not None
    assert bench.states["acceptors"][1].reason.code == "E-EXP-003"
