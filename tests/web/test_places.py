"""What is bounded is shared: nobody without a session, and no single person or address, takes the
places of others."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S
from tests.ports import two_ports
from tests.web.browser import Events, Reply, Web, until
from tests.web.conftest import METERS, Floor, written
from tests.web.servers import Followed

COMMAND = """
import json, os, sys, time
folder, *asked = sys.argv[1:]
with open(folder + "/ran", "a") as ran:
    ran.write(json.dumps(asked) + "\\n")
if asked[0] == "evidence":
    made = asked[asked.index("--output") + 1]
    os.mkdir(made)
    with open(made + "/noise", "wb") as file:
        file.write(os.urandom(12_000_000))
    print("{}")
elif asked[0] == "jackpot":
    print(json.dumps({"table": "mega"}))
else:
    while not os.path.exists(folder + "/free"):
        time.sleep(0.02)
    print("{}")
"""
START = """
import sys
from web import app, evidence, runner, server
app.Runner = lambda: runner.Runner((sys.executable, "-I", "-c", {command!r}, {folder!r}))
{more}
from web.main import run
sys.exit(run(sys.argv[1:]))
"""
ORDER = {"by": [["k.lee", "correct horse"]], "order": {"what": "verify", "award": "main/1/1"}}


class Patched(Web):
    """Its commands are ``COMMAND``; ``more`` is run before it starts."""

    def __init__(self, config: Path, more: str = "") -> None:
        code = START.format(command=COMMAND, folder=str(config.parent), more=more)
        self.command = (sys.executable, "-P", "-c", code)
        super().__init__(config)

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.netloc.rpartition(":")
        return host, int(port)


@contextmanager
def served(
    folder: Path, *, streams: int = 500, more: str = ""
) -> Iterator[tuple[Patched, Followed]]:
    link = Followed(folder / "link.sock")
    link.update(meters=METERS, awards=[])
    config = written(folder, login=True, more=f"most_streams = {streams}")
    web = Patched(config, more)
    until(lambda: "E-WEB-020" not in web.get("/api/v1/events?feeds=sign:none").body.decode())
    try:
        yield web, link
        assert web.stop() == 0, web.log.read_text()
    finally:
        web.process.kill()
        link.close()


# --- streams and connections ----------------------------------------------------------------------


def test_public_streams_take_no_place_of_people_with_a_session(tmp_path: Path) -> None:
    with served(tmp_path, streams=4) as (web, _), ExitStack() as open_:
        cookie = web.signed_in()

        def opened(feeds: str, headers: dict[str, str]) -> int:
            events = Events(web.netloc, feeds, headers=headers)
            open_.callback(events.close)
            return events.answer.status

        signs = [opened("sign:main", {}) for _ in range(6)]
        assert signs == [200, *[503] * 5], "a quarter as many"
        assert [opened("link", cookie) for _ in range(5)] == [*[200] * 4, 503]


def test_a_quarter_of_the_public_places_is_for_one_address(tmp_path: Path) -> None:
    with served(tmp_path, streams=64) as (web, _), ExitStack() as open_:
        found = [web.events("sign:main") for _ in range(5)]
        for events in found:
            open_.callback(events.close)
        assert [events.answer.status for events in found] == [*[200] * 4, 503]


def test_requests_without_a_session_make_room_for_people(tmp_path: Path) -> None:
    """All places are taken by requests that are whole and not answered yet, and by a sign."""
    free = threading.Event()
    with served(tmp_path, streams=2, more="server.ROOM = 2") as (web, link), ExitStack() as open_:
        cookie = web.signed_in()
        staff = web.events("link", headers=cookie)
        open_.callback(staff.close)
        changes = staff.changes()
        next(changes)
        answer = link.answer

        def slow(request: dict[str, Any]) -> Any:
            if request["verb"] == "password":
                free.wait(PATIENCE_S)
            return answer(request)

        link.answer = slow  # type: ignore[method-assign]
        body = json.dumps({"name": "k.lee", "password": "guessed"})
        whole = (
            f"POST /api/v1/session HTTP/1.1\r\nHost: {web.netloc}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        )
        sign = web.events("sign:main")
        open_.callback(sign.close)
        for _ in range(4):
            one = socket.create_connection(web.address, PATIENCE_S)
            open_.callback(one.close)
            one.sendall(whole.encode())
        try:
            for _ in range(20):
                assert web.get("/api/v1/feeds", cookie).status == 200
            second = web.events("link", headers=cookie)
            open_.callback(second.close)
            assert next(second.changes())["name"] == "link"
            link.note(said="to all")
            assert next(changes)["log"][0]["said"] == "to all", "a person's page stays"
        finally:
            free.set()


# --- the control socket ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flood", "other"),
    [
        (["192.0.2.1"] * 30, "192.0.2.2"),
        ([f"2001:db8::{n + 1:x}" for n in range(30)], "2001:db8:0:1::1"),
    ],
    ids=["one address", "one network of IPv6"],
)
def test_sign_ins_of_one_source_leave_room_for_others(
    tmp_path: Path, flood: list[str], other: str
) -> None:
    link, free = Followed(tmp_path / "link.sock"), threading.Event()
    link.update(meters=[])
    port = two_ports()
    more = f'behind_proxy = true\nhosts = ["127.0.0.1:{port}"]'
    web = Patched(written(tmp_path, more=more, port=port))
    answer = link.answer

    def slow(request: dict[str, Any]) -> Any:
        if request["verb"] == "password":
            free.wait(PATIENCE_S)
        return answer(request)

    link.answer = slow  # type: ignore[method-assign]
    given = {"name": "k.lee", "password": "correct horse"}

    def sign_in(address: str) -> Reply:
        return web.post("/api/v1/session", given, {"X-Forwarded-For": address})

    with ThreadPoolExecutor(40) as people:
        asked = [people.submit(sign_in, address) for address in flood]
        try:
            until(lambda: sum(one.done() for one in asked) >= 26)
            late = people.submit(sign_in, other)
            with pytest.raises(TimeoutError):
                late.result(0.5)
        finally:
            free.set()
        assert late.result().status == 200
        assert sorted(one.result().status for one in asked) == [200] * 4 + [503] * 26
    assert web.stop() == 0, web.log.read_text()
    link.close()


def test_the_audit_trail_keeps_no_order_waiting(guarded: Floor) -> None:
    k_lee = guarded.web.signed_in()
    m_ng = guarded.web.signed_in("m.ng", "battery staple")
    free = threading.Event()
    answer = guarded.link.answer

    def slow(request: dict[str, Any]) -> Any:
        if request["verb"] == "rows":
            free.wait(PATIENCE_S)
        return answer(request)

    guarded.link.answer = slow  # type: ignore[method-assign]
    with ThreadPoolExecutor(40) as people:
        asked = [people.submit(guarded.web.get, "/api/v1/audit", k_lee) for _ in range(30)]
        try:
            until(lambda: sum(one.done() for one in asked) >= 14)
            order = people.submit(guarded.web.post, "/api/v1/orders", ORDER, k_lee)
            assert order.result(10).status == 200
            other = people.submit(guarded.web.get, "/api/v1/audit", m_ng)
            with pytest.raises(TimeoutError):
                other.result(0.5)
        finally:
            free.set()
        assert other.result().status == 200


def test_an_order_that_was_never_sent_says_so(tmp_path: Path) -> None:
    free = threading.Event()
    more = "from web import api; api.ORDER_S = 1"
    with served(tmp_path, more=more) as (web, link), ThreadPoolExecutor(3) as people:
        cookie = web.signed_in()
        answer, sent = link.answer, list[Any]()

        def slow(request: dict[str, Any]) -> Any:
            if request["verb"] == "order":
                sent.append(request)
                free.wait(PATIENCE_S)
            return answer(request)

        link.answer = slow  # type: ignore[method-assign]
        try:
            asked = [people.submit(web.post, "/api/v1/orders", ORDER, cookie) for _ in range(3)]
            replies = [one.result() for one in asked]
        finally:
            free.set()
        assert {reply.code for reply in replies} == {"E-WEB-020"}
        said = [reply.json()["detail"].partition("; ")[2] for reply in replies]
        assert said.count("what was asked may have been done") == len(sent)
        assert said.count("nothing was sent, try again") == 3 - len(sent) > 0


# --- reports --------------------------------------------------------------------------------------


def test_slow_reports_of_one_person_leave_room_for_others(tmp_path: Path) -> None:
    with served(tmp_path) as (web, _), ThreadPoolExecutor(40) as people:
        k_lee, m_ng = web.signed_in(), web.signed_in("m.ng", "battery staple")
        slow = [people.submit(web.get, "/api/v1/reports/day", k_lee) for _ in range(20)]
        try:
            until(lambda: sum(one.done() for one in slow) >= 12)
            asked: Future[Reply] = people.submit(web.get, "/api/v1/awards/main/1/1", m_ng)
            assert asked.result(30).status == 200, "at once, while the others wait"
        finally:
            (tmp_path / "free").touch()
        assert {one.result().status for one in slow} == {200, 503}
        ran = (tmp_path / "ran").read_text().splitlines()
        assert sum('"report"' in line for line in ran) == 4


def test_too_many_at_once_is_a_503_and_not_an_end(floor: Floor) -> None:
    """Somebody who leaves gives the place back."""
    host, _, port = floor.web.netloc.rpartition(":")
    for _ in range(40):
        asking = http.client.HTTPConnection(host, int(port), timeout=PATIENCE_S)
        asking.request("GET", "/api/v1/audit")
        asking.close()
    until(lambda: floor.web.get("/api/v1/audit").status == 200)
