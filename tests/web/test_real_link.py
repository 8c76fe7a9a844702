"""Refusals in front of a real link server with a real store: each has its code, and nothing that
counts has changed in the store.

``test_security.py`` proves that a request reaches no source; here the source is the real one.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import pytest

from link.server.staff_orders import read_order
from tests.link.people import PASSWORD, request
from tests.link.server.house import House, Live, house_of
from tests.link.stranger import Stranger
from tests.web.browser import Reply, Web, until

CONFIG: Final = """
[web]
listen = "127.0.0.1:0"
[link]
control = "control.sock"
"""
ORDERS: Final = "/api/v1/orders"
LEE, DAY, NG, KIM = ((name, PASSWORD) for name in ("k.lee", "p.day", "m.ng", "a.kim"))
MORE: Final = {"p.day": "supervisor", "a.kim": "engineer"}
"""Beside the first accounts, k.lee (supervisor) and m.ng (manager)."""
TOLD: Final = {
    "leader": (),  # its lease is renewed while nothing happens
    "accounts": ("name", "role", "by_whom"),  # without what counts wrong passwords
}
"""What is compared of tables that are not compared whole."""
Dump = dict[str, Counter[Any]]


@dataclass
class Floor:
    house: House
    live: Live
    web: Web
    table: Stranger
    cookie: dict[str, str] = field(default_factory=dict)
    _rounds: int = 0

    def lock(self) -> str:
        """A royal flush; the name of its award."""
        self._rounds += 1
        self.table.wager(self._rounds, 500)
        claims = [[1, "royal flush", 100]]
        self.table.write({"what": "claimed", "round": self._rounds, "claims": claims})
        self.table.deliver()
        mine = self._rounds
        locked = self.table.until(lambda m: m["t"] == "locked" and m["round"] == mine)
        return str(locked["awards"][0][1])

    def order(self, what: str, award: str, *by: tuple[str, str], **more: Any) -> Reply:
        order = {"what": what, "award": award, **more}
        body = {"by": [list(person) for person in by], "order": order}
        return self.web.post(ORDERS, body, self.cookie)

    def done(self, what: str, award: str, *by: tuple[str, str]) -> None:
        reply = self.order(what, award, *by)
        assert reply.status == HTTPStatus.OK, reply

    def dump(self) -> Dump:
        """Every row of the store, of all tables there are: from a backup, as the server keeps
        others out of its file."""
        copy = self.house.folder / "copy"
        self.live.ask("backup", path=str(copy))
        with closing(sqlite3.connect(copy)) as store:
            names = store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            tables = {name: ", ".join(TOLD.get(name, ("*",))) for (name,) in names}
            found = {
                name: Counter(store.execute(f"SELECT {columns} FROM {name}"))
                for name, columns in tables.items()
                if columns
            }
        for made in self.house.folder.glob("copy*"):
            made.unlink()
        return found

    def state(self, award: str) -> str:
        rows = self.dump()["awards"]
        return next(str(row[12]) for row in rows if row[0] == award)

    def refused(self, code: str, send: Callable[..., Reply], *given: Any, **more: Any) -> None:
        """It is, with this code, and the store is the same as before."""
        before = self.dump()
        reply = send(*given, **more)
        assert reply.code == code, reply
        assert self.dump() == before


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floor]:
    folder: Path = tmp_path_factory.mktemp("real")
    with house_of(folder, "table-1") as house:
        live = house.start(beat_ms=60_000, control=folder / "control.sock")
        for name, role in MORE.items():
            new = request("add account", name, PASSWORD, role=role)
            live.order(read_order(new), "k.lee", "m.ng")
        table = house.stranger("table-1", live)
        table.join()
        config = folder / "web.toml"
        config.write_text(CONFIG)
        web = Web(config)
        until(lambda: web.get("/readyz").status == HTTPStatus.OK)
        try:
            yield Floor(house, live, web, table, web.signed_in(*NG))
        finally:
            web.stop()


@pytest.fixture
def award(floor: Floor) -> str:
    return floor.lock()


def test_what_is_compared_changes_with_every_order(floor: Floor, award: str) -> None:
    """Else the comparisons below would prove nothing."""
    assert floor.dump().keys() >= {"events", "entries", "balances", "levels", "awards", "steps"}
    for what, person in (("verify", LEE), ("approve", LEE), ("approve", NG), ("pay", NG)):
        before = floor.dump()
        floor.done(what, award, person)
        changed = {name for name, rows in floor.dump().items() if rows != before[name]}
        assert changed >= {"events", "staff", "steps"}, what
    assert floor.state(award) == "paid"


# --- before the link server is asked --------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Origin": "https://evil.example"}, "E-WEB-005"),
        ({"Origin": "null"}, "E-WEB-005"),
        ({"Sec-Fetch-Site": "cross-site"}, "E-WEB-005"),
        ({"Sec-Fetch-Site": "same-site"}, "E-WEB-005"),
        ({"Host": "evil.example"}, "E-WEB-004"),
        ({"Content-Type": "text/plain"}, "E-WEB-006"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, "E-WEB-006"),
    ],
)
def test_right_passwords_from_another_site_change_nothing(
    floor: Floor, award: str, headers: dict[str, str], code: str
) -> None:
    order = {"by": [LEE], "order": {"what": "verify", "award": award}}
    alarm = {"by": [LEE], "why": "reader replaced"}
    login = {"name": LEE[0], "password": LEE[1]}
    for path, body in (
        (ORDERS, order),
        ("/api/v1/alarms/1/acknowledge", alarm),
        ("/api/v1/session", login),
    ):
        floor.refused(code, floor.web.post, path, body, {**floor.cookie, **headers})


def test_a_stolen_cookie_orders_nothing(floor: Floor, award: str) -> None:
    """It opens what is shown, no more; and without it right passwords order nothing either."""
    web, order = floor.web, {"what": "verify", "award": award}
    assert web.get("/api/v1/awards", floor.cookie).status == HTTPStatus.OK
    bare: Sequence[dict[str, Any]] = (
        {"order": order},
        {"by": [], "order": order},
        {"by": [["m.ng"]], "order": order},
    )
    for body in bare:
        floor.refused("E-WEB-003", web.post, ORDERS, body, floor.cookie)
    alarm = "/api/v1/alarms/1/acknowledge"
    floor.refused("E-WEB-003", web.post, alarm, {"why": "x"}, floor.cookie)
    for path, body in ((ORDERS, {"by": [LEE], "order": order}), (alarm, {"by": [LEE], "why": "x"})):
        floor.refused("E-WEB-010", web.post, path, body)


@pytest.mark.parametrize("what", ["disable account", "revoke key", "retire journal", "transfer"])
def test_orders_for_the_machine_are_not_given_here(floor: Floor, what: str) -> None:
    floor.refused("E-WEB-013", floor.order, what, "k.lee", LEE, NG)


# --- by the link server ---------------------------------------------------------------------------


def test_a_wrong_password_changes_nothing(floor: Floor, award: str) -> None:
    floor.refused("E-ACT-001", floor.order, "verify", award, ("k.lee", "guessed it"))
    floor.refused("E-ACT-001", floor.order, "verify", award, ("nobody", PASSWORD))
    floor.done("verify", award, LEE)


def test_one_right_password_of_two_changes_nothing(floor: Floor, award: str) -> None:
    wrong = ("k.lee", "guessed it")
    floor.refused("E-ACT-001", floor.order, "reject", award, NG, wrong, why="misread")
    floor.done("verify", award, LEE)


def test_a_role_that_may_not_changes_nothing(floor: Floor, award: str) -> None:
    floor.refused("E-ACT-009", floor.order, "verify", award, KIM)
    floor.done("verify", award, LEE)
    floor.refused("E-ACT-009", floor.order, "approve", award, KIM)
    floor.refused("E-ACT-009", floor.order, "pay", award, KIM)


@pytest.mark.parametrize(
    ("by", "code"),
    [((LEE,), "E-POOL-023"), ((LEE, LEE), "E-ACT-008"), ((LEE, DAY), "E-POOL-023")],
    ids=["one person", "the same person", "the same role"],
)
def test_two_people_with_different_roles_reject(
    floor: Floor, award: str, by: tuple[tuple[str, str], ...], code: str
) -> None:
    floor.refused(code, floor.order, "reject", award, *by, why="misread")
    assert floor.order("reject", award, LEE, NG, why="misread").status == HTTPStatus.OK


@pytest.mark.parametrize("second", [LEE, DAY], ids=["the same person", "the same role"])
def test_the_second_approval_is_of_another_person_with_another_role(
    floor: Floor, award: str, second: tuple[str, str]
) -> None:
    floor.done("verify", award, LEE)
    floor.done("approve", award, LEE)
    floor.refused("E-POOL-024", floor.order, "approve", award, second)
    floor.done("approve", award, NG)


def test_no_step_is_left_out(floor: Floor, award: str) -> None:
    floor.refused("E-POOL-022", floor.order, "approve", award, LEE)
    floor.refused("E-POOL-022", floor.order, "pay", award, NG)
    floor.done("verify", award, LEE)
    floor.refused("E-POOL-022", floor.order, "pay", award, NG)
    floor.done("approve", award, LEE)
    floor.refused("E-POOL-022", floor.order, "pay", award, NG)


def test_an_order_that_is_sent_again_changes_nothing(floor: Floor, award: str) -> None:
    """The same bytes, as a browser repeats them or somebody replays them."""
    for what, person, code in (
        ("verify", LEE, "E-POOL-022"),
        ("approve", LEE, "E-POOL-024"),
        ("approve", NG, "E-POOL-022"),
        ("pay", NG, "E-POOL-022"),
    ):
        floor.done(what, award, person)
        floor.refused(code, floor.order, what, award, person)
    assert floor.state(award) == "paid"


def test_orders_sent_at_the_same_time_count_once(floor: Floor, award: str) -> None:
    floor.done("verify", award, LEE)
    floor.done("approve", award, LEE)
    with ThreadPoolExecutor(3) as several:
        for what, step in (("approve", "approved"), ("pay", "paid")):
            sent = [several.submit(floor.order, what, award, NG) for _ in range(3)]
            done = [one.result().status == HTTPStatus.OK for one in sent]
            assert sum(done) == 1
            steps = [row for row in floor.dump()["steps"] if row[0] == award]
            assert sum(row[2] == step for row in steps) == 1
    paid = [row for row in floor.dump()["entries"] if row[7] == "paid" and row[10] == award]
    assert len(paid) == 1
