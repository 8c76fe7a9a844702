"""The embedded store: one SQLite file, one connection, nobody else.

Libraries before 3.51.3 can damage a file in WAL mode when two connections write and checkpoint at
the same moment. Here there is never a second one: a lock beside the file is held as long as the
store is open, and SQLite itself holds the file exclusively. Readers take a backup, or ask the
server.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from link.rows import Group
from link.store import tables as t
from link.store.backup import Content, content, write_backup
from link.store.base import Store
from link.store.contract import Manifest
from link.store.errors import (
    Broken,
    Conflict,
    Failed,
    Locked,
    Missing,
    NotStorable,
    StoreError,
    Unknown,
    Unsafe,
)
from link.store.migrations import Migration
from link.store.tables import Row
from link.store.wal import damage

OLDEST: Final = (3, 37, 0)
"""STRICT tables."""
WAL_RESET_MENDED: Final = (3, 51, 3)
APPLICATION_ID: Final = 0x55464C4B
"""``UFLK`` in the file's header: a store of the link and no other SQLite file."""
WAL_LIMIT_BYTES: Final = 64 << 20
BACKUP_PAGES: Final = 64
"""Copied in one go while groups wait."""
CHECKPOINT_PAGES: Final = 4000
"""The log is written back to the file by a commit when it has grown to so many pages..."""
DISK: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR)
READING: Final = (sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ)
TEND_COMMITS: Final = 100
"""...or in an idle moment after so many commits."""


class SqliteStore(Store):
    dialect = "sqlite"
    clock = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        read_only: bool = False,
        flush: bool = True,
        busy_ms: int = 1000,
        steps: Sequence[Migration] | None = None,
    ) -> None:
        """``read_only`` is for the file of a backup. ``flush=False`` is for measurements and for
        files that nobody keeps: what is committed without it does not survive a power cut."""
        super().__init__(str(path), steps)
        self._path, self._read_only, self._flush = path, read_only, flush
        self._busy_ms = busy_ms
        self._lock = -1
        self._closed = False
        self._db: sqlite3.Connection | None = None
        self._first_lead = True
        self._commits = 0
        if sqlite3.sqlite_version_info < OLDEST:
            raise Unsafe(self.place, f"SQLite {sqlite3.sqlite_version}; 3.37 or newer is needed")
        with self._mapped():
            if not create and not path.exists():
                raise Missing(self.place, "there is no such file; underfelt link init makes one")
            self._open()

    # --- open and close ----------------------------------------------------------------------

    def _open(self) -> None:
        if not self._read_only and self._lock < 0:
            self._take_lock()
        try:
            if not self._read_only:
                self._settle_files()
                self._check_log()
            self._db = self._connect()
            self._read_schema()
            if not self._read_only:
                # A log that starts again has nothing torn in it, now or at the next start.
                self._checkpoint("TRUNCATE")
        except BaseException:
            self.close()
            raise

    def _take_lock(self) -> None:
        self._lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            self._lock = -1
            raise Locked(self.place, "another process has this store open") from None

    def _settle_files(self) -> None:
        """After a failed flush memory may hold pages, marked clean, that the medium never got: what
        is read from here on comes from the medium. Never while SQLite has the file open: closing
        any descriptor of it drops SQLite's own lock."""
        if not self._path.exists():
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        for name in (str(self._path), f"{self._path}-wal"):
            with contextlib.suppress(FileNotFoundError):
                handle = os.open(name, os.O_RDWR | os.O_CLOEXEC)
                try:
                    os.fdatasync(handle)
                    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
                finally:
                    os.close(handle)

    def _check_log(self) -> None:
        try:
            log = Path(f"{self._path}-wal").read_bytes()
        except FileNotFoundError:
            return
        found = damage(log)
        if found is not None:
            raise Broken(self.place, found)

    def _connect(self) -> sqlite3.Connection:
        mode = "ro&immutable=1" if self._read_only else "rw"
        db = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=self._busy_ms / 1000,
        )
        self._db = db
        if not self._read_only:
            self._set("locking_mode", "exclusive")
        self._set("foreign_keys", 1)
        self._set("trusted_schema", 0)
        self._set("cell_size_check", 1)
        found = self.query("PRAGMA application_id")[0][0]
        fresh = not found and not self.query("SELECT 1 FROM sqlite_schema LIMIT 1")
        if found != APPLICATION_ID and not fresh:
            raise Missing(self.place, "a SQLite file, but not a store of the link")
        if not self._read_only:
            self._set("journal_mode", "wal")
            self._set("synchronous", 2 if self._flush else 0)
            self._set("journal_size_limit", WAL_LIMIT_BYTES)
            self._set("wal_autocheckpoint", CHECKPOINT_PAGES)
        return db

    def _set(self, name: str, value: int | str) -> None:
        """A setting counts when it reads back."""
        self.query(f"PRAGMA {name} = {value}")
        found = self.query(f"PRAGMA {name}")[0][0]
        if found != value:
            raise Unsafe(self.place, f"SQLite keeps {name} at {found}; {value} is needed")

    def close(self) -> None:
        self._closed = True
        self._drop()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _drop(self) -> None:
        """The disk failed: what this connection has in memory is worth nothing. The lock stays."""
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._db = None

    def _open_db(self) -> sqlite3.Connection:
        """Dropped after a failure of the disk: opened again, from the medium."""
        if self._closed:
            raise Failed(self.place, "the store was closed")
        if self._db is None:
            self._open()
            assert self._db is not None
        return self._db

    # --- statements --------------------------------------------------------------------------

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        return self._open_db().execute(sql, values).fetchall()

    def change(self, sql: str, rows: Sequence[Row]) -> int:
        return self._open_db().executemany(sql, rows).rowcount

    def append(self, table: str, rows: Sequence[Row]) -> None:
        self._open_db().executemany(t.insert(table), rows)

    def _begin(self, *, snapshot: bool) -> None:  # noqa: ARG002
        # At once for writing: a transaction that turns from reading to writing fails without
        # waiting when somebody else writes.
        self._open_db().execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        try:
            self._open_db().execute("COMMIT")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_IOERR:
                self._drop()
                raise Unknown(self.place, f"the flush failed: {error}") from error
            raise
        self._commits += 1

    def _rollback(self) -> None:
        if self._db is None:
            return
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error:
            self._drop()

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._meaning(error) from error
        except (OverflowError, UnicodeEncodeError) as error:
            raise NotStorable(self.place, f"a value that no column takes: {error}") from error
        except UnicodeDecodeError as error:
            raise Broken(self.place, f"a text that is none: {error}") from error
        except OSError as error:
            raise Failed(self.place, str(error)) from error

    def _meaning(self, error: sqlite3.Error) -> StoreError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        kind = code & 0xFF
        what = f"{error} ({name})"
        if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Locked(self.place, f"another program has the file open: {what}")
        damaged = kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        if damaged or any(word in str(error) for word in ("integer overflow", "decode to UTF-8")):
            return Broken(self.place, what)
        if code in (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE):
            return Conflict(self.place, what)
        if kind in (sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH):
            return NotStorable(self.place, what)
        if kind == sqlite3.SQLITE_IOERR:
            self._drop()
        return Failed(self.place, what)

    # --- the contract ------------------------------------------------------------------------

    def _has_table(self, name: str) -> bool:
        sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
        return bool(self.query(sql, (name,)))

    def _lock_schema(self) -> None:
        self.query(f"PRAGMA application_id = {APPLICATION_ID}")

    def _take_lead(self, holder: str, lease_ms: int, above: int) -> int | None:
        epoch = super()._take_lead(holder, lease_ms, above)
        self._first_lead = False
        return epoch

    def _predecessor_is_gone(self) -> bool:
        """The leader before had the lock that this process has now."""
        return self._first_lead

    def commit(self, group: Group) -> None:
        super().commit(group)
        self._bound_log()

    def unhurried(self) -> None:
        """SQLite knows no such limit."""

    def tend(self) -> None:
        if self._commits >= TEND_COMMITS:
            self._checkpoint("PASSIVE")

    def _bound_log(self) -> None:
        """Larger than its limit only if write-backs did not succeed: then now, or not at all."""
        if self._commits % TEND_COMMITS == 0 and self.log_bytes() > WAL_LIMIT_BYTES:
            self._checkpoint("TRUNCATE")

    def _checkpoint(self, how: str) -> None:
        with self._mapped():
            self.query(f"PRAGMA wal_checkpoint({how})")
        self._commits = 0

    def log_bytes(self) -> int:
        """The size of the write-ahead log, for the metrics."""
        try:
            return os.stat(f"{self._path}-wal").st_size
        except FileNotFoundError:
            return 0

    def _damage(self, *, whole: bool) -> list[str]:
        how = "integrity_check" if whole else "quick_check"
        found = [str(row[0]) for row in self.query(f"PRAGMA {how}(20)")]
        strays = self.query("PRAGMA foreign_key_check")
        found += [f"{row[0]}: row {row[1]} refers to nothing in {row[2]}" for row in strays]
        return [text for text in found if text != "ok"]

    def backup(
        self,
        path: Path,
        *,
        at_ms: int,
        between: Callable[[], None] | None = None,
        verify: bool = True,
    ) -> Manifest:
        def copy(part: Path) -> Content:
            target = sqlite3.connect(part, isolation_level=None)
            try:
                pages = -1 if between is None else BACKUP_PAGES
                progress = None if between is None else lambda *_: between()
                self._open_db().backup(target, pages=pages, progress=progress)
                # One file that holds everything, whatever becomes of the folder.
                target.execute("PRAGMA journal_mode = DELETE")
            except sqlite3.OperationalError as error:
                code = error.sqlite_errorcode
                if code & 0xFF in DISK and code not in READING:  # the store is only read here
                    raise Failed(str(path), f"{error} ({error.sqlite_errorname})") from error
                raise
            finally:
                target.close()
            with contextlib.closing(SqliteStore(part, read_only=True, steps=self._steps)) as made:
                return content(made.query)

        self._ready()
        with self._mapped():
            return write_backup(
                self, "sqlite", path, copy, at_ms=at_ms, between=between, verify=verify
            )
