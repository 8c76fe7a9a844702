"""The shell at a real daemon with simulated devices, through its socket and its command."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.service import Peer, Service
from controller.shell.client import Client
from record.journal.reader import JournalReader, verify
from tests.e2e.keeper import Sitting
from tests.e2e.table import ROOT, underfelt
from tests.patience import PATIENCE_S

PEOPLE = """
[[shell.people]]
user = "daemon"
role = "observer"
[[shell.people]]
user = "bin"
role = "technician"
until = "2020-12-31"
"""
DAEMON, BIN, SYS, GAMES = 1, 2, 3, 5
"""Users that every Debian has: an observer, one whose role has ended, and two without any."""


@pytest.fixture(scope="module")
def sitting() -> Iterator[Sitting]:
    """Between rounds: the devices are there and nobody plays."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        run = Path(folder) / "run"
        run.mkdir()
        with Sitting(run, game="MBS3") as made:
            with made.config.open("a", encoding="utf-8") as config:
                config.write(PEOPLE)
            made.keeper.start()
            made.until(made.status, "an answer")
            made.until_phase("between rounds")
            yield made


def shell(sitting: Sitting, *words: str) -> subprocess.CompletedProcess[str]:
    return underfelt("shell", "--socket", str(sitting.run / "service.sock"), *words)


def ask_as(uid: int, path: Path, *words: str) -> dict[str, Any]:
    """A client of another user, who is in the socket's group."""
    if os.getuid() != 0:
        pytest.fail("this test changes its user: run it as root")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresuid(uid, uid, uid)
            answer = Client(path).ask(words)
            os.write(writer, json.dumps(answer).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        told = stream.read()
    os.waitpid(child, 0)
    found: dict[str, Any] = json.loads(told)
    return found


def audited(sitting: Sitting) -> list[dict[str, Any]]:
    return [json.loads(r.body) for r in JournalReader(sitting.run / "audit").records()]


def test_one_command_and_its_exit_code(sitting: Sitting) -> None:
    told = shell(sitting, "status")
    assert (told.returncode, told.stderr) == (0, "")
    assert "round        0: between rounds" in told.stdout
    assert all(len(line) <= 80 for line in told.stdout.splitlines())
    data = json.loads(shell(sitting, "status", "--json").stdout)
    assert data["phase"] == "between rounds"
    wrong = shell(sitting, "statsu")
    assert (wrong.returncode, wrong.stdout) == (64, "")
    assert wrong.stderr.startswith("statsu: no such verb; did you mean status? (E-SHL-006)\n-> ")
    gone = underfelt("shell", "--socket", str(sitting.run / "nobody.sock"), "status")
    assert gone.returncode == 69


def test_row_64_a_wrong_uid_and_a_money_command_are_refused_and_audited(
    sitting: Sitting,
) -> None:
    """Nobody, a role that has ended, a role too low, and a verb that no shell has."""
    path = sitting.run / "service.sock"
    before = len(audited(sitting)) if (sitting.run / "audit").exists() else 0
    nobody = ask_as(SYS, path, "status")
    assert nobody["error"] == "E-SHL-001"
    assert nobody["text"] == "uid 3 (sys) has no role here"
    assert set(nobody) == {"id", "error", "text", "do"}
    ended = ask_as(BIN, path, "status")
    assert (ended["error"], ended["text"]) == (
        "E-SHL-003",
        "bin: the role of technician ended on 2020-12-31",
    )
    assert ask_as(DAEMON, path, "status")["ok"]
    assert ask_as(DAEMON, path, "pay", "100")["error"] == "E-SHL-006"
    assert ask_as(DAEMON, path, "reboot", "yes")["error"] == "E-SHL-002"
    new = audited(sitting)[before:]
    assert [(b["uid"], b["user"], b["role"], b["words"], b["outcome"]) for b in new] == [
        (3, "sys", "", ["status"], "E-SHL-001"),
        (2, "bin", "", ["status"], "E-SHL-003"),
        (1, "daemon", "observer", ["status"], "accepted"),
        (1, "daemon", "observer", ["pay", "100"], "E-SHL-006"),
        (1, "daemon", "observer", ["reboot", "yes"], "E-SHL-002"),
    ]
    assert verify(sitting.run / "audit").repairs == ()
    checked = underfelt("journal", "verify", str(sitting.run / "audit"))
    assert checked.returncode == 0, checked.stderr


def test_words_that_are_none_get_an_answer_and_a_record(sitting: Sitting) -> None:
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(sitting.run / "service.sock"))
        stream = raw.makefile("rwb")
        for words in (3, None, ["a b"], ["x" * 65], ["\x1b[2J"], [["status"]], ["status"] * 9):
            stream.write(json.dumps({"verb": "shell", "words": words}).encode() + b"\n")
            stream.flush()
            assert json.loads(stream.readline())["error"] == "E-SHL-006"
            assert audited(sitting)[-1]["words"] == ["?"]


def test_another_role_takes_effect_with_a_reload(sitting: Sitting) -> None:
    path = sitting.run / "service.sock"
    assert ask_as(GAMES, path, "why")["error"] == "E-SHL-001"
    with sitting.config.open("a", encoding="utf-8") as config:
        config.write('[[shell.people]]\nuser = "games"\nrole = "observer"\n')
    sitting.keeper.signal(signal.SIGHUP)
    sitting.until(lambda: ask_as(GAMES, path, "why").get("ok"), "the role taken")
    shown = json.loads(shell(sitting, "config", "--json").stdout)
    people = next(one["value"] for one in shown["values"] if one["key"] == "shell.people")
    assert people[-1] == {"user": "games", "role": "observer"}
    told = underfelt("config", "show", str(sitting.config))
    assert '{user = "games", role = "observer"}' in told.stdout


def test_another_role_ends_the_test_mode_of_whoever_loses_it(sitting: Sitting) -> None:
    path = sitting.run / "service.sock"
    before = sitting.config.read_text("utf-8")
    entry = '[[shell.people]]\nuser = "root"\nrole = "technician"\n'
    sitting.config.write_text(before + entry, "utf-8")
    sitting.keeper.signal(signal.SIGHUP)
    sitting.until(lambda: '"root"' in shell(sitting, "config", "--json").stdout, "the entry")
    client = Client(path)
    assert client.ask(["test", "on"])["ok"]
    assert client.ask(["keys"])["ok"]
    sitting.config.write_text(before + entry + 'until = "2020-12-31"\n', "utf-8")
    sitting.keeper.signal(signal.SIGHUP)
    sitting.until(lambda: not sitting.status()["test_mode"], "out of test mode")
    for words in (["answer", "yes"], ["test", "on"], ["status"]):
        assert client.ask(words)["error"] == "E-SHL-003"
    client.close()
    sitting.until(lambda: _certificate(sitting), "the certificate")
    assert _certificate(sitting)["passed"] is False
    tests = [
        json.loads(r.body) for r in JournalReader(sitting.run / "journal").records()
        if r.kind == "test"
    ]  # fmt: skip
    assert tests[-1]["why"] == "another configuration is taken"
    sitting.config.write_text(before, "utf-8")
    sitting.keeper.signal(signal.SIGHUP)
    sitting.until(lambda: shell(sitting, "status").returncode == 0, "root as ever")


def _certificate(sitting: Sitting) -> dict[str, Any]:
    records = JournalReader(sitting.run / "audit").records()
    found = [json.loads(r.body) for r in records if r.kind == "certificate"]
    return found[-1] if found else {}


FOREIGN = """
import sys
from controller.cli import main
code = main(sys.argv[1:])
ours = {"controller", "record"}
names = {name.partition(".")[0] for name in sys.modules}
print(sorted(n for n in names - ours - set(sys.stdlib_module_names) if not n.startswith("_")))
sys.exit(code)
"""


def test_the_client_needs_the_core_library_alone(sitting: Sitting) -> None:
    told = subprocess.run(
        [sys.executable, "-S", "-c", FOREIGN, "shell", "--socket",
         str(sitting.run / "service.sock"), "why"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, capture_output=True,
        check=False,
    )  # fmt: skip
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines()[-1] == "[]"


def test_the_desk_hears_of_a_connection_that_ends(tmp_path: Path) -> None:
    async def run() -> list[Peer]:
        gone: list[Peer] = []
        ended = asyncio.Event()

        async def attended(_: Any, peer: Peer) -> dict[str, Any]:
            return {"ok": True, "data": {"uid": peer.uid}, "at": {}}

        def left(peer: Peer) -> None:
            gone.append(peer)
            ended.set()

        service = Service(tmp_path / "s.sock", {}, {"shell": attended}, left)
        await service.start()
        reader, writer = await asyncio.open_unix_connection(tmp_path / "s.sock")
        writer.write(b'{"verb":"shell","words":["why"]}\n')
        assert json.loads(await reader.readline())["data"] == {"uid": os.getuid()}
        assert gone == []
        writer.close()
        await ended.wait()
        await service.close()
        return gone

    assert asyncio.run(run()) == [Peer(os.getuid(), 1)]


GIVEN_UP = """
import signal, sys
from pathlib import Path
from controller.shell.client import Client
signal.signal(signal.SIGINT, signal.default_int_handler)
client = Client(Path(sys.argv[1]))
try:
    client.ask(["why"])
except KeyboardInterrupt:
    print(client.ask(["why"])["data"])
"""


def test_an_answer_that_was_given_up_is_not_taken_for_the_next(tmp_path: Path) -> None:
    """Ctrl-C while half of an answer is there: the rest of it is read over."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "s.sock"))
    listening.listen()
    child = subprocess.Popen(
        [sys.executable, "-c", GIVEN_UP, str(tmp_path / "s.sock")],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    end, _ = listening.accept()
    stream = end.makefile("rwb")
    first = json.loads(stream.readline())["id"]
    stream.write(b'{"id": %d, "ok"' % first)
    stream.flush()
    child.send_signal(signal.SIGINT)
    second = json.loads(stream.readline())["id"]
    stream.write(b': true, "data": "old"}\n{"id": %d, "ok": true, "data": "new"}\n' % second)
    stream.flush()
    assert child.communicate(timeout=PATIENCE_S)[0] == "new\n"
    end.close()
    listening.close()
