"""Every scenario plays to its end at a whole table, in virtual time, and settles as written."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from hw_sim.scenario import HERE, load
from tests.sim.table import VirtualTable, differences

FILES = sorted((HERE / "scenarios").glob("*.toml"))
CLAUSES = Path(__file__).resolve().parents[2] / "docs" / "rules" / "clauses.csv"
IRREGULAR = re.compile(r"(MBS3|MEGA)-5\.|NSW-1[234]\.")
"""The parts of the books about irregularities, malfunctions and conduct."""


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_scenario(path: Path) -> None:
    scenario = load(path)
    table = VirtualTable(scenario)
    table.play()
    assert len(table.results) == len(scenario.rounds)
    results = table.results.values()
    found = [differences(e, r) for e, r in zip(scenario.rounds, results, strict=True)]
    assert found == [[] for _ in scenario.rounds]


def test_every_irregularity_that_table_or_engine_must_see_has_a_scenario() -> None:
    with CLAUSES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = {
        row["id"]
        for row in rows
        if row["role"] == "detect" or (row["role"] == "engine" and IRREGULAR.match(row["id"]))
    }
    shown = {clause for path in FILES for clause in load(path).clauses}
    assert not wanted - shown
    assert not shown - {row["id"] for row in rows}, "no such clause"


def test_each_game_has_a_plain_scenario() -> None:
    assert {load(p).game for p in FILES if p.stem.endswith("plain")} == {
        "MBS3", "PP6", "NSW", "MEGA", "RICO",
    }  # fmt: skip
