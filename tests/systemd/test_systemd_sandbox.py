"""ZeroMQ and the daemons themselves, each under the kernel filters of its own unit."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S
from tests.systemd.sandbox import command
from tests.systemd.services import LINK, LOCKED, TABLE, WEB, Services
from tests.systemd.tools import ROOT

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
        text=True, check=False, timeout=PATIENCE_S,
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


@pytest.mark.parametrize("unit", [TABLE, LOCKED, LINK, WEB], ids=lambda unit: unit.name)
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


REPORTS = ("api/v1/reports/day", "api/v1/reports/pool", "api/v1/tables/mbs3/rounds")
"""Each is a command of ours that the web process starts."""


def got(address: str, path: str) -> Any:
    """The JSON at this path; None if it is refused."""
    try:
        with urllib.request.urlopen(f"{address}{path}", timeout=PATIENCE_S) as answer:
            return json.load(answer)
    except OSError:
        return None


def test_the_web_process_does_not_listen_without_its_address_families(tmp_path: Path) -> None:
    config = tmp_path / "web.toml"
    config.write_text('[web]\nlisten = "127.0.0.1:0"\nlogin = false\n')
    text, kept = WEB.read_text("utf-8"), " AF_INET AF_INET6"
    assert kept in text
    unit = tmp_path / WEB.name
    unit.write_text(text.replace(kept, ""), "utf-8")
    words = ("-m", "controller.cli", "web", "--config", str(config))
    done = subprocess.run(
        command(unit, sys.executable, *words), cwd=ROOT, capture_output=True, text=True,
        check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert (done.returncode != 0, done.stdout) == (True, "")


def test_the_daemons_run_under_their_own_filters(services: Services) -> None:
    """Link server, table, web process with the commands behind its reports, and locked mode."""
    house, home = services.house, services.home
    house.begin()
    server = services.service("link", LINK, "link", "--config", str(house.config))
    cable = ("--link-cable", house.endpoint("tables"))
    services.start("sim", None, "sim", "--game", "MBS3", "--run", str(home), *cable)
    services.until((home / "control").exists, "a simulator")
    house.finish()
    config = home / "table.toml"
    table = services.service("table", TABLE, "table", "--config", str(config))
    services.until(services.linked, "a link that is up")
    address = house.write_web(0)
    web = services.service("web", WEB, "web", "--config", str(house.web))
    services.until(lambda: got(address, "readyz") is not None, "a web process with all its sources")
    for path in REPORTS:
        assert got(address, path), path
    assert services.stop(web) == 0
    assert services.stop(table) == 0
    locked = services.service("locked", LOCKED, "table", "--locked", "--config", str(config))
    assert (server.poll(), locked.poll()) == (None, None)
