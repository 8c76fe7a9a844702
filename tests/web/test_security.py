"""A session only looks; requests from elsewhere, of another kind or too large are refused, and none
of them reaches a source."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S
from tests.ports import two_ports
from tests.web.browser import until
from tests.web.conftest import METERS, Floor, made_floor
from web.asking import WAITING_EACH

ORDER = {
    "by": [["k.lee", "correct horse"]],
    "order": {"what": "verify", "award": "main/1/1"},
}
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def people_asked(floor: Floor) -> list[dict[str, Any]]:
    return [request for request in floor.link.asked if request["verb"] != "changes"]


def test_every_answer_has_the_headers(guarded: Floor) -> None:
    cookie = guarded.web.signed_in()
    for path, status in (
        ("/api/v1/feeds", 200),
        ("/api/v1/none", 404),
        ("/api/v1/reports/none", 404),
        ("/healthz", 200),
        ("/nowhere", 404),
    ):
        reply = guarded.web.get(path, cookie)
        assert reply.status == status, path
        assert HEADERS.items() <= reply.headers.items(), path
        assert reply.headers["content-security-policy"].startswith("default-src 'none'; ")
        assert "unsafe" not in reply.headers["content-security-policy"]
        assert "server" not in reply.headers
    assert guarded.web.get("/api/v1/feeds").code == "E-WEB-010"
    assert HEADERS.items() <= guarded.web.get("/api/v1/feeds").headers.items()
    refused = guarded.web.get("/healthz", {"Host": "evil.example"})
    assert HEADERS.items() <= refused.headers.items()


def test_pages_and_files_are_served_with_an_etag(floor: Floor) -> None:
    first = floor.web.get("/")
    assert (first.status, first.headers["location"]) == (307, "/floor")
    page = floor.web.get("/sign/main")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-cache"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    same = floor.web.get("/sign/main", {"If-None-Match": page.headers["etag"]})
    assert (same.status, same.body) == (304, b"")
    index = floor.web.get("/static/index.html", {"Accept-Encoding": "gzip"})
    assert index.headers["content-encoding"] == "gzip"
    for path in ("../config.py", "%2e%2e/config.py", "none.js", "", "index.html%00", "a/../b.js"):
        assert floor.web.get(f"/static/{path}").code == "E-WEB-001", path


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Host": "evil.example"}, "E-WEB-004"),
        ({"Host": "127.0.0.1"}, "E-WEB-004"),
        ({"Origin": "https://evil.example"}, "E-WEB-005"),
        ({"Origin": "null"}, "E-WEB-005"),
        ({"Sec-Fetch-Site": "cross-site"}, "E-WEB-005"),
        ({"Sec-Fetch-Site": "same-site"}, "E-WEB-005"),
        ({"Sec-Fetch-Site": "none"}, "E-WEB-005"),
        ({"Content-Type": "text/plain"}, "E-WEB-006"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, "E-WEB-006"),
        ({"Content-Type": ""}, "E-WEB-006"),
    ],
)
def test_what_another_site_can_send_reaches_nothing(
    guarded: Floor, headers: dict[str, str], code: str
) -> None:
    sent = {**guarded.web.signed_in(), **headers}
    before = len(people_asked(guarded))
    for path, body in (
        ("/api/v1/orders", ORDER),
        ("/api/v1/session", {"name": "k.lee", "password": "correct horse"}),
        ("/api/v1/tables/mega/do", {"do": "press OPEN"}),
        ("/api/v1/tables/mega/fault", {"do": "jam"}),
        ("/api/v1/alarms/1/acknowledge", {"by": ORDER["by"], "why": "x"}),
    ):
        assert guarded.web.post(path, body, sent).code == code, path
    assert len(people_asked(guarded)) == before
    assert (guarded.link.orders, guarded.sim.done) == ([], [])


def test_our_own_page_may_and_data_is_not_for_links_elsewhere(floor: Floor) -> None:
    own = {"Origin": f"http://{floor.web.netloc}", "Sec-Fetch-Site": "same-origin"}
    assert floor.web.post("/api/v1/tables/mega/do", {"do": "press OPEN"}, own).json() == {
        "ok": True,
        "answer": {"ok": True},
    }
    assert floor.web.post("/api/v1/tables/mega/fault", {"do": "jam"}, own).status == 200
    assert floor.sim.done == ["/do press OPEN", "/fault jam"]
    assert floor.web.get("/floor", {"Sec-Fetch-Site": "cross-site"}).status == 200
    assert floor.web.get("/api/v1/feeds", {"Sec-Fetch-Site": "cross-site"}).code == "E-WEB-005"
    assert floor.web.get("/api/v1/feeds", {"Sec-Fetch-Site": "none"}).status == 200


def test_a_stolen_cookie_changes_nothing(guarded: Floor) -> None:
    cookie = guarded.web.signed_in()
    stolen = {"order": ORDER["order"]}
    assert guarded.web.post("/api/v1/orders", stolen, cookie).code == "E-WEB-003"
    empty = {**ORDER, "by": []}
    assert guarded.web.post("/api/v1/orders", empty, cookie).code == "E-WEB-003"
    wrong = {**ORDER, "by": [["k.lee", "guessed"]]}
    reply = guarded.web.post("/api/v1/orders", wrong, cookie)
    assert (reply.status, reply.code) == (403, "E-ACT-001")
    assert guarded.link.orders == []
    assert guarded.web.post("/api/v1/orders", ORDER).code == "E-WEB-010", "without a session"
    assert guarded.link.orders == []
    assert guarded.web.post("/api/v1/orders", ORDER, cookie).status == 200
    assert guarded.link.orders == [ORDER["order"]]
    assert people_asked(guarded)[-1]["source"] == "127.0.0.1"


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Floor]:
    """As behind a proxy on this machine, which says who asks."""
    port = two_ports()
    more = f'behind_proxy = true\nhosts = ["127.0.0.1:{port}"]'
    yield from made_floor(tmp_path, login=True, more=more, port=port)


@pytest.mark.parametrize(
    ("lines", "source"),
    [
        ((), "127.0.0.1"),
        (("192.0.2.7",), "192.0.2.7"),
        (("198.51.100.1, 192.0.2.7",), "192.0.2.7"),
        (("198.51.100.1", "192.0.2.7"), "192.0.2.7"),
        (("198.51.100.1, 198.51.100.2", "198.51.100.3, 2001:db8::7"), "2001:db8::/64"),
        (("192.0.2.7", "unknown"), "127.0.0.1"),
        (("192.0.2.7,",), "127.0.0.1"),
    ],
)
def test_the_address_of_a_browser_is_the_one_that_the_proxy_added(
    proxied: Floor, lines: tuple[str, ...], source: str
) -> None:
    body = json.dumps({"name": "k.lee", "password": "guessed"})
    asking = http.client.HTTPConnection(proxied.web.netloc, timeout=PATIENCE_S)
    asking.putrequest("POST", "/api/v1/session", skip_host=True)
    for name, value in (
        ("Host", proxied.web.netloc),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        *(("X-Forwarded-For", line) for line in lines),
    ):
        asking.putheader(name, value)
    asking.endheaders(body.encode())
    assert asking.getresponse().status == 403
    asking.close()
    assert people_asked(proxied)[-1]["source"] == source


def test_a_flood_of_sign_ins_leaves_room_for_orders(guarded: Floor) -> None:
    cookie = guarded.web.signed_in()
    free = threading.Event()
    answer = guarded.link.answer

    def slow(request: dict[str, Any]) -> Any:
        if request["verb"] == "password":
            free.wait(PATIENCE_S)
        return answer(request)

    guarded.link.answer = slow  # type: ignore[method-assign]
    given = {"name": "k.lee", "password": "guessed"}
    with ThreadPoolExecutor(30) as people:
        flood = [people.submit(guarded.web.post, "/api/v1/session", given) for _ in range(30)]
        try:
            until(lambda: sum(one.done() for one in flood) == 30 - WAITING_EACH)
            orders = [guarded.web.post("/api/v1/orders", ORDER, cookie) for _ in range(3)]
        finally:
            free.set()
    assert [one.status for one in orders] == [200] * 3
    refused = [one.result() for one in flood if one.result().status == 503]
    assert {one.code for one in refused} == {"E-WEB-011"}
    assert len(refused) == 30 - WAITING_EACH


def test_accounts_and_keys_are_not_changed_here(guarded: Floor) -> None:
    cookie = guarded.web.signed_in()
    for what in ("add account", "reset account", "enrol keys", "transfer", ""):
        order = {**ORDER, "order": {"what": what}}
        assert guarded.web.post("/api/v1/orders", order, cookie).code == "E-WEB-013"
    senseless: list[Any] = [{"what": ["verify"]}, {"what": None}, {"what": "pay", "award": 1}, []]
    for wrong in senseless:
        order = {**ORDER, "order": wrong}
        assert guarded.web.post("/api/v1/orders", order, cookie).code == "E-WEB-003"
    assert guarded.link.orders == []


def test_an_alarm_is_acknowledged_by_name_and_reason(guarded: Floor) -> None:
    cookie = guarded.web.signed_in()
    given = {"by": [["m.ng", "battery staple"]], "why": "reader replaced"}
    assert guarded.web.post("/api/v1/alarms/17/acknowledge", given, cookie).status == 200
    expected = {"what": "acknowledge alarm", "alarm": 17, "why": "reader replaced"}
    assert guarded.link.orders == [expected]


def test_signing_in_and_out(guarded: Floor) -> None:
    web = guarded.web
    nobody = web.get("/api/v1/session").json()
    assert (nobody["login_required"], nobody["signed_in"], nobody["ended"]) == (True, False, "")
    assert nobody["notice"] == "Welcome to the night shift"
    wrong = web.post("/api/v1/session", {"name": "k.lee", "password": "wrong"})
    assert (wrong.status, wrong.code) == (403, "E-ACT-001")
    assert "set-cookie" not in wrong.headers
    right = web.post("/api/v1/session", {"name": "k.lee", "password": "correct horse"})
    name, _, rest = right.headers["set-cookie"].partition("=")
    assert name == "__Host-underfelt"
    for word in ("Secure", "HttpOnly", "SameSite=Strict", "Path=/"):
        assert word in rest.split("; ")
    assert "Domain" not in rest
    cookie = {"Cookie": right.headers["set-cookie"].partition(";")[0]}
    now = web.get("/api/v1/session", cookie).json()
    assert (now["signed_in"], now["name"], now["role"]) == (True, "k.lee", "supervisor")
    again = web.post("/api/v1/session", {"name": "m.ng", "password": "battery staple"}, cookie)
    assert again.headers["set-cookie"].partition(";")[0] != cookie["Cookie"]
    assert web.get("/api/v1/feeds", cookie).code == "E-WEB-010", "the old id is worth nothing"
    assert web.get("/api/v1/session", cookie).json()["ended"] == "signed out"
    before = {"Cookie": "__Host-underfelt=of-another-start"}
    assert web.get("/api/v1/session", before).json()["ended"] == "unknown"


def test_a_disabled_account_looks_no_longer(guarded: Floor) -> None:
    """The link server tells it in its feed, which no browser gets."""
    web = guarded.web
    guarded.link.update(accounts={"k.lee": 7, "m.ng": 7})
    k_lee, m_ng = web.signed_in(), web.signed_in("m.ng", "battery staple")
    events = web.events("link", headers=k_lee)
    guarded.link.update(accounts={"k.lee": 12, "m.ng": 7})
    until(lambda: web.get("/api/v1/feeds", k_lee).status == 401)
    assert list(events)[-1] == ("end", {"why": "session"})
    events.close()
    assert web.get("/api/v1/session", k_lee).json()["ended"] == "changed"
    assert web.get("/api/v1/feeds", m_ng).status == 200
    for path in ("pools", "awards", "alarms", "sums", "tables", "feeds"):
        assert b"accounts" not in web.get(f"/api/v1/{path}", m_ng).body


def test_passwords_are_never_logged(guarded: Floor) -> None:
    cookie = guarded.web.signed_in()
    guarded.web.post("/api/v1/session", {"name": "k.lee", "password": "my secret"})
    guarded.web.post("/api/v1/orders", {**ORDER, "by": [["k.lee", "my secret"]]}, cookie)
    guarded.web.post("/api/v1/orders", {**ORDER, "more": "my secret"}, cookie)
    guarded.web.ask("POST", "/api/v1/orders", raw=b'{"by": "my secret', headers=cookie)
    guarded.link.close()
    guarded.web.post("/api/v1/session", {"name": "k.lee", "password": "my secret"})
    guarded.web.stop()
    log = guarded.web.log.read_text()
    assert "link" in log
    assert "my secret" not in log
    assert "correct horse" not in log


def test_bodies_that_are_wrong(floor: Floor) -> None:
    at = "/api/v1/tables/mega/do"
    ask = floor.web.ask
    assert ask("POST", at, raw=b"{").code == "E-WEB-002"
    assert ask("POST", at, raw=b'{"do": "a", "do": "b"}').code == "E-WEB-002"
    assert ask("POST", at, raw=b'{"do": 1.5}').code == "E-WEB-002"
    assert ask("POST", at, raw=b'["do"]').code == "E-WEB-003"
    assert ask("POST", at, raw=b'{"do": "x", "more": 1}').code == "E-WEB-003"
    assert ask("POST", at, raw=b'{"do": "' + b"x" * 70_000 + b'"}').code == "E-WEB-007"
    wrong = floor.web.post("/api/v1/orders", {**ORDER, "order": {"what": "verify", "award": 7}})
    assert (wrong.status, wrong.code) == (422, "E-WEB-003")
    assert '$.order["award"]`: 7' in wrong.json()["detail"]
    assert ask("PUT", at, {"do": "x"}).code == "E-WEB-009"
    assert ask("PUT", at, {"do": "x"}).headers["allow"] == "POST"
    assert floor.web.post(at, {"do": "no such step"}).code == "E-WEB-023"
    assert floor.web.post("/api/v1/tables/away/do", {"do": "press OPEN"}).code == "E-WEB-001"


def test_the_latest_values(floor: Floor) -> None:
    web = floor.web
    pools = web.get("/api/v1/pools").json()
    assert (pools["parts"], pools["n"]) == ({"meters": METERS}, 1)
    assert web.get("/api/v1/tables/mega").json()["parts"]["status"] == {"phase": "idle"}
    floor.link.update(tables=[{"table": "mega", "connected": True}, {"table": "third"}])
    while not any(row["link"] for row in web.get("/api/v1/tables").json()["tables"]):
        pass
    rows = {row["name"]: row for row in web.get("/api/v1/tables").json()["tables"]}
    assert sorted(rows) == ["away", "mega", "third"]
    assert (rows["mega"]["simulated"], rows["away"]["url"][:8]) == (True, "https://")
    assert rows["mega"]["link"] == {"table": "mega", "connected": True}
    floor.link.rows.append({"id": 1, "body": "order"})
    assert web.get("/api/v1/audit?from_ms=5").json() == {"rows": floor.link.rows, "next": 0}
    assert people_asked(floor)[-1]["from_ms"] == 5
    clause = web.get("/api/v1/clauses/MBS3-1.1.1").json()
    assert (clause["book"], "three" in clause["text"]) == ("MBS3", True)
    assert web.get("/api/v1/clauses/MBS3-99").code == "E-WEB-001"
    code = web.get("/api/v1/codes/E-TBL-003").json()
    assert "link is lost" in code["meaning"]
    assert code["action"]
    assert web.get("/api/v1/codes/E-XYZ-999").json()["meaning"] == ""
    verbs = web.get("/api/v1/tables/mega/verbs").json()["verbs"]
    assert [one["verb"] for one in verbs] == ["jam"]


def test_a_slow_or_broken_source_stops_nothing_else(floor: Floor) -> None:
    floor.link.close()
    mute = socket.socket(socket.AF_UNIX)
    mute.bind(str(floor.link.path))
    mute.listen()
    events = floor.web.events("table:mega")
    found = events.changes()
    next(found)
    floor.table.note(said="goes on")
    assert next(found)["log"][0]["said"] == "goes on"
    events.close()
    mute.close()


def test_a_proxy_with_a_login_of_its_own_can_pass_on_what_is_looked_at(floor: Floor) -> None:
    """It sends our own name as the host; what it passes on can change nothing."""
    page = {"Sec-Fetch-Site": "same-origin", "X-Forwarded-For": "192.0.2.7"}
    for path in ("/table/mega", "/api/v1/tables/mega", "/api/v1/session", "/static/floor.js"):
        assert floor.web.get(path, page).status == 200, path
    events = floor.web.events("table:mega", headers=page)
    assert next(events.changes())["name"] == "table:mega"
    events.close()
    sent = {**page, "Origin": "https://table-7.example:8443"}
    assert floor.web.post("/api/v1/tables/mega/do", {"do": "press OPEN"}, sent).code == "E-WEB-005"
