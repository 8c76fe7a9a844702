"""A house whose server runs with a control socket; a shop over each of the stores."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from link.store.postgres import PostgresStore
from tests.link.reports.shop import Shop
from tests.link.server.house import House, house_of
from tests.postgres import Instance

_numbers = count(1)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with house_of(tmp_path, "table-1", "table-2") as made:
        yield made


@pytest.fixture(scope="session")
def database() -> Iterator[Instance]:
    instance = Instance()
    instance.start()
    yield instance
    instance.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    if request.param == "sqlite":
        made = Shop(tmp_path / "link.db")
    else:
        instance: Instance = request.getfixturevalue("database")
        made = Shop(PostgresStore(instance.create_schema(f"r{next(_numbers)}")))
    yield made
    made.real.close()
