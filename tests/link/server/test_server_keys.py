"""Keys while the server runs: enrolled, rotated, revoked; the server's own key; nothing is lost."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import zmq

from link.config import Limits
from link.server.doors import DoorError, DoorPlan, Doors
from link.server.staff_orders import EnrolKeys, NewKey, RevokeKey, RotateKey
from record.link.keys import SecretKey
from tests.link.server.house import ANY, House, Live


class Ahead:
    """A wall clock that the test moves."""

    def __init__(self) -> None:
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead_ms

    def mono_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000


def new_key(name: str, pair: tuple[bytes, bytes]) -> NewKey:
    return NewKey(name, pair[0].decode())


def test_an_enrolled_key_is_admitted_at_once_and_after_a_restart(house: House) -> None:
    live = house.start()
    pair = zmq.curve_keypair()
    order = EnrolKeys((NewKey("sign-9", pair[0].decode(), "sign"),))
    assert live.order(order, "a.kim")["error"] == "E-ACT-008"
    assert live.order(order, "a.kim", "k.lee") == {"ok": True, "by": ["a.kim", "k.lee"]}
    table = zmq.curve_keypair()
    live.order(EnrolKeys((new_key("table-9", table),)), "a.kim", "m.ng")
    stranger = house.stranger("table-9", live, keys=table)
    assert stranger.join()["t"] == "welcome"
    live.stop()
    again = house.start()
    stranger.endpoint = again.endpoint
    assert stranger.join()["t"] == "welcome"
    again.stop()
    store = house.store()
    notes = [row.body for row in store.events(table="") if b"enrol keys" in row.body]
    by = [[name for name, _ in json.loads(body)["by"]] for body in notes]
    assert by == [["a.kim", "k.lee"], ["a.kim", "m.ng"]]
    store.close()


def test_a_thousand_keys_are_enrolled_in_one_order(house: House) -> None:
    live = house.start()
    keys = tuple(new_key(f"t{number}", (zmq.curve_keypair()[0], b"")) for number in range(1_000))
    assert live.order(EnrolKeys(keys), "a.kim", "m.ng")["ok"]
    assert len(live.listed("keys")) == 1_003


def test_an_order_that_is_refused_changes_nothing(house: House) -> None:
    live = house.start()
    before = live.ask("keys")
    taken = NewKey("table-9", house.public("table-1"))
    assert live.order(EnrolKeys((taken,)), "a.kim", "m.ng")["error"] == "E-KEY-111"
    assert live.order(EnrolKeys((taken,)), "k.lee")["error"] == "E-ACT-009"
    assert live.order(RevokeKey("table-1", "why"), "a.kim")["error"] == "E-ACT-008"
    assert live.ask("keys") == before


def test_a_table_changes_its_key_and_loses_nothing(house: House) -> None:
    clock = Ahead()
    live = house.start(clock=clock)
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.deliver()
    new = zmq.curve_keypair()
    live.order(RotateKey(new_key("table-1", new), 3_600_000), "a.kim", "m.ng")
    table.wager(2, 500)
    table.deliver()  # with the old key, which is still good
    table.public, table.secret = new
    table.join()
    table.wager(3, 500)
    table.deliver()
    assert live.meter() == 100_015
    late = house.stranger("table-1", live, journal=table.journal)  # the old key again
    late.events = table.events
    assert late.join()["t"] == "welcome"
    clock.ahead_ms = 3_600_001
    late.send({"t": "beat", "at_ms": 1})
    answer = late.until(lambda m: m["t"] == "refused")
    assert answer["code"] == "E-LNK-019"
    table.join()  # the new one goes on
    table.beat()


def test_a_revoked_key_is_refused_with_its_next_message(house: House) -> None:
    live = house.start(rebind_ms=60_000)
    table, other = house.stranger("table-1", live), house.stranger("table-2", live)
    table.join()
    other.join()
    assert live.order(RevokeKey("table-1", "stolen"), "a.kim", "k.lee")["ok"]
    event = table.wager(1, 500)
    table.send(event)
    assert table.until(lambda m: m["t"] == "refused")["code"] == "E-LNK-019"
    assert live.meter() == 100_000
    assert live.counts()["revoked"] == 1
    other.wager(1, 500)
    other.deliver()
    assert live.meter() == 100_005
    assert "meters" not in table.heard[-1]  # and it is told nothing more
    denied = live.counts().get("denied", 0)
    table.connect()
    table.send(event)
    live.until(lambda: live.counts().get("denied", 0) > denied)
    assert live.alarms()[-1]["code"] == "E-LNK-042"
    assert "revoked" in live.alarms()[-1]["text"]


def test_connections_of_a_revoked_key_are_cut_and_the_others_come_back(house: House) -> None:
    live = house.start(rebind_ms=0)
    table, other = house.stranger("table-1", live), house.stranger("table-2", live)
    table.join()
    other.join()
    other.wager(1, 500)
    other.deliver()
    admitted = live.counts()["admitted"]
    live.order(RevokeKey("table-1", "stolen"), "a.kim", "k.lee")
    live.until(lambda: "tables: connections dropped" in live.log.getvalue())
    live.until(lambda: live.counts()["admitted"] > admitted)  # table-2 by itself
    live.until(lambda: live.counts().get("denied", 0) >= 1)  # table-1 in vain
    other.wager(2, 500)
    other.deliver()
    assert live.meter() == 100_010


@pytest.mark.parametrize("name", ["sign-1", "table-1"])
def test_a_revoked_key_hears_no_more_meters(house: House, name: str) -> None:
    """A table may listen to the signs' publications too."""
    live = house.start(rebind_ms=0, publish_ms=10, beat_ms=100)
    context = zmq.Context()
    sign = context.socket(zmq.SUB)
    sign.linger = 0
    sign.curve_publickey, sign.curve_secretkey = house.pairs[name]
    sign.curve_serverkey = house.server_keys[0]
    sign.subscribe(b"meters")
    sign.connect(live.signs)
    assert sign.poll(20_000)
    live.order(RevokeKey(name, "sold"), "a.kim", "k.lee")
    live.until(lambda: "signs: connections dropped" in live.log.getvalue())
    while sign.poll(0):
        sign.recv_multipart()
    published = live.counts()["published"]
    live.until(lambda: live.counts()["published"] > published + 2)
    assert not sign.poll(0)
    context.destroy(0)


def test_the_servers_key_changes_behind_a_second_door_and_nothing_is_lost(house: House) -> None:
    new = zmq.curve_keypair()
    doors = tuple(
        DoorPlan(ANY, ANY, SecretKey(secret.decode())) for secret in (house.server_keys[1], new[1])
    )
    live = house.start(doors=doors)
    moved, still = house.stranger("table-1", live), house.stranger("table-2", live)
    moved.join()
    still.join()
    for number in (1, 2, 3):
        moved.wager(number, 500)
        still.wager(number, 500)
    moved.send(moved.events[0])  # on its way while the table moves
    moved.server_key, moved.endpoint = new[0], live.server.endpoints()[1].tables
    assert moved.join()["t"] == "welcome"
    moved.deliver()
    still.deliver()
    assert live.meter() == 100_030
    assert len(live.ask("tables")["tables"]) == 2


def test_an_old_libzmq_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zmq, "zmq_version_info", lambda: (4, 3, 1))
    with pytest.raises(DoorError, match=r"at least 4\.3\.5.*E-LNK-041"):
        Doors((), Limits())


def test_a_port_in_use_is_named(house: House) -> None:
    live = house.start()
    secret = SecretKey(house.server_keys[1].decode())
    doors = Doors((DoorPlan(live.endpoint, "", secret),), Limits())
    with pytest.raises(DoorError, match=r"127\.0\.0\.1:\d+: Address already in use \(E-LNK-040\)"):
        doors.open(live.bridge.wake_fd)
    doors.close()


def secrets_of(house: House) -> list[bytes]:
    return [house.server_keys[1], *(secret for _, secret in house.pairs.values())]


def test_no_secret_is_ever_written_or_said(house: House, tmp_path: Path) -> None:
    """Log, store and every answer of the service, searched for every secret key there is."""
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.deliver()
    _intrude(live, house)
    live.until(lambda: live.counts().get("denied", 0) >= 1)
    told = json.dumps(
        [live.ask(verb) for verb in ("status", "keys", "accounts", "tables", "pools")]
    )
    live.stop()
    said = (live.log.getvalue() + told).encode()
    said += b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert [secret for secret in secrets_of(house) if secret in said] == []
    assert b"ed25519$" not in told.encode()


def _intrude(live: Live, house: House) -> None:
    stranger = house.stranger("nobody", live)
    stranger.connect()
    stranger.send({"t": "beat", "at_ms": 1})
