"""An idle night: no table is ended by its watchdog because one of its devices is slow by nature."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from drivers.layout import BOARD_NAMES, OUR_KINDS, PIN_NAMES
from drivers.layout import load as load_layout
from hw_sim.scenario import HERE
from tests.idle.watched import SECOND, TABLES, IdleTable, watchdog_us


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IdleTable]:
    table = IdleTable(request.param, tmp_path / "notify")
    table.start()
    yield table
    table.close()


def test_an_idle_table_lives_for_ten_minutes(table: IdleTable) -> None:
    """The largest table for ten minutes; the other, for its shuffler, for one."""
    table.run_for((600 if table.scenario.table == "full" else 60) * SECOND)
    devices = table.status["devices"]
    assert devices.keys() >= table.bench.rig.due_us().keys() - {"supply"}
    assert {told["state"] for told in devices.values()} == {"ready"}
    assert max([*table.gaps_us, table.hungry_us]) < watchdog_us() // 2


def test_a_timer_that_is_lost_starves_it_and_the_loops_are_named(table: IdleTable) -> None:
    """The devices are well and say so; only nobody lets their drivers run."""
    table.run_for(30 * SECOND)
    meals = len(table.gaps_us)
    for part in ("_schedule", "_sample", "_supply"):
        setattr(table.bench, part, lambda: None)
    table.run_for(30 * SECOND)
    assert len(table.gaps_us) - meals <= 3
    assert table.hungry_us > watchdog_us()
    late = table.pulse.watchdog.waiting_for(table.pulse.due_us(table.status), table.bench.now_us)
    assert set(late) & set(table.bench.layout.boards)
    assert set(late) & set(table.bench.rig.lines)


def test_these_tables_have_every_kind_of_device() -> None:
    kinds: set[str] = set()
    for layout in TABLES:
        found = load_layout(HERE / "tables" / f"{layout}.toml")
        kinds |= {line.kind for line in found.lines} | set(found.boards) | set(found.pins)
    assert kinds == OUR_KINDS | BOARD_NAMES | PIN_NAMES
