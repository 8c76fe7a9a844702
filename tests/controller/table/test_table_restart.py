"""After a restart the sensors are compared with what the journal says they told."""

from __future__ import annotations

from dataclasses import replace

from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from drivers.readings import SwitchRead
from tests.controller.table.console_player import Table
from tests.controller.table.test_table_chips import betting


def restarted(*, on_sensor: int) -> Table:
    """Bets are open, this seat had its progressive wager down when the computer stopped."""
    before = betting("MBS3", placed=False).table.core.state
    return Table(replace(before, credits={on_sensor: 1}))


def test_a_progressive_wager_lifted_while_the_computer_was_away_is_lifted() -> None:
    table = restarted(on_sensor=2)
    table.feed(SwitchRead("sensors", "progressive seat 2", False, table.now_us))
    assert table.facts == [f.CreditsRead(2, 0)]


def test_a_progressive_wager_that_still_lies_there_is_no_news() -> None:
    table = restarted(on_sensor=2)
    table.feed(SwitchRead("sensors", "progressive seat 2", True, table.now_us))
    assert table.facts == []


def test_a_full_disk_opens_no_round_and_the_prompt_says_so() -> None:
    table = betting("MBS3", placed=False).table
    idle = Table(replace(table.core.state, phase=Phase.IDLE))
    idle.core.health.disk_full = True
    idle.press("OPEN")
    assert f.BetsOpened() not in idle.facts
    assert "DISK FULL" in idle.lines[2]
