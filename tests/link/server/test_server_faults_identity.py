"""Rows 46 to 49, 61 and 62 of the fault table: who leads, who is whom, what an attacker may try."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import zmq

from link.config import Limits
from link.ledger.ledger import Ledger
from link.ledger.orders import Person, Restore
from link.rows import Group, Saved
from link.store import open_store
from link.store.backup import restore
from link.store.errors import Fenced, Locked
from tests.link.chaos import Chaos
from tests.link.server.house import House, Live
from tests.patience import PATIENCE_S
from tests.postgres import Instance


@pytest.fixture(scope="module")
def postgres() -> Iterator[Instance]:
    instance = Instance()
    instance.start()
    yield instance
    instance.remove()


@pytest.fixture
def shared(postgres: Instance, tmp_path: Path) -> Iterator[House]:
    """A house on PostgreSQL, where two servers can stand side by side."""
    house = House(tmp_path, ("table-1", "table-2"), where=postgres.create(f"uf{time.time_ns()}"))
    yield house
    house.close()


# --- 46: two servers -----------------------------------------------------------------------------


def test_row_46_a_second_server_on_sqlite_cannot_even_open_the_store(house: House) -> None:
    house.start()
    with pytest.raises(Locked, match="E-STO-007"):
        open_store(house.where)


def test_row_46_a_standby_sends_tables_on_and_takes_over(shared: House) -> None:
    first = shared.start(lease_ms=1_000)
    second = shared.start(lease_ms=1_000, name="link-2", wait=False)
    second.until(lambda: second.ask("keys")["keys"] != [])
    table = shared.stranger("table-1", second)
    assert table.join()["code"] == "E-LNK-020"
    table.endpoint = first.endpoint
    assert table.join()["server"] == "link-1"
    table.wager(1, 500)
    table.deliver()
    first.stop()  # gives the lead back
    second.until(lambda: second.ask("status")["leading"])
    table.endpoint = second.endpoint
    welcome = table.join()
    assert (welcome["server"], welcome["n"]) == ("link-2", 1)
    assert welcome["epoch"] == 3
    table.wager(2, 500)
    table.deliver()
    assert second.meter() == 100_010


class FrozenClock:
    """The clock of a process that is stopped and goes on: it jumps when the test says so."""

    def __init__(self) -> None:
        self.ahead_ms = 0
        self.hold = False

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def mono_ms(self) -> int:
        while self.hold:
            time.sleep(0.005)  # stopped in the middle of a turn
        return time.monotonic_ns() // 1_000_000 + self.ahead_ms


def test_row_46_a_frozen_leader_writes_and_says_nothing_after_it_thaws(shared: House) -> None:
    clock = FrozenClock()
    old = shared.start(lease_ms=600, clock=clock)
    table = shared.stranger("table-1", old)
    table.join()
    table.wager(1, 500)
    table.deliver()
    clock.hold = True
    new = shared.start(lease_ms=600, name="link-2", wait=False)
    new.until(lambda: new.ask("status")["leading"])
    late = table.wager(2, 500)
    table.send(late)
    clock.hold = False
    answer = table.until(lambda m: m["t"] in ("ack", "refused"))
    assert (answer["t"], answer.get("code")) == ("refused", "E-LNK-020")
    assert table.acked == 1
    assert not old.ask("status")["leading"]
    table.endpoint = new.endpoint
    table.join()
    table.deliver()
    assert new.meter() == 100_010
    new.stop()  # and the old one leads again, from the store, not from its memory
    old.until(lambda: old.ask("status")["leading"])
    table.endpoint = old.endpoint
    assert (table.join()["n"], old.meter()) == (2, 100_010)
    table.wager(3, 500)
    table.deliver()
    assert old.meter() == 100_015
    old.stop()
    store = shared.store()
    assert store.check().journals == 1
    store.close()


def test_row_46_what_a_stale_epoch_commits_is_refused_by_the_database(shared: House) -> None:
    first, second = shared.store(), shared.store()
    epoch = first.lead("one", 1)
    assert epoch is not None
    ledger = Ledger((), first.load())
    ledger.note("late", "", (Person("server"),), 1)
    group = ledger.group(epoch)
    time.sleep(0.02)
    assert second.lead("two", 60_000) == epoch + 1
    with pytest.raises(Fenced, match="E-STO-001"):
        first.commit(group)
    first.close()
    second.close()


# --- 47: an old backup ---------------------------------------------------------------------------


def test_row_47_tables_send_again_what_a_restored_server_does_not_have(
    house: House, tmp_path: Path
) -> None:
    live = house.start()
    table, other = house.stranger("table-1", live), house.stranger("table-2", live)
    for one in (table, other):
        one.join()
        one.wager(1, 500)
        one.deliver()
    copy = tmp_path / "copy"
    answer = live.ask("backup", path=str(copy))
    assert answer["ok"], answer
    for number in (2, 3, 4):
        table.wager(number, 500)
    table.deliver()
    assert live.meter() == 100_025
    live.stop()

    def explain(saved: Saved, epoch: int) -> Group:
        ledger = Ledger((), saved)
        two = (Person("m.ng", "manager"), Person("a.kim", "engineer"))
        ledger.order(Restore("the disk died"), two, 1)
        return ledger.group(epoch)

    house.where = str(tmp_path / "restored.db")
    store = open_store(house.where, create=True)
    store.migrate(at_ms=1)
    restore(store, copy, explain=explain)
    store.close()
    again = house.start()
    assert again.meter() == 100_010
    for one in (table, other):
        one.endpoint = again.endpoint
    assert table.join()["n"] == 1  # acknowledged up to 4 before: ack is not delete
    assert other.join()["n"] == 1
    table.deliver()
    assert again.meter() == 100_025


# --- 48, 49: the wrong table ---------------------------------------------------------------------


def test_row_48_a_cloned_card_freezes_both_and_adds_nothing(house: House) -> None:
    live = house.start()
    real = house.stranger("table-1", live, journal="ab" * 16)
    clone = house.stranger("table-1", live, journal="ab" * 16)
    real.join()
    real.wager(1, 500)
    real.deliver()
    clone.wager(1, 500)  # the same so far
    clone.events[0] = real.events[0]
    real.wager(2, 500)
    real.deliver()
    clone.wager(2, 100)  # and here it goes its own way
    answer = clone.join()
    assert (answer["code"], answer["halted"]) == ("E-LNK-030", True)
    clone.send(clone.events[1])
    assert clone.until(lambda m: m["t"] == "refused")["code"] == "E-LNK-011"
    real.wager(3, 500)
    assert real.join()["code"] == "E-LNK-015"
    assert clone.join()["code"] == "E-LNK-015"
    assert live.meter() == 100_010
    (alarm,) = live.alarms()
    assert (alarm["code"], alarm["table"]) == ("E-LNK-030", "table-1")
    live.stop()
    store = house.store()
    halts = [json.loads(r.body)["order"] for r in store.events(table="") if b'"halt"' in r.body]
    (halt,) = halts
    assert json.loads(halt["evidence"])["head"] == clone.events[1]["hash"]
    store.close()


def test_row_48_a_clone_that_is_quicker_is_found_when_the_other_comes_back(house: House) -> None:
    """Nobody can say which of the two is the real one: both stop, whatever came first stands."""
    live = house.start()
    first = house.stranger("table-1", live, journal="ab" * 16)
    second = house.stranger("table-1", live, journal="ab" * 16)
    first.join()
    second.join()
    second.wager(1, 100)
    second.deliver()
    first.wager(1, 500)
    assert first.join()["code"] == "E-LNK-030"
    second.wager(2, 500)
    assert second.join()["code"] == "E-LNK-015"
    assert live.meter() == 100_001


def test_row_49_a_key_speaks_for_its_own_table_alone(house: House) -> None:
    live = house.start()
    thief = house.stranger("table-2", live, table="table-1")
    answer = thief.join()
    assert answer["code"] == "E-LNK-012"
    thief.wager(1, 500)
    thief.send(thief.events[0])
    assert thief.until(lambda m: m["t"] == "refused")["code"] == "E-LNK-011"
    assert live.meter() == 100_000
    (alarm,) = live.alarms()
    assert (alarm["code"], alarm["table"]) == ("E-LNK-012", "table-2")
    assert "table-1" in alarm["text"]


def test_row_49_a_routing_id_that_another_key_takes_over_is_nobody(house: House) -> None:
    """ZeroMQ lets a peer choose its routing id; what was said over it before does not count."""
    live = house.start()
    first = house.stranger("table-1", live)
    first.connect()
    assert first._socket is not None
    first._socket.close(0)
    context = zmq.Context()
    chosen = _dealer(context, house, "table-1", live.endpoint, b"the same")
    chosen.send(json.dumps(first.hello()).encode())
    assert json.loads(chosen.recv())["t"] == "welcome"
    chosen.close(0)
    other = _dealer(context, house, "table-2", live.endpoint, b"the same")
    event = first.wager(1, 500)
    found: dict[str, object] = {}
    for _ in range(200):  # until the first connection is gone and its id is free
        with suppress(zmq.Again):
            other.send(json.dumps(event).encode(), zmq.NOBLOCK)
        if other.poll(50):
            found = json.loads(other.recv())
            break
        other.close(0)
        other = _dealer(context, house, "table-2", live.endpoint, b"the same")
    assert found["code"] == "E-LNK-011"
    assert live.meter() == 100_000
    context.destroy(0)


def _dealer(
    context: zmq.Context[zmq.Socket[bytes]], house: House, name: str, at: str, routing: bytes
) -> zmq.Socket[bytes]:
    made = context.socket(zmq.DEALER)
    made.linger = 0
    made.rcvtimeo = 20_000
    made.routing_id = routing
    made.curve_publickey, made.curve_secretkey = house.pairs[name]
    made.curve_serverkey = house.server_keys[0]
    made.connect(at)
    return made


# --- 61, 62: attackers ---------------------------------------------------------------------------


def intruder(live: Live, mechanism: str, house: House) -> zmq.Socket[bytes]:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
    made = context.socket(zmq.DEALER)
    made.linger = 0
    if mechanism == "plain":
        made.plain_username, made.plain_password = b"table-1", b"secret"
    elif mechanism == "unknown key":
        made.curve_publickey, made.curve_secretkey = zmq.curve_keypair()
        made.curve_serverkey = house.server_keys[0]
    elif mechanism == "sign's key":
        made.curve_publickey, made.curve_secretkey = house.pairs["sign-1"]
        made.curve_serverkey = house.server_keys[0]
    elif mechanism == "wrong server key":
        made.curve_publickey, made.curve_secretkey = house.pairs["table-1"]
        made.curve_serverkey = zmq.curve_keypair()[0]
    made.connect(live.endpoint)
    return made


@pytest.mark.parametrize(
    "mechanism", ["null", "plain", "unknown key", "sign's key", "wrong server key"]
)
def test_row_61_whoever_is_not_admitted_delivers_nothing(house: House, mechanism: str) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    bad = intruder(live, mechanism, house)
    for _ in range(5):
        with suppress(zmq.Again):  # a socket whose handshake failed has nobody to send to
            bad.send(json.dumps(table.hello()).encode(), zmq.NOBLOCK)
    assert not bad.poll(400)
    counts = live.counts()
    assert counts.get("hellos", 0) + counts.get("without hello", 0) == 0
    if mechanism in ("unknown key", "sign's key"):
        live.until(lambda: live.alarms() != [])
        assert live.alarms()[0]["code"] == "E-LNK-042"
        live.until(lambda: live.counts().get("denied", 0) >= 1)
        # Reconnecting again and again, it is told once a second at most.
        assert len(live.alarms()) <= 3
    table.join()
    bad.close(0)


def test_row_61_garbage_and_silence_are_cut_off_and_cost_no_descriptor(house: House) -> None:
    live = house.start(limits=Limits(handshake_ms=200))
    host, _, port = live.endpoint.removeprefix("tcp://").rpartition(":")
    before = len(os.listdir("/proc/self/fd"))
    lines = []
    for number in range(40):
        line = socket.create_connection((host, int(port)))
        line.settimeout(PATIENCE_S)
        with suppress(OSError):
            line.sendall((b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 4_000, b"")[number % 3])
        lines.append(line)
    for line in lines:  # each is closed by the server: nothing waits for ever
        with suppress(ConnectionError):
            while line.recv(4_096):
                pass
        line.close()
    live.until(lambda: len(os.listdir("/proc/self/fd")) <= before + 2)
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.deliver()
    assert live.meter() == 100_005


def test_row_62_recorded_messages_played_again_change_nothing(house: House) -> None:
    """By somebody inside the cipher, with the table's own key, on another day."""
    live = house.start()
    chaos = Chaos(live.endpoint, house.server_keys[0], house.pairs["table-1"])
    table = house.stranger("table-1", live, endpoint=chaos.endpoint, server_key=chaos.public)
    table.join()
    for number in (1, 2, 3):
        table.wager(number, 500)
    table.write({"what": "claimed", "round": 3, "claims": [[1, "straight flush", 10]]})
    table.deliver()
    table.disconnect()
    chaos.close()
    pools = live.ask("pools")
    live.stop()
    again = house.start()
    table.endpoint, table.server_key = again.endpoint, house.server_keys[0]
    assert table.join()["n"] == 4
    sent = [frame for frame in chaos.recorded if b'"event"' in frame]
    for frame in sent * 2:
        table.send(frame)
    again.until(lambda: again.counts().get("events", 0) == 2 * len(sent))
    assert again.ask("pools") == pools
    # An old hello says that the journal has become shorter: that is looked into, not believed.
    table.send(chaos.recorded[0])
    answer = table.until(lambda m: m["t"] == "refused")
    assert (answer["code"], answer["halted"]) == ("E-LNK-031", True)
    assert again.ask("pools") == pools
