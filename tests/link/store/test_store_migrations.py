"""Row 60 of the fault table: steps of the schema, recorded with their hashes, never half taken."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from link.accounts import waiting_ms
from link.rows import AccountRow
from link.store.backup import is_empty
from link.store.base import Store
from link.store.errors import Failed, MigrationChanged, Missing, TooNew
from link.store.migrations import Migration, migrations, read
from link.store.postgres import PostgresStore
from link.store.sqlite import SqliteStore
from link.store.tables import COLUMNS, sealed
from tests.link.store.book import led
from tests.link.store.conftest import Place

ROOT = Path(__file__).resolve().parents[3]
NAMES = tuple(step.name for step in migrations("sqlite"))
HAVE = len(NAMES)
EXTRA = f"{HAVE + 1:04}_extra"
MORE = read(f"{EXTRA}.sql", b"CREATE TABLE extra (id BIGINT);\nINSERT INTO extra VALUES (7);\n")


def opened(place: Place, steps: Sequence[Migration]) -> Store:
    if place.kind == "postgresql":
        return PostgresStore(place.where, steps=steps)
    return SqliteStore(Path(place.where), create=True, steps=steps)


def test_a_step_ends_where_a_line_ends_with_a_semicolon() -> None:
    step = read("0003_some_name.sql", b"-- why\nCREATE TABLE a (\n  b TEXT\n);\n\nDELETE FROM a;\n")
    assert (step.number, step.name) == (3, "0003_some_name")
    assert step.statements == ("CREATE TABLE a (\n  b TEXT\n)", "DELETE FROM a")
    assert step.sha256 == "4f36ac74dacbcb11f25a6468f28f80500cac9e29c5cfd4cd6b094ebaefefa3a1"


def test_both_databases_have_the_same_steps() -> None:
    names = {dialect: [m.name for m in migrations(dialect)] for dialect in ("sqlite", "postgresql")}
    assert names["sqlite"] == names["postgresql"]


def test_each_step_is_recorded_with_its_hash(bare: Place) -> None:
    with closing(bare.open()) as store:
        with pytest.raises(Missing, match="a server brings it up to date"):
            store.lead("one", 1000)
        assert store.migrate(at_ms=77) == NAMES
        assert store.migrate(at_ms=78) == ()
        folder = ROOT / f"link/store/migrations/{bare.kind}"
        assert store.query("SELECT * FROM migrations ORDER BY number") == [
            (number, name, sha256((folder / f"{name}.sql").read_bytes()).hexdigest(), 77)
            for number, name in enumerate(NAMES, 1)
        ]
        assert is_empty(store)
        store.check()


def test_an_old_step_that_was_changed_is_refused(place: Place) -> None:
    first, *others = migrations(place.kind)
    with pytest.raises(MigrationChanged, match="a step never changes"):
        opened(place, [replace(first, sha256="0" * 64), *others])
    with closing(place.open()) as store:
        store.check()


def test_a_step_missing_from_the_record_is_refused(place: Place) -> None:
    with closing(opened(place, [*migrations(place.kind), MORE])) as store:
        store.migrate(at_ms=2)
        store.query("DELETE FROM migrations WHERE number = 1")
    with pytest.raises(MigrationChanged, match="step 1 of the schema is not recorded"):
        opened(place, [*migrations(place.kind), MORE])


def test_row_60_an_older_program_refuses_a_newer_schema_and_changes_nothing(place: Place) -> None:
    with closing(opened(place, [*migrations(place.kind), MORE])) as store:
        assert store.migrate(at_ms=2) == (EXTRA,)
        led(store)
        rows = store.query("SELECT * FROM migrations ORDER BY number")
    before = contents(place)
    with pytest.raises(
        TooNew, match=rf"its schema is {HAVE + 1}, this program knows {HAVE}.*E-STO-005"
    ):
        place.open()
    assert contents(place) == before
    with closing(opened(place, [*migrations(place.kind), MORE])) as store:
        assert store.query("SELECT * FROM migrations ORDER BY number") == rows
        assert store.check().events == 1


def contents(place: Place) -> object:
    """Every byte of SQLite's file; every row of PostgreSQL with the transaction that wrote it."""
    if place.kind == "sqlite":
        folder = Path(place.where).parent
        return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.endswith(".lock")}
    with closing(opened(place, [*migrations(place.kind), MORE])) as store:
        return [
            store.query(f"SELECT xmin::text, x.* FROM {name} x ORDER BY 2")
            for name in ("migrations", *COLUMNS)
        ]


def test_a_step_that_fails_leaves_the_schema_as_it_was(place: Place) -> None:
    bad = read(
        f"{HAVE + 1:04}_bad.sql",
        b"CREATE TABLE extra (id BIGINT);\nINSERT INTO nowhere VALUES (7);\n",
    )
    with closing(opened(place, [*migrations(place.kind), bad])) as store:
        for _ in range(2):
            with pytest.raises(Failed, match="nowhere"):
                store.migrate(at_ms=2)
            assert store.schema == HAVE
            assert not store._has_table("extra")
    with closing(place.open()) as store:
        led(store)
        store.check()


@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
def test_two_programs_that_migrate_at_once_take_turns(bare: Place) -> None:
    taken: list[tuple[str, ...]] = []
    stores = [opened(bare, [*migrations(bare.kind), MORE]) for _ in range(2)]
    threads = [
        threading.Thread(target=lambda s=store: taken.append(s.migrate(at_ms=3)))
        for store in stores
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(name for names in taken for name in names) == [*NAMES, EXTRA]
    for store in stores:
        store.close()


def test_an_account_that_was_locked_for_ever_is_free_and_keeps_its_seal(bare: Place) -> None:
    """Names of columns change, values do not: the seals of old rows hold."""
    row = ("k.lee", "supervisor", "scrypt$16384$8$1$00$11", 5, 1, "m.ng", 7)
    with closing(opened(bare, migrations(bare.kind)[:1])) as store:
        store.migrate(at_ms=1)
        store.change("INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [sealed(row)])
    with closing(opened(bare, migrations(bare.kind))) as store:
        store.migrate(at_ms=2)
        (account,) = store.load().accounts
        assert account == AccountRow(*row)
        assert waiting_ms(account, 60_000) == 0
        assert (store.load().staff, list(store.staff())) == (0, [])
        store.check()
