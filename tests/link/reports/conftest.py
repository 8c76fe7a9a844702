"""A house whose server runs with a control socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.link.reports.shop import Shop
from tests.link.server.house import House, house_of


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with house_of(tmp_path, "table-1", "table-2") as made:
        yield made


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path / "link.db")
    yield made
    made.sqlite.close()
