"""No wait for PostgreSQL without an end.

The server bounds its statements itself, but not while a commit waits for its standby, and not while
it is frozen or its network has fallen silent: those are bounded here, on this side.
"""

from __future__ import annotations

from select import select
from time import monotonic
from typing import Any, Final

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.pq.abc import PGconn, PGresult

from link.store.tables import Row

MARGIN_S: Final = 0.5
"""The server's own limit comes first, where it still can: it says more."""
LOOK_S: Final = 0.1


class TooLong(psycopg.OperationalError):
    """No word within the wait."""


class Bounded(psycopg.Connection[Row]):
    """A connection on which every statement is answered in time, or the connection is given up."""

    patience_s: float | None = None
    """None: however long it takes."""

    def wait(self, gen: PQGen[RV], interval: float = LOOK_S, timeout: float | None = None) -> RV:
        if self.patience_s is None:
            return super().wait(gen, interval, timeout)
        return super().wait(_bounded(gen, monotonic() + self.patience_s), LOOK_S)


def _bounded(gen: PQGen[RV], until: float) -> PQGen[RV]:
    """The same conversation; whenever nothing has come, it is asked whether to go on."""
    try:
        state = next(gen)
        while True:
            ready: Any = yield state
            if not ready and monotonic() > until:
                raise TooLong("it took too long")
            state = gen.send(ready)
    except StopIteration as done:
        value: RV = done.value
        return value


def answered(pgconn: PGconn, command: bytes, patience_s: float) -> PGresult:
    """The answer to a command, or ``TooLong``."""
    pgconn.send_query(command)
    until = monotonic() + patience_s
    while pgconn.flush():
        _await(pgconn, until, writing=True)
    while pgconn.is_busy():
        _await(pgconn, until, writing=False)
        pgconn.consume_input()
    answer = pgconn.get_result()
    while pgconn.get_result() is not None:
        pass
    if answer is None:
        raise psycopg.OperationalError("the connection ended")
    return answer


def _await(pgconn: PGconn, until: float, *, writing: bool) -> None:
    sockets = [pgconn.socket]
    left = max(0.0, until - monotonic())
    if not any(select(sockets, sockets if writing else [], [], left)):
        raise TooLong("it took too long")
