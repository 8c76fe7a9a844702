"""The simulator and the product share no code: neither loads a module of the other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOADED = """
import importlib, pkgutil, sys
for name in {ours!r}:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        importlib.import_module(module.name)
print(sorted(m for m in sys.modules if m.split(".")[0] in {theirs!r}))
"""


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (["hw_sim"], ["controller", "drivers", "record", "link"]),
        (["drivers", "record", "link"], ["hw_sim", "controller"]),
        (["controller"], ["hw_sim"]),
    ],
)
def test_nothing_of_the_other_side_is_loaded(ours: list[str], theirs: list[str]) -> None:
    code = LOADED.format(ours=ours, theirs=theirs)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
