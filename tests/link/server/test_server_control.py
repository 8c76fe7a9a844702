"""The control socket and HTTP, over real sockets: who may ask, who may order, who is locked out."""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import stat
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from link.server import http as http_module
from link.server.control import AT_ONCE, LONGEST
from link.server.http import Http
from link.server.metrics import COUNTED, GAUGES, PREFIX
from link.store import backup
from record.kit.lines import ask
from tests.link.people import PASSWORD
from tests.link.server.house import House, Live
from tests.patience import PATIENCE_S


@pytest.fixture
def live(house: House, tmp_path: Path) -> Iterator[Live]:
    made = house.start(beat_ms=60_000, control=tmp_path / "run" / "control.sock")
    yield made
    made.stop()


def path_of(live: Live) -> Path:
    assert live.control is not None
    return live.control.path


def order(live: Live, what: dict[str, Any], *by: tuple[str, str]) -> dict[str, Any]:
    return ask(path_of(live), {"verb": "order", "by": [list(pair) for pair in by], "order": what})


M_NG = ("m.ng", PASSWORD)
K_LEE = ("k.lee", PASSWORD)
A_KIM = ("a.kim", PASSWORD)


def test_the_socket_is_for_user_and_group_alone(live: Live) -> None:
    assert stat.S_IMODE(path_of(live).stat().st_mode) == 0o660


def test_status_meters_tables_pools(live: Live, house: House) -> None:
    house.stranger("table-1", live).join()
    status = ask(path_of(live), {"verb": "status"})
    assert (status["server"], status["leading"], status["epoch"]) == ("link-1", True, 2)
    assert status["tables"] == 1
    assert ask(path_of(live), {"verb": "meters"})["meters"] == [
        {"pool": "main", "level": "grand", "cents": 100_000, "generation": 1, "pending": 0}
    ]
    (table,) = ask(path_of(live), {"verb": "tables"})["tables"]
    assert (table["table"], table["version"], table["test_mode"]) == ("table-1", 3, False)
    pools = ask(path_of(live), {"verb": "pools"})
    assert [row["level"] for row in pools["levels"]] == ["grand"]
    display = [row for row in pools["balances"] if row["account"] == "display"]
    assert display[0]["units"] == 100_000 * 1_000_000


def test_a_table_in_test_mode_is_seen_on_the_floor(live: Live, house: House) -> None:
    table_1 = house.stranger("table-1", live)
    table_1.join()
    assert ask(path_of(live), {"verb": "status"})["test_mode"] == []
    table_1.send({"t": "beat", "at_ms": 1, "test": True})
    live.until(lambda: ask(path_of(live), {"verb": "status"})["test_mode"] == ["table-1"])
    (table,) = ask(path_of(live), {"verb": "tables"})["tables"]
    assert table["test_mode"] is True
    table_1.send({"t": "beat", "at_ms": 2})
    live.until(lambda: ask(path_of(live), {"verb": "status"})["test_mode"] == [])


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"\n", "E-SVC-001"),
        (b"status\n", "E-SVC-001"),
        (b"[]\n", "E-SVC-002"),
        (b'{"verb":"pay"}\n', "E-SVC-002"),
        (b'{"verb":["status"]}\n', "E-SVC-002"),
        (b'{"verb":"account","name":"m.ng"}\n', "E-SVC-002"),
        (b'{"verb":"failed","name":"m.ng"}\n', "E-SVC-002"),
        (b'{"verb":"order"}\n', "E-SVC-001"),
        (b'{"verb":"order","by":[],"order":{}}\n', "E-SVC-001"),
        (b'{"verb":"order","by":[["m.ng"]],"order":{}}\n', "E-SVC-001"),
        (b'{"verb":"order","by":[["m.ng","x"]],"order":5}\n', "E-SVC-001"),
        (b'{"verb":"backup","path":"here"}\n', "E-SVC-001"),
        (b"[" * 100_000 + b"\n", "E-SVC-001"),
        (b"\xff\xfe\n", "E-SVC-001"),
    ],
)
def test_what_is_no_request_is_refused_and_the_next_one_answered(
    live: Live, line: bytes, code: str
) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(str(path_of(live)))
        stream = connection.makefile("rwb")
        for sent, expected in ((line, code), (b'{"verb":"status"}\n', None)):
            stream.write(sent)
            stream.flush()
            assert json.loads(stream.readline()).get("error") == expected


def test_a_line_without_end_is_answered_and_cut_off(live: Live) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(str(path_of(live)))
        try:
            connection.sendall(b"x" * (LONGEST + 2))
            with connection.makefile("rb") as stream:
                assert json.loads(stream.readline())["error"] == "E-SVC-001"
                assert stream.read() == b""
        except OSError:
            pass  # it hung up in the middle
    assert ask(path_of(live), {"verb": "status"})["leading"]


def connected(live: Live) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE_S)
    connection.connect(str(path_of(live)))
    return connection


@pytest.mark.parametrize("asked", [False, True])
def test_connections_that_say_nothing_give_way(live: Live, asked: bool) -> None:
    held = []
    for _ in range(AT_ONCE + 3):
        held.append(connected(live))
        if asked:
            held[-1].sendall(b'{"verb":"status"}\n')
            assert held[-1].recv(10)
    try:
        live.until(lambda: ask(path_of(live), {"verb": "status"}).get("leading") is True)
    finally:
        for connection in held:
            connection.close()


def test_the_socket_survives_a_moment_without_descriptors(live: Live) -> None:
    """Nothing can be opened in this process for a while; whoever asked meanwhile is answered."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    waiting = socket.socket(socket.AF_UNIX)
    waiting.settimeout(PATIENCE_S)
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    held: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 3, hard))
    try:
        while True:
            try:
                held.append(os.dup(0))
            except OSError:
                break
        waiting.connect(str(path_of(live)))
        waiting.sendall(b'{"verb":"status"}\n')
        live.until(lambda: "E-SVC-009" in live.log.getvalue())
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with waiting, waiting.makefile("rb") as stream:
        assert json.loads(stream.readline())["leading"] is True
    assert ask(path_of(live), {"verb": "status"})["leading"] is True


# --- orders ---------------------------------------------------------------------------------------


def test_an_award_is_verified_approved_by_two_roles_and_paid(live: Live, house: House) -> None:
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.write({"what": "claimed", "round": 1, "claims": [[1, "royal flush", 100]]})
    table.deliver()
    award = table.until(lambda m: m["t"] == "locked")["awards"][0][1]
    assert order(live, {"what": "verify", "award": award}, K_LEE)["ok"]
    assert order(live, {"what": "approve", "award": award}, K_LEE)["ok"]
    again = order(live, {"what": "approve", "award": award}, K_LEE)
    assert again["error"].startswith("E-POOL-")
    assert order(live, {"what": "approve", "award": award}, M_NG)["ok"]
    assert order(live, {"what": "pay", "award": award}, M_NG)["ok"]
    states = [m["state"] for m in table.heard if m["t"] == "award"]
    table.until(lambda m: m["t"] == "award" and m["state"] == "paid")
    states = [m["state"] for m in table.heard if m["t"] == "award"]
    assert [state for state in states if state in ("verified", "approved", "paid")][-1] == "paid"


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ({"what": "open", "pool": "x"}, "E-ACT-007"),
        ({"what": "halt"}, "E-ACT-007"),
        ({"what": "verify"}, "E-ACT-007"),
        ({"what": "verify", "award": "a", "by": "me"}, "E-ACT-007"),
        ({"what": "verify", "award": "main/1/9"}, "E-POOL-"),
        ({}, "E-ACT-007"),
    ],
)
def test_orders_that_nobody_may_give_are_refused(
    live: Live, what: dict[str, Any], code: str
) -> None:
    assert order(live, what, K_LEE)["error"].startswith(code)


def test_a_backup_is_taken_while_tables_go_on(
    live: Live, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And read back by whoever asked for it, not by the loop."""

    def in_the_loop(*_: object) -> None:
        raise AssertionError("tables wait meanwhile")

    monkeypatch.setattr(backup, "_verify", in_the_loop)
    table = house.stranger("table-1", live)
    table.join()
    for number in range(1, 50):
        table.wager(number, 100)
    table.deliver()
    request = {"verb": "backup", "path": str(tmp_path / "copy")}
    answer = ask(path_of(live), request)
    assert answer["ok"], answer
    assert answer["manifest"]["last_event"] >= 49
    assert ask(path_of(live), request)["error"] == "E-STO-010"  # never overwritten
    monkeypatch.undo()
    assert backup.verify_backup(tmp_path / "copy").events >= 49


# --- HTTP -----------------------------------------------------------------------------------------


def fetched(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_metrics_and_health(live: Live, house: House) -> None:
    http = Http("127.0.0.1", 0, live.bridge)
    http.start()
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.deliver()
    code, text = fetched(http.port, "/metrics")
    assert code == 200
    families = {family.name for family in text_string_to_metric_families(text)}
    assert {"underfelt_server_events", "underfelt_server_tables"} <= families
    assert all(family.documentation for family in text_string_to_metric_families(text))
    names = re.findall(r"^# TYPE (\S+)", text, re.M)
    assert re.findall(r"^# HELP (\S+) \S", text, re.M) == names == list(dict.fromkeys(names))
    rows = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert rows["underfelt_server_events_total"] == "1"
    assert rows["underfelt_server_leading"] == "1"
    assert rows['underfelt_server_meter_cents{pool="main",level="grand"}'] == "100005"
    assert int(rows["underfelt_server_resident_bytes"]) > 1_000_000
    assert fetched(http.port, "/health") == (200, "leading\n")
    assert fetched(http.port, "/leading") == (200, "leading\n")
    assert fetched(http.port, "/")[0] == 404
    http.close()


def test_a_metrics_port_in_use_is_reported_and_tried_again(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_module, "AGAIN_S", 0.01)
    first = Http("127.0.0.1", 0, live.bridge)
    first.start()
    second = Http("127.0.0.1", first.port, live.bridge)
    assert second.trouble.endswith("Address already in use; metrics are not served")
    second.start()
    first.close()
    while second.trouble:
        time.sleep(0.01)
    assert fetched(second.port, "/health") == (200, "leading\n")
    second.close()


def test_every_count_of_the_server_is_a_metric_with_one_meaning() -> None:
    """Names of the server and of a table never meet: one monitoring reads both."""
    package = Path(http_module.__file__).parent
    counted = {
        name
        for path in package.glob("*.py")
        for name in re.findall(r'counts\["([a-z ]+)"\]', path.read_text("utf-8"))
    }
    assert counted <= COUNTED.keys()
    assert COUNTED.keys() - counted <= {"denied", "admitted"}  # chosen between in one place
    table = (package.parents[1] / "controller" / "daemon" / "metrics.py").read_text("utf-8")
    assert re.search(f'yield f?"{PREFIX.removeprefix("underfelt_")}', table) is None
    assert len({*COUNTED.values(), *GAUGES.values()}) == len(COUNTED) + len(GAUGES)


def test_the_peer_of_the_socket_is_known(live: Live) -> None:
    order(live, {"what": "note", "topic": "shift", "text": "x"}, K_LEE)
    assert f"UID={os.geteuid()}" in live.log.getvalue()
