"""When a rig wants to go on is remembered, not asked of every machine: it must never be wrong."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from drivers.bus import BusAction
from drivers.orders import (
    AcknowledgeCredit,
    EnableAcceptors,
    LockCards,
    ReleaseCredit,
    ShowLamps,
    ShowPrompt,
    SweepAntennas,
    WatchAntennas,
)
from drivers.readings import CreditOffered, CreditTaken
from drivers.rig import RigAction
from hw_sim.clock import SECOND
from hw_sim.scenario import HERE
from tests.sim.devices import VirtualDevices

FAULTS = (
    "unplug chips-1", "mute shoe", "nak keys-1 3", "brownout sensors", "stuck", "stuck off",
    "replug chips-1", "mute shoe off", "split chips-2 6000", "flip chips-3 0.001", "absent prompt",
    "antenna 1 1", "split chips-2 0", "flip chips-3 0", "absent prompt off", "antenna 1 1 off",
)  # fmt: skip


class Checked(VirtualDevices):
    """Asks every machine after everything that happens."""

    checks = 0

    def run(self, actions: Sequence[RigAction | BusAction]) -> None:
        super().run(actions)
        rig, bus = self.rig, self.rig.bus
        for place in bus._places:
            if place is not bus._running:
                assert place.due_us == max(place.board.wake_us, place.ended_us), place.board.name
        machines = (*rig.lines.values(), rig.field, rig.pins, rig.supply)
        wakes = [machine.wake_us for machine in machines if machine is not None]
        assert rig.wake_us == min(wake for wake in wakes if wake is not None)
        self.checks += 1


@pytest.mark.parametrize("seed", [1, 2])
def test_no_wake_time_is_ever_wrong(seed: int) -> None:
    table = Checked(HERE / "tables" / "full.toml", seed)
    felt, spots = table.sim.felt, frozenset(table.layout.spots)
    table.start()
    table.run_for(2 * SECOND)
    table.order(WatchAntennas(spots))
    table.order(LockCards(locked=False))
    table.order(EnableAcceptors(frozenset(range(1, 8))))
    acceptors = table.sim.acceptors
    assert acceptors is not None
    for number, fault in enumerate(FAULTS, 1):
        places = sorted(table.layout.spots.values())
        seat, spot = places[(7 * number + seed) % len(places)]
        felt.place(seat, spot, felt.rack.pay_stack(500, number % 3 + 1))
        table.faults.do(fault)
        table.order(ShowLamps(("live" if number % 2 else "open",) * 7))
        table.order(ShowPrompt((f"FAULT {number}", "", fault.upper()[:20], "")))
        acceptors.insert(number % 7 + 1)
        if number % 4 == 0:
            table.order(SweepAntennas(number, spots))
        table.run_for(SECOND // 2)
        for reading in list(table.readings):
            match reading:
                case CreditOffered(_, seat, credit) if seat % 2:
                    table.order(AcknowledgeCredit(seat, credit))
                case CreditOffered():
                    # Given back; the seat is enabled again when its line has fallen, by no order.
                    table.order(EnableAcceptors(frozenset()))
                    table.order(EnableAcceptors(frozenset(range(1, 8))))
                case CreditTaken(_, seat, credit):
                    table.order(ReleaseCredit(seat, credit))
        table.readings.clear()
        table.run_for(SECOND // 2)
    assert table.rig.counters()["acceptors"]["credits taken"] >= 2
    assert table.rig.counters()["acceptors"]["credits offered"] > 5
    table.order(WatchAntennas(frozenset()))
    table.run_for(SECOND)
    assert table.checks > 5_000
