"""What the make targets promise: a quick demonstration, timed tests, a random order."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import shuffled

ROOT = Path(__file__).resolve().parent.parent


def test_the_demonstration_installs_only_the_product(tmp_path: Path) -> None:
    """In an empty clone; development tools took five sixths of the time to the first screen."""
    planned = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "demo", f"VENV={tmp_path}/venv"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    installed = re.findall(r"pip install .* -e (\S+)$", planned, re.MULTILINE)
    assert installed == ["."]
    assert planned.rstrip().endswith("underfelt demo floor")


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
