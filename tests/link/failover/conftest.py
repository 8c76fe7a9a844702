from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.link.failover.casino import Floor, Pair
from tests.postgres import Instance


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    """An initialised data folder; each pair begins with a copy."""
    instance = Instance()
    yield instance.data
    instance.remove()


@pytest.fixture
def opened(template: Path, tmp_path: Path) -> Iterator[Callable[[bool], Floor]]:
    """A floor that plays over a pair of databases, synchronous or not."""
    made: list[Floor] = []

    def make(synchronous: bool) -> Floor:
        floor = Floor(tmp_path, Pair(template, synchronous=synchronous))
        made.append(floor)
        floor.open(required=synchronous)
        return floor

    yield make
    for floor in made:
        floor.close()
        floor.pair.remove()
