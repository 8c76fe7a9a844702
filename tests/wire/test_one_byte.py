"""The vectors bind both sides: change one byte in either encoder and its vector tests fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.util import cache_from_source
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = tomllib.loads((Path(__file__).parent / "mutants.toml").read_text("utf-8"))["mutant"]
SHARE = 3
"""Every run takes every third; ``make slow`` has the others."""
CASES = [
    pytest.param(mutant, marks=() if number % SHARE == 0 else pytest.mark.slow)
    for number, mutant in enumerate(MUTANTS)
]
COPIED = ("drivers", "hw_sim", "tests/drivers", "tests/hw_sim", "tests/vectors")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("tree")
    for part in COPIED:
        shutil.copytree(ROOT / part, copy / part)
    for name in ("tests/__init__.py", "tests/conftest.py"):
        shutil.copy(ROOT / name, copy / name)
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


@pytest.mark.parametrize("mutant", CASES, ids=lambda m: f"{m['file']}: {m['new']}")
def test_a_changed_byte_fails_a_vector(tree: Path, mutant: dict[str, str]) -> None:
    target = tree / mutant["file"]
    text = target.read_text("utf-8")
    assert text.count(mutant["old"]) == 1
    Path(cache_from_source(str(target))).unlink(missing_ok=True)
    target.write_text(text.replace(mutant["old"], mutant["new"]), "utf-8")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:xdist",
             "-m", "not slow", mutant["tests"]],
            cwd=tree, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(tree)},
        )  # fmt: skip
    finally:
        target.write_text(text, "utf-8")
        # Same size, perhaps in the same second: Python could not tell that it is out of date.
        Path(cache_from_source(str(target))).unlink(missing_ok=True)
    assert " failed" in done.stdout, done.stdout + done.stderr


def test_both_sides_of_every_wire_are_there() -> None:
    sides = {(Path(m["file"]).parts[0], Path(m["tests"]).stem.split("_")[-1]) for m in MUTANTS}
    assert {side for side, _ in sides} == {"drivers", "hw_sim"}
