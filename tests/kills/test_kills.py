"""A share of ``make kills``: real processes, a few kills on each store, everything checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kills.run import Order, plan, play

SEED = 1


@pytest.mark.parametrize(("kind", "kills"), [("sqlite", 4), ("postgresql", 2)])
def test_nothing_is_lost_and_nothing_counted_twice(kind: str, kills: int, tmp_path: Path) -> None:
    found = play(Order("share", kind, kills, SEED, tmp_path, loads=2))
    assert found.problems == [], f"seed {SEED}, {found.last}, kept in {tmp_path}"
    assert found.kills == kills
    assert found.server >= 1
    assert found.events > 0
    assert found.words > 0


def test_the_plan_follows_from_the_seed_and_hits_everybody() -> None:
    tables = ("load-1", "load-2", "load-3")
    made = plan("7/sqlite-1", 1_000, tables)
    assert made == plan("7/sqlite-1", 1_000, tables)
    assert made != plan("8/sqlite-1", 1_000, tables)
    server = [kill for kill in made if kill.victims == ("server",)]
    both = [kill for kill in made if kill.victims[0] == "server" and len(kill.victims) == 2]
    everybody = [kill for kill in made if len(kill.victims) == 4]
    alone = [kill for kill in made if kill.victims[0] in tables]
    assert len(server) + len(both) + len(everybody) + len(alone) == 1_000
    assert min(len(server), len(alone)) > 250
    assert min(len(both), len(everybody)) > 25
    assert {kill.victims[0] for kill in alone} == set(tables)
    assert 300 < sum(not kill.seen for kill in made) < 500  # while somebody is still starting
    assert {kill.seen for kill in made} == {"", "load"}
    played = plan("7/sqlite-2", 1_000, tables, ("mbs3", "mega"))
    assert {kill.seen for kill in played} == {"", "load", "mbs3", "mega"}
