"""Both stores for every test that asks for ``store``; a PostgreSQL server per test session."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import tests.hypothesis_profile  # noqa: F401
from link.store.base import SqlStore
from link.store.postgres import PostgresStore
from link.store.sqlite import SqliteStore
from tests.postgres import Instance

MIGRATED = "uf_template"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Instance]:
    """One server for all tests of this process, with a database that has the schema already."""
    instance = Instance()
    instance.start()
    try:
        with closing(PostgresStore(instance.create(MIGRATED))) as store:
            store.migrate(at_ms=1)
        yield instance
    finally:
        instance.remove()


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere a store can be opened, again and again, or a second time beside the first."""

    kind: str
    where: str

    def open(self) -> SqlStore:
        if self.kind == "postgresql":
            return PostgresStore(self.where)
        return SqliteStore(Path(self.where), create=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@contextmanager
def places(kind: str, request: pytest.FixtureRequest) -> Iterator[Callable[[], Place]]:
    """Makes migrated, empty stores of this kind; they are gone at the end."""
    made: list[str] = []
    folder: Path = request.getfixturevalue("tmp_path_factory").mktemp("store")

    def make() -> Place:
        name = f"t{next(_numbers)}"
        if kind == "sqlite":
            place = Place(kind, str(folder / f"{name}.db"))
            with closing(place.open()) as store:
                store.migrate(at_ms=1)
            return place
        made.append(name)
        return Place(kind, request.getfixturevalue("server").create(name, MIGRATED))

    yield make
    for name in made:
        request.getfixturevalue("server").drop(name)


@pytest.fixture
def new_place(kind: str, request: pytest.FixtureRequest) -> Iterator[Callable[[], Place]]:
    with places(kind, request) as make:
        yield make


@pytest.fixture
def place(new_place: Callable[[], Place]) -> Place:
    return new_place()


@pytest.fixture
def store(place: Place) -> Iterator[SqlStore]:
    with closing(place.open()) as opened:
        yield opened
