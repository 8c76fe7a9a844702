"""Sessions: how long they last, and what counts as a person's use; by a clock of our own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.web.conftest import written
from web.app import App
from web.config import load
from web.sessions import COOKIE, IDLE_S, LONGEST_S, MOST_EACH, Sessions


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def test_what_a_page_does_by_itself_does_not_keep_a_session(tmp_path: Path) -> None:
    """In the process of the test, to see when a session was used."""
    config = load(written(tmp_path, login=True))
    app = App(config, 0)
    clock = Clock()
    app.sessions._clock = clock
    cookie = app.sessions.begin("k.lee", "supervisor")
    headers = [(b"host", b"127.0.0.1:0"), (b"cookie", f"{COOKIE}={cookie}".encode())]

    def used(method: str, path: str, query: str = "") -> bool:
        clock.now_s += 1
        asyncio.run(asked(app, method, path, query, headers))
        found = app.sessions.find(cookie, use=False)
        return found is not None and found.used_s == clock.now_s

    for path in ("session", "feeds", "tables", "codes/E-TBL-003", "awards/main/1/1", "audit"):
        assert not used("GET", f"/api/v1/{path}"), path
    assert not used("HEAD", "/api/v1/tables")
    assert not used("GET", "/static/shell.js")
    assert not used("GET", "/healthz")
    assert used("GET", "/api/v1/session", "here=yes")
    assert used("GET", "/floor")
    assert used("GET", "/table/mega")
    assert used("POST", "/api/v1/orders")


async def asked(
    app: App, method: str, path: str, query: str, headers: list[tuple[bytes, bytes]]
) -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Any) -> None:
        pass

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "root_path": "",
        "state": {},
    }
    await app.asgi(scope, receive, send)


def test_a_session_ends_when_idle_and_after_a_shift() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    made = sessions.begin("k.lee", "supervisor")
    clock.now_s += IDLE_S - 1
    assert sessions.find(made) is not None
    clock.now_s += IDLE_S - 1
    assert sessions.find(made, use=False) is not None, "looked at, not used"
    clock.now_s += 2
    assert sessions.find(made) is None
    assert sessions.ended(made) == ("idle", 1)
    made = sessions.begin("k.lee", "supervisor")
    for _ in range(LONGEST_S // (IDLE_S - 1)):
        clock.now_s += IDLE_S - 1
        assert sessions.find(made) is not None
    clock.now_s += IDLE_S - 1
    assert sessions.find(made) is None
    assert sessions.ended(made).why == "longest"
    assert len(sessions) == 0


def test_a_change_of_the_account_ends_its_sessions() -> None:
    """A number may come to us after the sign-in that it allows, or before one that it forbids."""
    sessions = Sessions(Clock())
    sessions.accounts({"k.lee": 3, "m.ng": 4})
    old = sessions.begin("k.lee", "supervisor", 3)
    other = sessions.begin("m.ng", "manager", 4)
    new = sessions.begin("k.lee", "manager", 12)
    sessions.accounts({"k.lee": 12, "m.ng": 4})
    assert sessions.find(old) is None
    assert sessions.ended(old).why == "changed"
    assert sessions.find(new) is not None
    assert sessions.find(other) is not None
    late = sessions.begin("k.lee", "supervisor", 3)
    assert (sessions.find(late), sessions.ended(late).why) == (None, "changed")
    sessions.accounts({"k.lee": 11, "m.ng": 4})
    assert sessions.find(new) is None, "an older store was restored"
    sessions.accounts({"k.lee": 11})
    assert sessions.find(other) is None


def test_sessions_are_few_and_their_ids_long() -> None:
    sessions = Sessions(Clock())
    mine = [sessions.begin("k.lee", "supervisor") for _ in range(MOST_EACH + 1)]
    assert (sessions.find(mine[0]), len(sessions)) == (None, MOST_EACH)
    assert sessions.ended(mine[0]).why == "replaced"
    assert all(sessions.find(one) is not None for one in mine[1:])
    for number in range(1_200):
        sessions.begin(f"p{number}", "auditor")
    assert len(sessions) == 1_000
    assert len(set(mine)) == len(mine)
    assert all(len(one) == 43 for one in mine), "256 bits"
