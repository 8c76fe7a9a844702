"""The power goes anywhere in a round: no event is lost, doubled or changed, and the round ends."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from hw_sim.scenario import find, load
from record.link.events import Claimed, Contributed, Reversed, RoundPlayed
from tests.controller.link.linked import LinkedTable
from tests.sim.table import METER, differences

SEED = 20261117


def played(name: str, cut_at: int = 0, seed: int = 1) -> LinkedTable:
    table = LinkedTable(load(find(name)), cut_at, seed)
    table.play()
    table.drain()
    return table


def agrees(table: LinkedTable) -> None:
    """The server has what the journal holds, which is what the closed rounds say."""
    events = table.journalled()
    assert [event.n for event in events] == list(range(1, len(events) + 1))
    assert table.server.committed.events == events
    assert not table.server.halted
    bodies = [event.body for event in events]
    posted = sum(w.cents for b in bodies if isinstance(b, Contributed) for w in b.wagers)
    back = sum(w.cents for b in bodies if isinstance(b, Reversed) for w in b.wagers)
    staked = sum(
        seat["wagers"].get("progressive", {"placed": 0})["placed"]
        for archive in table.writer.core.state.history
        if archive.result["round_status"] == "settled"
        for seat in archive.result["seats"]
    )
    assert posted - back == staked
    rounds = [b.round for b in bodies if isinstance(b, RoundPlayed)]
    assert rounds == [archive.round_no for archive in table.writer.core.state.history]


def test_a_round_with_a_claim_is_told_in_its_order() -> None:
    table = played("mbs3-plain")
    agrees(table)
    kinds = [type(event.body) for event in table.journalled()]
    assert kinds == [Contributed, Claimed, RoundPlayed]
    expected = table.scenario.rounds[0]
    assert differences(expected, table.writer.core.state.history[0].result) == []
    assert table.server.committed.pool_cents == METER - 1_234_567
    assert table.pulses > 10


@cache
def lock_and_claim() -> tuple[int, int, int]:
    """Disk calls at the lock, at the claim, and in all."""
    table = LinkedTable(load(find("mbs3-plain")))
    seen: dict[str, int] = {}
    table.on_released = lambda released: seen.update(
        {type(e.body).__name__: table.disk.calls for e in released.outbox}
    )
    table.play()
    return seen["Contributed"], seen["Claimed"], table.disk.calls


def test_the_power_goes_at_every_disk_call_around_lock_and_claim() -> None:
    """And at some others. Once the wagers are locked the round ends with its literal amounts."""
    lock, claim, calls = lock_and_claim()
    around = {*range(lock - 2, lock + 4), *range(claim - 2, claim + 4)}
    for cut in sorted(around | set(Random(SEED).sample(range(1, calls), 4))):
        table = played("mbs3-plain", cut, SEED + cut)
        assert table.cuts == 1, cut
        agrees(table)
        if cut > lock:
            expected = table.scenario.rounds[0]
            assert differences(expected, table.writer.core.state.history[0].result) == [], cut


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))]
)
def test_line_server_and_table_go_down_in_any_order(seed: int) -> None:
    """With the power cut somewhere after the lock as well."""
    random = Random(f"{SEED} {seed}")
    lock, _, calls = lock_and_claim()
    table = LinkedTable(load(find("mbs3-plain")), random.randrange(lock + 1, calls), seed)
    backups = [table.server.committed.copy()]

    def trouble() -> None:
        if not table._up or table.session is None:
            return
        match random.randrange(4):
            case 0:
                table.break_line()
            case 1:
                table.server.greeted.clear()
                table.break_line()
            case 2:
                table.server.committed = random.choice(backups).copy()
                table.server.greeted.clear()
            case _:
                backups.append(table.server.committed.copy())

    for _ in range(12):
        table.bench.clock.after(random.randrange(5_000_000, 40_000_000), trouble)
    table.play()
    table.drain()
    agrees(table)
