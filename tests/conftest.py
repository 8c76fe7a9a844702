"""Clause markers: which rule-book clause a test shows, and running only the tests of some.

``--shuffle SEED`` runs the tests in a random order that the seed repeats: modules, and the tests
inside each module, so that what a module shares is still made once.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

OUTCOMES = pytest.StashKey[dict[str, str]]()


def clauses_of(item: pytest.Item) -> set[str]:
    return {clause for mark in item.iter_markers("clause") for clause in mark.args}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--clauses", help="run only the tests marked with one of these clauses")
    parser.addoption("--shuffle", metavar="SEED", help="run in a random order; the seed repeats it")
    parser.addoption("--outcomes", help="write each test's clauses and outcome to this file")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--clauses")
    if wanted:
        chosen = set(wanted.split(","))
        items[:] = [item for item in items if clauses_of(item) & chosen]
    seed = config.getoption("--shuffle")
    if seed:
        items[:] = shuffled(items, seed)


def shuffled(items: Sequence[pytest.Item], seed: str) -> list[pytest.Item]:
    """A random order of the modules and of the tests in each; every worker gets the same one."""
    chance = random.Random(seed)
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    order = list(modules.values())
    chance.shuffle(order)
    for tests in order:
        chance.shuffle(tests)
    return [item for tests in order for item in tests]


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--shuffle")
    return f"random order, seed {seed}" if seed else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Iterator[None]:
    report = yield
    target = item.config.getoption("--outcomes")
    if target and (report.when == "call" or report.failed):  # type: ignore[attr-defined]
        row = {
            "test": item.nodeid.split("[")[0],
            "clauses": sorted(clauses_of(item)),
            "failed": report.failed,  # type: ignore[attr-defined]
        }
        with Path(target).open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + os.linesep)
    return report


@pytest.fixture
def as_root() -> None:
    """For what only root can do; nothing is left out in silence."""
    if os.geteuid() != 0:
        pytest.fail("needs root: run these tests as root")
