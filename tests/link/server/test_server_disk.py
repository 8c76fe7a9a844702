"""A disk that fails below the link server, at any statement of any verb.

No failure may end the server or lose what it acknowledged. Whoever asked gets an answer with a
code, and once the disk works again the server serves as before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from link.server import leadership
from link.store.errors import Broken, Unknown
from link.store.sqlite import SqliteStore
from tests.link.server.asked import ASKED, backup_asked, notes
from tests.link.server.house import House, Live, house_of
from tests.patience import PATIENCE_S


def error_of(name: str, text: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode, error.sqlite_errorname = getattr(sqlite3, name), name
    return error


FAULTS = {
    "no space left": ("SQLITE_FULL", "database or disk is full"),
    "quota exceeded": ("SQLITE_IOERR_WRITE", "disk I/O error"),
    "flush failed": ("SQLITE_IOERR_FSYNC", "disk I/O error"),
    "read failed": ("SQLITE_IOERR_READ", "disk I/O error"),
    "read-only file system": ("SQLITE_READONLY", "attempt to write a readonly database"),
    "no file can be opened": ("SQLITE_CANTOPEN", "unable to open database file"),
}


class Failing(SqliteStore):
    """From statement ``at`` on nothing works, until it is mended. A COMMIT that fails was carried
    out or was not: ``durable`` says which."""

    at: int | None = None
    fault = "no space left"
    durable = False
    seen = 0

    def _fails(self) -> bool:
        if self._pending_open:
            return False
        self.seen += 1
        return self.at is not None and self.seen > self.at

    _pending_open = True

    def _open(self) -> None:
        self._pending_open = True
        super()._open()
        self._pending_open = False

    def _raise(self) -> None:
        raise error_of(*FAULTS[self.fault])

    def query(self, sql: str, values: Any = ()) -> Any:
        if self._fails():
            self._raise()
        return super().query(sql, values)

    def change(self, sql: str, rows: Any) -> int:
        if self._fails():
            self._raise()
        return super().change(sql, rows)

    def append(self, table: str, rows: Any) -> None:
        if self._fails():
            self._raise()
        super().append(table, rows)

    def _begin(self, *, snapshot: bool) -> None:
        if self._fails():
            self._raise()
        super()._begin(snapshot=snapshot)

    def _commit(self) -> None:
        if not self._fails():
            return super()._commit()
        if self.durable:
            super()._commit()
        error = error_of(*FAULTS[self.fault])
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_IOERR:
            self._drop()
            raise Unknown(self.place, f"the flush failed: {error}")
        raise error

    def backup(self, path: Path, **given: Any) -> Any:
        if self._fails():
            with self._mapped():
                self._raise()
        return super().backup(path, **given)


@pytest.fixture
def live(house: House) -> Live:
    return house.start(beat_ms=60_000)


def test_a_store_found_broken_between_two_pieces_of_a_backup_stops_the_server(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not the backup that failed: the server stops with its documented code."""

    ordinary = live.server.turn

    def turn(wait_ms: int) -> None:
        if live.server._service._busy:
            raise Broken("link.db", "a page is damaged")
        ordinary(wait_ms)

    monkeypatch.setattr(live.server, "turn", turn)
    assert backup_asked(live)["error"] == "E-SVC-008"
    live.thread.join(PATIENCE_S)
    (failed,) = live.failed
    assert isinstance(failed, Broken)


@pytest.fixture
def failing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[House, Live, Failing]]:
    monkeypatch.setattr(leadership, "PAUSE_S", 0.0)
    monkeypatch.setattr(leadership, "SETTLING_S", 0.02)
    stores: list[Failing] = []
    with house_of(tmp_path, "table-1") as house:

        def opened() -> Failing:
            stores.append(Failing(Path(house.where), flush=False))
            return stores[-1]

        # No renewal falls between: what is counted are the statements of the verb.
        live = house.start(open_it=opened, beat_ms=60_000, lease_ms=600_000)
        yield house, live, stores[0]


def mended(live: Live, store: Failing) -> None:
    store.at = None
    live.server._leadership.next_ms = 0
    live.bridge.wake()
    live.until(lambda: live.ask("status")["leading"])


def statements(live: Live, store: Failing, verb: str) -> int:
    ASKED[verb](live)
    before = store.seen
    answer = ASKED[verb](live)
    assert "error" not in answer, answer
    return store.seen - before


CODES = ("E-LNK-020", "E-STO-003", "E-STO-009", "E-SVC-005")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("verb", ASKED)
def test_a_disk_that_fails_at_any_statement_ends_no_server_and_loses_no_acknowledged_order(
    failing: tuple[House, Live, Failing], verb: str, fault: str
) -> None:
    house, live, store = failing
    many = statements(live, store, verb)
    store.fault = fault
    done = least = 2 if verb == "order" else 0
    for at in range(many):
        for store.durable in (False, True) if "IOERR" in FAULTS[fault][0] else (False,):
            store.at = store.seen + at
            answer = ASKED[verb](live)
            done += verb == "order"
            if "error" in answer:
                assert answer["error"] in CODES, answer
                assert str(store.place) in answer["text"] or "copy" in answer["text"], answer
                done -= verb == "order" and "nothing changed" in answer["text"]
            else:
                least += verb == "order"
            mended(live, store)
            again = ASKED[verb](live)
            assert "error" not in again, again
            least += verb == "order"
            done += verb == "order"
    assert not live.failed
    live.stop()
    assert not [left for left in Path(house.where).parent.iterdir() if ".part" in left.name]
    with closing(house.store()) as stored:
        stored.check()
        assert least <= notes(stored) <= done
