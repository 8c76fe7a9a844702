"""A house with two tables and a sign, and whatever a test starts in it, closed afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.link.server.house import House, house_of


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with house_of(tmp_path, "table-1", "table-2") as made:
        yield made
