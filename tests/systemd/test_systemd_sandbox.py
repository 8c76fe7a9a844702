"""ZeroMQ and the daemons themselves, each under the kernel filters of its own unit."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.service import ask
from controller.floor.house import House
from tests.systemd.sandbox import command
from tests.systemd.tools import ROOT, SYSTEMD

UNITS = SYSTEMD / "system"
TABLE = UNITS / "underfelt-table@.service"
LOCKED = UNITS / "underfelt-locked@.service"
LINK = UNITS / "underfelt-link.service"
LIMIT_S = 120
"""Only so that a hang ends; nothing is measured."""

CONNECT = """
import sys, zmq
context = zmq.Context()
public, secret = zmq.curve_keypair()
for endpoint in sys.argv[1:]:
    peer = context.socket(zmq.DEALER)
    peer.curve_serverkey = peer.curve_publickey = public
    peer.curve_secretkey = secret
    peer.connect(endpoint)
    peer.close(0)
context.term()
print("connected")
"""
BIND = """
import zmq
context = zmq.Context()
server, client = context.socket(zmq.ROUTER), context.socket(zmq.DEALER)
for one in (server, client):
    one.rcvtimeo = one.linger = 60_000
server.bind("tcp://127.0.0.1:*")
client.connect(server.last_endpoint.decode())
client.send(b"event")
print(server.recv_multipart()[1].decode())
"""


def in_sandbox(unit: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(unit, sys.executable, "-c", code, *arguments), cwd=ROOT, capture_output=True,
        text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip


def test_a_server_binds_and_hears_under_the_filters_of_the_link() -> None:
    done = in_sandbox(LINK, BIND)
    assert (done.returncode, done.stdout, done.stderr) == (0, "event\n", "")


@pytest.mark.parametrize("unit", [TABLE, LINK], ids=lambda unit: unit.name)
def test_a_table_connects_by_address_and_by_name(unit: Path) -> None:
    done = in_sandbox(unit, CONNECT, "tcp://127.0.0.1:9", "tcp://localhost:9", "tcp://[::1]:9")
    assert (done.returncode, done.stdout, done.stderr) == (0, "connected\n", "")


@pytest.mark.parametrize(
    ("line", "kept", "program"),
    [
        ("SystemCallFilter=sched_setscheduler\n", "", CONNECT),
        (" AF_NETLINK", "", BIND),
        ("SystemCallFilter=@system-service\n", "SystemCallFilter=@default\n", CONNECT),
    ],
    ids=["no sched_setscheduler", "no AF_NETLINK", "no sockets"],
)
def test_the_filters_bite(line: str, kept: str, program: str, tmp_path: Path) -> None:
    """Without any one of these lines of the unit the same programs fail."""
    text = LINK.read_text("utf-8")
    assert line in text
    unit = tmp_path / LINK.name
    unit.write_text(text.replace(line, kept), "utf-8")
    assert in_sandbox(unit, program, "tcp://127.0.0.1:9").returncode != 0


@pytest.mark.parametrize("unit", [TABLE, LOCKED, LINK], ids=lambda unit: unit.name)
def test_what_the_unit_forbids_stays_forbidden(unit: Path) -> None:
    """A realtime policy, a raw socket, writable code; each with the error the unit names."""
    code = """
import errno, mmap, os, socket
def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "allowed"
print(refused(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1)),
      refused(socket.socket, socket.AF_PACKET, socket.SOCK_RAW),
      refused(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)),
      refused(os.chroot, "/"))
"""
    done = in_sandbox(unit, code)
    assert done.stdout.split() == ["EPERM", "EAFNOSUPPORT", "EPERM", "EPERM"], done.stderr


class Services:
    """The daemons of one linked table, started as systemd starts them."""

    def __init__(self, folder: Path) -> None:
        self.house = House(folder / "d", ("mbs3",))
        self.home = self.house.table("mbs3")
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, unit: Path | None, *arguments: str) -> subprocess.Popen[bytes]:
        program = [sys.executable, "-m", "controller.cli", *arguments]
        with (self._folder / f"{name}.log").open("wb") as log:
            made = subprocess.Popen(
                command(unit, *program) if unit else program, cwd=ROOT,
                env={**os.environ, "NOTIFY_SOCKET": str(self._folder / f"{name}.notify")},
                stdout=log, stderr=log,
            )  # fmt: skip
        self._running.append(made)
        return made

    def service(self, name: str, unit: Path, *arguments: str) -> subprocess.Popen[bytes]:
        """``Type=notify``: it is started when it says READY=1."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
            heard.bind(str(self._folder / f"{name}.notify"))
            heard.settimeout(0.1)
            made = self.start(name, unit, *arguments)

            def ready() -> bool:
                try:
                    return b"READY=1" in heard.recv(4096)
                except TimeoutError:
                    return False

            self.until(ready, f"{name} ready")
        return made

    def until(self, seen: Callable[[], Any], what: str) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not seen():
            ended = [one.args for one in self._running if one.poll() is not None]
            if ended or time.monotonic() > deadline:
                said = {path.name: path.read_text() for path in self._folder.glob("*.log")}
                raise AssertionError(f"never {what}: {ended} {said}")
            time.sleep(0.05)

    def linked(self) -> bool:
        """Does the table say that its link is up?"""
        try:
            return ask(self.home / "service.sock", "status").get("link_up") is True
        except (OSError, ValueError):
            return False

    def stop(self, one: subprocess.Popen[bytes]) -> int:
        self._running.remove(one)
        one.terminate()
        return one.wait(LIMIT_S)

    def close(self) -> None:
        for one in reversed(self._running):
            one.terminate()
            try:
                one.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = Services(tmp_path)
    yield made
    made.close()


def test_link_server_table_and_locked_mode_run_under_their_own_filters(services: Services) -> None:
    house, home = services.house, services.home
    house.begin()
    server = services.service("link", LINK, "link", "--config", str(house.config))
    services.start("sim", None, "sim", "--game", "MBS3", "--run", str(home))
    services.until((home / "control").exists, "a simulator")
    house.finish()
    config = home / "table.toml"
    table = services.service("table", TABLE, "table", "--config", str(config))
    services.until(services.linked, "a link that is up")
    assert services.stop(table) == 0
    locked = services.service("locked", LOCKED, "table", "--locked", "--config", str(config))
    assert (server.poll(), locked.poll()) == (None, None)
