"""A share of ``make crash``: the power goes somewhere in a round, and it ends the same."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from hw_sim.scenario import find, load
from record.journal import JournalFailed
from tests.crash.proofs import (
    DAY,
    KILLED,
    POWER,
    ROUNDS,
    SYNC,
    Case,
    day_calls,
    disk_full,
    flipped,
    happens,
    happens_everywhere,
    middle_of,
    numbers_of,
    truncated,
    truncated_and_played,
)
from tests.record.journal.simdisk import SimDisk
from tests.sim.table import VirtualTable

SEED = 20261116
CALLS = 200
"""Every round has at least so many calls; ``make crash`` cuts at all of them."""


@pytest.mark.parametrize("name", ROUNDS)
def test_the_power_goes_somewhere_in_the_round(name: str) -> None:
    rng = Random(f"{SEED} {name}")
    cuts = [Case(name, rng.randrange(1, CALLS), SEED) for _ in range(3)]
    assert [happens(POWER, cut) for cut in cuts] == ["", "", ""]


def test_a_claim_whose_message_the_power_cut_took_is_sent_again() -> None:
    assert happens(POWER, Case("mbs3-plain", 235, 1)) == ""


def test_a_selection_that_was_not_asked_for_before_the_power_went_is_asked_for() -> None:
    assert happens(POWER, Case("mega-plain", 125, 1)) == ""


@pytest.mark.parametrize("call", [87, 121, 123])
def test_people_do_again_what_the_dead_computer_did_not_take(call: int) -> None:
    """A credit in the throat, the closing call: nobody had told the players that it counted."""
    assert happens(POWER, Case("mega-plain", call, 1)) == ""


@pytest.mark.parametrize(
    "name", ["pp6-plain", pytest.param("nsw-shuffler-plain", marks=pytest.mark.slow)]
)
def test_a_gaming_day_that_is_closed_while_the_power_goes(name: str) -> None:
    """Without the sign of the Act; with it, twenty minutes of virtual time before each cut."""
    calls = day_calls(name)
    assert len(calls) > 4
    cuts = Random(SEED).sample(calls, 3)
    assert [happens(DAY, Case(name, cut, SEED)) for cut in cuts] == ["", "", ""]


def test_killed_at_a_write_and_at_a_failing_sync() -> None:
    rng = Random(SEED)
    name = "rico-plain"
    assert happens(KILLED, Case(name, rng.choice(numbers_of(name, "write")), SEED)) == ""
    assert happens(SYNC, Case(name, rng.choice(numbers_of(name, "sync")), SEED)) == ""


def test_a_segment_cut_at_every_byte_of_its_last_record_and_the_table_resumed() -> None:
    case = Case("pp6-plain", middle_of("pp6-plain", SEED), SEED)
    offsets, wrong = truncated(case)
    assert offsets > 200
    assert wrong == []
    assert truncated_and_played(case, 100) == ""


def test_flipped_bits_of_a_tables_journal_are_found_by_both_readers() -> None:
    assert flipped("mbs3-plain", 40, SEED) == (40, 40)


def test_a_round_ends_on_a_full_disk_and_no_other_opens_until_there_is_room() -> None:
    assert disk_full("pp6-plain", SEED) == ""


def test_a_failing_sync_stops_the_table_and_nothing_leaves_it_afterwards() -> None:
    table = VirtualTable(load(find("mbs3-plain")))
    released: list[int] = []
    table.on_released = lambda _released: released.append(table.disk.calls)
    syncs = [100]
    table.disk.fail_at = {syncs[0]: 5}
    with pytest.raises(JournalFailed):
        table.play()
    assert max(released) < syncs[0]
    with pytest.raises(JournalFailed):
        table.writer.work([], 0)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # a fork beside threads
def test_all_cases_from_one_run_and_a_disk_that_forgets_is_found_out() -> None:
    name = "pp6-plain"
    assert happens_everywhere(POWER, name, SEED, (30, 120, 150), 2) == []
    forgets = replace(POWER, left_by=lambda _disk, _random: SimDisk())
    (said,) = happens_everywhere(forgets, name, SEED, (120,), 1)
    assert said.startswith(f"{name}, 120, seed {SEED}: ")
