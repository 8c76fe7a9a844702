"""Accounts at a real server: who changes them, who must wait, and what is recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from link.server.clock import SystemClock
from link.server.staff_chain import StaffChain
from link.store import open_store
from tests.link.people import PASSWORD, made, request
from tests.link.server.house import House, Live

M_NG = ("m.ng", PASSWORD)
K_LEE = ("k.lee", PASSWORD)
A_KIM = ("a.kim", PASSWORD)
NOTE = {"what": "note", "topic": "shift", "text": "all well"}
WRONG = "wrong wrong wrong"


class Moved(SystemClock):
    """The clocks of this machine, and so much later."""

    def __init__(self) -> None:
        self.later_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.later_ms

    def mono_ms(self) -> int:
        return super().mono_ms() + self.later_ms


@pytest.fixture
def clock() -> Moved:
    return Moved()


@pytest.fixture
def live(house: House, tmp_path: Path, clock: Moved) -> Iterator[Live]:
    made = house.start(
        beat_ms=60_000, control=tmp_path / "run" / "control.sock", clock=clock, lease_ms=10**9
    )
    yield made
    made.stop()


def order(live: Live, what: dict[str, Any], *by: tuple[str, str], source: int = 1) -> Any:
    """As the control socket hears it from a user of the machine."""
    assert live.control is not None
    asked = {"verb": "order", "by": [list(pair) for pair in by], "order": what}
    return live.control.answer(json.dumps(asked).encode(), source)


def code_of(live: Live, what: dict[str, Any], *by: tuple[str, str], source: int = 1) -> str:
    return str(order(live, what, *by, source=source).get("error", "ok"))


def row(live: Live, name: str) -> dict[str, Any]:
    found = {account["name"]: account for account in live.ask("accounts")["accounts"]}
    return dict(found[name])


# --- wrong passwords ------------------------------------------------------------------------------


def test_wrong_passwords_slow_an_attacker_down_and_shut_nobody_out(
    live: Live, clock: Moved
) -> None:
    """Fifteen wrong passwords locked every account for ever once."""
    tried = refused = 0
    for _ in range(40):
        for name in ("m.ng", "k.lee", "a.kim"):
            code = code_of(live, NOTE, (name, WRONG), source=666)
            tried += code == "E-ACT-001"
            refused += code == "E-ACT-010"
        clock.later_ms += 1_000
    assert tried < 10 < refused  # in forty seconds, for all three together
    clock.later_ms += 30_000
    for person in (M_NG, K_LEE, A_KIM):
        assert code_of(live, NOTE, person, source=1) == "ok"
    alarms = [alarm["text"] for alarm in live.alarms() if alarm["code"] == "E-ACT-002"]
    assert any(text.startswith("user 666 of this machine: 5 wrong") for text in alarms)


def test_an_alarm_about_one_account_hides_none_about_another(live: Live) -> None:
    """Also within the same second."""
    for name in ("k.lee", "m.ng"):
        for source in range(20, 25):
            wrong = {"name": name, "source": source + (5 if name == "m.ng" else 0)}
            assert live.ask("failed", **wrong) == {}
    board = live.server.teller.board
    live.until(lambda: len([one for one in board.shown() if one.code == "E-ACT-002"]) == 2)
    assert {one.about for one in board.shown() if one.code == "E-ACT-002"} == {
        "account k.lee",
        "account m.ng",
    }


def test_an_alarm_that_waits_for_its_second_keeps_its_table(live: Live) -> None:
    """What one table does within the second of another is about that other table."""
    floor = live.server.floor
    assert floor is not None
    for table in ("table-1", "table-2", "table-2"):
        floor.alarm("E-LNK-012", table, f"planted at {table}")
    live.until(lambda: len([a for a in live.alarms() if a["code"] == "E-LNK-012"]) == 3)
    found = [(a["table"], a["text"][:18]) for a in live.alarms() if a["code"] == "E-LNK-012"]
    assert found == [(name, f"planted at {name}") for name in ("table-1", "table-2", "table-2")]


def test_no_password_is_tried_while_an_account_waits(live: Live) -> None:
    """Not even the right one: the attacker must not learn that it is."""
    for source in range(10, 17):
        code_of(live, NOTE, ("k.lee", WRONG), source=source)
    assert row(live, "k.lee")["failures"] == 3
    said = order(live, NOTE, K_LEE)
    assert said["error"] == "E-ACT-010"
    assert "try again in" in said["text"]
    assert row(live, "k.lee")["failures"] == 3


def test_two_others_unlock_an_account(live: Live) -> None:
    for source in (10, 11, 12):
        code_of(live, NOTE, ("k.lee", WRONG), source=source)
    unlock = {"what": "unlock account", "name": "k.lee"}
    assert code_of(live, NOTE, K_LEE) == "E-ACT-010"
    assert code_of(live, unlock, M_NG) == "E-ACT-008"
    assert code_of(live, unlock, M_NG, A_KIM) == "ok"
    assert code_of(live, NOTE, K_LEE) == "ok"


def test_wrong_passwords_are_counted_across_a_restart(
    live: Live, house: House, tmp_path: Path, clock: Moved
) -> None:
    for source in (10, 11):
        code_of(live, NOTE, ("k.lee", WRONG), source=source)
    live.stop()
    again = house.start(control=tmp_path / "again.sock", clock=clock)
    code_of(again, NOTE, ("k.lee", WRONG), source=12)
    assert code_of(again, NOTE, K_LEE) == "E-ACT-010"
    again.stop()


def test_an_unknown_name_is_answered_like_a_wrong_password(live: Live) -> None:
    wrong = order(live, NOTE, ("k.lee", WRONG))
    assert order(live, NOTE, ("nobody", WRONG)) == wrong


# --- changes --------------------------------------------------------------------------------------

NEW = "river of cards"
CHANGES: list[dict[str, Any]] = [
    request("add account", "j.doe", NEW, role="auditor"),
    request("reset account", "k.lee", NEW),
    {"what": "set role", "name": "k.lee", "role": "manager"},
    {"what": "disable account", "name": "k.lee"},
    {"what": "enable account", "name": "k.lee"},
    {"what": "unlock account", "name": "k.lee"},
]


@pytest.mark.parametrize("what", CHANGES, ids=lambda what: what["what"])
def test_two_people_with_different_roles_change_accounts(live: Live, what: dict[str, Any]) -> None:
    before = live.ask("accounts")
    for alone in (M_NG, K_LEE, A_KIM):
        assert code_of(live, what, alone) in ("E-ACT-008", "E-ACT-009")
    assert code_of(live, what, M_NG, M_NG) == "E-ACT-008"
    if what["name"] == "k.lee":
        assert code_of(live, what, M_NG, K_LEE) == "E-ACT-008"  # nobody decides about himself
    assert live.ask("accounts") == before
    assert code_of(live, what, M_NG, A_KIM) == "ok"


def test_the_owner_of_an_account_alone_knows_its_password(live: Live) -> None:
    """Those who reset or enable it learn nothing: the request has the public key alone."""
    asked = request("reset account", "k.lee", NEW)
    assert NEW not in json.dumps(asked)
    assert code_of(live, asked, M_NG, A_KIM) == "ok"
    assert code_of(live, NOTE, K_LEE) == "E-ACT-001"
    assert code_of(live, NOTE, ("k.lee", NEW)) == "ok"
    assert code_of(live, {"what": "disable account", "name": "k.lee"}, M_NG, A_KIM) == "ok"
    assert code_of(live, NOTE, ("k.lee", NEW)) == "E-ACT-001"
    assert code_of(live, {"what": "enable account", "name": "k.lee"}, M_NG, A_KIM) == "ok"
    assert code_of(live, NOTE, ("k.lee", NEW)) == "ok"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"proof": "00" * 64}, "E-ACT-003"),
        ({"name": "j.roe"}, "E-ACT-003"),
        ({"key": made(PASSWORD)[0].key}, "E-ACT-003"),
        ({"salt": ""}, "E-ACT-007"),
        ({"salt": "zz"}, "E-ACT-007"),
        ({"key": "x"}, "E-ACT-007"),
        ({"password": "river of cards"}, "E-ACT-007"),
        ({"role": "king"}, "E-ACT-004"),
    ],
)
def test_a_request_that_its_owner_did_not_make_is_refused(
    live: Live, change: dict[str, str], code: str
) -> None:
    new = request("add account", "j.doe", NEW, role="auditor") | change
    assert code_of(live, new, M_NG, K_LEE) == code


def test_a_password_is_changed_by_its_owner_alone(live: Live) -> None:
    new = request("set password", "k.lee", NEW)
    assert code_of(live, new, M_NG) == "E-ACT-009"
    assert code_of(live, new, M_NG, A_KIM) == "E-ACT-009"
    assert code_of(live, new, K_LEE) == "ok"
    assert code_of(live, NOTE, K_LEE) == "E-ACT-001"
    assert code_of(live, NOTE, ("k.lee", NEW)) == "ok"


def test_nobody_can_shut_out_everybody_else(live: Live) -> None:
    """A manager and one with another role are always left."""
    assert code_of(live, {"what": "disable account", "name": "a.kim"}, M_NG, K_LEE) == "ok"
    new = request("add account", "j.doe", NEW, role="supervisor")
    assert code_of(live, new, M_NG, K_LEE) == "ok"
    role = {"what": "set role", "name": "m.ng", "role": "auditor"}
    assert code_of(live, role, K_LEE, ("j.doe", NEW)) in ("E-ACT-008", "E-ACT-009")


# --- the record -----------------------------------------------------------------------------------


def test_no_password_and_no_salt_is_written_or_logged(
    live: Live, house: House, tmp_path: Path
) -> None:
    new = request("add account", "j.doe", NEW, role="auditor")
    order(live, new, M_NG, K_LEE)
    order(live, new, ("k.lee", "a wrong guess of mine"))
    live.stop()
    said = live.log.getvalue().encode()
    said += b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for secret in (NEW.encode(), b"a wrong guess of mine", PASSWORD.encode()):
        assert secret not in said
    store = house.store()
    bodies = b"".join(row.body for row in store.events(table=""))
    store.close()
    assert b"j.doe" in bodies
    assert b"salt" not in bodies


def test_every_order_of_people_is_in_the_chain_with_its_proof(live: Live, house: House) -> None:
    assert code_of(live, NOTE, K_LEE) == "ok"
    assert code_of(live, CHANGES[0], M_NG, A_KIM) == "ok"
    assert code_of(live, NOTE, ("j.doe", NEW)) == "ok"
    live.stop()
    store = open_store(house.where)
    register = StaffChain().read(store.staff()).compare(store.load().accounts)
    register.search(store.events(table=""), store.steps())
    assert register.findings == []
    assert (register.number, register.members["j.doe"].role) == (5, "auditor")
    store.check()
    store.close()


def test_accounts_made_at_the_machine_are_an_alarm_until_two_people_acknowledge(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, ("table-1",), acknowledged=False)
    live = house.start(control=tmp_path / "c.sock")
    try:
        (standing,) = live.ask("status")["standing"]
        assert "E-ACT-011" in standing
        number = live.ask("accounts")["unacknowledged"]
        known = {"what": "acknowledge accounts", "number": number}
        assert code_of(live, known, M_NG) == "E-ACT-008"
        assert code_of(live, {**known, "number": 9}, M_NG, K_LEE) == "E-ACT-007"
        assert live.ask("status")["standing"] == [standing]
        assert code_of(live, known, M_NG, K_LEE) == "ok"
        assert live.ask("status")["standing"] == []
        assert code_of(live, {**known, "number": 0}, M_NG, K_LEE) == "E-ACT-007"  # none waits
    finally:
        house.close()
    again = house.start()
    assert again.ask("status")["standing"] == []
    again.stop()
