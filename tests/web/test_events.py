"""Streams: exact over breaks and restarts, bounded for slow browsers, one subscription upstream."""

from __future__ import annotations

import os
import re
import signal
import socket
from itertools import islice
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S
from tests.pipes import emptied, full_pipe
from tests.web.browser import Events, Web, until
from tests.web.conftest import Floor, written
from tests.web.servers import Followed, Simulated


def said(changes: Any) -> list[str]:
    return [entry["said"] for entry in changes["log"]]


def test_a_snapshot_then_numbered_changes(floor: Floor) -> None:
    events = floor.web.events("link,table:mega,sim:mega")
    assert events.answer.status == 200
    assert events.answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    found = events.changes()
    first = {one["name"]: one for one in islice(found, 3)}
    assert set(first) == {"link", "table:mega", "sim:mega"}
    assert all(one["reloaded"] for one in first.values())
    assert first["table:mega"]["parts"]["status"] == [1, {"phase": "idle"}]
    floor.table.update(status={"phase": "betting"}, felt={"rows": []})
    floor.table.note(said="betting is open")
    seen: dict[str, Any] = {}
    log: list[str] = []
    while "betting is open" not in log:
        one = next(found)
        assert not one["reloaded"]
        seen.update(one["parts"])
        log += said(one)
    assert seen == {"status": [2, {"phase": "betting"}]}, "only what changed"
    events.close()


def test_no_browser_gets_the_names_of_accounts(floor: Floor) -> None:
    """The web process follows them; the next change that is for browsers comes through."""
    floor.link.update(accounts={"k.lee": 12})
    events = floor.web.events("link")
    found = events.changes()
    assert "accounts" not in next(found)["parts"]
    floor.link.update(accounts={"k.lee": 13})
    floor.link.update(accounts={"k.lee": 14}, meters=[])
    told = next(found)
    assert (told["reloaded"], {*told["parts"]}) == (False, {"meters"})
    events.close()


def test_beats_tell_the_age_of_every_feed(floor: Floor) -> None:
    events = floor.web.events("link,table:mega")
    beat = next(data for kind, data in events if kind == "beat")
    assert set(beat["ages_ms"]) == {"link", "table:mega"}
    assert all(isinstance(age, int) for age in beat["ages_ms"].values())
    events.close()


def test_a_source_that_is_gone_grows_old_and_comes_back(floor: Floor) -> None:
    path = floor.table.path
    floor.table.close()
    until(lambda: floor.web.get("/readyz").status == 503)
    assert floor.web.get("/readyz").json()["missing"] == ["table:mega"]
    assert floor.web.get("/healthz").status == 200
    events = floor.web.events("table:mega")
    found = events.changes()
    assert next(found)["parts"]["status"][1] == {"phase": "idle"}, "the latest there is"
    floor.table = type(floor.table)(path)
    floor.table.update(status={"phase": "dealing"})
    again = next(found)
    assert (again["reloaded"], again["parts"]) == (True, {"status": [1, {"phase": "dealing"}]})
    events.close()


def test_a_standard_error_that_nobody_reads_holds_up_nothing(tmp_path: Path) -> None:
    reading, writing = full_pipe()
    link, table = Followed(tmp_path / "link.sock"), Followed(tmp_path / "table.sock")
    sim = Simulated(tmp_path / "control")
    for one in (link, table, sim):
        one.update(server={"name": "s1"})
    web = Web(written(tmp_path, login=False), writing)
    try:
        until(lambda: web.get("/readyz").status == 200)  # a line for each of them
        assert set(emptied(reading)) == {"x"}
        table.close()
        until(lambda: web.get("/readyz").status == 503)
        table = Followed(tmp_path / "table.sock")
        table.update(status={"phase": "idle"})
        until(lambda: web.get("/readyz").status == 200)
        first, *rest = emptied(reading).splitlines()
        assert re.fullmatch(r"underfelt web: \d+ log lines were lost", first)
        assert rest
        assert web.stop() == 0
    finally:
        web.process.kill()
        for one in (link, table, sim):
            one.close()
        os.close(reading)
        os.close(writing)


def test_a_restart_under_an_open_page_loses_and_doubles_nothing(floor: Floor) -> None:
    events = floor.web.events("table:mega,link")
    found = events.changes()
    next(found), next(found)
    log: list[str] = []
    reloads = 0
    for number in range(12):
        floor.table.note(said=f"entry {number}")
        if number in (3, 7):
            how = signal.SIGTERM if number == 3 else signal.SIGKILL
            code = floor.web.stop(how)
            assert code == (0 if number == 3 else -9)
            rest = list(events.changes())
            log += [text for one in rest for text in said(one)]
            events.close()
            floor.table.note(said=f"while it was away {number}")
            floor.web.start()
            events = floor.web.events("table:mega,link", events.last)
            found = events.changes()
    while "entry 11" not in log:
        one = next(found)
        reloads += one["reloaded"]
        log += said(one)
    expected = [f"entry {n}" for n in range(12)]
    expected.insert(8, "while it was away 7")
    expected.insert(4, "while it was away 3")
    assert (log, reloads) == (expected, 0)
    events.close()


def test_what_was_dropped_from_the_log_is_told_as_reloaded(floor: Floor) -> None:
    events = floor.web.events("table:mega")
    next(events.changes())
    last = events.last
    events.close()
    for number in range(floor.table.feed._longest + 1):
        floor.table.note(said=str(number))
    until(lambda: floor.web.get("/api/v1/feeds").json()["feeds"][1]["n"] == floor.table.feed.n)
    floor.web.stop()
    floor.web.start()
    until(lambda: floor.web.get("/readyz").status == 200)
    again = floor.web.events("table:mega", last)
    one = next(again.changes())
    assert one["reloaded"]
    assert len(one["log"]) == floor.table.feed._longest
    again.close()


def test_one_subscription_upstream_however_many_pages(floor: Floor) -> None:
    streams = [floor.web.events("link,table:mega,sim:mega") for _ in range(30)]
    found = [stream.changes() for stream in streams]
    for one in found:
        assert {next(one)["name"] for _ in range(3)} == {"link", "table:mega", "sim:mega"}
    floor.table.note(said="to all")
    for one in found:
        assert said(next(one)) == ["to all"]
    assert (floor.link.connections, floor.table.connections) == (1, 1)
    assert floor.link.most_waiting == floor.table.most_waiting == floor.sim.most_waiting == 1
    for stream in streams:
        stream.close()


def test_a_browser_that_does_not_read_costs_nothing_and_catches_up(floor: Floor) -> None:
    """Megabytes pass while it sleeps; it then gets the latest value, and the log or a reload."""
    host, _, port = floor.web.netloc.partition(":")
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    slow.settimeout(PATIENCE_S)
    slow.connect((host, int(port)))
    ask = f"GET /api/v1/events?feeds=table:mega HTTP/1.1\r\nHost: {floor.web.netloc}\r\n\r\n"
    slow.sendall(ask.encode())
    before = resident(floor.web.process.pid)
    quick = floor.web.events("table:mega")
    found = quick.changes()
    for number in range(200):
        floor.table.update(felt={"number": number, "filling": "x" * 100_000})
        while next(found)["parts"].get("felt", [0, {}])[1].get("number") != number:
            pass
    grown = resident(floor.web.process.pid) - before
    assert grown < 10_000_000, f"20 MB passed by and {grown} bytes stayed"
    heard = b""
    while b'"number": 199' not in heard:
        part = slow.recv(1 << 20)
        assert part, "left without the latest value"
        heard = heard[-20:] + part
    slow.close()
    quick.close()


def resident(pid: int) -> int:
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4_096


def test_unknown_feeds_and_senseless_positions(floor: Floor) -> None:
    assert floor.web.get("/api/v1/events?feeds=table:none").code == "E-WEB-001"
    assert floor.web.get("/api/v1/events?feeds=link,link").code == "E-WEB-003"
    assert floor.web.get("/api/v1/events?feeds=" + "a" * 5000).code == "E-WEB-003"
    assert floor.web.ask("HEAD", "/api/v1/events?feeds=link").status == 405
    for last in ("nonsense", "link=;;=.", "link=abc.99999999999999999999", "link=x.-1"):
        events = floor.web.events("link", last)
        assert next(events.changes())["reloaded"]
        events.close()


def test_a_sign_needs_no_login_and_sees_its_pool_alone(guarded: Floor) -> None:
    award = {"award": "main/1/1", "pool": "main", "level": "grand", "table": "mega", "cents": 9}
    guarded.link.update(
        awards=[{**award, "state": "locked", "approved_by": ["k.lee"]}, {**award, "pool": "other"}]
    )
    guarded.link.note(said="k.lee verified")
    assert guarded.web.get("/api/v1/events?feeds=link").code == "E-WEB-010"
    assert guarded.web.get("/api/v1/events?feeds=sign:main,link").code == "E-WEB-010"
    assert guarded.web.get("/api/v1/events?feeds=sign:none").code == "E-WEB-001"
    events = guarded.web.events("sign:main")
    found = events.changes()
    one = next(found)
    while "cents" not in str(one["parts"].get("awards")):
        one = next(found)
    assert "k.lee" not in str(one)
    assert "mini" not in str(one)
    assert one["log"] == []
    guarded.link.update(alarms=[{"n": 1}])
    guarded.link.update(meters=[{"pool": "main", "level": "grand", "cents": 1, "secret": 2}])
    after = next(found)
    assert after["parts"]["meters"][1] == [{"pool": "main", "level": "grand", "cents": 1}]
    assert set(after["parts"]) == {"meters"}
    events.close()


def test_a_stream_ends_with_its_session(guarded: Floor) -> None:
    cookie = guarded.web.signed_in()
    events = Events(guarded.web.netloc, "link", headers=cookie)
    assert next(events.changes())["name"] == "link"
    assert guarded.web.ask("DELETE", "/api/v1/session", headers=cookie).status == 200
    assert list(events)[-1] == ("end", {"why": "session"})
    events.close()
    assert guarded.web.get("/api/v1/feeds", cookie).code == "E-WEB-010"
