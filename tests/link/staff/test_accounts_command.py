"""``underfelt accounts``, ``link init`` and a store from before keys, as people meet them."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from hashlib import scrypt
from pathlib import Path
from typing import Any

import pytest

from link.commands import accounts as command
from link.commands import io as asking
from link.commands import link as link_command
from link.commands import report
from link.ledger.ledger import Ledger
from link.ledger.orders import SERVER
from link.rows import AccountRow
from link.server.staff_chain import StaffChain
from link.store import open_store
from record.kit.lines import ask
from tests.link.people import PASSWORD
from tests.link.server.house import House, Live

NEW = "river of cards"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*argv: str, words: tuple[str, ...] = (), main: Any = command) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{word}\n" for word in words)))
        code = main.run([*argv, *(["--passwords-stdin"] if words else [])])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path, ("table-1",), acknowledged=False)
    yield made
    made.close()


@pytest.fixture
def live(house: House, tmp_path: Path) -> Live:
    return house.start(control=tmp_path / "c.sock")


def place(live: Live) -> tuple[str, str]:
    assert live.control is not None
    return "--socket", str(live.control.path)


TWO = ("--by", "m.ng", "--by", "a.kim")
BOTH = (PASSWORD, PASSWORD)


def test_the_owner_asks_and_two_others_put_it_into_force(
    run: Run, live: Live, tmp_path: Path
) -> None:
    file = str(tmp_path / "j.doe.request")
    code, out, _ = run("request", "j.doe", "--out", file, words=(NEW,))
    mark = out.split("fingerprint ")[1][:19]
    assert code == 0
    assert NEW not in Path(file).read_text("utf-8")
    assert run("request", "j.doe", "--out", file, words=(NEW,))[0] == 73
    add = ("add", "j.doe", file, "--role", "auditor", *TWO, *place(live))
    code, _, err = run(*add, "--fingerprint", "0000-0000-0000-0000", words=BOTH)
    assert (code, f"fingerprint {mark}, not 0000" in err) == (65, True)
    assert run(*add, "--fingerprint", mark, words=BOTH)[:2] == (0, "j.doe: auditor\n")
    assert run("passwd", "j.doe", *place(live), words=(NEW, "cards of a river"))[0] == 0
    for verb in ("disable", "enable", "unlock"):
        assert run(verb, "j.doe", *TWO, *place(live), words=BOTH)[0] == 0
    assert run("role", "j.doe", "--role", "engineer", *TWO, *place(live), words=BOTH)[0] == 0
    again = str(tmp_path / "again.request")
    mark = run("request", "j.doe", "--out", again, words=(NEW,))[1].split("fingerprint ")[1][:19]
    reset = ("reset", "j.doe", again, "--fingerprint", mark, *TWO, *place(live))
    assert run(*reset, words=BOTH)[0] == 0
    out = run("list", *place(live))[1]
    assert [line.split()[:3] for line in out.splitlines() if "j.doe" in line] == [
        ["j.doe", "engineer", "active"]
    ]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"account": 5}', '{"key": "zz"}', "[" * 9_000])
def test_a_file_that_is_no_request_is_refused(
    run: Run, live: Live, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "x.request"
    file.write_text(text)
    code, _, err = run("reset", "k.lee", str(file), "--fingerprint", "x", *TWO, *place(live))
    assert (code, "E-ACT-003" in err) == (65, True)


def test_a_weak_password_is_refused_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.request"
    code, _, err = run("request", "k.lee", "--out", str(file), words=("short",))
    assert (code, "new password of k.lee: expected at least 10" in err) == (65, True)
    assert not file.exists()


def test_every_prompt_says_whose_password_it_wants(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a new one is asked for twice, of its owner."""
    asked: list[str] = []

    def typed(prompt: str) -> str:
        asked.append(prompt)
        return NEW if "new" in prompt or "more" in prompt else PASSWORD

    monkeypatch.setattr(asking, "_typed", typed)
    file = str(tmp_path / "j.doe.request")
    assert command.run(["request", "j.doe", "--out", file]) == 0
    assert asked == ["new password of j.doe, typed by j.doe: ", "once more: "]
    asked.clear()
    command.run(["unlock", "k.lee", *TWO, *place(live)])
    assert asked == ["password of m.ng: ", "password of a.kim: "]
    asked.clear()
    command.run(["passwd", "k.lee", *place(live)])
    assert asked == [
        *("password of k.lee: ", "new password of k.lee, typed by k.lee: ", "once more: ")
    ]


def test_accounts_made_at_the_machine_cannot_be_overlooked(
    run: Run, live: Live, house: House, tmp_path: Path
) -> None:
    """Status, every report and the alarms say so until two people have acknowledged it."""
    code, out, _ = run("status", *place(live), main=link_command)
    assert "ALARM: accounts were made without proof" in out
    code, out, _ = run("pool", *place(live), main=report)
    assert (code, "accounts were made without proof" in out) == (0, True)
    acknowledge = ("acknowledge", "--by", "m.ng", "--by", "k.lee", *place(live))
    assert run(*acknowledge, words=BOTH)[:2] == (0, "staff order 1: acknowledged\n")
    assert run(*acknowledge, words=BOTH)[0] == 65
    assert "ALARM" not in run("status", *place(live), main=link_command)[1]
    assert "without proof" not in run("pool", *place(live), main=report)[1]
    live.stop()
    config = tmp_path / "link.toml"
    config.write_text(
        f'[server]\nname = "x"\nstore = "sqlite:{house.where}"\ncontrol = "c.sock"\n'
        '[[door]]\ntables = "tcp://127.0.0.1:1"\nsigns = ""\nsecret_key = "link.key"\n'
    )
    recover = ("recover", "--why", "all phones lost", "--config", str(config))
    one = ("--account", "m.ng=manager")
    assert run(*recover, *one, words=(NEW,))[0] == 64
    code, _, err = run(*recover, *one, "--account", "k.lee=supervisor", words=(NEW, NEW))
    assert code == 0, err
    assert run("check", "--config", str(config), main=link_command)[0] == 0
    again = house.start(control=tmp_path / "c.sock")
    (standing,) = again.ask("status")["standing"]
    assert "all phones lost; at the machine, user" in standing
    order = {"what": "acknowledge accounts", "number": again.ask("accounts")["unacknowledged"]}
    by = [["m.ng", NEW], ["k.lee", NEW]]
    assert ask(tmp_path / "c.sock", {"verb": "order", "by": by, "order": order})["ok"]
    codes = [alarm["code"] for alarm in again.ask("alarms")["alarms"]]
    assert codes.count("E-ACT-011") == 2  # for good


# --- a store from before keys ---------------------------------------------------------------------


def old_account(name: str, role: str) -> AccountRow:
    digest = scrypt(PASSWORD.encode(), salt=b"s" * 16, n=2, r=1, p=1, dklen=32).hex()
    return AccountRow(name, role, f"scrypt$2$1$1${(b's' * 16).hex()}${digest}", 5, 1, "init", 1)


def old_store(where: Path) -> None:
    store = open_store(str(where), create=True)
    store.migrate(at_ms=1)
    epoch = store.lead("old", 1_000)
    assert epoch is not None
    ledger = Ledger((), store.load())
    ledger.note("add account", "m.ng, manager", (SERVER,), 1)
    group = ledger.group(epoch)
    for name, role in (("m.ng", "manager"), ("k.lee", "engineer")):
        group.accounts[name] = old_account(name, role)
    store.commit(group)
    store.resign(epoch)
    store.close()


def test_people_without_keys_restore_their_own_backup(run: Run, tmp_path: Path) -> None:
    where = tmp_path / "link.db"
    old_store(where)
    (tmp_path / "other").mkdir()
    house = House(tmp_path / "other", ("table-1",))
    house.where = str(where)
    house.start().stop()  # the upgrade
    config = tmp_path / "link.toml"
    config.write_text(
        f'[server]\nname = "x"\nstore = "sqlite:{where}"\ncontrol = "c.sock"\n'
        '[[door]]\ntables = "tcp://127.0.0.1:1"\nsigns = ""\nsecret_key = "link.key"\n'
    )
    copy, place = str(tmp_path / "copy"), ("--config", str(config))
    assert run("backup", copy, *place, main=link_command)[0] == 0
    where.rename(tmp_path / "lost.db")
    restore = ("restore", copy, "--why", "disk", "--by", "m.ng", "--by", "k.lee", *place)
    assert run(*restore, words=(PASSWORD, "a wrong one"), main=link_command)[0] == 77
    code, _, err = run(*restore, words=BOTH, main=link_command)
    assert code == 0, err
    assert run("check", *place, main=link_command)[0] == 0


def test_an_old_store_goes_on_with_its_passwords_and_gets_keys(tmp_path: Path) -> None:
    """Also accounts that five wrong passwords had locked for ever."""
    where = tmp_path / "link.db"
    old_store(where)
    (tmp_path / "other").mkdir()
    house = House(tmp_path / "other", ("table-1",))
    house.where = str(where)
    live = house.start(control=tmp_path / "c.sock")
    try:
        assert "upgrade" in live.ask("status")["standing"][0]
        assert [row["key"] for row in live.ask("accounts")["accounts"]] == ["", ""]
        order = {"what": "acknowledge accounts", "number": 1}
        by = [["m.ng", PASSWORD], ["k.lee", PASSWORD]]
        request = {"verb": "order", "by": by, "order": order}
        wrong = {**request, "by": [["m.ng", PASSWORD], ["k.lee", "a wrong one"]]}
        assert ask(tmp_path / "c.sock", request) == {"ok": True, "by": ["m.ng", "k.lee"]}
        assert ask(tmp_path / "c.sock", wrong)["error"] == "E-ACT-001"
        assert all(row["key"] for row in live.ask("accounts")["accounts"])
    finally:
        live.stop()
    store = open_store(str(where))
    register = StaffChain().read(store.staff()).compare(store.load().accounts)
    register.search(store.events(table=""), store.steps())
    store.check()
    store.close()
    assert register.findings == []
    whats = [json.loads(row.body)["order"]["what"] for row in _staff(where)]
    assert whats == ["found", "office", "office", "office"]


def _staff(where: Path) -> list[Any]:
    store = open_store(str(where))
    rows = list(store.staff())
    store.close()
    return rows
