"""Committing groups to a store beside the bare statements that do the same.

    python -m bench.store [EVENTS] [REPEATS] [GROUP] [TABLES]

``same statements`` runs everything that a group's transaction runs, its rows laid out beforehand.
``events alone`` adds the very same event rows with one ``executemany`` a group to a table without
an index, and nothing else. Without flushes the CPU decides; ``durable`` flushes as the server does.
PostgreSQL runs from a temporary folder.
"""

from __future__ import annotations

import random
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

from msgspec.structs import replace

from bench.common import Target, interleaved, print_ratios, verdict, versions
from link.rows import Group
from link.store import tables as t
from link.store.base import Store
from link.store.plan import CommitPlan, plan
from link.store.postgres import PostgresStore
from link.store.sqlite import SqliteStore
from link.store.tables import Row
from tests.link.store.book import Book
from tests.postgres import Instance

ROUNDS = b"x" * 400
"""What a ledger remembers of a journal's last rounds."""
LEAST_PER_S = 25_000
Floor = Callable[[list[Row]], None]


class Bench:
    """Opens a new store for every run; the CPU time of each alternative is kept beside its rate."""

    def __init__(self, events: int, group: int, tables: int) -> None:
        self.events, self.group, self.tables = events // group * group, group, tables
        self.cpu_us: dict[str, list[float]] = {}

    def begin(self, store: Store) -> list[Group]:
        store.migrate(at_ms=1)
        epoch = store.lead("bench", 60_000)
        assert epoch is not None
        book = Book(epoch)
        store.commit(book.opening(self.tables))
        chance = random.Random(1)
        made = []
        for _ in range(self.events // self.group):
            one = book.contributions([chance.randrange(self.tables) + 1 for _ in range(self.group)])
            one.journals = {key: replace(row, rounds=ROUNDS) for key, row in one.journals.items()}
            made.append(one)
        return made

    def timed(self, name: str, act: Callable[[], None]) -> float:
        start, cpu = perf_counter(), process_time()
        act()
        self.cpu_us.setdefault(name, []).append((process_time() - cpu) * 1e6 / self.events)
        return self.events / (perf_counter() - start)

    def committed(self, name: str, opened: Callable[[], Store]) -> float:
        with closing(opened()) as store:
            groups = self.begin(store)

            def act() -> None:
                for one in groups:
                    store.commit(one)

            return self.timed(name, act)

    def same_statements(self, name: str, opened: Callable[[], Store]) -> float:
        with closing(opened()) as store:
            plans = list(laid_out(store, self.begin(store)))

            def act() -> None:
                for made in plans:
                    with store.transaction():
                        store.write(1, made)

            return self.timed(name, act)

    def events_alone(self, name: str, opened: Callable[[], Store], floor: Floor) -> float:
        with closing(opened()) as store:
            rows = [made.rows["events"] for made in laid_out(store, self.begin(store))]

        def act() -> None:
            for page in rows:
                floor(page)

        return self.timed(name, act)


def laid_out(store: Store, groups: list[Group]) -> Iterator[CommitPlan]:
    known = store.know()
    for one in groups:
        made = plan(store.place, one, known)
        known.adopt(made)
        yield made


def sqlite_floor(path: Path) -> Floor:
    db = sqlite3.connect(path, isolation_level=None)
    for setting in ("locking_mode = exclusive", "journal_mode = wal", "synchronous = off"):
        db.execute(f"PRAGMA {setting}")
    db.execute(f"CREATE TABLE events ({t.listed('events')})")

    def add(rows: list[Row]) -> None:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(t.insert("events"), rows)
        db.execute("COMMIT")

    return add


def on_sqlite(bench: Bench, repeats: int, folder: Path) -> int:
    number = iter(range(10**6))

    def opened(flush: bool) -> Store:
        return SqliteStore(folder / f"{next(number)}.db", create=True, flush=flush)

    quick, durable = partial(opened, False), partial(opened, True)
    rates = interleaved(
        {
            "same statements": lambda: bench.same_statements("same statements", quick),
            "events alone": lambda: bench.events_alone(
                "events alone", quick, sqlite_floor(folder / f"{next(number)}.db")
            ),
            "commit": lambda: bench.committed("commit", quick),
            "commit, durable": lambda: bench.committed("commit, durable", durable),
        },
        repeats,
    )
    print(f"SQLite {sqlite3.sqlite_version}, {bench.group} events a group, {bench.tables} tables")
    print_ratios(rates, "same statements", "events/s")
    missed = verdict(rates, [Target("commit", "same statements", 0.5)])
    cpu = {name: statistics.median(runs) for name, runs in bench.cpu_us.items()}
    print("  CPU:", ", ".join(f"{name} {value:.1f} us" for name, value in cpu.items()), "an event")
    per_s = 1e6 / cpu["commit"]
    word = "met" if per_s >= LEAST_PER_S else "MISSED"
    print(f"  target: at least {LEAST_PER_S:,} events a second of CPU: {per_s:,.0f}, {word}")
    return missed | (per_s < LEAST_PER_S)


def on_postgres(bench: Bench, repeats: int) -> None:
    server = Instance()
    server.start()
    number = iter(range(10**6))

    def opened() -> Store:
        return PostgresStore(server.create(f"b{next(number)}"))

    try:
        rates = interleaved(
            {
                "same statements": lambda: bench.same_statements("same statements", opened),
                "commit": lambda: bench.committed("commit", opened),
            },
            repeats,
        )
    finally:
        server.remove()
    print(f"PostgreSQL, durable, {bench.group} events a group, {bench.tables} tables")
    print_ratios(rates, "same statements", "events/s")


def main(argv: list[str]) -> int:
    numbers = [int(word) for word in argv]
    events, repeats, group, tables = numbers + [20_000, 5, 50, 100][len(numbers) :]
    print(versions("psycopg", "msgspec"))
    with tempfile.TemporaryDirectory() as name:
        missed = on_sqlite(Bench(events, group, tables), repeats, Path(name))
    on_postgres(Bench(events // 4, group, tables), repeats)
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
