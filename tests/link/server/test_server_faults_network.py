"""Rows 31 to 39 of the fault table: what the network and a bad peer may do, and what comes of it.

Every wager is 500 cents, of which 1 % goes to a meter that begins with 100,000 cents.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from link.server import floor
from tests.fuzz import mutate
from tests.fuzz.link import SENT
from tests.link.chaos import Chaos, Weather, Wire
from tests.link.server.house import House, Live
from tests.link.stranger import Stranger

Through = Callable[[str, Live, int], tuple[Stranger, Chaos]]


@pytest.fixture
def through(house: House) -> Iterator[Through]:
    """A table behind a network of its own."""
    made: list[Chaos] = []

    def start(name: str, live: Live, seed: int = 1) -> tuple[Stranger, Chaos]:
        chaos = Chaos(live.endpoint, house.server_keys[0], house.pairs[name], seed)
        made.append(chaos)
        table = house.stranger(name, live, endpoint=chaos.endpoint, server_key=chaos.public)
        table.resend_s = 0.05
        return table, chaos

    yield start
    for one in made:
        one.close()


@pytest.mark.parametrize("way", ["both ways", "to the server", "to the table"])
def test_row_31_a_partition_delays_accepted_wagers_and_counts_them_once(
    house: House, through: Through, way: str
) -> None:
    live = house.start(beat_ms=100)
    table, chaos = through("table-1", live, 1)
    table.join()
    table.wager(1, 500)
    table.deliver()
    chaos.to_server = way == "to the table"
    chaos.to_table = way == "to the server"
    for number in (2, 3, 4):
        table.wager(number, 500)
    for event in table.events[1:]:
        table.send(event)
    if way != "to the table":  # the server hears nothing: the session ends within three intervals
        live.until(lambda: live.ask("tables")["tables"] == [])
        assert live.meter() == 100_005
    else:  # it hears, and cannot answer
        live.until(lambda: live.meter() == 100_020)
    assert table.acked == 1
    chaos.to_server = chaos.to_table = True
    table.deliver()
    assert (table.acked, live.meter()) == (4, 100_020)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_row_32_lost_late_twice_and_in_another_order_the_pool_is_exact(
    house: House, through: Through, seed: int
) -> None:
    live = house.start()
    weather = Weather(drop=0.2, twice=0.2, late=0.2, delay_s=0.03)
    tables = [through(name, live, seed) for name in house.tables]
    chance = random.Random(seed)
    model = 0
    for table, chaos in tables:
        table.join()
        chaos.weather = weather
    for number in range(1, 41):
        for table, _ in tables:
            wagers = [[seat, chance.choice((100, 500)), 1] for seat in (1, 2, 3)]
            model += sum(cents for _, cents, _ in wagers)
            table.write({"what": "contributed", "round": number, "wagers": wagers})
            table.send(table.events[-1])  # and again, out of turn, by deliver
    for table, _ in tables:
        table.deliver()
    assert live.meter() == 100_000 + model // 100
    assert sum(chaos.lost for _, chaos in tables) > 10
    live.stop()
    store = house.store()
    assert [row.n for row in store.journals()] == [40, 40]
    store.check()
    store.close()


def test_row_33_lost_acks_are_answered_from_the_record(house: House, through: Through) -> None:
    live = house.start()
    table, chaos = through("table-1", live, 1)
    table.join()
    chaos.drop_acks = 5
    table.wager(1, 500)
    table.deliver()
    assert chaos.drop_acks == 0
    assert live.counts()["events"] >= 6
    assert live.meter() == 100_005


def test_row_34_a_half_open_line_is_declared_dead_within_three_intervals(house: House) -> None:
    """Neither end is told: no FIN, no RST. Both notice by silence."""
    live = house.start(beat_ms=100)
    wire = Wire(live.endpoint)
    table = house.stranger("table-1", live, endpoint=wire.endpoint)
    table.join()
    silent_for = live.ask("tables")["tables"][0]["silent_ms"]
    assert silent_for < 10_000
    wire.dead = True
    table.wager(1, 500)
    live.until(lambda: live.ask("tables")["tables"] == [])
    assert live.counts()["silent"] == 1
    assert table.receive(0.0) is None
    wire.dead = False
    table.connect()
    table.deliver()
    assert live.meter() == 100_005
    wire.close()


def test_row_34_the_kernel_probes_the_lines_of_tables_and_of_signs(house: House) -> None:
    """So that a connection whose other end lost its power goes away, not only its session."""
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    sign = Sign(house, live)
    sign.read()
    ports = [int(at.rpartition(":")[2]) for at in (live.endpoint, live.signs)]
    live.until(lambda: set(ports) <= _probed())
    sign.close()


def _probed() -> set[int]:
    """Local ports of the established connections whose next timer is a probe."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(r[1].split(":")[1], 16) for r in rows if r[3] == "01" and r[5].startswith("02:")}


# --- signs ---------------------------------------------------------------------------------------


class Sign:
    """A sign that was written from the page: it subscribes and reads."""

    def __init__(self, house: House, live: Live, most: int = 1000) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.SUB)
        self._socket.linger = 0
        self._socket.rcvhwm = most
        self._socket.curve_publickey, self._socket.curve_secretkey = house.pairs["sign-1"]
        self._socket.curve_serverkey = house.server_keys[0]
        self._socket.subscribe(b"meters")
        self._socket.connect(live.signs)

    def read(self, timeout_ms: int = 20_000) -> dict[str, Any]:
        assert self._socket.poll(timeout_ms), "no publication"
        topic, data = self._socket.recv_multipart()
        assert topic == b"meters"
        found: dict[str, Any] = json.loads(data)
        return found

    def close(self) -> None:
        self._context.destroy(0)


def cents(publication: dict[str, Any]) -> int:
    (meter,) = publication["meters"]
    found: int = meter["cents"]
    return found


def test_row_35_a_sign_that_comes_late_or_sleeps_sees_whole_values_in_order(house: House) -> None:
    # With these times nothing is published but what changed and what somebody came for.
    live = house.start(publish_ms=10, beat_ms=60_000, meters_kept=1)
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.deliver()
    sign = Sign(house, live, most=1)
    assert cents(sign.read()) == 100_005  # the snapshot, without any change
    for number in range(2, 102):  # it sleeps, and loses some of a hundred changes
        table.wager(number, 500)
        table.deliver()
    last: dict[str, Any] = {"seq": 0}
    while cents(found := sign.read()) != 100_505:
        assert found["seq"] > last["seq"]
        last = found
    second = Sign(house, live)
    assert cents(second.read()) == 100_505
    sign.close()
    second.close()


def test_row_36_a_publication_in_every_interval_tells_a_live_meter_from_a_stale_one(
    house: House,
) -> None:
    live = house.start(publish_ms=10, beat_ms=100)
    sign = Sign(house, live)
    found = [sign.read() for _ in range(4)]
    assert [cents(one) for one in found] == [100_000] * 4
    numbers = [one["seq"] for one in found]
    assert numbers == sorted(set(numbers))
    assert {one["epoch"] for one in found} == {2}
    live.stop()
    while sign._socket.poll(0):
        sign._socket.recv_multipart()
    assert not sign._socket.poll(300)  # nothing any more: the sign shows STALE
    sign.close()


# --- many ----------------------------------------------------------------------------------------


def test_row_37_five_hundred_tables_come_back_together_and_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    names = tuple(f"t{number}" for number in range(500))
    house = House(tmp_path_factory.mktemp("storm"), names)
    live = house.start(beat_ms=5_000)
    endpoint = live.endpoint
    context = zmq.Context()
    context.set(zmq.MAX_SOCKETS, 1_000)
    storm = Storm(context, house, endpoint)
    storm.connect()
    storm.all_acknowledge(1)
    live.stop()
    again = house.start(beat_ms=5_000)
    storm.endpoint = again.endpoint
    storm.connect()
    storm.all_acknowledge(2)
    assert again.meter() == 100_000 + 2 * 500 * 5
    storm.close()
    context.destroy(0)
    house.close()


class Storm:
    """Five hundred tables in one thread; each has one event under way at a time."""

    def __init__(
        self, context: zmq.Context[zmq.Socket[bytes]], house: House, endpoint: str
    ) -> None:
        self.endpoint = endpoint
        self._context, self._house = context, house
        self._tables = {
            name: Stranger(endpoint, house.server_keys[0], house.pairs[name], name)
            for name in house.tables
        }
        self._sockets: dict[zmq.Socket[bytes], Stranger] = {}

    def connect(self) -> None:
        self.close()
        for table in self._tables.values():
            socket = self._context.socket(zmq.DEALER)
            socket.linger = 0
            socket.curve_publickey, socket.curve_secretkey = table.public, table.secret
            socket.curve_serverkey = table.server_key
            socket.connect(self.endpoint)
            socket.send(json.dumps(table.hello()).encode())
            self._sockets[socket] = table

    def all_acknowledge(self, number: int) -> None:
        poller = zmq.Poller()
        for socket, table in self._sockets.items():
            table.wager(number, 500)
            poller.register(socket, zmq.POLLIN)
        waiting = set(self._sockets)
        while waiting:
            ready = dict(poller.poll(20_000))
            assert ready, f"{len(waiting)} of {len(self._sockets)} tables wait"
            for socket in ready:
                assert isinstance(socket, zmq.Socket)
                table = self._sockets[socket]
                message = json.loads(socket.recv())
                if message["t"] == "welcome":
                    assert message["n"] == number - 1
                    socket.send(json.dumps(table.events[-1]).encode())
                elif message["t"] == "ack" and message["n"] == number:
                    waiting.discard(socket)

    def close(self) -> None:
        for socket in self._sockets:
            socket.close(0)
        self._sockets = {}


# --- bad peers -----------------------------------------------------------------------------------


def test_row_38_frames_that_are_no_messages_cost_their_sender_alone(house: House) -> None:
    live = house.start()
    bad, good = house.stranger("table-1", live), house.stranger("table-2", live)
    bad.join()
    good.join()
    codes = []
    for frame in (b"garbage", b'{"t":"beat"}', b"\x00" * 1000):
        bad.send(frame)
        answer = bad.until(lambda m: m["t"] == "refused")
        codes.append(answer["code"])
    assert codes == ["E-LNK-002", "E-LNK-002", "E-LNK-017"]
    assert bad.until(lambda m: m["t"] == "bye")["why"] == "dead letter"
    (alarm,) = live.alarms()
    assert (alarm["code"], alarm["table"]) == ("E-LNK-017", "table-1")
    bad.send(bad.hello())  # not read: the key is muted for a while
    live.until(lambda: live.counts().get("muted", 0) >= 1)
    good.wager(1, 500)
    good.deliver()
    assert live.meter() == 100_005
    live.stop()
    store = house.store()
    letters = [json.loads(row.body) for row in store.events(table="") if b"dead letter" in row.body]
    assert [json.loads(one["order"]["text"])["frame"] for one in letters] == ["\\x00" * 1000]
    store.close()


def test_row_38_a_frame_that_is_too_long_ends_its_connection_unread(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    fits = json.dumps({"t": "beat", "at_ms": 7}).encode().ljust(65_536)
    table.send(fits)
    assert table.until(lambda m: m["t"] == "beat")["at_ms"] == 7
    table.send(fits + b" ")  # one byte more still arrives, and is refused before it is read
    assert table.until(lambda m: m["t"] == "refused")["code"] == "E-LNK-001"
    before = live.counts()["admitted"]
    table.send(b"x" * 10_000_000)
    live.until(lambda: live.counts()["admitted"] > before)  # cut off; it connected again by itself
    assert live.counts()["malformed"] == 1
    table.wager(1, 500)
    table.deliver()
    assert live.meter() == 100_005


def test_row_38_a_message_of_several_frames_is_none(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    table.send(b'{"t":"beat","at_ms":1}', b"more", b"and more")
    assert table.until(lambda m: m["t"] == "refused")["code"] == "E-LNK-002"
    table.beat()


def test_row_38_the_server_lives_through_a_share_of_the_fuzzer(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each frame over the wire from a table of its own right; the other table is served."""
    monkeypatch.setattr(floor, "STRIKES", 1 << 60)  # so that it is heard to the end
    live = house.start()
    bad, good = house.stranger("table-1", live), house.stranger("table-2", live)
    bad.join()
    good.join()
    rng = random.Random(38)
    mutators = [*mutate.OTHERS.values(), *mutate.GUARDED.values()]
    for number in range(1, 21):
        for _ in range(100):
            frame = rng.choice(mutators)(rng, rng.choice(SENT), rng.choice(SENT))
            bad.send(frame)
        good.wager(number, 500)
        good.deliver()
    assert live.meter() >= 100_100  # a mutant of table-1 may be an event of its own
    assert live.counts()["malformed"] > 1_000


def test_row_39_a_poison_event_halts_its_table_and_nobody_else(house: House) -> None:
    """Sound in form and always wrong: more than the table can take in a round."""
    live = house.start()
    bad, good = house.stranger("table-1", live), house.stranger("table-2", live)
    bad.join()
    good.join()
    wagers = [[seat, 500, 1] for seat in (1, 2, 3, 4, 5, 6, 7, 8, 9)]
    bad.write({"what": "contributed", "round": 1, "wagers": wagers})
    bad.wager(2, 500)
    bad.send(bad.events[0])
    answer = bad.until(lambda m: m["t"] == "refused")
    assert (answer["n"], answer["halted"]) == (1, True)
    code = answer["code"]
    for event in bad.events * 2:  # neither again nor past it
        bad.send(event)
        assert bad.until(lambda m: m["t"] == "refused")["code"] == "E-LNK-015"
    assert bad.join()["code"] == "E-LNK-015"
    (alarm,) = live.alarms()
    assert (alarm["code"], alarm["table"]) == (code, "table-1")
    good.wager(1, 500)
    good.deliver()
    assert live.meter() == 100_005
    halted = [row for row in live.ask("journals")["journals"] if row["state"] == "halted"]
    assert [row["table"] for row in halted] == ["table-1"]
