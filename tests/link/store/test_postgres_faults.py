"""PostgreSQL that dies, is cancelled, asks for another try: rows 56, 57 and 58."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from typing import Any

import psycopg
import pytest

from link.rows import Group
from link.store import postgres as module
from link.store.errors import Failed, StoreError, TooNew, Unknown, Unsafe
from link.store.migrations import migrations, read
from link.store.postgres import PostgresStore
from tests.link.store.book import DISPLAY_UNITS, Book, led
from tests.postgres import Instance

_names = count(1)


@pytest.fixture(scope="module")
def mine() -> Iterator[Instance]:
    """A server that these tests may kill and configure."""
    instance = Instance()
    instance.start()
    yield instance
    instance.remove()


@pytest.fixture
def url(mine: Instance) -> str:
    where = mine.create_schema(f"f{next(_names)}")
    with closing(PostgresStore(where)) as store:
        store.migrate(at_ms=1)
    return where


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(url, statement_ms=60_000)) as opened:
        yield opened


class Committing(threading.Thread):
    """A group, committed in a thread of its own; what came of it."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self._act = act
        self.outcome: object = None

    def run(self) -> None:
        try:
            self.outcome = self._act()
        except StoreError as error:
            self.outcome = error


def awaited(mine: Instance, waiting: Committing, event: str) -> int:
    """The backend that waits for ``event``, as soon as there is one."""
    with mine.connect() as link:
        while True:
            row = link.execute(
                "SELECT pid FROM pg_stat_activity WHERE wait_event = %s", (event,)
            ).fetchone()
            if row is not None:
                pid: Any = row[0]
                return int(pid)
            assert waiting.is_alive(), waiting.outcome


def set_server(mine: Instance, name: str, value: str) -> None:
    """A setting of the whole server, in force when this returns."""
    with mine.connect() as link:
        link.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        link.execute("SELECT pg_reload_conf()")
    while True:
        with mine.connect() as link:
            if link.execute(f"SHOW {name}").fetchone() == (value,):
                return


@pytest.fixture
def no_standby(mine: Instance) -> Iterator[Callable[[], None]]:
    """Commits wait for a standby that never comes, until the function is called."""
    set_server(mine, "synchronous_standby_names", "nobody")

    def over() -> None:
        set_server(mine, "synchronous_standby_names", "")

    yield over
    over()


# --- row 57: cancelled ------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["pg_cancel_backend", "pg_terminate_backend"])
def test_row_57_a_commit_cancelled_in_its_wait_is_unknown(
    mine: Instance, store: PostgresStore, how: str, request: pytest.FixtureRequest
) -> None:
    """PostgreSQL calls it committed, with a warning; no standby has it. Asked again it stays
    unknown as long as the question itself cannot be made durable."""
    book = led(store)
    group = book.contributions()
    over = request.getfixturevalue("no_standby")
    for act in (lambda: store.commit(group), lambda: store.settle(group)):
        waiting = Committing(act)
        waiting.start()
        pid = awaited(mine, waiting, "SyncRep")
        with mine.connect() as link:
            link.execute(f"SELECT {how}(%s)", (pid,))
        waiting.join()
        assert isinstance(waiting.outcome, Unknown), waiting.outcome
    over()
    assert store.settle(group)
    assert store.check().events == 2
    store.commit(book.contributions())


def test_row_57_a_wait_without_end_is_bounded(url: str, request: pytest.FixtureRequest) -> None:
    """The commit still waits at the server; the question waits for it, and is bounded too."""
    with closing(PostgresStore(url)) as store:
        group = led(store).contributions()
    with closing(PostgresStore(url, statement_ms=1_500)) as store:
        over = request.getfixturevalue("no_standby")
        with pytest.raises(Unknown, match=r"it took too long.*E-STO-003"):
            store.commit(group)
        for _ in range(2):
            with pytest.raises(Unknown, match="nobody to ask: LockNotAvailable"):
                store.settle(group)
        over()
    with closing(PostgresStore(url)) as store:
        assert store.settle(group)
        assert store.check().events == 2


# --- row 56: killed ---------------------------------------------------------------------------


def test_row_56_killed_in_commit(
    mine: Instance, store: PostgresStore, request: pytest.FixtureRequest
) -> None:
    """The group is on the disk, the answer never came: looked up after the restart."""
    group = led(store).contributions()
    request.getfixturevalue("no_standby")
    waiting = Committing(lambda: store.commit(group))
    waiting.start()
    awaited(mine, waiting, "SyncRep")
    mine.kill()
    waiting.join()
    assert isinstance(waiting.outcome, Unknown), waiting.outcome
    with pytest.raises(Unknown, match="nobody to ask"):
        store.settle(group)
    mine.start()
    set_server(mine, "synchronous_standby_names", "")
    assert store.settle(group)
    assert store.check().events == 2


def test_row_56_killed_before_commit(mine: Instance, store: PostgresStore, url: str) -> None:
    """Never sent, so certainly not there; the same group is committed afterwards."""
    group = led(store).contributions()
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE entries IN ACCESS EXCLUSIVE MODE")
        waiting = Committing(lambda: store.commit(group))
        waiting.start()
        awaited(mine, waiting, "relation")
        mine.kill()
        other.close()
    waiting.join()
    assert isinstance(waiting.outcome, Failed), waiting.outcome
    mine.start()
    assert not store.settle(group)
    store.commit(group)
    assert store.check().events == 2


def kill_after(enough: threading.Event, mine: Instance) -> None:
    enough.wait()
    mine.kill()


def test_row_56_killed_under_load(mine: Instance, store: PostgresStore) -> None:
    """Four times at a random moment: nothing acknowledged is lost, nothing is there twice."""
    seed = 56
    chance = random.Random(seed)
    book = led(store, tables=4)
    acked = 1
    unknown = 0
    for _ in range(4):
        enough = threading.Event()
        killer = threading.Thread(target=kill_after, args=(enough, mine))
        killer.start()
        groups = chance.randrange(1, 12)
        pending: Group | None = None
        while pending is None:
            group = book.contributions([chance.randrange(4) + 1 for _ in range(5)])
            groups -= 1
            if not groups:
                enough.set()
            try:
                store.commit(group)
                acked = group.events[-1].id
            except (Unknown, Failed) as error:
                unknown += isinstance(error, Unknown)
                pending = group
        killer.join()
        mine.start()
        there = store.settle(pending)
        assert store.load().last_event == (pending.events[-1].id if there else acked)
        if not there:
            store.commit(pending)
        acked = pending.events[-1].id
        store.check()
    assert list(store.events()) == book.events, f"seed {seed}"
    display = [b.units for b in store.load().balances if b.account == "display"]
    assert display == [DISPLAY_UNITS * (len(book.events) - 1)]
    print(f"{len(book.events)} events, {unknown} of 4 kills left a commit unknown")


# --- row 58: try again ------------------------------------------------------------------------

FAIL_TWICE = """
CREATE SEQUENCE tries;
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF nextval('tries') <= {times} THEN
    RAISE EXCEPTION 'once more' USING ERRCODE = '{code}';
  END IF;
  RETURN NULL;
END $$;
"""
AT_ONCE = "CREATE TRIGGER t AFTER INSERT ON events EXECUTE FUNCTION fail()"
AT_COMMIT = (
    "CREATE CONSTRAINT TRIGGER t AFTER INSERT ON entries DEFERRABLE INITIALLY DEFERRED"
    " FOR EACH ROW EXECUTE FUNCTION fail()"
)


@pytest.mark.parametrize("code", ["40001", "40P01"])
@pytest.mark.parametrize("trigger", [AT_ONCE, AT_COMMIT], ids=["at once", "at commit"])
def test_row_58_asked_to_try_again_the_same_rows_are_given(
    store: PostgresStore, code: str, trigger: str
) -> None:
    book = led(store)
    store.query(FAIL_TWICE.format(times=2, code=code))
    store.query(trigger)
    store.commit(book.contributions())
    assert store.query("SELECT last_value >= 3 FROM tries") == [(True,)]
    assert list(store.events()) == book.events
    store.check()


def test_row_58_not_without_end(store: PostgresStore) -> None:
    book = led(store)
    store.query(FAIL_TWICE.format(times=1000, code="40001"))
    store.query(AT_ONCE)
    group = book.contributions()
    with pytest.raises(Failed, match="asked to try again 10 times"):
        store.commit(group)
    assert store.query("SELECT last_value FROM tries") == [(10,)]
    store.query("DROP TRIGGER t ON events")
    assert not store.settle(group)
    store.commit(group)
    assert store.check().events == 2


def test_row_58_serializable_and_contention(url: str) -> None:
    """A site that runs everything serializable: the database itself says 40001."""
    serializable = url.replace(
        "-csearch_path", "-cdefault_transaction_isolation%3Dserializable%20-csearch_path"
    )

    class Contended(PostgresStore):
        left = 3

        def _hold(self, epoch: int) -> None:
            self.query("SELECT epoch FROM leader")
            if self.left:
                self.left -= 1
                with psycopg.connect(url, autocommit=True) as other:
                    other.execute("UPDATE leader SET renewed_ms = renewed_ms + 1")
            super()._hold(epoch)

    with closing(Contended(serializable)) as store:
        assert store.query("SHOW transaction_isolation") == [("serializable",)]
        book = led(store)
        assert store.left == 0
        store.commit(book.contributions())
        assert list(store.events()) == book.events


def terminate(mine: Instance, pid: int) -> None:
    """Gone when this returns."""
    with mine.connect() as link:
        link.execute("SELECT pg_terminate_backend(%s)", (pid,))
        while link.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", (pid,)).fetchone():
            pass


# --- the connection ---------------------------------------------------------------------------


def test_a_connection_lost_between_groups_is_made_anew(
    mine: Instance, store: PostgresStore
) -> None:
    book = led(store)
    for _ in range(3):
        pid = store.query("SELECT pg_backend_pid()")[0][0]
        terminate(mine, pid)
        store.commit(book.contributions())
    assert list(store.events()) == book.events


def test_reading_goes_on_after_a_restart(mine: Instance, store: PostgresStore) -> None:
    book = led(store)
    mine.stop()
    mine.start()
    assert list(store.events()) == book.events
    assert store.leader() is not None
    mine.stop()
    mine.start()
    store.renew(book.epoch)


def test_a_connection_lost_before_commit_gives_the_same_rows_again(
    mine: Instance, store: PostgresStore
) -> None:
    book = led(store)
    move = store._move
    lost: list[int] = []

    def losing(rows: Any) -> int:
        moved = move(rows)
        if not lost:
            lost.append(store.query("SELECT pg_backend_pid()")[0][0])
            terminate(mine, lost[0])
        return moved

    store._move = losing  # type: ignore[method-assign]
    store.commit(book.contributions())
    assert lost
    assert list(store.events()) == book.events
    store.check()


def test_no_server_is_a_failure_without_the_password() -> None:
    with pytest.raises(Failed, match=r"no connection.*E-STO-009") as raised:
        PostgresStore("postgresql://link:s3cret@/link?host=/nowhere")
    assert "s3cret" not in str(raised.value)
    assert "s3cret" not in raised.value.place


# --- promises ---------------------------------------------------------------------------------


def test_a_server_that_does_not_flush_is_refused(
    mine: Instance, store: PostgresStore, url: str
) -> None:
    book = led(store)
    for name in ("fsync", "full_page_writes"):
        set_server(mine, name, "off")
        with pytest.raises(Unsafe, match=rf"{name} is off; it must be on \(E-STO-008\)"):
            PostgresStore(url)
        with pytest.raises(Unsafe):
            store.renew(book.epoch)
        with pytest.raises(Unsafe):
            store.lead("one", 1000)
        set_server(mine, name, "on")
    store.renew(book.epoch)


def test_commits_are_synchronous_whatever_the_server_says(mine: Instance, url: str) -> None:
    for value in ("off", "local", "remote_write", "on", "remote_apply"):
        set_server(mine, "synchronous_commit", value)
        with closing(PostgresStore(url)) as store:
            expected = "remote_apply" if value == "remote_apply" else "on"
            assert store.query("SHOW synchronous_commit") == [(expected,)]
            epoch = store.lead("one", 1000)
            assert epoch is not None
            store.query("SET synchronous_commit = local")
            with pytest.raises(Unsafe, match="synchronous_commit is local"):
                store.renew(epoch)
    set_server(mine, "synchronous_commit", "on")


def test_a_leader_whose_schema_was_migrated_by_another_ends_its_lease(
    store: PostgresStore, url: str
) -> None:
    """A newer program has started beside it: the old one must not go on for ever."""
    book = led(store)
    have = len(migrations("postgresql"))
    newer = read(f"{have + 1:04}_extra.sql", b"CREATE TABLE extra (id BIGINT);\n")
    with closing(PostgresStore(url, steps=[*migrations("postgresql"), newer])) as other:
        other.migrate(at_ms=2)
    with pytest.raises(TooNew, match=f"its schema is {have + 1}, this program knows {have}"):
        store.renew(book.epoch)
    with pytest.raises(TooNew):
        store.lead("one", 1000)


def test_a_standby_can_be_required(url: str) -> None:
    with pytest.raises(Unsafe, match="a standby is required"):
        PostgresStore(url, standby_required=True)


def test_an_old_server_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OLDEST", 990000)
    with pytest.raises(Unsafe, match="13 or later is needed"):
        PostgresStore(url)


def test_a_standby_may_not_lead(mine: Instance, store: PostgresStore, url: str) -> None:
    """A copy of the server that follows and never was promoted."""
    led(store)
    store.close()
    mine.stop()
    standby = Instance(copy_of=mine.data)
    try:
        standby.run("touch", str(standby.data / "standby.signal"))
        standby.start()
        where = url.replace(str(mine.folder), str(standby.folder))
        with pytest.raises(Unsafe, match="a standby; only the primary may decide about money"):
            PostgresStore(where)
    finally:
        standby.remove()
        mine.start()
    with closing(PostgresStore(url)) as again:
        assert Book(1, again.load()).event == 1
