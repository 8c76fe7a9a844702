"""What several of these tests start from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hw_sim.scenario import HERE, find, load
from tests.e2e.table import configure

CHIPS = "uid,value,class,series\nE004010100000001,100,cash,sim\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A table's files; none of its devices is there."""
    shutil.copy(HERE / "tables" / "mbs3.toml", tmp_path / "layout.toml")
    (tmp_path / "chips.csv").write_text(CHIPS, "utf-8")
    configure(tmp_path, "MBS3", load(find("mbs3-plain")).settings)
    return tmp_path
