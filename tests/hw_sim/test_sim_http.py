"""The simulator's HTTP port against strangers: pages of other sites, nonsense, slow clients.

One simulator takes every attack in turn; each has its answer, and the table is there afterwards.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_sim.control import Control
from hw_sim.faults import KINDS, VERBS, FaultError, Faults
from hw_sim.http import CONNECTIONS, Answer
from hw_sim.layout import load
from hw_sim.line import Line
from hw_sim.people.director import Director
from hw_sim.scenario import _GRAMMAR as GRAMMAR
from hw_sim.scenario import HERE, Scenario, parse_step
from hw_sim.shell import SimShell
from hw_sim.table import SimTable
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
LAYOUTS = {name: load(HERE / "tables" / f"{name}.toml") for name in ("full", "rico")}
JSON = {"Content-Type": "application/json"}


class Running:
    """A simulator in a process of its own."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.process = subprocess.Popen(
            [sys.executable, "-m", "controller.cli", "sim", "--game", "MEGA", "--run", str(run)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE_S
        while not (run / "control").exists():
            assert self.process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        self.port = int((run / "control").read_text("ascii").rpartition(":")[2])

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] = JSON
    ) -> tuple[int, Any]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            link.request(method, path, body, headers)
            answer = link.getresponse()
            return answer.status, json.load(answer)
        finally:
            link.close()

    def do(self, path: str, sentence: object) -> tuple[int, Any]:
        return self.ask("POST", path, json.dumps({"do": sentence}).encode())

    def raw(self, request: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE_S) as link:
            link.sendall(request)
            link.shutdown(socket.SHUT_WR)
            return link.makefile("rb").read()

    def door_is_shut(self) -> bool:
        status, state = self.ask("GET", "/state")
        assert status == 200
        return state["pins"]["door"] is False

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "controller.cli", "sim", *words, "--run", str(self.run)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
            capture_output=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("http") / "run")
    yield running
    running.process.terminate()
    _, complaints = running.process.communicate(timeout=PATIENCE_S)
    assert running.process.returncode == 0
    assert complaints == ""


OPEN = b'{"do": "door open"}'


@pytest.mark.parametrize(
    ("headers", "status", "names"),
    [
        ({"Host": "evil.example"}, 421, "Host"),
        ({"Host": "127.0.0.1"}, 421, "Host"),
        ({"Host": "127.0.0.1:1"}, 421, "Host"),
        ({"Host": ""}, 421, "Host"),
        ({"Origin": "http://evil.example"}, 403, "Origin"),
        ({"Origin": "null"}, 403, "Origin"),
        ({"Origin": "https://127.0.0.1"}, 403, "Origin"),
        ({"Content-Type": "text/plain"}, 415, "Content-Type"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415, "Content-Type"),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415, "Content-Type"),
        ({"Content-Type": ""}, 415, "Content-Type"),
    ],
)
def test_a_page_of_another_site_cannot_open_the_door(
    sim: Running, headers: dict[str, str], status: int, names: str
) -> None:
    got, answer = sim.ask("POST", "/fault", OPEN, {**JSON, **headers})
    assert got == status
    assert names in answer["error"]
    assert sim.door_is_shut()


def test_nor_can_it_look_under_a_name_of_its_own(sim: Running) -> None:
    status, answer = sim.ask("GET", "/state", headers={"Host": f"evil.example:{sim.port}"})
    assert (status, list(answer)) == (421, ["error"])


def test_our_own_origin_and_localhost_are_served(sim: Running) -> None:
    ours = f"localhost:{sim.port}"
    status, _ = sim.ask("GET", "/state", headers={"Host": ours, "Origin": f"http://{ours}"})
    assert status == 200


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/do", b"", 400),
        ("/do", b"{", 400),
        ("/do", b"[]", 400),
        ("/do", b"[" * 60_000, 400),
        ("/do", b'{"do": "\xff"}', 400),
        ("/do", b'{"do": 5}', 400),
        ("/do", b'{"do": null}', 400),
        ("/do", b'{"do": "press OPEN", "also": 1}', 400),
        ("/do", json.dumps({"do": "press " + "OPEN " * 200}).encode(), 400),
        ("/fault", b'{"do": ""}', 400),
        ("/fault", b'{"do": "\\u0000"}', 400),
        ("/elsewhere", b'{"do": "press OPEN"}', 404),
    ],
)
def test_a_body_that_makes_no_sense_is_refused(
    sim: Running, path: str, body: bytes, status: int
) -> None:
    got, answer = sim.ask("POST", path, body)
    assert (got, list(answer)) == (status, ["error"])


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("press NOSUCH", "CLEAR"),
        ("seat 9 bets 5.00 on 1", "expected 1 to 7"),
        ("seat 0 bets 5.00 on 1", "expected 1 to 7"),
        ("seat 1 bets 5.00 on nowhere", "no such spot"),
        ("seat 1 bets 5.55 on 1", "multiple of 1.00"),
        ("seat 1 bets 0.00 on 1", "multiple of 1.00"),
        (f"seat 1 bets {'9' * 300}.00 on 1", "multiple of 1.00"),
        ("seat 1 stacks 5 x 3.00 on 1", "no such chip"),
        ("seat 1 stacks 99999 x 5.00 on 1", "at most 400"),
        ("seat 8 takes 1", "expected 1 to 7"),
        ("seat 1 moves 1 to nowhere", "no such spot"),
        ("seat 1 copies nowhere to 1", "no such spot"),
        ("seat 9 credits 1", "expected 1 to 7"),
        ("seat 1 credits 99999999999", "at most"),
        ("dealer pot 5.00", "no pot"),
        ("deck 9x", "a card such as"),
        ("wait 99999999999999999999", "at most"),
        ("expect lamp 9 open", "expected 1 to 7"),
        ("lucky 3", "never by hand"),
        ("link lost", "never by hand"),
        ("dance", "expected a step"),
    ],
)
def test_a_step_that_nobody_can_do_is_refused_with_what_would_do(
    sim: Running, sentence: str, names: str
) -> None:
    status, answer = sim.do("/do", sentence)
    assert status == 400
    assert names in answer["error"]
    assert sim.door_is_shut()


def test_a_step_is_answered_when_it_has_come_true(sim: Running) -> None:
    assert sim.do("/do", "seat 2 bets 10.00 on 1") == (200, {"ok": True})
    assert sim.ask("GET", "/state")[1]["chips"] == {"2/1": 1000}
    before = sim.ask("GET", "/state")[1]["now_ms"]
    assert sim.do("/do", "wait 300") == (200, {"ok": True})
    assert sim.ask("GET", "/state")[1]["now_ms"] >= before + 300
    assert sim.do("/do", "seat 2 takes 1") == (200, {"ok": True})


def test_a_step_that_does_not_come_true_says_why(sim: Running) -> None:
    empty = "no card came: there are no cards to deal"
    assert sim.do("/do", "draw") == (409, {"error": empty})
    status, answer = sim.do("/do", "seat 3 copies 1 to 2")
    assert status == 409
    assert "no chip on 3/1 to copy" in answer["error"]
    told = sim.command("do", "draw")
    assert (told.returncode, told.stderr) == (1, f"underfelt sim: {empty}\n")
    assert sim.command("do", "press NOSUCH").returncode == 64
    assert sim.command("do", "seat 1 will back").returncode == 0


def test_more_steps_at_once_than_people_are_refused(tmp_path: Path) -> None:
    async def main() -> Answer:
        control = Control(SimShell(SimTable(LAYOUTS["full"]), tmp_path, ""))
        body = {"do": "wait 1000"}  # for ever: nobody lets this table's clock run
        waiting = [asyncio.create_task(control.answer("POST", "/do", body)) for _ in range(8)]
        await asyncio.sleep(0)
        answer = await control.answer("POST", "/do", body)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return answer

    status, answer = asyncio.run(main())
    assert (status, list(answer)) == (429, ["error"])


def test_lengths_that_lie_are_refused(sim: Running) -> None:
    head = b"POST /fault HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
    head = head % sim.port
    for more, status in (
        (b"Content-Length: -1\r\n", b"411"),
        (b"Content-Length: many\r\n", b"411"),
        (b"Content-Length: 19\r\nContent-Length: 2\r\n", b"411"),
        (b"Content-Length: 99999999999999\r\n", b"413"),
        (b"Transfer-Encoding: chunked\r\n", b"411"),
        (b"", b"411"),
        (b"Content-Length: 5\r\n", b"400"),
    ):
        assert sim.raw(head + more + b"\r\n" + OPEN).split()[1] == status
    assert sim.door_is_shut()
    assert sim.raw(b"\x16\x03\x01 hello\r\n\r\n") is not None  # TLS, or anything


def test_silent_clients_take_no_more_than_their_share(sim: Running) -> None:
    links = [socket.create_connection(("127.0.0.1", sim.port), 5) for _ in range(CONNECTIONS + 8)]
    for link in links:
        link.close()
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            assert sim.door_is_shut()
            break
        except (OSError, http.client.HTTPException):
            assert time.monotonic() < deadline


# --- every sentence of both grammars, at a table without a host ----------------------------------


class NoCables:
    """Ports that are not there: their verbs are tried with real ones in tests/sim."""

    def unplug(self, line: Line) -> None:
        line.unplug()

    def replug(self, line: Line) -> None:
        line.replug()

    def rename(self, line: Line) -> None: ...

    def swap(self, one: Line, other: Line) -> None: ...

    def stick(self, line: Line, *, on: bool) -> None: ...

    def link(self, *, on: bool) -> None: ...


WORDS = ["shoe", "keys-1", "door", "1", "7", "0", "9", "-1", "$", "nowhere", "off", "7h", "9x",
         "cut", "RIDE", "NOSUCH", "0.5", "nan", "1e9", "99999999999", "open", "\0"]  # fmt: skip
STEPS = [st.from_regex(re.compile(p, re.ASCII), fullmatch=True) for p in GRAMMAR.values()]
FAULT = st.builds(
    lambda verb, words: " ".join((verb, *words)),
    st.sampled_from(sorted(VERBS)),
    st.lists(st.sampled_from(WORDS), max_size=4),
)
SHORT_US = 2_000_000


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(LAYOUTS)),
    st.lists(st.one_of(*STEPS, FAULT.map(lambda fault: f"fault {fault}")), max_size=6),
)
def test_no_sentence_raises_whatever_the_table(layout: str, sentences: list[str]) -> None:
    table = SimTable(LAYOUTS[layout], 1)
    faults = Faults(table, NoCables())
    for sentence in sentences:
        step = parse_step(1, sentence)
        if step is None:
            continue
        director = Director(Scenario("one", "MEGA", "", "", (step,), ()), faults)
        director.start()
        table.clock.run_until(table.clock.now_us + SHORT_US)
        assert not re.match(r"\w+Error: ", director.ending.failed), director.ending.failed


@settings(max_examples=60)
@given(st.lists(FAULT, min_size=1, max_size=6))
def test_a_fault_is_done_or_refused(sentences: list[str]) -> None:
    table = SimTable(LAYOUTS["full"], 1)
    faults = Faults(table, NoCables())
    for sentence in sentences:
        with suppress(FaultError):
            faults.do(sentence)
    table.clock.run_until(SHORT_US)


def test_every_argument_of_a_verb_has_its_kind() -> None:
    used = {kind for arguments, _ in VERBS.values() for kind in re.findall(r"\w+", arguments)}
    assert used == set(KINDS)
