"""The store where one machine is not enough: PostgreSQL 13 or later through psycopg 3.

A group is one transaction that holds the leader's row for sharing, so that an epoch can be raised
before it or after it and never in between. An answer is durable: commits are synchronous, and a
commit of which nobody can say whether it happened is ``Unknown``, never a guess.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus

from link.store import tables as t
from link.store.backup import Content, write_backup, write_export
from link.store.base import Store
from link.store.contract import Manifest
from link.store.errors import (
    Broken,
    Conflict,
    Failed,
    NotStorable,
    StoreError,
    Unknown,
    Unsafe,
)
from link.store.migrations import Migration
from link.store.patience import MARGIN_S, Bounded, TooLong, answered
from link.store.tables import Row

T = TypeVar("T")

OLDEST: Final = 130000
ADVISORY: Final = 0x55464C4B
"""Held while somebody migrates or takes the lead."""
TRIES: Final = 10
"""Of the same rows, when the database asks for it (40001, 40P01)."""
SYNCHRONOUS: Final = ("on", "remote_apply")
CONNECT_S: Final = 2
"""For each host; the least that the driver takes."""
_AGAIN: Final = (pg.SerializationFailure, pg.DeadlockDetected)
_DAMAGED: Final = (pg.DataCorrupted, pg.IndexCorrupted)
_NOT_STORABLE: Final = (pg.DataError, pg.IntegrityError)


_MOVE: Final = (
    "UPDATE watermarks w SET n = u.n, event = u.event, seq = u.seq, hash = u.hash,"
    " head_seq = u.head_seq, head_hash = u.head_hash, received_ms = u.received_ms,"
    " rounds = u.rounds, seal = u.seal FROM unnest(%b::int8[], %b::int8[], %b::int8[], %b::bytea[],"
    " %b::int8[], %b::bytea[], %b::int8[], %b::bytea[], %b::int8[], %b::int8[], %b::int8[],"
    " %b::int8[]) AS u (n, event, seq, hash, head_seq, head_hash, received_ms, rounds, seal,"
    " id, n_before, event_before)"
    " WHERE w.id = u.id AND w.n = u.n_before AND w.event = u.event_before"
)


class _Lost(Failed):
    """The connection went away before COMMIT was sent: nothing is committed."""


def _turned(parts: dict[str, Any], by: int) -> str:
    """The same hosts, beginning with another one."""
    turned = dict(parts)
    for name in ("host", "hostaddr", "port"):
        values = str(parts.get(name, "")).split(",")
        if len(values) > 1:
            at = by % len(values)
            turned[name] = ",".join(values[at:] + values[:at])
    return make_conninfo("", **turned)


@cache
def _dialect(sql: str) -> str:
    return sql.replace("?", "%s")


def _line(error: psycopg.Error) -> str:
    """What it says, without where it happened."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class PostgresStore(Store):
    dialect = "postgresql"
    clock = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    fence = "SELECT epoch FROM leader WHERE id = 1 FOR SHARE"

    def __init__(
        self,
        url: str,
        *,
        statement_ms: int = 10_000,
        standby_required: bool = False,
        steps: Sequence[Migration] | None = None,
    ) -> None:
        """``statement_ms`` bounds every wait of a group, that for the synchronous standby included.
        ``standby_required`` refuses a database that waits for none."""
        parts = conninfo_to_dict(url)
        host, name = parts.get("host", "local"), parts.get("dbname", "")
        super().__init__(f"postgresql://{host}/{name}", steps)
        self._url, self._parts, self._statement_ms = url, parts, statement_ms
        self._standby_required = standby_required
        self._waits_for = ""
        self._turn = 0
        """The host that is tried first: another one after a primary that could not commit."""
        self._db: Bounded | None = None
        self._closed = False
        self._warnings: list[str] = []
        self._types: dict[str, list[str]] = {}
        try:
            with self._mapped():
                self._read_schema()
        except BaseException:
            self.close()
            raise

    # --- connection --------------------------------------------------------------------------

    def _connection(self) -> Bounded:
        if self._closed:
            raise Failed(self.place, "the store was closed")
        if self._db is None:
            self._db = self._connect()
        return self._db

    def _connect(self) -> Bounded:
        try:
            db = self._reached()
        except psycopg.Error as error:
            # Every host was tried: when to retry is the caller's decision.
            raise Failed(self.place, f"no connection: {_line(error)}") from error
        try:
            self._prepare(db)
        except BaseException:
            db.close()
            raise
        return db

    def _reached(self) -> Bounded:
        return Bounded.connect(
            _turned(self._parts, self._turn),
            autocommit=True,
            connect_timeout=CONNECT_S,
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=3,
            tcp_user_timeout=10_000,
            application_name="underfelt-link",
        )

    def _prepare(self, db: Bounded) -> None:
        self._hurry(db)
        db.add_notice_handler(self._noticed)
        settings = {
            "statement_timeout": str(self._statement_ms),
            # A server that was frozen in a transaction must not hold the leader's row for ever.
            "idle_in_transaction_session_timeout": str(self._statement_ms),
            "lock_timeout": str(self._statement_ms // 2),
            "client_encoding": "UTF8",
        }
        for name, value in settings.items():
            db.execute("SELECT set_config(%s, %s, false)", (name, value))
        if db.execute("SHOW synchronous_commit").fetchone() != ("remote_apply",):
            db.execute("SET synchronous_commit = on")
        self._verify(db)

    def _noticed(self, diagnostic: psycopg.errors.Diagnostic) -> None:
        if diagnostic.severity_nonlocalized == "WARNING":
            self._warnings.append(diagnostic.message_primary or "a warning without words")

    def _verify(self, db: psycopg.Connection[Row]) -> None:
        """A promise counts when it reads back."""
        version = db.info.server_version
        if version < OLDEST:
            raise Unsafe(self.place, f"PostgreSQL {version // 10000}; 13 or later is needed")
        row = db.execute(
            "SELECT pg_is_in_recovery(), current_setting('synchronous_commit'),"
            " current_setting('fsync'), current_setting('full_page_writes'),"
            " current_setting('synchronous_standby_names')"
        ).fetchone()
        assert row is not None
        standby, synchronous, fsync, full_pages, waits_for = row
        if standby:
            raise Unsafe(self.place, "a standby; only the primary may decide about money")
        if synchronous not in SYNCHRONOUS:
            raise Unsafe(self.place, f"synchronous_commit is {synchronous}; it must be on")
        for name, value in (("fsync", fsync), ("full_page_writes", full_pages)):
            if value != "on":
                raise Unsafe(self.place, f"{name} is {value}; it must be on")
        if self._standby_required and not waits_for:
            raise Unsafe(self.place, "synchronous_standby_names is empty; a standby is required")
        self._waits_for = waits_for

    def caution(self) -> str:
        if self._waits_for:
            return ""
        return "synchronous_standby_names is empty: what is acknowledged is on one machine only"

    def _standby_words(self) -> str:
        names = self._waits_for
        return f"; it waits for a synchronous standby: {names}" if names else ""

    def _elsewhere(self) -> None:
        """This host could not do it: begin with the next one. A primary that was left behind is
        still there for reading and writing, and would be found first for ever."""
        self._drop()
        self._turn += 1

    def _drop(self) -> None:
        if self._db is not None:
            with contextlib.suppress(psycopg.Error):
                self._db.close()
            self._db = None

    def close(self) -> None:
        self._closed = True
        self._drop()

    # --- statements --------------------------------------------------------------------------

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        cursor = self._connection().execute(
            cast("Any", _dialect(sql) if values else sql), values or None
        )
        return cursor.fetchall() if cursor.description else []

    def change(self, sql: str, rows: Sequence[Row]) -> int:
        cursor = self._connection().cursor()
        cursor.executemany(cast("Any", _dialect(sql)), rows)
        return cursor.rowcount

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        try:
            return super()._read(sql, values)
        except _Lost:
            return super()._read(sql, values)

    def append(self, table: str, rows: Sequence[Row]) -> None:
        """COPY: of three ways to add rows the fastest, from ten rows on (bench/store.py)."""
        types = self._types.get(table)
        if types is None:
            found = self.query(
                "SELECT udt_name FROM information_schema.columns WHERE table_name = ?"
                " AND table_schema = current_schema() ORDER BY ordinal_position",
                (table,),
            )
            types = self._types[table] = [row[0] for row in found]
        statement = f"COPY {table} ({t.listed(table)}) FROM STDIN (FORMAT BINARY)"
        with self._connection().cursor().copy(cast("Any", statement)) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def _move(self, rows: Sequence[Row]) -> int:
        """All watermarks in one statement: half the time of one each."""
        columns = [list(column) for column in zip(*rows, strict=True)]
        return self._connection().execute(_MOVE, columns, prepare=True).rowcount

    def _begin(self, *, snapshot: bool) -> None:
        db = self._connection()
        self._hurry(db)
        self._warnings.clear()
        if not snapshot:
            db.execute("BEGIN")
            return
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self.unhurried()

    def _hurry(self, db: Bounded) -> None:
        db.patience_s = self._statement_ms / 1000 + MARGIN_S

    def unhurried(self) -> None:
        self._connection().patience_s = None
        for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
            self.query("SELECT set_config(?, '0', true)", (name,))

    def _commit(self) -> None:
        """From the moment COMMIT is sent, only an answer is an answer."""
        db = self._connection()
        try:
            answer = answered(db.pgconn, b"COMMIT", self._statement_ms / 1000)
        except psycopg.Error as error:
            what = f"no answer to COMMIT: {_line(error)}"
            if isinstance(error, TooLong):
                what += self._standby_words()
            self._elsewhere()
            raise Unknown(self.place, what) from error
        if answer.status != ExecStatus.COMMAND_OK:
            refusal = pg.error_from_result(answer)
            if db.pgconn.status != ConnStatus.OK or (refusal.sqlstate or "08")[:2] in ("08", "57"):
                self._drop()
                raise Unknown(self.place, f"no answer to COMMIT: {_line(refusal)}") from refusal
            raise refusal
        if answer.command_status != b"COMMIT":
            raise Failed(self.place, f"COMMIT was answered {answer.command_status!r}")
        if self._warnings:
            raise Unknown(self.place, f"COMMIT was answered with: {self._warnings[0]}")
        if self._standby_required:
            self._still_waited_for(db)

    def _still_waited_for(self, db: Bounded) -> None:
        """Emptying the list releases the commits that wait: they are answered, and are on
        one machine. So the list counts as it is after the answer."""
        try:
            row = db.execute("SHOW synchronous_standby_names").fetchone()
        except psycopg.Error as error:
            self._elsewhere()
            raise Unknown(self.place, f"lost after COMMIT: {_line(error)}") from error
        if row is None or not row[0]:
            self._elsewhere()
            raise Unknown(self.place, "COMMIT was answered without a synchronous standby")

    def _rollback(self) -> None:
        db = self._db
        if db is None:
            return
        self._hurry(db)
        try:
            if db.info.transaction_status == TransactionStatus.ACTIVE:
                self._drop()  # in the middle of an answer that never came
            elif not db.closed and db.info.transaction_status != TransactionStatus.IDLE:
                db.execute("ROLLBACK")
        except psycopg.Error:
            self._drop()
        if self._db is not None and self._db.closed:
            self._drop()

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            if isinstance(error, _AGAIN):
                raise
            if isinstance(error, TooLong):
                self._elsewhere()
                raise Failed(self.place, f"no answer: {_line(error)}") from error
            if self._db is None or self._db.closed:
                self._drop()
                raise _Lost(self.place, f"no connection: {_line(error)}") from error
            raise self._meaning(error) from error
        except (OverflowError, UnicodeEncodeError, struct.error) as error:
            raise NotStorable(self.place, f"a value that no column takes: {error}") from error

    def _meaning(self, error: psycopg.Error) -> StoreError:
        what = f"{type(error).__name__}: {_line(error)}"
        if isinstance(error, _DAMAGED):
            return Broken(self.place, what)
        if isinstance(error, pg.UniqueViolation):
            return Conflict(self.place, what)
        if isinstance(error, _NOT_STORABLE):
            return NotStorable(self.place, what)
        if isinstance(error, pg.ReadOnlySqlTransaction):
            self._elsewhere()
        return Failed(self.place, what)

    def attempt(self, act: Callable[[], T], *, snapshot: bool = False) -> T:
        lost: Exception | None = None
        for _ in range(TRIES):
            try:
                return super().attempt(act, snapshot=snapshot)
            except _AGAIN as error:
                lost = error
            except _Lost as error:
                if isinstance(lost, _Lost):
                    raise
                lost = error
        raise Failed(self.place, f"asked to try again {TRIES} times: {lost}") from lost

    # --- the contract ------------------------------------------------------------------------

    def _has_table(self, name: str) -> bool:
        # Not to_regclass: what it remembers of missing tables outlives the wait for a lock.
        sql = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?"
        return bool(self.query(sql, (name,)))

    def _lock_schema(self) -> None:
        self.unhurried()
        self._lock_advisory()

    def _lock_advisory(self) -> None:
        self.query("SELECT pg_advisory_xact_lock(?)", (ADVISORY,))

    def tend(self) -> None:
        """PostgreSQL keeps house itself."""

    def lead(self, holder: str, lease_ms: int, above: int = 0) -> int | None:
        current = self.leader()
        if current is not None and current.holder != holder and current.left_ms > 0:
            return None
        try:
            return super().lead(holder, lease_ms, above)
        except Failed as error:
            if isinstance(error.__cause__, pg.LockNotAvailable):
                self._elsewhere()
                what = "the lease is over, and a commit of the leader before has not ended"
                raise Unknown(self.place, what + self._standby_words()) from error
            raise

    def _take_lead(self, holder: str, lease_ms: int, above: int) -> int | None:
        self._still_fit()
        return super()._take_lead(holder, lease_ms, above)

    def locked_leader(self) -> Row | None:
        self._lock_advisory()
        rows = self.query(
            "SELECT epoch, holder, lease_ms, renewed_ms FROM leader WHERE id = 1 FOR UPDATE"
        )
        return rows[0] if rows else None

    def _set_renewed(self, epoch: int, when: str) -> None:
        self._still_fit()
        super()._set_renewed(epoch, when)

    def _still_fit(self) -> None:
        """Somebody may have switched off a promise since, or migrated: then no lease either."""
        self._verify(self._connection())
        self._read_schema()
        self._ready()

    def backup(
        self,
        path: Path,
        *,
        at_ms: int,
        between: Callable[[], None] | None = None,
        verify: bool = True,
    ) -> Manifest:
        """On a connection of its own, in one snapshot; groups are committed on the other."""

        def copy(part: Path) -> Content:
            other = PostgresStore(self._url, steps=self._steps)
            try:
                with other.transaction(snapshot=True), part.open("wb") as file:
                    return write_export(other.query, other.schema, file, between)
            finally:
                other.close()

        self._ready()
        return write_backup(self, "export", path, copy, at_ms=at_ms, between=between, verify=verify)
