"""Following the link server: what is told, to whom, and what it costs."""

from __future__ import annotations

import json
import os
import queue
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from link.ledger.orders import Note
from link.server import feed_parts
from link.server.control import AT_ONCE, FOLLOWERS
from link.server.feed import LOOK_S, LinkFeed
from link.store.base import Store
from record.kit.feed import Mirror
from record.kit.lines import ask, line_of
from tests.link.people import PASSWORD
from tests.link.server.house import House, Live
from tests.patience import PATIENCE_S

PARTS = {
    "server",
    "meters",
    "pools",
    "conservation",
    "tables",
    "awards",
    "alarms",
    "accounts",
    "sums",
    "sums_now",
}


@pytest.fixture
def live(house: House, tmp_path: Path) -> Iterator[Live]:
    made = house.start(beat_ms=60_000, control=tmp_path / "control.sock")
    yield made
    made.stop()


def changes(live: Live, **given: Any) -> dict[str, Any]:
    assert live.control is not None
    return ask(live.control.path, {"verb": "changes", **given})


class Reader:
    """Follows like the web process does."""

    def __init__(self, live: Live) -> None:
        self.live, self.mirror = live, Mirror()
        self.reloads = 0

    def read(self, wait_ms: int = 0) -> dict[str, Any]:
        answer = changes(self.live, **self.mirror.request(), wait_ms=wait_ms)
        assert "error" not in answer, answer
        self.reloads += answer["reloaded"]
        self.mirror.take(answer)  # type: ignore[arg-type]
        return answer

    def part(self, name: str) -> Any:
        return self.mirror.parts[name][1]

    def until(self, wanted: Any) -> None:
        end = time.monotonic() + 20
        while not wanted():
            assert time.monotonic() < end, self.mirror.parts
            self.read(500)

    def table(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(row for row in self.part("tables") if row["table"] == name)
        return found


def test_the_first_answer_is_everything(live: Live) -> None:
    answer = changes(live, feed="", after=0)
    assert answer["reloaded"]
    assert {*answer["parts"]} >= PARTS
    assert answer["parts"]["server"][1]["leading"] is True
    names = [row["table"] for row in answer["parts"]["tables"][1]]
    assert names == ["table-1", "table-2"]  # connected or not; no sign


def test_a_wager_changes_what_it_changes_and_nothing_else(live: Live, house: House) -> None:
    table = house.stranger("table-1", live)
    table.join()
    reader = Reader(live)
    reader.read()
    reader.until(lambda: reader.table("table-1")["connected"])
    before = reader.mirror.n
    table.wager(1, 500)
    table.deliver()
    reader.until(lambda: reader.part("meters")[0]["cents"] == live.meter() > 100_000)
    reader.until(lambda: reader.table("table-1")["round"] == 1)
    reader.until(lambda: reader.part("sums_now")["day"]["rows"])
    changed = {name for name, (n, _) in reader.mirror.parts.items() if n > before}
    assert changed == {"meters", "pools", "conservation", "tables", "sums_now"}
    held = reader.part("conservation")
    assert held["difference"] == "0"
    assert held["in"] == str(500 * 10_000)
    given = int(held["in"]) + int(held["seeds"]) + int(held["deficit"])
    kept = ("display", "pending", "paid", "reserve", "next", "revenue", "envy", "transfer")
    assert given == sum(int(held[name]) for name in kept)
    now = reader.part("sums_now")
    rows = [dict(zip(now["columns"], row, strict=True)) for row in now["hour"]["rows"]]
    by_table, by_level = sorted(rows, key=lambda row: str(row["level"]))
    assert (by_table["table"], by_table["wagers"], by_table["wagered_cents"]) == ("table-1", 1, 500)
    assert (by_level["table"], by_level["in_units"]) == ("", "5000000")
    assert now["day"]["rows"] == now["hour"]["rows"]
    assert reader.reloads == 1


def test_a_table_that_left_stays_in_the_list(live: Live, house: House) -> None:
    table = house.stranger("table-1", live)
    table.join()
    reader = Reader(live)
    reader.read()
    reader.until(lambda: reader.table("table-1")["connected"])
    assert reader.table("table-1")["heard_ms"] is None
    table.bye()
    reader.until(lambda: not reader.table("table-1")["connected"])
    assert reader.table("table-1")["heard_ms"] > 0
    assert reader.table("table-1")["game"] == "MBS3"


def test_a_lock_its_steps_and_orders_are_told_in_words(live: Live, house: House) -> None:
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.write({"what": "claimed", "round": 1, "claims": [[1, "royal flush", 100]]})
    table.deliver()
    reader = Reader(live)
    reader.until(lambda: reader.mirror.parts and reader.part("awards")[0]["state"] == "locked")
    award = reader.part("awards")[0]
    assert (award["table"], award["seat"], award["round"]) == ("table-1", 1, 1)
    assert [step["state"] for step in award["steps"]] == ["claimed", "locked"]
    assert award["locked_ms"]
    order = {"what": "verify", "award": award["award"]}
    by = [["k.lee", PASSWORD]]
    assert live.control is not None
    assert ask(live.control.path, {"verb": "order", "by": by, "order": order})["ok"]
    assert live.order(Note("shift", "x"), "m.ng")["ok"]
    again = Reader(live)
    again.until(lambda: again.mirror.since("", 0)["log"][3:])
    kept = again.mirror.since("", 0)["log"]
    assert [entry["kind"] for entry in kept] == ["award", "lock", "award", "order"]
    assert "table table-1" in kept[1]["text"]
    assert kept[1]["cents"] == award["cents"]
    assert kept[2]["text"].endswith("by k.lee (supervisor)")
    assert kept[3]["text"] == "note shift by m.ng (manager)"


def test_an_alarm_is_told(live: Live) -> None:
    reader = Reader(live)
    reader.read()
    floor = live.server.floor
    assert floor is not None
    floor.alarm("E-LNK-042", "", "handshake refused: test")

    def told() -> list[Any]:
        return [alarm for alarm in reader.part("alarms") if alarm["code"] == "E-LNK-042"]

    reader.until(told)
    found = told()
    assert (found[0]["count"], found[0]["acknowledged"]) == (1, None)


# --- what it costs --------------------------------------------------------------------------------


def test_nothing_is_made_while_nothing_changes(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(live)
    reader.read()
    made: list[str] = []
    for name in ("meters", "pools", "conservation", "tables", "awards", "alarms"):
        monkeypatch.setattr(feed_parts, name, lambda *_a, name=name: made.append(name))
    for _ in range(4):
        answer = reader.read(300)
        assert (answer["parts"], answer["log"]) == ({}, [])
    assert not made


def test_nothing_is_made_while_nobody_follows(
    live: Live, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(feed_parts, "meters", lambda *_a: made.append("meters"))
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.deliver()
    assert not made


# --- many at once ---------------------------------------------------------------------------------


def test_who_waits_for_changes_leaves_room_for_people(live: Live) -> None:
    assert live.control is not None
    path, now = live.control.path, changes(live)
    asking = {"verb": "changes", "feed": now["feed"], "after": now["n"], "wait_ms": 10_000}
    held = []
    try:
        for _ in range(AT_ONCE + 2):
            one = socket.socket(socket.AF_UNIX)
            one.settimeout(20)
            one.connect(str(path))
            one.sendall(line_of(asking))
            held.append(one)
            for _ in range(2):
                assert ask(path, {"verb": "status"})["leading"] is True
        # Half of the connections may wait; they were not put off by the others.
        assert FOLLOWERS.all == AT_ONCE // 2
        threads = sum(thread.name.endswith("(_talk)") for thread in threading.enumerate())
        assert FOLLOWERS.all <= threads <= AT_ONCE
        assert live.order(Note("shift", "x"), "m.ng")["ok"]
        told = [one.recv(1 << 16) for one in held[: FOLLOWERS.all]]
        assert all(b'"note shift by m.ng' in line for line in told)
    finally:
        for one in held:
            one.close()


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for changes is not sent away in time: only a change or its end ends it."""
    wait = LinkFeed.wait

    def waits(feed: LinkFeed, name: str, after: int, wait_ms: int, *more: Any) -> Any:
        return wait(feed, name, after, wait_ms * 1_000, *more)

    monkeypatch.setattr(LinkFeed, "wait", waits)


def waiting_for(live: Live) -> dict[str, Any]:
    now = changes(live)
    return {"verb": "changes", "feed": now["feed"], "after": now["n"], "wait_ms": 10_000}


@pytest.mark.usefixtures("endless")
def test_other_users_who_wait_leave_the_web_process_its_room(live: Live) -> None:
    assert live.control is not None
    control, asking = live.control, waiting_for(live)
    told: queue.Queue[Any] = queue.Queue()

    def follow(uid: int) -> None:
        told.put(control.answer(json.dumps(asking).encode(), uid))

    def refused() -> str:
        answer = told.get(timeout=PATIENCE_S)
        assert answer["error"] == "E-SVC-003"
        return str(answer["text"])

    waiting = [threading.Thread(target=follow, args=(uid,)) for uid in [4001] * 6 + [4002] * 6]
    for thread in waiting:
        thread.start()
    texts = [refused() for _ in range(12 - 2)]
    assert {*texts} == {f"uid {uid} has 1 request waiting already" for uid in (4001, 4002)}
    follow(4003)
    assert refused() == "other users have 2 requests waiting already"
    # The web process and the server's own user: as many as there is room for.
    assert "error" not in changes(live)
    held = [connected_with(live, asking) for _ in range(2)]
    try:
        live.until(lambda: trusted_waiting(live) == len(held))
        assert changes(live)["error"] == "E-SVC-003"
        assert live.order(Note("shift", "x"), "m.ng")["ok"]
        for one in held:
            assert b'"note shift by m.ng' in one.recv(1 << 16)
        for _ in range(2):
            assert told.get(timeout=PATIENCE_S)["log"]
    finally:
        for one in held:
            one.close()
    for thread in waiting:
        thread.join(PATIENCE_S)
    threading.Thread(target=follow, args=(4001,)).start()  # its place is free again
    assert live.order(Note("shift", "y"), "m.ng")["ok"]
    assert told.get(timeout=PATIENCE_S)["log"]


def trusted_waiting(live: Live) -> int:
    assert live.control is not None
    return live.control._followers.waiting[os.geteuid()]


def connected_with(live: Live, request: dict[str, Any]) -> socket.socket:
    assert live.control is not None
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(PATIENCE_S)
    one.connect(str(live.control.path))
    one.sendall(line_of(request))
    return one


@pytest.mark.usefixtures("endless")
def test_who_hangs_up_while_it_waits_gives_up_its_place(live: Live) -> None:
    asking = waiting_for(live)
    held = [connected_with(live, asking) for _ in range(FOLLOWERS.all)]
    live.until(lambda: trusted_waiting(live) == FOLLOWERS.all)
    assert changes(live)["error"] == "E-SVC-003"
    for one in held:
        one.close()
    live.until(lambda: "error" not in changes(live))


@pytest.mark.usefixtures("endless")
def test_who_only_ends_its_own_side_is_still_answered(live: Live) -> None:
    asking = waiting_for(live)
    with connected_with(live, asking) as one:
        one.shutdown(socket.SHUT_WR)
        live.until(lambda: trusted_waiting(live) == 1)
        time.sleep(2 * LOOK_S)  # it is looked at meanwhile; without that the test proves less
        assert live.order(Note("shift", "x"), "m.ng")["ok"]
        assert b'"note shift by m.ng' in one.recv(1 << 16)


@pytest.mark.parametrize(
    "given",
    [
        {"feed": 7},
        {"feed": "x" * 65},
        {"after": -1},
        {"after": "1"},
        {"wait_ms": 10_001},
        {"wait_ms": -1},
        {"waits": 1},
        {"feed": None},
    ],
)
def test_a_request_is_read_strictly(live: Live, given: dict[str, Any]) -> None:
    answer = changes(live, **given)
    assert answer["error"] == "E-SVC-001"
    assert next(iter(given)) in answer["text"]


# --- leading begins and ends ----------------------------------------------------------------------


def test_a_standby_tells_that_it_stands_by(house: House, tmp_path: Path) -> None:
    def opened() -> Store:
        store = house.store()
        store.lead = lambda *_given: None  # type: ignore[method-assign]
        return store

    live = house.start(open_it=opened, wait=False, control=tmp_path / "control.sock")
    reader = Reader(live)
    reader.read()
    assert {*reader.mirror.parts} == {"server"}
    assert reader.part("server")["leading"] is False


def test_everything_is_told_again_when_leading_begins_or_ends() -> None:
    feed = LinkFeed()
    feed.set({"server": {"leading": True}, "meters": [1]})
    mirror = Mirror()
    mirror.take(feed.wait(**mirror.request(), wait_ms=0))
    feed.restart()
    assert not feed.is_fresh()  # whoever asks now asks the loop first
    feed.set({"server": {"leading": False}})
    told = feed.wait(**mirror.request(), wait_ms=0)
    mirror.take(told)
    assert told["reloaded"]
    assert {*mirror.parts} == {"server"}
