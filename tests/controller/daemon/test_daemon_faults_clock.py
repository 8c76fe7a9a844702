"""Fault row 23: the wall clock jumps a day back and ten years ahead, in the middle of rounds.

Order, dedup, timeouts and settlement go by sequence and monotonic time; both stamps are kept.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from hw_sim.scenario import find, load
from record.journal import Record
from tests.sim.table import VirtualTable, differences

DAY_MS = 86_400_000
JUMPS = (0, -DAY_MS, 3652 * DAY_MS)
EVERY = 5
CUT_AT = 120


class JumpingTable(VirtualTable):
    """Its wall clock is wrong two times out of three."""

    asked = 0

    def _ms(self) -> int:
        self.asked += 1
        return super()._ms() + JUMPS[self.asked // EVERY % len(JUMPS)]


def ended(table: VirtualTable) -> list[Record]:
    """Play; the round is settled as written. The journal's records."""
    table.play()
    history = table.writer.core.state.history
    assert len(history) == len(table.scenario.rounds)
    for expected, archive in zip(table.scenario.rounds, history, strict=True):
        assert differences(expected, archive.result) == []
    return list(table.journal.records())


def told(records: list[Record]) -> list[Any]:
    """What was said, and when by the monotonic clock. Sealed cards differ between journals."""
    found: list[Any] = []
    for record in records:
        body = json.loads(record.body)
        if record.kind == "fact":
            body["of"].pop("card", None)
            body["of"].pop("cards", None)
            found.append(body)
        elif record.kind in ("shown", "device", "alarm"):
            found.append([record.kind, body])
    return found


@pytest.mark.parametrize("name", ["mbs3-plain", "nsw-shuffler-plain"])
def test_order_timeouts_and_settlement_do_not_know_the_wall_clock(name: str) -> None:
    right = ended(VirtualTable(load(find(name))))
    wrong = ended(JumpingTable(load(find(name))))
    assert told(wrong) == told(right)
    assert [record.kind for record in wrong] == [record.kind for record in right]


def test_both_stamps_are_in_the_journal() -> None:
    records = ended(JumpingTable(load(find("mbs3-plain"))))
    wall = [record.at_ms for record in records]
    steps = [after - before for before, after in pairwise(wall)]
    assert min(steps) < -3000 * DAY_MS
    assert max(steps) > 3000 * DAY_MS
    facts = [json.loads(record.body)["at_ms"] for record in records if record.kind == "fact"]
    assert facts == sorted(facts)
    assert facts[-1] - facts[0] < DAY_MS


def test_a_power_cut_under_a_jumping_clock_is_like_any_other() -> None:
    table = JumpingTable(load(find("mbs3-plain")), cut_at=CUT_AT)
    ended(table)
    assert table.starts == 2
