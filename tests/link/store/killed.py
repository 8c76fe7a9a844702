"""A process that is killed at the n-th moment of its work, as often as the test likes.

    python -m tests.link.store.killed KIND WHERE WORK

Every number read is a child that opens the store and dies by SIGKILL at that moment of ``WORK``
(``commit`` or ``migrate``); the answer is ``killed``, or ``finished`` if there is no such moment.
Moments of SQLite are the beginnings of its statements, every row of a group among them, and the
return from COMMIT; those of PostgreSQL are calls of the driver.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from link.rows import Group
from link.store.base import Store
from link.store.postgres import PostgresStore
from link.store.sqlite import SqliteStore
from link.store.tables import Row
from tests.link.store.book import Book


class Countdown:
    """Armed when the work begins; at 0 the process is gone."""

    def __init__(self, moments: int) -> None:
        self.left = moments
        self.armed = False

    def moment(self, _: object = None) -> None:
        if self.armed:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class KilledSqlite(SqliteStore):
    _countdown: Countdown | None = None

    def watch(self, countdown: Countdown) -> None:
        self._countdown = countdown
        self._open_db().set_trace_callback(countdown.moment)

    def _commit(self) -> None:
        super()._commit()
        if self._countdown is not None:
            self._countdown.moment()


class KilledPostgres(PostgresStore):
    _countdown: Countdown | None = None

    def watch(self, countdown: Countdown) -> None:
        self._countdown = countdown

    def _around(self, act: Callable[[], Any]) -> Any:
        if self._countdown is None:
            return act()
        self._countdown.moment()
        return act()

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        rows: list[Row] = self._around(lambda: PostgresStore.query(self, sql, values))
        return rows

    def change(self, sql: str, rows: Sequence[Row]) -> int:
        count: int = self._around(lambda: PostgresStore.change(self, sql, rows))
        return count

    def append(self, table: str, rows: Sequence[Row]) -> None:
        self._around(lambda: PostgresStore.append(self, table, rows))

    def _move(self, rows: Sequence[Row]) -> int:
        count: int = self._around(lambda: PostgresStore._move(self, rows))
        return count

    def _commit(self) -> None:
        self._around(lambda: PostgresStore._commit(self))
        if self._countdown is not None:
            self._countdown.moment()


def opened(kind: str, where: str) -> KilledSqlite | KilledPostgres:
    return KilledPostgres(where) if kind == "postgresql" else KilledSqlite(Path(where), create=True)


def next_group(store: Store, epoch: int) -> Group:
    """A group with something for every table, the next after what is stored."""
    book = Book(epoch, store.load())
    group = book.contributions([1, 2, 1])
    for part in (
        book.award("mega/1/1", "locked"),
        book.alarmed(),
        book.people(),
        book.checkpoint(3, book.event, f"{book.event:064x}"),
    ):
        for name in ("events", "entries", "steps", "alarms"):
            getattr(group, name).extend(getattr(part, name))
        for name in ("balances", "journals", "journals_before", "awards", "keys", "accounts"):
            getattr(group, name).update(getattr(part, name))
    group.levels.update(book.levels)
    return group


def work(kind: str, where: str, what: str, moments: int) -> None:
    countdown = Countdown(moments)
    store = opened(kind, where)
    if what == "migrate":
        store.watch(countdown)
        countdown.armed = True
        store.migrate(at_ms=1)
        return
    epoch = store.lead("one", 60_000)
    assert epoch is not None
    group = next_group(store, epoch)
    store.watch(countdown)
    countdown.armed = True
    store.commit(group)


def main(kind: str, where: str, what: str) -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            work(kind, where, what, int(line))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            answer = "killed"
        else:
            answer = "finished" if status == 0 else f"failed {status}"
        print(answer, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
