"""A count-up through the real drivers: each step read back, the digits never above their value."""

from __future__ import annotations

from drivers.base import StateReported
from drivers.readings import Shown
from hw_sim.clock import MS, SECOND
from hw_sim.scenario import find, load
from tests.sim.table import METER, VirtualTable


def cents(text: str) -> int:
    return int("".join(c for c in text if c.isdecimal()))


def test_the_meters_digits_rise_to_the_value_and_the_sign_follows() -> None:
    table = VirtualTable(load(find("mbs3-plain")))
    table.begin()
    table.run_for(5 * SECOND)
    assert cents(table.bench.sim.meter()) == METER
    readings = len(table.bench.readings)
    table.meter(METER + 5_025)
    seen = []
    for _ in range(3000):
        table.bench.run_for(MS)
        seen.append(cents(table.bench.sim.meter()))
    assert seen[-1] == METER + 5_025
    assert max(seen) == METER + 5_025, "not even while the three chips are written"
    assert len(set(seen)) > 20, "it counts"
    table.bench.run_for(5 * SECOND)
    sign = table.bench.sim.sign
    assert sign is not None
    assert "$123,507.03" in sign.visible()
    since = table.bench.readings[readings:]
    steps = [r for r in since if isinstance(r, Shown) and r.device == "meter-3"]
    assert len(steps) > 10, "every step was read back"
    assert not [r for r in since if isinstance(r, StateReported)]
