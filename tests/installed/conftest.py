"""Built and installed once for all workers; every test sees the same machine."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from tests.installed.building import Built, Machine, build


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "installed"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def built(shared: Path) -> Built:
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "built").exists():
            made = build(shared)
            Machine(shared).install(made.wheel)
            (shared / "built").write_text(f"{made.sdist}\n{made.wheel}\n")
    sdist, wheel = (shared / "built").read_text().split()
    return Built(Path(sdist), Path(wheel))


@pytest.fixture(scope="session")
def machine(built: Built, shared: Path) -> Machine:
    assert built.wheel.exists()
    return Machine(shared)
