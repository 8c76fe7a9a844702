"""What the make targets promise: a quick demonstration, timed tests, a random order."""

from __future__ import annotations

import os
import platform
import random
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import conftest
from tests.conftest import shuffled

ROOT = Path(__file__).resolve().parent.parent
VERSION = platform.python_version()


def test_the_demonstration_installs_only_the_product(tmp_path: Path) -> None:
    """In an empty clone; development tools took five sixths of the time to the first screen."""
    planned = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "demo", f"VENV={tmp_path}/venv"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    installed = re.findall(r"pip install .* -e (\S+)$", planned, re.MULTILINE)
    assert installed == ["'.[web]'"]
    assert planned.rstrip().endswith("underfelt demo floor")


@pytest.mark.parametrize(
    ("built", "named", "again"),
    [
        pytest.param("Python 3.99.0", f"PYTHON={sys.executable}", True, id="another"),
        pytest.param(f"Python {VERSION}", f"PYTHON={sys.executable}", False, id="the same"),
        pytest.param("Python 3.99.0", "", False, id="none is named"),
    ],
)
def test_another_python_builds_the_environment_again(
    built: str, named: str, again: bool, tmp_path: Path
) -> None:
    """Otherwise the tests would run with the one before and pass in its name."""
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\necho {built}\n")
    python.chmod(0o755)
    for stamp in (".product", ".installed"):
        (tmp_path / "venv" / stamp).touch()
    around = {"PYTHON", "MAKEFLAGS", "MAKEOVERRIDES"}  # of the make that runs the tests
    environment = {name: value for name, value in os.environ.items() if name not in around}
    planned = subprocess.run(
        ["make", "--dry-run", "setup", f"VENV={tmp_path}/venv", *named.split()], cwd=ROOT,
        env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert ("-m venv --clear" in planned) is again
    assert ("[dev]" in planned) is again


@pytest.mark.parametrize(
    ("second", "code", "said"), [("true", 0, "passed"), ("false", 1, "FAILED")]
)
def test_the_time_of_the_tests_is_printed(second: str, code: int, said: str) -> None:
    busy = f"{sys.executable} -c 'sum(range(10**6))'"
    done = subprocess.run(
        [sys.executable, "-m", "tests.timed", busy, second, busy], cwd=ROOT, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code
    *ran, last = done.stdout.splitlines()
    assert ran == [busy, second] + [busy] * (code == 0)
    assert re.fullmatch(said + r" in \d+ s, \d+ s of CPU time \(set-up not counted\)", last)


@pytest.mark.parametrize(
    ("command", "options", "code"),
    [
        pytest.param("touch left", ["--clean"], 1, id="a file is left"),
        pytest.param("rm one", ["--clean"], 1, id="a file is gone"),
        pytest.param("cp two one", ["--clean"], 1, id="an edited file is edited again"),
        pytest.param("touch left", [], 0, id="nobody asked"),
        pytest.param("touch one", ["--clean"], 0, id="the same content"),
        pytest.param("touch ignored", ["--clean"], 0, id="an ignored file"),
    ],
)
def test_a_run_leaves_the_checkout_as_it_was(
    command: str, options: list[str], code: int, tmp_path: Path
) -> None:
    for name, text in ((".gitignore", "ignored\n"), ("one", "1\n"), ("two", "2\n")):
        (tmp_path / name).write_text(text, "ascii")
    person = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "."), (*person, "commit", "-qm", "one")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (tmp_path / "one").write_text("not committed\n", "ascii")
    done = timed_at(tmp_path, *options, command)
    assert done.returncode == code, done
    assert ("the run changed the checkout" in done.stdout) is bool(code)


def test_without_a_checkout_a_run_passes(tmp_path: Path) -> None:
    """A tarball has none, and a machine may have no git at all."""
    assert timed_at(tmp_path, "--clean", "touch left").returncode == 0
    assert timed_at(ROOT, "--clean", "/bin/true", PATH="/nonexistent").returncode == 0


def timed_at(where: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    around = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        [sys.executable, "-m", "tests.timed", *arguments], cwd=where,
        env={**around, "PYTHONPATH": str(ROOT), **more}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


class Item:
    def __init__(self, module: str, name: str) -> None:
        self.path, self.name = Path(module), name


def test_a_seed_repeats_its_order_and_a_module_stays_together() -> None:
    items: list[Any] = [Item(f"m{n // 10}.py", str(n)) for n in range(200)]
    random.seed(1)
    first = shuffled(items, "7")
    random.seed(2)
    assert shuffled(items, "7") == first
    assert shuffled(items, "8") != first != items
    assert sorted(first, key=lambda item: int(item.name)) == items
    modules = [item.path for item in first]
    assert sum(a != b for a, b in pairwise(modules)) == 19


class Options:
    """A configuration with these options."""

    def __init__(self, **options: object) -> None:
        self.options = options

    def getoption(self, name: str) -> object:
        return self.options.get(name.strip("-").replace("-", "_"))


class Named(Item):
    def __init__(self, module: str, name: str, config: Any = None) -> None:
        super().__init__(module, name)
        self.nodeid, self.config = f"{module}::{name}", config


def test_the_files_that_take_longest_start_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conftest, "LONGEST", tmp_path / "longest.txt")
    noting = conftest.Noting()
    for name, spent in (("c.py::x", 4.0), ("b.py::x", 3.0), ("b.py::y", 3.0), ("a.py::x", 60.0)):
        noting.pytest_runtest_logreport(SimpleNamespace(nodeid=name, duration=spent))  # type: ignore[arg-type]
    noting.pytest_sessionfinish()
    assert (tmp_path / "longest.txt").read_text("utf-8") == "60 a.py\n6 b.py\n"
    items: list[Any] = [Named(f"{x}.py", str(n)) for x in "dcba" for n in range(3)]
    conftest.pytest_collection_modifyitems(Options(), items)  # type: ignore[arg-type]
    assert "".join(item.path.stem for item in items) == "aaabbbdddccc"
    assert [item.name for item in items[:3]] == ["0", "1", "2"]


def test_a_run_with_a_limit_starts_no_test_later() -> None:
    late: Any = Named("a.py", "x", Options(for_seconds=0.0))
    with pytest.raises(pytest.skip.Exception, match="`make test` runs all"):
        conftest.pytest_runtest_setup(late)
    conftest.pytest_runtest_setup(Named("a.py", "x", Options(for_seconds=1e9)))  # type: ignore[arg-type]
    conftest.pytest_runtest_setup(Named("a.py", "x", Options()))  # type: ignore[arg-type]
