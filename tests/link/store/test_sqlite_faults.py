"""The embedded store against everything that SQLite files suffer: rows 53, 54 and 55."""

from __future__ import annotations

import random
import resource
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from link.rows import Group
from link.store import sqlite as module
from link.store.errors import Broken, Failed, Locked, Missing, StoreError, Unknown, Unsafe
from link.store.sqlite import CHECKPOINT_PAGES, SqliteStore
from tests.link.store.book import Book, led
from tests.link.store.test_store_backup import everything

FRAME_BYTES = 4096 + 24


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "link.db"
    with closing(SqliteStore(made, create=True)) as store:
        store.migrate(at_ms=1)
    return made


# --- settings ---------------------------------------------------------------------------------


def test_the_settings_that_money_needs(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        wanted = {
            "journal_mode": "wal",
            "synchronous": 2,
            "locking_mode": "exclusive",
            "foreign_keys": 1,
            "journal_size_limit": 64 << 20,
            "wal_autocheckpoint": 4000,
        }
        found = {name: store.query(f"PRAGMA {name}")[0][0] for name in wanted}
        assert found == wanted
        assert store._open_db().isolation_level is None
        kinds = store.query("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'")
        loose = {name for name, strict in kinds if not strict}
        assert loose == {"migrations", "sqlite_schema"}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_setting_that_does_not_read_back_is_refused(path: Path) -> None:
    with (
        closing(SqliteStore(path)) as store,
        pytest.raises(Unsafe, match="keeps page_size at 4096"),
    ):
        store._set("page_size", 8192)


def test_finding_4_there_is_never_a_second_connection(path: Path) -> None:
    """Libraries before 3.51.3 can damage the file when two connections reset the log. Here the
    index of the log is not even shared: there is no -shm file."""
    with closing(SqliteStore(path)) as store:
        store.commit(Book(led(store).epoch, store.load()).alarmed())
        names = {p.name for p in path.parent.iterdir()}
        assert names == {"link.db", "link.db-wal", "link.db.lock"}


def test_a_library_without_strict_tables_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "OLDEST", (99, 0, 0))
    with pytest.raises(Unsafe, match="or newer is needed"):
        SqliteStore(path)


def test_files_that_are_no_store(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="no such file"):
        SqliteStore(tmp_path / "nothing.db")
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE cats (name)")
    before = other.read_bytes()
    with pytest.raises(Missing, match="not a store of the link"):
        SqliteStore(other)
    assert other.read_bytes() == before
    text = tmp_path / "text.db"
    text.write_bytes(b"this is a letter to the management\n" * 100)
    with pytest.raises(Broken, match="file is not a database"):
        SqliteStore(text)
    with pytest.raises(Failed, match="No such file"):
        SqliteStore(tmp_path / "no" / "folder.db", create=True)


# --- row 53: busy -----------------------------------------------------------------------------


def test_row_53_a_file_in_use_is_refused_after_a_bounded_wait(path: Path) -> None:
    """Somebody else's tool holds the file: neither waited for without end nor written past."""
    with closing(sqlite3.connect(path, isolation_level=None)) as tool:
        tool.execute("BEGIN IMMEDIATE")
        with pytest.raises(Locked, match=r"SQLITE_BUSY.*E-STO-007"):
            SqliteStore(path, busy_ms=50)
        tool.execute("ROLLBACK")
    with closing(SqliteStore(path)) as store:
        led(store)
        for statement in ("SELECT * FROM leader", "BEGIN IMMEDIATE", "DELETE FROM events"):
            with (
                closing(sqlite3.connect(path, timeout=0.05)) as tool,
                pytest.raises(sqlite3.OperationalError, match="locked"),
            ):
                tool.execute(statement)
        assert store.check().events == 1


def test_row_53_every_transaction_begins_for_writing(path: Path) -> None:
    """One that turns from reading to writing fails at once when somebody else writes."""
    with closing(SqliteStore(path)) as store:
        seen: list[str] = []
        store._open_db().set_trace_callback(seen.append)
        book = led(store)
        store.commit(book.contributions())
        store.load()
        store.check()
        begun = [line for line in seen if line.startswith("BEGIN")]
        assert set(begun) == {"BEGIN IMMEDIATE"}
        ended = [line for line in seen if line.startswith(("COMMIT", "ROLLBACK"))]
        assert len(ended) == len(begun) == 5


# --- row 54: the log --------------------------------------------------------------------------


def heavy(book: Book) -> Group:
    """A group of about a megabyte."""
    group = book.contributions([1] * 16)
    book.event -= 16
    book.chain = book.events[-17].chain
    again = Book(book.epoch)
    again.chain = book.chain
    rows = [again.timed(replace(row, body=b"x" * 60_000), row.received_ms) for row in group.events]
    book.events[-16:] = group.events = rows
    book.event, book.chain = rows[-1].id, rows[-1].chain
    return group


def test_row_54_a_slow_reader_does_not_make_the_log_grow(path: Path) -> None:
    """60 MB behind a report that was begun and not read to its end. The store has no other
    readers, so nothing can keep the log from being written back."""
    with closing(SqliteStore(path, flush=False)) as store:
        book = led(store)
        for _ in range(2):
            store.commit(heavy(book))
        slow = store.events()
        next(slow)
        most = 0
        for _ in range(60):
            store.commit(heavy(book))
            most = max(most, store.log_bytes())
        assert most < (CHECKPOINT_PAGES + 600) * FRAME_BYTES
        assert next(slow) == book.events[1]
        store.tend()
        assert store.check().events == 1 + 62 * 16


def test_row_54_the_log_is_written_back_in_idle_moments(path: Path) -> None:
    with closing(SqliteStore(path, flush=False)) as store:
        book = led(store)
        for _ in range(100):
            store.commit(book.contributions())
        before = path.stat().st_size
        store.tend()
        assert path.stat().st_size > before
        assert store._commits == 0
        store._checkpoint("TRUNCATE")
        assert store.log_bytes() == 0


def test_row_54_a_log_that_is_too_long_is_cut(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAL_LIMIT_BYTES", 100_000)
    monkeypatch.setattr(module, "TEND_COMMITS", 10)
    with closing(SqliteStore(path, flush=False)) as store:
        book = led(store)
        most = 0
        for _ in range(60):
            store.commit(book.contributions([1] * 20))
            most = max(most, store.log_bytes())
        assert 100_000 < most < 800_000


# --- row 55: pages ----------------------------------------------------------------------------


def test_row_55_a_flipped_bit_is_found_or_changes_nothing(path: Path, tmp_path: Path) -> None:
    """Flips anywhere in the file where it is not empty: refused at the start, or in a byte that
    nothing uses, and then every row is what it was."""
    with closing(SqliteStore(path)) as store:
        book = led(store, tables=4)
        for number in range(12):
            store.commit(book.contributions([1, 2, 3, 4, 1, 2, 3, 1]))
            store.commit(book.award(f"mega/1/{number + 1}", "claimed"))
        for group in (book.alarmed(), book.people(), book.checkpoint(2, 9, "12" * 32)):
            store.commit(group)
        before = everything(store)
    good = path.read_bytes()
    chance = random.Random(551)
    copy = tmp_path / "flipped.db"
    used = [place for place, byte in enumerate(good) if byte]
    found = 0
    for place in chance.sample(used, 150):
        spoilt = bytearray(good)
        spoilt[place] ^= 1 << chance.randrange(8)
        copy.write_bytes(spoilt)
        Path(f"{copy}-wal").unlink(missing_ok=True)
        try:
            with closing(SqliteStore(copy)) as store:
                store.check()
                after = everything(store)
        except StoreError:
            found += 1
            continue
        assert after == before, f"byte {place} changed a row unseen"
    assert found > 120


def test_row_55_a_file_cut_short_is_refused(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        book = led(store)
        store.commit(book.contributions([1] * 200))
    good = path.read_bytes()
    for length in (len(good) - 4096, len(good) // 2, 4096, 100):
        path.write_bytes(good[:length])
        with pytest.raises(StoreError), closing(SqliteStore(path)) as store:
            store.check()


# --- a full disk ------------------------------------------------------------------------------


def test_a_full_disk_takes_no_half_group(small: Path) -> None:
    """Refused as long as it is full, whole when there is room again, nothing acknowledged lost."""
    with closing(SqliteStore(small / "link.db", create=True)) as store:
        store.migrate(at_ms=1)
        book = led(store)
        ballast = small / "ballast"
        ballast.write_bytes(bytes(700_000))
        acked = 0
        while True:
            group = book.contributions([1] * 30)
            try:
                store.commit(group)
            except Failed:
                break
            acked = group.events[-1].id
            assert acked < 20_000
        for _ in range(3):
            with pytest.raises(Failed, match="full"):
                store.commit(group)
        assert store.load().last_event == acked
        ballast.unlink()
        store.commit(group)
        assert store.check().events == group.events[-1].id
    with closing(SqliteStore(small / "link.db")) as again:
        assert list(again.events()) == book.events


def test_a_commit_that_the_disk_fails_is_unknown_until_it_was_looked_up(path: Path) -> None:
    """The first write of COMMIT fails; the connection is given up, the file is opened from the
    medium, and only that says whether the group is there."""
    with closing(SqliteStore(path)) as store:
        book = led(store)
        group = book.contributions([1] * 50)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (store.log_bytes() + 5_000, limits[1]))
        try:
            with pytest.raises(Unknown, match=r"disk I/O error.*E-STO-003"):
                store.commit(group)
            assert store._db is None
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        with pytest.raises(Locked):
            SqliteStore(path)
        assert not store.settle(group)
        store.commit(group)
        assert store.settle(group)
        assert store.check().events == 51
