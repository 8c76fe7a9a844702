"""What runs out at the link server, for every verb: rows and memory.

No verb may end the server or lose what it acknowledged. Whoever asked gets an answer with a code,
and once there is room again the server serves as before. Descriptors:
test_server_control.py; the disk: test_server_disk.py.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import pytest

from link.ledger.ledger import Ledger
from link.server import pages as pages_module
from link.server.bridge import Bridge
from link.server.control import AT_ONCE, LONGEST, Control
from link.server.log import Log
from link.server.requests import LISTS, QUESTIONS, Asked, Backup, Changing
from link.store.sqlite import SqliteStore
from record.kit.lines import ask
from record.link.events import Contributed, Wager
from tests.link.ledger.support import Table
from tests.link.server.asked import ASKED, NOTE, WRITES, notes
from tests.link.server.house import KINDS, House, Live, pool
from tests.patience import PATIENCE_S


def test_every_verb_is_in_the_table() -> None:
    bridge = Bridge()
    control = Control(Path("nowhere"), bridge, Log())
    assert {name.split()[0] for name in ASKED} == {*KINDS}
    assert {*QUESTIONS, *LISTS, *control._verbs} <= {*KINDS}
    assert {*KINDS.values()} == {*get_args(Asked)}
    assert {KINDS[verb] for verb in WRITES} == {*get_args(Changing), Backup}
    bridge.close()


# --- rows -----------------------------------------------------------------------------------------


class Counting(SqliteStore):
    """Counts what SQLite does, in steps of its virtual machine."""

    worked = 0

    def _connect(self) -> sqlite3.Connection:
        db = super()._connect()

        def work() -> int:
            self.worked += 1
            return 0

        db.set_progress_handler(work, 10)
        return db


def grown(folder: Path, many: int) -> House:
    """A house with so many journals and alarms, and five times as many events and entries."""
    folder.mkdir()
    house = House(folder, ("table-1", "table-2"))
    store = house.store()
    epoch = store.lead("test", 60_000)
    assert epoch is not None
    names = [f"other-{number:05}" for number in range(many)]
    ledger = Ledger((pool("table-1", "table-2", *names),), store.load())
    ledger.open(1_000)
    store.commit(ledger.group(epoch))
    for number, name in enumerate(names):
        table = Table(name)
        ledger.hello(name, table.hello(), 2_000 + number)
        ledger.alarm("E-LNK-017", name, "three frames", 2_000 + number)
        for round_no in range(1, 6):
            body = Contributed(round_no, (Wager(1, 500),))
            ledger.take(name, table.journal, table.event(body), 2_000 + number)
            store.commit(ledger.group(epoch))
    store.resign(epoch)
    store.close()
    return house


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, House]]:
    folder = tmp_path_factory.mktemp("grown")
    small, large = grown(folder / "small", 60), grown(folder / "large", 480)
    yield small, large
    small.close()
    large.close()


def worked(house: House, verbs: list[str]) -> dict[str, int]:
    tables = (f"other-{number:05}" for number in range(480))
    stores: list[Counting] = []

    def opened() -> Counting:
        stores.append(Counting(Path(house.where), flush=False))
        return stores[-1]

    live = house.start(
        open_it=opened, beat_ms=60_000, lease_ms=600_000, pools=(pool(*house.tables, *tables),)
    )
    found = {}
    for verb in verbs:
        ASKED[verb](live)
        before = stores[0].worked
        answer = ASKED[verb](live)
        found[verb] = stores[0].worked - before
        assert "error" not in answer, (verb, answer)
    live.stop()
    return found


def test_no_verbs_work_grows_with_the_rows_of_the_store(
    houses: tuple[House, House], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight times as many journals, events, entries and alarms, for pages of the same size."""
    monkeypatch.setattr(pages_module, "PAGE_ROWS", 20)
    monkeypatch.setattr(pages_module, "MOST_LOOKED_AT", 40)
    verbs = [verb for verb in ASKED if verb != "backup"]  # a copy of everything
    few, many = (worked(house, verbs) for house in houses)
    grew = {verb: (few[verb], many[verb]) for verb in verbs if many[verb] > 2 * few[verb] + 100}
    assert not grew


def test_rows_that_are_far_apart_are_all_found_page_by_page(
    houses: tuple[House, House], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages_module, "MOST_LOOKED_AT", 7)
    house = houses[0]
    live = house.start(beat_ms=60_000)
    journal = Table("other-00040").journal
    wanted: dict[str, dict[str, Any]] = {
        "events": {"journal": journal},
        "entries": {"pool": "main"},
        "alarms": {"from_ms": 2_030, "to_ms": 2_050},
    }
    found: dict[str, list[Any]] = {}
    for kind, given in wanted.items():
        found[kind], after, read = [], 0, 0
        while after or not read:
            page = live.ask("rows", kind=kind, after=after, **given)
            found[kind] += page["rows"]
            after, read = page["next"], read + 1
    live.stop()
    with closing(house.store()) as store:
        stored = [row.id for row in store.events(journal=journal)]
        assert [row["id"] for row in found["events"]] == stored
        assert [row["id"] for row in found["entries"]] == [r.id for r in store.entries(pool="main")]
    assert [row["table"] for row in found["alarms"]] == [f"other-{n:05}" for n in range(30, 50)]


# --- memory ---------------------------------------------------------------------------------------


@pytest.fixture
def live(house: House, tmp_path: Path) -> Live:
    return house.start(beat_ms=60_000, lease_ms=90, control=tmp_path / "control.sock")


def said(live: Live, line: bytes) -> dict[str, Any]:
    assert live.control is not None
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(str(live.control.path))
        connection.sendall(line)
        with connection.makefile("rb") as stream:
            answer: dict[str, Any] = json.loads(stream.readline())
    return answer


def padded(verb: str, length: int) -> bytes:
    head = json.dumps({"verb": verb, "x": [""] * 20}).encode()[:-3]
    texts = ((length - len(head) - 4) // 50_003) + 1
    body = b",".join(b'"%b"' % (b"y" * 50_000) for _ in range(texts))
    line = head + b", " + body
    return line[: length - 4] + b'"]}\n'


def control_verbs() -> set[str]:
    """Of people and programs, from the code."""
    bridge = Bridge()
    bridge.close()
    return {*QUESTIONS, *LISTS, *Control(Path("nowhere"), bridge, Log())._verbs}


@pytest.mark.parametrize("verb", sorted(control_verbs()))
def test_the_largest_requests_are_answered_with_a_code(live: Live, verb: str) -> None:
    requests = {
        "as long as can be": padded(verb, LONGEST),
        "longer": padded(verb, LONGEST + 2),
        "without end": b'{"verb":"%b","x":"' % verb.encode() + b"y" * (3 * LONGEST),
        "deep": b'{"verb":"%b","x":' % verb.encode() + b"[" * 500_000 + b"]" * 500_000 + b"}\n",
        "wide": b'{"verb":"%b","x":[' % verb.encode() + b"1," * 500_000 + b"1]}\n",
    }
    for name, line in requests.items():
        try:
            answer = said(live, line)
        except BrokenPipeError:
            continue  # it went on talking after it had been answered
        asks_nothing = verb in QUESTIONS and "error" not in answer
        assert asks_nothing or answer["error"] == "E-SVC-001", (name, answer)
    live.until(lambda: live.ask("status")["leading"])


@pytest.mark.parametrize("verb", ASKED)
def test_a_verb_that_finds_no_memory_is_answered_and_the_next_one_served(
    live: Live, verb: str
) -> None:
    service, name = live.server._service, verb.split(maxsplit=1)[0]
    if name == "backup":
        place = live.server.store
        target, key = place.__dict__, "backup"
    elif name == "changes":  # answered from what the feed is given after the commit
        target, key = live.server.teller.__dict__, "_tell"
    else:
        target, key = service.__dict__, f"_{name}"

    def exhausted(*_: object, **__: object) -> dict[str, Any]:
        raise MemoryError

    kept = target.get(key)
    target[key] = exhausted
    answer = ASKED[verb](live)
    if kept is None:
        del target[key]
    else:
        target[key] = kept
    assert answer["error"] in ("E-SVC-005", "E-SVC-010", "E-LNK-020"), answer
    live.until(lambda: live.ask("status")["leading"])
    assert "error" not in ASKED[verb](live)


def test_no_memory_while_the_lead_is_taken_does_not_end_the_server(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def load(self: SqliteStore) -> Any:
        tries.append(1)
        if len(tries) < 3:
            raise MemoryError
        return whole(self)

    whole = SqliteStore.load
    monkeypatch.setattr(SqliteStore, "load", load)
    live = house.start(lease_ms=90)
    assert len(tries) >= 3
    assert live.order(NOTE, "k.lee")["ok"]


def test_what_breaks_after_the_commit_is_not_told_as_nothing_changed(
    live: Live, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = live.server.floor
    assert floor is not None

    def broken() -> Iterator[Any]:
        monkeypatch.undo()
        raise RuntimeError("after the commit")

    monkeypatch.setattr(floor, "answers", broken)
    assert live.order(NOTE, "k.lee").get("ok")
    live.stop()
    with closing(house.store()) as store:
        assert notes(store) == 1


def test_clients_that_do_not_read_their_answers_give_way(live: Live) -> None:
    assert live.control is not None
    held = []
    try:
        for _ in range(AT_ONCE):
            one = socket.socket(socket.AF_UNIX)
            one.connect(str(live.control.path))
            one.setblocking(False)
            held.append(one)
        for one in held:
            _stuffed(one)
        live.until(lambda: ask(live.control.path, {"verb": "status"}).get("leading") is True, 10)  # type: ignore[union-attr]
    finally:
        for one in held:
            one.close()


def _stuffed(one: socket.socket) -> None:
    """Ask until nothing more is taken: the answers fill every buffer."""
    refused = 0
    while refused < 20:
        try:
            one.send(b'{"verb":"accounts"}\n' * 100)
            refused = 0
        except BlockingIOError:
            refused += 1
            time.sleep(0.01)


def test_whoever_is_turned_away_and_goes_on_talking_holds_nobody_up(live: Live) -> None:
    assert live.control is not None
    path, stop = live.control.path, threading.Event()
    live.control._free = threading.Semaphore(0)  # all of them are being answered

    def talk() -> None:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(path))
            while not stop.is_set():
                try:
                    one.sendall(b"x" * 100)
                except OSError:
                    return
                time.sleep(0.01)

    talker = threading.Thread(target=talk)
    talker.start()
    try:
        for _ in range(3):
            assert ask(path, {"verb": "status"})["error"] == "E-SVC-003"
    finally:
        stop.set()
        talker.join()
