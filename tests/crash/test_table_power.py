"""A share of ``make crash``: the power goes somewhere in a round, and it ends the same."""

from __future__ import annotations

from random import Random

import pytest

from hw_sim.scenario import find, load
from record.journal import JournalFailed
from tests.crash.run import ROUNDS, outcome
from tests.crash.table import CrashTable

SEED = 20261116
CALLS = 200
"""Every round has at least so many calls; ``make crash`` cuts at all of them."""


@pytest.mark.parametrize("name", ROUNDS)
def test_the_power_goes_somewhere_in_the_round(name: str) -> None:
    rng = Random(f"{SEED} {name}")
    cuts = [rng.randrange(1, CALLS) for _ in range(3)]
    assert [outcome(name, cut, SEED) for cut in cuts] == ["", "", ""]


def test_a_claim_whose_message_the_power_cut_took_is_sent_again() -> None:
    assert outcome("mbs3-plain", 235, 1) == ""


def test_a_selection_that_was_not_asked_for_before_the_power_went_is_asked_for() -> None:
    assert outcome("mega-plain", 125, 1) == ""


def test_a_failing_sync_stops_the_table_and_nothing_leaves_it_afterwards() -> None:
    table = CrashTable(load(find("mbs3-plain")))
    released: list[int] = []
    table.on_released = lambda _released: released.append(table.disk.calls)
    syncs = [100]
    table.disk.fail_at = {syncs[0]: 5}
    with pytest.raises(JournalFailed):
        table.play()
    assert max(released) < syncs[0]
    with pytest.raises(JournalFailed):
        table.writer.work([], 0)
