"""Clause markers: which rule-book clause a test shows, and running only the tests of some."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

OUTCOMES = pytest.StashKey[dict[str, str]]()


def clauses_of(item: pytest.Item) -> set[str]:
    return {clause for mark in item.iter_markers("clause") for clause in mark.args}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--clauses", help="run only the tests marked with one of these clauses")
    parser.addoption("--outcomes", help="write each test's clauses and outcome to this file")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--clauses")
    if wanted:
        chosen = set(wanted.split(","))
        items[:] = [item for item in items if clauses_of(item) & chosen]


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
