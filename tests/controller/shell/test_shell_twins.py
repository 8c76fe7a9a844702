"""Two tables play the same scenario, and at one of them the shell is never still.

Lines of observers and technicians between any two moments of the play, test mode begun and given
up, the progressive kept out: both tables lock, settle, pay, contribute and end alike.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.writer import Told
from controller.rules.engine import facts as f
from controller.shell.desk.acts import Acts
from controller.shell.desk.roles import Act, Asked
from controller.shell.verbs import VERBS
from tests.controller.shell.inside import Inside, fed_table
from tests.sim.table import VirtualTable

SCENARIOS = (
    "mbs3-plain",
    "mega-plain",
    "nsw-shoe-plain",
    "nsw-shuffler-plain",
    "pp6-plain",
    "rico-plain",
)
PEOPLE = (1, 2)
"""Olga, an observer, and Tom, a technician."""
DEAR = ("identity", "config", "journal", "reboot")
"""Costly, and told elsewhere."""
WORDS = ("shoe", "chips-1", "sign", "1", "2", "7", "900", "yes", "no", "E-TBL-003")
MOMENTS = 60


def lines_of(chance: random.Random) -> list[tuple[int, list[str]]]:
    found = []
    for _ in range(chance.randint(1, 4)):
        verb = chance.choice([name for name in VERBS if name not in DEAR])
        words = [*verb.split(), *chance.choices(WORDS, k=chance.choice((0, 0, 1)))]
        found.append((chance.choice(PEOPLE), words))
    if chance.random() < 0.5:
        found.insert(0, (2, ["test", "on"]))
    return found


@cache
def left_alone(scenario: str) -> VirtualTable:
    table = fed_table(scenario)
    table.play()
    return table


@cache
def moments_of(scenario: str) -> int:
    count = 0
    table = fed_table(scenario)

    def counted() -> bool:
        nonlocal count
        count += 1
        return False

    table.play(counted)
    return count


class Watcher:
    """Says lines at chosen moments of the play; everybody hangs up after each."""

    def __init__(
        self, table: VirtualTable, folder: Path, chance: random.Random, every: int
    ) -> None:
        self.table, self._folder, self._chance = table, folder, chance
        self._at = set(chance.sample(range(every), min(MOMENTS, every)))
        self._moment = 0
        self._desk: Inside | None = None
        self.said: list[str] = []
        """The verbs that were done."""

    def look(self) -> bool:
        if self._desk is None and self.table.starts:
            self._desk = Inside(self.table, self._folder, written=False, plays=True)
        if self._desk is not None and self._moment in self._at:
            asyncio.run(self._say(self._desk))
        self._moment += 1
        return False

    async def _say(self, desk: Inside) -> None:
        desk.watched.strange.clear()
        for uid, words in lines_of(self._chance):
            answer = await desk.line(uid, words)
            assert answer.get("error") != "E-SHL-010", answer
            if answer.get("ok"):
                self.said.append(" ".join(words[:2]))
        await desk.leave()
        # The progressive is taken in again by the one who may, so that the twins bet alike.
        await desk.line(3, ["safe-mode", "off"])
        assert desk.watched.strange == []


def counted(table: VirtualTable) -> dict[str, Any]:
    """All that counts: what was paid, sent and closed, and where the table stands."""
    records = list(table.journal.records())
    kinds = ("round", "outbox", "day")
    return {
        "results": table.results,
        "meter": table.writer.core.state.meter,
        **{kind: [r.body for r in records if r.kind == kind] for kind in kinds},
    }


def twins(scenario: str, seed: int) -> list[str]:
    chance = random.Random(f"{scenario} {seed}")
    table = fed_table(scenario)
    with tempfile.TemporaryDirectory() as folder:
        watcher = Watcher(table, Path(folder), chance, moments_of(scenario))
        table.play(watcher.look)
        table.run_for(10_000_000)
    alone = left_alone(scenario)
    assert counted(table) == counted(alone)
    state, other = table.writer.core.state, alone.writer.core.state
    assert (state.spots, state.credits, state.awards) == (other.spots, other.credits, other.awards)
    return watcher.said


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_table_under_a_busy_shell_is_the_table_left_alone(scenario: str) -> None:
    said = twins(scenario, 1)
    assert len(said) > MOMENTS // 2
    assert "test on" in said
    assert ("safe-mode on" in said) == (scenario in ("mbs3-plain", "mega-plain"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 30))
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_and_so_are_many_more(scenario: str, seed: int) -> None:
    twins(scenario, seed)


def test_a_verb_that_moves_the_meter_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Moving(Acts):
        def all(self) -> dict[str, Act]:
            return {**super().all(), "why": self._moves}

        async def _moves(self, _: Asked) -> dict[str, Any]:
            told = Told(f.MeterReported(99_999_900), f.Measured("link"))
            return await self._runtime.direct(
                lambda writer, at_us: (writer.work([told], at_us), {})
            )

    monkeypatch.setattr("controller.shell.desk.desk.Acts", Moving)
    with pytest.raises(AssertionError, match="meter"):
        twins("mbs3-plain", 1)
