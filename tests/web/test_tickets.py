"""Sign-in at a table's machine by a ticket of the floor: two web processes, and each refusal."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest
from nacl.signing import SigningKey

from link.commands import keys
from record.kit.key_files import decode_z85, load_word
from tests.patience import PATIENCE_S
from tests.ports import two_ports
from tests.web.browser import Reply, Web, until
from tests.web.servers import Followed
from web.config import TableOptions
from web.problems import Problem
from web.tickets import HEAD, LASTS_S, MOST_USED, SECRET_WORD, Door, Signer, browser_of

NEXT = "/table/table-7"
HOST = "table-7.example:8443"
ALPHABET = b"-_"


class Pair(NamedTuple):
    floor: Web
    table: Web
    link: Followed
    folder: Path

    def asked(self) -> tuple[dict[str, str], dict[str, str]]:
        """A browser at the table's page: what it takes to the floor, and its cookie."""
        reply = self.table.post("/api/v1/session/challenge", {"next": NEXT})
        assert reply.status == 200, reply
        at = urlsplit(reply.json()["url"])
        assert (f"{at.scheme}://{at.netloc}", at.path) == (f"http://{self.floor.netloc}", "/ticket")
        return dict(parse_qsl(at.query, strict_parsing=True)), cookie_of(reply)

    def ticket(self, asked: dict[str, str]) -> str:
        reply = self.floor.post("/api/v1/tickets", asked, self.floor.signed_in())
        assert reply.status == 200, reply
        return str(reply.json()["url"]).partition("#ticket=")[2]

    def enter(self, ticket: str, cookie: dict[str, str]) -> Reply:
        return self.table.post("/api/v1/session/ticket", {"ticket": ticket}, cookie)

    def table_log(self) -> str:
        return self.table.log.read_text() + self.floor.log.read_text()


def cookie_of(reply: Reply) -> dict[str, str]:
    return {"Cookie": reply.headers["set-cookie"].partition(";")[0]}


def key_files(folder: Path, name: str = "ticket") -> None:
    made = ("ticket", "--secret", str(folder / f"{name}.key"))
    assert keys.run([*made, "--public", str(folder / f"{name}.pub")]) == 0


def secret_of(folder: Path, name: str = "ticket") -> SigningKey:
    found = load_word(folder / f"{name}.key", SECRET_WORD).reveal().decode()
    return SigningKey(decode_z85(found) or b"")


def signed(key: SigningKey, message: bytes) -> str:
    return base64.b64encode(bytes(key.sign(message)), ALPHABET).decode().rstrip("=")


def floor_text(port: int, table: str) -> str:
    return (
        f'[web]\nlisten = "127.0.0.1:{port}"\n[link]\ncontrol = "link.sock"\n'
        f'[tickets]\nkey = "ticket.key"\n[[table]]\nname = "table-7"\nurl = "{table}"\n'
        '[[table]]\nname = "table-8"\nurl = "https://table-8.example:8443"\n'
        '[[table]]\nname = "plain"\nurl = "http://plain.example"\n'
    )


def table_text(port: int, floor: str) -> str:
    return (
        f'[web]\nlisten = "127.0.0.1:{port}"\n[tickets]\nfloor = "{floor}"\ntrust = "ticket.pub"\n'
        '[[table]]\nname = "table-7"\nsocket = "table.sock"\n'
    )


def served(folder: Path) -> Iterator[Pair]:
    """The floor at 127.0.0.1 and the table at localhost, as a browser keeps their cookies apart."""
    key_files(folder)
    link, table = Followed(folder / "link.sock"), Followed(folder / "table.sock")
    link.update(meters=[], server={"name": "s1", "leading": True}, awards=[])
    table.update(status={"phase": "idle"}, felt={"rows": []})
    port = two_ports()
    at_floor, at_table = folder / "floor.toml", folder / "table.toml"
    at_floor.write_text(floor_text(port, f"http://localhost:{port + 1}"), "utf-8")
    at_table.write_text(table_text(port + 1, f"http://127.0.0.1:{port}"), "utf-8")
    webs = [Web(at_floor), Web(at_table)]
    webs[1].netloc = f"localhost:{port + 1}"
    until(lambda: all(web.get("/readyz").status == 200 for web in webs))
    yield Pair(webs[0], webs[1], link, folder)
    for web in webs:
        if web.process.poll() is None:
            assert web.stop() == 0, web.log.read_text()
    for server in (link, table):
        server.close()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    yield from served(tmp_path_factory.mktemp("pair"))


def test_a_tables_machine_opens_with_its_table(pair: Pair) -> None:
    for web, first in ((pair.table, NEXT), (pair.floor, "/floor")):
        reply = web.get("/")
        assert (reply.status, reply.headers["location"]) == (307, first)


def test_a_ticket_of_the_floor_begins_a_session_that_only_looks(pair: Pair) -> None:
    asked, browser = pair.asked()
    assert (asked["host"], asked["next"]) == (pair.table.netloc, NEXT)
    reply = pair.floor.post("/api/v1/tickets", asked, pair.floor.signed_in())
    url = urlsplit(reply.json()["url"])
    assert (url.netloc, url.path) == (pair.table.netloc, "/login")
    assert dict(parse_qsl(url.query)) == {"next": NEXT}
    entered = pair.enter(url.fragment.removeprefix("ticket="), browser)
    now = entered.json()
    assert (now["signed_in"], now["name"], now["role"]) == (True, "k.lee", "supervisor")
    for word in ("Secure", "HttpOnly", "SameSite=Strict", "Path=/"):
        assert word in entered.headers["set-cookie"].split("; ")
    cookie = cookie_of(entered)
    assert pair.table.get("/api/v1/tables/table-7").code == "E-WEB-010"
    assert pair.table.get("/api/v1/tables/table-7", cookie).status == 200
    order = {"by": [["k.lee", "correct horse"]], "order": {"what": "verify", "award": "main/1/1"}}
    refused = pair.table.post("/api/v1/orders", order, cookie)
    assert (refused.status, refused.code, pair.link.orders) == (404, "E-WEB-020", [])
    assert pair.table.ask("DELETE", "/api/v1/session", headers=cookie).status == 200
    assert pair.table.get("/api/v1/tables/table-7", cookie).code == "E-WEB-010"
    over = pair.table.get("/api/v1/session", cookie).json()
    assert (over["ended"], over["floor"]) == ("signed out", f"http://{pair.floor.netloc}")


def test_no_password_is_taken_at_a_table(pair: Pair) -> None:
    given = {"name": "k.lee", "password": "never used"}
    assert pair.table.post("/api/v1/session", given).code == "E-WEB-020"
    assert not any(request.get("password") == "never used" for request in pair.link.asked)


def test_a_ticket_works_once_and_in_the_browser_that_asked(pair: Pair) -> None:
    asked, browser = pair.asked()
    ticket = pair.ticket(asked)
    _, other = pair.asked()
    assert pair.enter(ticket, other).code == "E-WEB-016"
    assert pair.enter(ticket, {}).code == "E-WEB-016"
    assert pair.enter(ticket, browser).status == 200
    again = pair.enter(ticket, browser)
    assert (again.status, again.code) == (403, "E-WEB-016")
    assert "set-cookie" not in again.headers


def test_a_challenge_of_another_process_is_refused(pair: Pair) -> None:
    asked, browser = pair.asked()
    ticket = pair.ticket(asked)
    netloc = pair.table.netloc
    assert pair.table.stop() == 0
    pair.table.start()
    pair.table.netloc = netloc
    assert pair.enter(ticket, browser).code == "E-WEB-016"


def test_a_ticket_is_for_the_host_that_asked(pair: Pair) -> None:
    """The same machine under another name of its own, and another table."""
    asked, browser = pair.asked()
    ticket = pair.ticket(asked)
    named = {**browser, "Host": pair.table.netloc.replace("localhost", "127.0.0.1")}
    assert pair.enter(ticket, named).code == "E-WEB-015"
    elsewhere = pair.ticket({**asked, "host": "table-8.example:8443"})
    assert pair.enter(elsewhere, browser).code == "E-WEB-015"


@pytest.mark.parametrize("host", ["evil.example", "table-7.example:8443", "plain.example"])
def test_the_floor_leads_nobody_to_another_address(pair: Pair, host: str) -> None:
    """Nor to a table's address without TLS."""
    asked, _ = pair.asked()
    reply = pair.floor.post("/api/v1/tickets", {**asked, "host": host}, pair.floor.signed_in())
    assert (reply.status, reply.code) == (403, "E-WEB-014")


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("next", "//evil.example/", "E-WEB-003"),
        ("next", "https://evil.example/", "E-WEB-003"),
        ("next", "/table/a\nb", "E-WEB-002"),
        ("next", "/table/a b", "E-WEB-003"),
        ("next", "/" + "a" * 2_000, "E-WEB-003"),
        ("host", "localhost:1/a", "E-WEB-003"),
        ("host", "k@localhost:1", "E-WEB-003"),
        ("challenge", "0" * 111, "E-WEB-003"),
        ("challenge", "0" * 112 + "\n", "E-WEB-002"),
        ("challenge", "g" * 112, "E-WEB-003"),
        ("challenge", "0" * 60_000, "E-WEB-002"),
    ],
)
def test_the_floor_signs_nothing_that_is_malformed(
    pair: Pair, field: str, value: str, code: str
) -> None:
    asked, _ = pair.asked()
    reply = pair.floor.post("/api/v1/tickets", {**asked, field: value}, pair.floor.signed_in())
    assert reply.code == code


def test_a_ticket_needs_a_session_at_the_floor(pair: Pair) -> None:
    asked, browser = pair.asked()
    assert pair.floor.post("/api/v1/tickets", asked).code == "E-WEB-010"
    entered = cookie_of(pair.enter(pair.ticket(asked), browser))
    assert pair.floor.post("/api/v1/tickets", asked, entered).code == "E-WEB-010"
    assert pair.table.post("/api/v1/tickets", asked, entered).code == "E-WEB-001", "makes none"
    assert pair.floor.post("/api/v1/session/challenge", {"next": NEXT}).code == "E-WEB-001"
    assert pair.floor.post("/api/v1/session/ticket", {"ticket": "AA"}).code == "E-WEB-001"


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Origin": "https://evil.example"}, "E-WEB-005"),
        ({"Sec-Fetch-Site": "cross-site"}, "E-WEB-005"),
        ({"Sec-Fetch-Site": "same-site"}, "E-WEB-005"),
        ({"Sec-Fetch-Site": "none"}, "E-WEB-005"),
        ({"Content-Type": "text/plain"}, "E-WEB-006"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, "E-WEB-006"),
        ({"Host": "evil.example"}, "E-WEB-004"),
    ],
)
def test_only_our_own_pages_ask_for_tickets_and_bring_them(
    pair: Pair, headers: dict[str, str], code: str
) -> None:
    asked, browser = pair.asked()
    ticket = pair.ticket(asked)
    signed_in = pair.floor.signed_in()
    assert pair.floor.post("/api/v1/tickets", asked, {**signed_in, **headers}).code == code
    for path, body in (("challenge", {"next": NEXT}), ("ticket", {"ticket": ticket})):
        sent = {**browser, **headers}
        assert pair.table.post(f"/api/v1/session/{path}", body, sent).code == code, path
    assert pair.enter(ticket, browser).status == 200, "nothing of it was used"


def test_links_lead_to_the_pages_and_to_nothing_else(pair: Pair) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert pair.floor.get("/ticket?host=a&challenge=b", link).status == 200
    assert pair.table.get("/login?next=/table/table-7", link).status == 200
    assert pair.floor.get("/api/v1/tickets", link).code == "E-WEB-005"
    assert pair.floor.get("/api/v1/tickets").code == "E-WEB-009"
    policy = pair.floor.get("/ticket").headers["content-security-policy"]
    assert "connect-src 'self'" in policy
    assert "form-action 'none'" in policy
    assert "http:" not in policy


def test_what_the_floor_did_not_sign_is_refused(pair: Pair) -> None:
    asked, browser = pair.asked()
    said = {"host": asked["host"], "challenge": asked["challenge"], "name": "m", "role": "r"}
    key_files(pair.folder, "other")
    ours, other = secret_of(pair.folder), secret_of(pair.folder, "other")
    body = json.dumps(said).encode()
    good = signed(ours, HEAD + body)
    forged = [
        signed(other, HEAD + body),
        good[:-8] + ("AAAAAAAA" if good[-8:] != "AAAAAAAA" else "BBBBBBBB"),
        "A" * len(good),
        "A",
        "AAAA",
        signed(ours, body),
        signed(ours, b"underfelt ticket 2\n" + body),
        signed(ours, HEAD + json.dumps({**said, "name": "a\nb"}).encode()),
        signed(ours, HEAD + json.dumps({**said, "name": "n" * 65}).encode()),
        signed(ours, HEAD + json.dumps({**said, "role": ""}).encode()),
        signed(ours, HEAD + json.dumps({**said, "more": 1}).encode()),
        signed(ours, HEAD + json.dumps({**said, "challenge": "00"}).encode()),
        signed(ours, HEAD + b"[" * 500),
        signed(ours, HEAD + b"\xff"),
    ]
    for ticket in forged:
        reply = pair.enter(ticket, browser)
        assert (reply.status, reply.code) == (403, "E-WEB-015"), ticket
    for wrong in ("", "a b", "é", "A" * 2_001):
        assert pair.enter(wrong, browser).code == "E-WEB-003", wrong
    assert pair.enter("a\x00b", browser).code == "E-WEB-002"
    assert pair.enter("A" * 70_000, browser).code == "E-WEB-007"
    assert pair.enter(good, browser).json()["name"] == "m", "the challenge is still unused"
    assert good not in pair.table_log()


class Clock:
    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def doors(folder: Path) -> tuple[Signer, Door, Clock]:
    key_files(folder)
    clock = Clock()
    tables = (TableOptions("table-7", None, None, None, f"https://{HOST.upper()}"),)
    door = Door("https://floor.example", folder / "ticket.pub", clock)
    return Signer(folder / "ticket.key", tables), door, clock


def taken(signer: Signer, door: Door, challenge: str, browser: str) -> str:
    _, ticket = signer.ticket(HOST, challenge, "k.lee", "supervisor")
    try:
        return door.enter(ticket, HOST, browser)[0]
    except Problem as problem:
        return problem.code


def test_a_challenge_ends_after_five_minutes(tmp_path: Path) -> None:
    signer, door, clock = doors(tmp_path)
    browser = browser_of({})
    first, second = door.challenge(HOST, browser), door.challenge(HOST, browser)
    assert first != second
    clock.now_s += LASTS_S - 1
    assert taken(signer, door, first, browser) == "k.lee"
    clock.now_s += 1
    assert taken(signer, door, first, browser) == "E-WEB-016"
    assert taken(signer, door, second, browser) == "E-WEB-016"


def test_a_challenge_cannot_be_made_or_prolonged_elsewhere(tmp_path: Path) -> None:
    signer, door, _ = doors(tmp_path)
    browser = browser_of({})
    mine = door.challenge(HOST, browser)
    later = f"{mine[:32]}{int(mine[32:48], 16) + 1:016x}{mine[48:]}"
    assert taken(signer, door, later, browser) == "E-WEB-016"
    for at in range(0, len(mine), 7):
        changed = mine[:at] + ("1" if mine[at] == "0" else "0") + mine[at + 1 :]
        assert taken(signer, door, changed, browser) == "E-WEB-016"
    assert taken(signer, door, door.challenge("other.example", browser), browser) == "E-WEB-016"
    assert taken(signer, door, mine, browser) == "k.lee"


def test_a_flood_of_challenges_ends_nobodys_sign_in(tmp_path: Path) -> None:
    signer, door, _ = doors(tmp_path)
    browser = browser_of({})
    mine = door.challenge(HOST, browser)
    before = {name: repr(value) for name, value in vars(door).items()}
    for _ in range(20_000):
        door.challenge(HOST, "another")
    assert {name: repr(value) for name, value in vars(door).items()} == before, "nothing is kept"
    assert taken(signer, door, mine, browser) == "k.lee"


def test_used_tickets_are_few_and_none_is_forgotten_before_it_expires(tmp_path: Path) -> None:
    signer, door, clock = doors(tmp_path)
    browser = browser_of({})
    first = door.challenge(HOST, browser)
    assert taken(signer, door, first, browser) == "k.lee"
    until_ms = door._now_ms() + LASTS_S * 1_000
    door._used.update({number.to_bytes(16, "big"): until_ms for number in range(1, MOST_USED)})
    clock.now_s += 1
    late = door.challenge(HOST, browser)
    assert taken(signer, door, late, browser) == "E-WEB-011"
    assert taken(signer, door, first, browser) == "E-WEB-016"
    clock.now_s += LASTS_S - 1
    fresh = door.challenge(HOST, browser)
    assert taken(signer, door, fresh, browser) == "k.lee"
    assert len(door._used) < 3, "those that have expired are forgotten"


def test_a_browser_keeps_its_secret_and_a_strange_one_is_replaced() -> None:
    made = browser_of({})
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", made)
    assert browser_of({"__Host-underfelt-asks": made}) == made
    assert browser_of({"__Host-underfelt-asks": "short"}) != "short"


def checked(folder: Path, text: str, *more: str) -> subprocess.CompletedProcess[str]:
    path = folder / "web.toml"
    path.write_text(text, "utf-8")
    command = [sys.executable, "-P", "-m", "controller.cli", "web", "--config", str(path), *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


FLOOR = '[link]\ncontrol = "l"\n[tickets]\nkey = "k"\n'
TABLE = '[tickets]\nfloor = "https://floor.example"\ntrust = "t"\n'


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ('[tickets]\nfloor = "https://floor.example"\n', "E-WEB-053", "tickets.trust"),
        ('[tickets]\ntrust = "t"\n', "E-WEB-053", "tickets.floor"),
        (FLOOR.replace("[tickets]\n", '[tickets]\nfloor = "https://a.b"\ntrust = "t"\n'),
         "E-WEB-054", "tickets.key"),
        ('[tickets]\nkey = "k"\n', "E-WEB-054", "tickets.key"),
        (f"[web]\nlogin = false\n{FLOOR}", "E-WEB-054", "tickets.key"),
        (f'[link]\ncontrol = "l"\n{TABLE}', "E-WEB-054", "tickets.floor"),
        (f"[web]\nlogin = false\n{TABLE}", "E-WEB-054", "tickets.floor"),
        (TABLE.replace("https", "http"), "E-WEB-054", "tickets.floor"),
        (TABLE.replace(".example", ".example/a"), "E-WEB-052", "tickets.floor"),
        (TABLE.replace("https", "ftp"), "E-WEB-052", "tickets.floor"),
        (f"{TABLE}clock = 1\n", "E-WEB-051", "tickets.clock"),
        (f'[web]\nlisten = "192.0.2.1:443"\nhosts = ["a.b"]\n{TABLE}', "E-WEB-054", "web.listen"),
    ],
)  # fmt: skip
def test_what_cannot_be_safe_is_refused(tmp_path: Path, text: str, code: str, where: str) -> None:
    done = checked(tmp_path, text, "--check")
    assert done.returncode == os.EX_CONFIG
    assert code in done.stderr
    assert where in done.stderr


@pytest.mark.parametrize(
    "text", [FLOOR, TABLE, TABLE.replace("https://floor.example", "http://[::1]:1/")]
)
def test_what_is_safe_is_taken(tmp_path: Path, text: str) -> None:
    assert checked(tmp_path, text, "--check").returncode == 0


def test_a_key_that_others_may_read_or_that_is_another_is_refused(tmp_path: Path) -> None:
    key_files(tmp_path)
    config = floor_text(0, "https://a.b").replace("ticket.key", "ticket.pub")
    (tmp_path / "ticket.pub").chmod(0o400)
    wrong = checked(tmp_path, config)
    assert (wrong.returncode, "E-KEY-104" in wrong.stderr) == (os.EX_CONFIG, True)
    (tmp_path / "ticket.key").chmod(0o440)
    open_to_all = checked(tmp_path, floor_text(0, "https://a.b"))
    assert (open_to_all.returncode, "E-KEY-102" in open_to_all.stderr) == (os.EX_NOPERM, True)
    missing = checked(tmp_path, table_text(0, "https://a.b").replace("ticket.pub", "none.pub"))
    assert (missing.returncode, "E-KEY-101" in missing.stderr) == (os.EX_NOINPUT, True)


def test_the_pair_of_keys_is_private_and_shows_one_fingerprint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key_files(tmp_path)
    made = capsys.readouterr().out
    assert (tmp_path / "ticket.key").stat().st_mode & 0o777 == 0o400
    assert keys.run(["show", str(tmp_path / "ticket.pub")]) == 0
    mark = capsys.readouterr().out.rpartition(" ")[2]
    assert mark in made
    again = ["ticket", "--secret", str(tmp_path / "ticket.key"), "--public", str(tmp_path / "b")]
    assert keys.run(again) == os.EX_CANTCREAT
    assert not (tmp_path / "b").exists()
