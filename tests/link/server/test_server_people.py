"""What the control socket judges for the web: passwords, where they come from, acknowledgements."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from link import accounts
from link.ledger.orders import Note, Resume
from link.server import control as control_module
from link.server import feed_words
from link.server.doors import HITS_TOPIC, TOPIC
from record.kit.lines import ask
from tests.link.people import PASSWORD
from tests.link.server.house import House, Live
from tests.link.stranger import Stranger
from tests.patience import PATIENCE_S

BY = [["k.lee", PASSWORD]]


@pytest.fixture
def live(house: House, tmp_path: Path) -> Iterator[Live]:
    made = house.start(beat_ms=60_000, control=tmp_path / "control.sock")
    yield made
    made.stop()


def asked(live: Live, verb: str, **given: Any) -> dict[str, Any]:
    assert live.control is not None
    return ask(live.control.path, {"verb": verb, **given}, 60)


def password(live: Live, name: str, word: str, **given: Any) -> dict[str, Any]:
    return asked(live, "password", name=name, password=word, **given)


# --- passwords ------------------------------------------------------------------------------------


def test_a_password_is_only_checked(live: Live) -> None:
    last = live.ask("rows", kind="mark")["last_event"]
    fits = password(live, "k.lee", PASSWORD)
    assert fits == {"ok": True, "name": "k.lee", "role": "supervisor", "change": 1}
    assert password(live, "k.lee", "wrong")["error"] == "E-ACT-001"
    assert password(live, "nobody", PASSWORD)["error"] == "E-ACT-001"
    assert live.ask("rows", kind="mark")["last_event"] == last


def test_wrong_passwords_count_for_the_account_and_for_the_address(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The longest delays at once: a slow machine must not wait the first ones out.
    monkeypatch.setattr(accounts, "delay_ms", lambda wrong, longest: longest * (wrong >= 3))
    for _ in range(3):
        assert password(live, "k.lee", "wrong", source="192.0.2.7")["error"] == "E-ACT-001"
    # The address waits, whoever it tries; another address does not, but for this account.
    assert password(live, "m.ng", PASSWORD, source="192.0.2.7")["error"] == "E-ACT-010"
    assert password(live, "m.ng", PASSWORD, source="192.0.2.8")["ok"]
    assert password(live, "k.lee", PASSWORD, source="192.0.2.8")["error"] == "E-ACT-010"
    note = {"what": "note", "topic": "shift", "text": "x"}
    given = {"by": [["m.ng", PASSWORD]], "order": note}
    assert asked(live, "order", **given, source="192.0.2.7")["error"] == "E-ACT-010"
    assert asked(live, "order", **given, source="192.0.2.8")["ok"]
    assert asked(live, "order", **given)["ok"]


@pytest.mark.parametrize("source", [7, "", "x" * 65, "a b", "192.0.2.7\n", None, ["192.0.2.7"]])
def test_an_address_is_a_bounded_text(live: Live, source: Any) -> None:
    for verb, given in (("password", {"name": "k.lee", "password": PASSWORD}),
                        ("order", {"by": BY, "order": {"what": "note"}})):  # fmt: skip
        answer = asked(live, verb, **given, source=source)
        assert answer["error"] == "E-SVC-001"
        assert "source" in answer["text"]


def test_only_the_web_process_says_where_a_request_comes_from(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "trusted_users", lambda: {1})
    answer = password(live, "k.lee", PASSWORD, source="192.0.2.7")
    assert answer["error"] == "E-SVC-001"
    assert "only the web process" in answer["text"]
    assert password(live, "k.lee", PASSWORD)["ok"]


WEB, SOMEBODY = 4243, 4244
CLIENT = """
import os, socket, sys
path, uid, request = sys.argv[1:]
os.setgroups([])
os.setgid(int(uid))
os.setuid(int(uid))
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(path)
    connection.sendall(request.encode() + b"\\n")
    print(connection.makefile().readline())
"""


def asked_as(path: Path, uid: int, verb: str, **given: Any) -> dict[str, Any]:
    """By a process of another user, which the kernel tells the server."""
    program = [
        sys.executable,
        "-c",
        CLIENT,
        str(path),
        str(uid),
        json.dumps({"verb": verb, **given}),
    ]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture
def open_door() -> Iterator[Path]:
    """A socket that any user reaches: its group and the folders of the tests are not the matter."""
    with tempfile.TemporaryDirectory(prefix="uf-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder) / "control.sock"


@pytest.mark.usefixtures("as_root")
def test_a_process_of_the_web_user_says_where_a_request_comes_from(
    house: House, open_door: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Web:
        pw_uid = WEB

    monkeypatch.setattr(pwd, "getpwnam", {"underfelt-web": Web}.__getitem__)
    live = house.start(beat_ms=60_000, control=open_door)
    open_door.chmod(0o666)
    sign_in = {"name": "k.lee", "password": PASSWORD}
    note = {"by": BY, "order": {"what": "note", "topic": "shift", "text": "x"}}
    for verb, given in (("password", sign_in), ("order", note)):
        assert asked_as(open_door, WEB, verb, **given, source="192.0.2.7")["ok"]
        refused = asked_as(open_door, SOMEBODY, verb, **given, source="192.0.2.7")
        assert (refused["error"], "only the web process" in refused["text"]) == ("E-SVC-001", True)
        assert asked_as(open_door, SOMEBODY, verb, **given)["ok"]
    said = live.log.getvalue()
    assert f"[UID={WEB} SOURCE=192.0.2.7]" in said
    assert f"[UID={SOMEBODY} SOURCE={SOMEBODY}]" in said


@pytest.mark.parametrize(
    "given", [{}, {"name": "k.lee"}, {"name": 1, "password": "x"}, {"name": "k", "password": None},
              {"name": "k.lee", "password": "x", "more": 1}]
)  # fmt: skip
def test_a_question_about_a_password_is_read_strictly(live: Live, given: dict[str, Any]) -> None:
    assert asked(live, "password", **given)["error"] == "E-SVC-001"


# --- alarms ---------------------------------------------------------------------------------------


def open_alarms(live: Live, code: str) -> list[dict[str, Any]]:
    told = asked(live, "changes")["parts"]["alarms"][1]
    return [alarm for alarm in told if alarm["code"] == code]


def acknowledge(live: Live, alarm: int, *by: str) -> dict[str, Any]:
    order = {"what": "acknowledge alarm", "alarm": alarm, "why": "reader replaced"}
    return asked(live, "order", by=[[name, PASSWORD] for name in by], order=order)


def test_an_alarm_is_acknowledged_by_one_person_for_the_record(
    live: Live, house: House, tmp_path: Path
) -> None:
    assert live.server.floor is not None
    live.server.floor.alarm("E-LNK-042", "", "handshake refused")
    live.until(lambda: bool(open_alarms(live, "E-LNK-042")))
    number = open_alarms(live, "E-LNK-042")[0]["alarm"]
    assert acknowledge(live, number, "k.lee", "m.ng")["error"] == "E-POOL-023"
    assert acknowledge(live, number + 1, "k.lee")["error"] == "E-ACT-007"
    assert acknowledge(live, number, "k.lee")["ok"]
    assert "k.lee" in acknowledge(live, number, "m.ng")["text"]
    live.until(lambda: open_alarms(live, "E-LNK-042")[0]["acknowledged"] is not None)
    said = open_alarms(live, "E-LNK-042")[0]["acknowledged"]
    assert (said["by"], said["reason"]) == ("k.lee", "reader replaced")
    live.stop()
    # Signed and chained like every order: the next server knows it, and finds nothing forged.
    again = house.start(beat_ms=60_000, control=tmp_path / "again.sock")
    assert open_alarms(again, "E-LNK-042")[0]["acknowledged"] == said
    assert not again.server.office.chain.findings


def halt(live: Live, table: Stranger) -> dict[str, Any]:
    """It sends what halts its journal; the alarm."""
    table.join()
    table.send(table.events[0])
    table.until(lambda m: bool(m.get("halted")))
    live.until(lambda: bool(open_alarms(live, "E-LNK-017")))
    return open_alarms(live, "E-LNK-017")[0]


def test_a_new_halt_is_not_acknowledged_with_the_one_before(
    live: Live, house: House, tmp_path: Path
) -> None:
    table = house.stranger("table-1", live)
    table.write({"what": "claimed", "round": 1, "claims": [[1, "royal flush", 100]]})
    first = halt(live, table)
    assert acknowledge(live, first["alarm"], "k.lee")["ok"]
    assert live.order(Resume(table.journal, "seen"), "k.lee", "m.ng")["ok"]
    live.until(lambda: not open_alarms(live, "E-LNK-017"))
    second = halt(live, table)
    assert second["acknowledged"] is None
    live.stop()
    again = house.start(beat_ms=60_000, control=tmp_path / "again.sock")
    (found,) = open_alarms(again, "E-LNK-017")
    assert (found["alarm"], found["acknowledged"]) == (second["alarm"], None)


def test_what_was_acknowledged_survives_a_fault_of_the_feed(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert live.server.floor is not None
    live.server.floor.alarm("E-LNK-042", "", "handshake refused")
    live.until(lambda: bool(open_alarms(live, "E-LNK-042")))
    assert acknowledge(live, open_alarms(live, "E-LNK-042")[0]["alarm"], "k.lee")["ok"]
    live.until(lambda: open_alarms(live, "E-LNK-042")[0]["acknowledged"] is not None)

    def broken(_group: object) -> None:
        raise KeyError("planted")

    with monkeypatch.context() as planted:
        planted.setattr(feed_words, "steps", broken)
        assert live.order(Note("shift", "x"), "m.ng")["ok"]
        live.until(lambda: "feed: KeyError: 'planted'" in live.log.getvalue())
    assert open_alarms(live, "E-LNK-042")[0]["acknowledged"]["by"] == "k.lee"


# --- what tables say about themselves -------------------------------------------------------------


def test_a_table_says_how_it_stands_with_its_heartbeat(live: Live, house: House) -> None:
    table = house.stranger("table-1", live, versions=(4, 3, 2, 1))
    assert table.join()["version"] == 4
    now = {"phase": "betting", "round": 17, "waiting": 2, "troubles": ["E-DEV-002"]}
    table.send({"t": "beat", "at_ms": 1, "now": now})
    table.until(lambda message: message["t"] == "beat")

    def told() -> dict[str, Any]:
        rows = asked(live, "changes")["parts"]["tables"][1]
        return {name: rows[0][name] for name in now}

    live.until(lambda: told() == now)
    table.send({"t": "beat", "at_ms": 2, "now": {"phase": "idle"}})
    live.until(lambda: told()["phase"] == "idle")
    assert told() == {"phase": "idle", "round": 0, "waiting": 0, "troubles": []}


# --- signs ----------------------------------------------------------------------------------------


def test_signs_hear_of_a_lock_and_of_a_win(live: Live, house: House) -> None:
    context = zmq.Context()
    sign = context.socket(zmq.SUB)
    public, secret = house.pairs["sign-1"]
    sign.curve_publickey, sign.curve_secretkey = public, secret
    sign.curve_serverkey = house.server_keys[0]
    sign.subscribe(HITS_TOPIC)
    sign.subscribe(TOPIC)
    sign.connect(live.signs)
    assert sign.poll(20_000)  # the snapshot: it is subscribed
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.write({"what": "claimed", "round": 1, "claims": [[1, "royal flush", 100]]})
    table.deliver()
    heard: list[dict[str, Any]] = []

    def hits(many: int) -> bool:
        while sign.poll(10):
            topic, frame = sign.recv_multipart()
            assert json.loads(frame)["t"] == ("hit" if topic == HITS_TOPIC else "meters")
            if topic == HITS_TOPIC:
                heard.append(json.loads(frame))
        return len(heard) == many

    live.until(lambda: hits(1))
    locked = heard[0]
    assert (locked["state"], locked["table"], locked["pool"]) == ("locked", "table-1", "main")
    award = {"award": locked["award"]}
    for what in ("verify", "approve"):
        assert asked(live, "order", by=BY, order={"what": what, **award})["ok"]
    other = [["m.ng", PASSWORD]]
    assert asked(live, "order", by=other, order={"what": "approve", **award})["ok"]
    live.until(lambda: hits(2))
    assert (heard[1]["state"], heard[1]["cents"]) == ("won", locked["cents"])
    assert [hit["seq"] for hit in heard] == [1, 2]
    context.destroy(0)
