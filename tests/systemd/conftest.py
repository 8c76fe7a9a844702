"""Loads the house's hypothesis profile; daemons that a test starts end with it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.systemd.services import Services


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = Services(tmp_path)
    yield made
    made.close()
