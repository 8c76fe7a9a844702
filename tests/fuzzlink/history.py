"""One history by one seed: set up, steps, and everything checked at the end."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

from link.store.base import Store
from link.store.postgres import PostgresStore
from link.store.sqlite import SqliteStore
from tests.fuzzlink.checks import check
from tests.fuzzlink.followers import compare
from tests.fuzzlink.steps import pools, step
from tests.fuzzlink.world import World
from tests.postgres import Instance

STEPS: Final = 300
STORES: Final = ("sqlite", "postgresql")
Places = Callable[[], Callable[[], Store]]
"""Makes a new, empty place, which can be opened again and again."""


@contextmanager
def places(store: str, folder: Path) -> Iterator[Places]:
    numbers = itertools.count(1)
    if store == "sqlite":

        def new() -> Callable[[], Store]:
            for old in folder.glob("link-*.db*"):
                old.unlink()
            path = folder / f"link-{next(numbers)}.db"
            return lambda: SqliteStore(path, create=True, flush=False)

        yield new
        return
    server = Instance()
    server.start()
    try:

        def fresh() -> Callable[[], Store]:
            name = f"h{next(numbers)}"
            with server.connect() as link:
                link.execute(f"DROP SCHEMA IF EXISTS h{int(name[1:]) - 1} CASCADE")
            where = server.create_schema(name)
            return lambda: PostgresStore(where)

        yield fresh
    finally:
        server.remove()


def play(seed: int, place: Callable[[], Store], steps: int = STEPS) -> Counter[str]:
    """What it came to: steps, and rows of the store; raises whatever went wrong."""
    rng = Random(seed)
    world = World(place, pools(rng), rng)
    try:
        for _ in range(steps):
            step(world, rng)
        compare(world)
        world.stop()
        found = check(world)
    finally:
        world.store.close()
    return Counter({"steps": world.steps, **found})
