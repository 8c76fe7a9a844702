"""Clause markers: which rule-book clause a test shows, and running only the tests of some.

``--shuffle SEED`` runs the tests in a random order that the seed repeats: modules, and the tests
inside each module, so that what a module shares is still made once. Without it, the files that take
longest run first (``longest.txt``), so that no worker is left with one of them at the end.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Tests start hundreds of processes: none compiles the same modules again, whatever the shell says.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A codec that is first looked up while a test holds every descriptor stays unknown for good.
"localhost".encode("idna")

LONGEST = Path(__file__).with_name("longest.txt")
NOTED_FROM_S = 5
BEGAN = time.monotonic()

settings.register_profile(
    "underfelt",
    deadline=None,  # the machine is shared: no test asserts on time
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=True,  # a failure of the suite is a failure everywhere; long runs vary the seed
)
settings.load_profile("underfelt")


def clauses_of(item: pytest.Item) -> set[str]:
    return {clause for mark in item.iter_markers("clause") for clause in mark.args}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--clauses", help="run only the tests marked with one of these clauses")
    parser.addoption("--shuffle", metavar="SEED", help="run in a random order; the seed repeats it")
    parser.addoption("--note-longest", action="store_true", help=f"write {LONGEST.name}")
    parser.addoption("--for-seconds", type=float, help="start no test later than this; skip it")
    parser.addoption("--outcomes", help="write each test's clauses and outcome to this file")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--clauses")
    if wanted:
        chosen = set(wanted.split(","))
        items[:] = [item for item in items if clauses_of(item) & chosen]
    seed = config.getoption("--shuffle")
    if seed:
        items[:] = shuffled(items, seed)
    elif config.getoption("--for-seconds") is None:
        rank = {name: number for number, name in enumerate(longest())}
        items.sort(key=lambda item: rank.get(item.nodeid.split("::")[0], len(rank)))


def longest() -> list[str]:
    """Files of tests, the longest first, as last noted."""
    lines = LONGEST.read_text("utf-8").splitlines() if LONGEST.exists() else []
    return [line.split()[1] for line in lines]


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--note-longest") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Noting())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    most = item.config.getoption("--for-seconds")
    if most is not None and time.monotonic() - BEGAN > most:
        pytest.skip("the time is up; `make test` runs all")


class Noting:
    """Adds up the time of every file and writes it down at the end of a run of everything."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.split("::")[0]
        self.spent[name] = self.spent.get(name, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        rows = sorted(self.spent.items(), key=lambda row: -row[1])
        lines = [f"{spent:.0f} {name}\n" for name, spent in rows if spent >= NOTED_FROM_S]
        LONGEST.write_text("".join(lines), "utf-8")


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
