"""Both stores for every test that asks for ``store``; a PostgreSQL server per test session."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from link.store.base import Store
from link.store.migrations import Dialect
from link.store.postgres import PostgresStore
from link.store.sqlite import SqliteStore
from tests.postgres import Instance

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Instance]:
    """One server for all tests of this process; every store has a schema of its own in it."""
    instance = Instance()
    instance.start()
    try:
        yield instance
    finally:
        instance.remove()


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere a store can be opened, again and again, or a second time beside the first."""

    kind: Dialect
    where: str

    def open(self) -> Store:
        if self.kind == "postgresql":
            return PostgresStore(self.where)
        return SqliteStore(Path(self.where), create=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> Dialect:
    name: Dialect = request.param
    return name


def places(kind: Dialect, request: pytest.FixtureRequest) -> Callable[[], Place]:
    """Makes migrated, empty stores of this kind."""
    folder: Path = request.getfixturevalue("tmp_path_factory").mktemp("store")

    def make() -> Place:
        name = f"t{next(_numbers)}"
        if kind == "sqlite":
            place = Place(kind, str(folder / f"{name}.db"))
        else:
            place = Place(kind, request.getfixturevalue("server").create_schema(name))
        with closing(place.open()) as store:
            store.migrate(at_ms=1)
        return place

    return make


@pytest.fixture
def new_place(kind: Dialect, request: pytest.FixtureRequest) -> Callable[[], Place]:
    return places(kind, request)


@pytest.fixture
def place(new_place: Callable[[], Place]) -> Place:
    return new_place()


@pytest.fixture
def store(place: Place) -> Iterator[Store]:
    with closing(place.open()) as opened:
        yield opened


@pytest.fixture
def bare(kind: Dialect, request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A place without any schema."""
    if kind == "sqlite":
        return Place(kind, str(tmp_path / "bare.db"))
    server: Instance = request.getfixturevalue("server")
    return Place(kind, server.create_schema(f"bare{next(_numbers)}"))
