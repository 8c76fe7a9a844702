"""The server as a process: from nothing to running, systemd's side of it, kills, exit codes."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import zmq

from controller.cli import main
from link.config import load
from link.store import backup
from record.kit.lines import ask
from record.link.keys import load_public
from tests.link.stranger import Stranger
from tests.patience import PATIENCE_S
from tests.pipes import emptied, full_pipe
from tests.ports import two_ports

COMMAND = (sys.executable, "-m", "controller.cli")
PASSWORD = "three cards and a river"
POOL = """
[pools.main]
tables = { table-1 = "MBS3" }
meter_rule = "sequential"

[[pools.main.levels]]
level = "grand"
base_cents = 100000
reset_cents = 100000
rate = "1 %"
shares = { "royal flush" = 100, "straight flush" = 10 }
"""


def run(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
    """A command, in this process: only what must be one of its own is started as one."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.stdin = sys.stdin, io.StringIO(stdin)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(list(arguments))
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.stdin = before
    return code, out.getvalue(), err.getvalue()


class Link:
    """A folder made by ``link init``, and a server in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "link"
        self.config = self.folder / "link.toml"
        self.process: subprocess.Popen[str] | None = None
        self.port = two_ports()
        code, out, err = run(
            "link", "init", str(self.folder), "--account=m.ng=manager", "--passwords-stdin",
            "--account=k.lee=supervisor", "--port", str(self.port), stdin=f"{PASSWORD}\n" * 2,
        )  # fmt: skip
        assert code == 0, err
        assert "link.toml" in out
        with self.config.open("a", encoding="utf-8") as stream:
            stream.write(POOL)

    def start(
        self, *, descriptors: int = 0, stderr: int = subprocess.PIPE, **environ: str
    ) -> subprocess.Popen[str]:
        """``descriptors``: the most it may have open."""
        limit = ("prlimit", f"--nofile={descriptors}") if descriptors else ()
        self.process = subprocess.Popen(
            [*limit, *COMMAND, "link", "--config", str(self.config)],
            stderr=stderr,
            text=True,
            env={**os.environ, **environ},
        )
        return self.process

    def wait_leading(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            code, out, err = run("link", "status", "--json", "--config", str(self.config))
            if code == 0:
                found: dict[str, Any] = json.loads(out)
                return found
            assert self.process is not None
            assert self.process.poll() is None, self.process.stderr and self.process.stderr.read()
            assert code in (1, 69), err
        raise AssertionError("never led")

    def stop(self) -> tuple[int, str]:
        assert self.process is not None
        self.process.terminate()
        _, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, err

    def enrol(self, name: str) -> tuple[bytes, bytes]:
        secret, public = self.folder / f"{name}.key", self.folder / f"{name}.pub"
        assert run("keys", "new", "--secret", str(secret), "--public", str(public))[0] == 0
        code, out, err = run(
            "keys", "enrol", name, str(public), "--by", "m.ng", "--by", "k.lee",
            "--passwords-stdin", "--config", str(self.config), stdin=f"{PASSWORD}\n" * 2,
        )  # fmt: skip
        assert code == 0, err
        assert out.startswith(f"{name}: ")
        return load_public(public).encode(), secret.read_bytes().split()[1]

    def table(self, name: str, keys: tuple[bytes, bytes]) -> Stranger:
        server_key = load_public(self.folder / "link.pub").encode()
        return Stranger(f"tcp://127.0.0.1:{self.port}", server_key, keys, name)


@pytest.fixture
def link(tmp_path: Path) -> Iterator[Link]:
    made = Link(tmp_path)
    yield made
    if made.process is not None:
        made.process.kill()
        made.process.wait()
        if made.process.stderr is not None:
            made.process.stderr.close()


def test_a_metrics_port_in_use_is_an_alarm_and_no_end(link: Link) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with link.config.open("a", encoding="utf-8") as stream:
            stream.write(f"[http]\non = true\nport = {taken.getsockname()[1]}\n")
        link.start()
        assert link.wait_leading()["leading"]
        alarms = ask(load(link.config).server.control, {"verb": "alarms"})["alarms"]
        told = [alarm for alarm in alarms if alarm["code"] == "E-LNK-049"]
        assert len(told) == 1
        assert "metrics are not served" in told[0]["text"]
        assert link.stop()[0] == 0


def test_from_nothing_to_an_acknowledged_wager_and_through_a_kill(link: Link) -> None:
    link.start()
    assert link.wait_leading()["meters"][0]["cents"] == 100_000
    table = link.table("table-1", link.enrol("table-1"))
    table.join()
    for number in range(1, 21):
        table.wager(number, 100)
    table.deliver()
    assert link.process is not None
    link.process.kill()  # what was acknowledged is there
    link.process.communicate()
    table.wager(21, 100)
    link.start()
    table.deliver(60)  # connects, says hello and goes on by itself
    assert table.meters["main", "grand"]["cents"] == 100_021
    table.close()
    code, err = link.stop()
    assert code == 0, err
    code, out, err = run("link", "check", "--history", "--config", str(link.config))
    assert (code, out.startswith("sound: ")) == (0, True), err
    assert [p.name for p in link.folder.iterdir() if p.suffix == ".sock"] == []


def test_systemd_hears_ready_status_watchdog_and_stopping(link: Link, tmp_path: Path) -> None:
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    heard.bind(str(tmp_path / "notify"))
    heard.settimeout(PATIENCE_S)
    link.start(NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="300000")
    seen = ""
    while "READY=1" not in seen:
        seen = heard.recv(4_096).decode()
    assert "STATUS=link-1: leading, epoch 2, 0 tables" in seen
    fed = 0
    while fed < 3:
        fed += heard.recv(4_096) == b"WATCHDOG=1"
    assert link.process is not None
    link.process.terminate()
    while "STOPPING=1" not in seen:
        seen = heard.recv(4_096).decode()
    link.process.communicate()
    assert link.process.returncode == 0
    heard.close()


def test_a_second_server_on_the_same_store_does_not_start(link: Link) -> None:
    link.start()
    link.wait_leading()
    text = link.config.read_text().replace(f":{link.port}", ":*").replace(f":{link.port + 1}", ":*")
    other = link.folder / "other.toml"
    other.write_text(text.replace("control.sock", "other.sock"))
    code, _, err = run("link", "--config", str(other))
    assert (code, "E-STO-007" in err) == (75, True), err
    code, _, err = run("link", "--config", str(link.config))
    assert (code, "E-LNK-040" in err or "E-STO-007" in err) in ((71, True), (75, True))


def test_what_cannot_start_says_why_and_with_which_code(link: Link) -> None:
    cases = []
    code, _, err = run("link", "--config", str(link.folder / "gone.toml"))
    cases.append((code, "No such file" in err))
    (link.folder / "link.key").chmod(0o644)
    code, _, err = run("link", "--config", str(link.config))
    cases.append((code, "E-KEY-102" in err))
    (link.folder / "link.key").chmod(0o400)
    link.config.write_text(link.config.read_text() + "\n[serv]\n")
    code, _, err = run("link", "--config", str(link.config))
    cases.append((code, "E-LNK-051" in err))
    assert cases == [(66, True), (77, True), (78, True)]


def test_a_frozen_process_answers_again_and_counts_once(link: Link) -> None:
    link.start()
    link.wait_leading()
    table = link.table("table-1", link.enrol("table-1"))
    table.join()
    table.wager(1, 100)
    table.deliver()
    assert link.process is not None
    link.process.send_signal(signal.SIGSTOP)
    table.wager(2, 100)
    for _ in range(3):
        table.send(table.events[1])
    assert table.receive(0.2) is None
    link.process.send_signal(signal.SIGCONT)
    table.deliver(60)
    assert table.meters["main", "grand"]["cents"] == 100_002
    table.close()


def test_the_commands_of_keys_and_accounts(link: Link) -> None:
    link.start()
    link.wait_leading()
    link.enrol("table-1")
    place = ("--config", str(link.config))
    code, out, _ = run("keys", "list", *place)
    assert (code, "table-1" in out, "valid" in out) == (0, True, True)
    two = ("--by", "m.ng", "--by", "k.lee", "--passwords-stdin")
    secret, public = link.folder / "new.key", link.folder / "new.pub"
    run("keys", "new", "--secret", str(secret), "--public", str(public))
    shown = run("keys", "show", str(secret))[1].split()[-1]
    assert shown == run("keys", "show", str(public))[1].split()[-1]
    rotate = ("keys", "rotate", "table-1", str(public), "--overlap-hours", "1", *two)
    code, _, err = run(*rotate, *place, stdin=f"{PASSWORD}\n" * 2)
    assert code == 0, err
    revoke = ("keys", "revoke", "table-1", "--why", "stolen")
    code, _, err = run(*revoke, "--by", "m.ng", "--passwords-stdin", *place, stdin=f"{PASSWORD}\n")
    assert (code, "E-ACT-008" in err) == (77, True)
    code, _, err = run(*revoke, *two, *place, stdin=f"{PASSWORD}\n" * 2)
    assert code == 0, err
    listed = json.loads(run("keys", "list", "--json", *place)[1])["keys"]
    assert [row["revoked_ms"] > 0 for row in listed] == [True, True]
    csv = link.folder / "many.csv"
    rows = "".join(f"t{n},{zmq.curve_keypair()[0].decode()}\n" for n in range(20))
    csv.write_text("name,key\n" + rows.replace('"', '""'))
    bulk = ("keys", "enrol", "--csv", str(csv), *two)
    code, out, err = run(*bulk, *place, stdin=f"{PASSWORD}\n" * 2)
    assert (code, len(out.splitlines())) == (0, 20), err
    code, out, _ = run("accounts", "list", *place)
    assert (code, "supervisor" in out) == (0, True)
    code, _, err = run(*bulk, *place, stdin=f"{PASSWORD}\nwrong\n")
    assert (code, "E-ACT-001" in err) == (77, True)


def test_backup_and_restore_by_two_people(link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    link.start()
    link.wait_leading()
    place = ("--config", str(link.config))
    file = str(link.folder / "a.kim.request")
    make = ("accounts", "request", "a.kim", "--out", file, "--passwords-stdin")
    code, out, err = run(*make, stdin="river of cards\n")
    assert code == 0, err
    mark = out.split("fingerprint ")[1][:19]
    add = ("accounts", "add", "a.kim", file, "--role", "engineer", "--by", "m.ng", "--by", "k.lee")
    code, _, err = run(
        *add, "--fingerprint", mark, "--passwords-stdin", *place, stdin=f"{PASSWORD}\n" * 2
    )
    assert code == 0, err
    copy = str(link.folder / "copy")
    code, out, err = run("link", "backup", copy, *place)
    assert (code, "sha256" in out) == (0, True), err
    with monkeypatch.context() as patch:  # a disk that loses a byte while it is written
        patch.setattr(backup, "_hashed", lambda *_: ("0" * 64, 1))
        code, _, err = run("link", "backup", copy + "-2", *place)
    assert (code, "E-STO-011" in err, "do not use this one" in err) == (65, True, True), err
    link.stop()
    (link.folder / "link.db").rename(link.folder / "lost.db")
    two = ("--by", "m.ng", "--by", "a.kim", "--passwords-stdin")
    restore = ("link", "restore", copy, "--why", "disk died", *two, *place)
    code, _, err = run(*restore, stdin=f"{PASSWORD}\nwrong wrong\n")
    assert (code, "E-ACT-001" in err) == (77, True)
    code, out, err = run(*restore, stdin=f"{PASSWORD}\nriver of cards\n")
    assert code == 0, err
    assert run(*restore, stdin=f"{PASSWORD}\nriver of cards\n")[0] == 73  # not over another
    link.start()
    assert link.wait_leading()["leading"]


@pytest.mark.parametrize("password", ["", "short", "m.ng m.ng m.ng"])
def test_there_is_no_default_and_no_weak_password(tmp_path: Path, password: str) -> None:
    two = ("--account=m.ng=manager", "--account=k.lee=supervisor", "--passwords-stdin")
    code, _, err = run(
        "link", "init", str(tmp_path / "x"), *two, stdin=password and f"{password}\n"
    )
    assert code in (65, 66), err
    assert not (tmp_path / "x").exists()


def test_help_and_usage() -> None:
    for command in ("link", "keys", "accounts"):
        code, out, _ = run(command, "--help")
        assert (code, "examples:" in out) == (0, True)
        assert run(command, "dance")[0] == 64
        assert run(command)[0] == 64
    assert run("link", "status")[0] == 64
    assert run("link", "status", "--socket", "/nowhere")[0] == 69


def test_a_standard_error_that_nobody_reads_holds_up_nothing(link: Link) -> None:
    reading, writing = full_pipe()
    link.start(stderr=writing)
    link.wait_leading()
    control = load(link.config).server.control
    wrong = {"verb": "password", "name": "m.ng", "password": "wrong wrong"}
    assert ask(control, wrong)["error"] == "E-ACT-001"
    assert set(emptied(reading)) == {"x"}
    assert ask(control, wrong)["error"].startswith("E-ACT-0")
    assert ask(control, {"verb": "password", "name": "k.lee", "password": PASSWORD})["ok"]
    note = {"what": "note", "topic": "shift", "text": "x"}
    assert ask(control, {"verb": "order", "by": [["k.lee", PASSWORD]], "order": note})["ok"]
    assert re.match(r"<4>\d+ log lines were lost\n<\d>", emptied(reading))
    assert link.stop()[0] == 0
    os.close(reading)
    os.close(writing)


SILENT = 300


def test_silent_connections_leave_descriptors_for_people_and_tables(link: Link) -> None:
    """More than the server may open; each takes a descriptor until its handshake is over."""
    link.start(descriptors=160)
    link.wait_leading()
    keys = link.enrol("table-1")
    control = load(link.config).server.control
    with ExitStack() as silent:
        for _ in range(SILENT):
            one = silent.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", link.port))
        for _ in range(30):
            assert ask(control, {"verb": "status"}, timeout_s=5)["leading"]
            time.sleep(0.05)
        assert link.process is not None
        held = len(os.listdir(f"/proc/{link.process.pid}/fd"))
        assert 100 < held < 155
    table = link.table("table-1", keys)
    table.join()
    table.wager(1, 100)
    table.deliver()
    table.close()
    assert link.stop()[0] == 0
