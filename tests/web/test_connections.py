"""Connections that send nothing, or too slowly, take no place from people."""

from __future__ import annotations

import resource
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S
from tests.web.browser import Web, until
from tests.web.conftest import written
from tests.web.servers import Followed
from web import server

SMALL = "import sys; from web import server; server.ROOM, server.REQUEST_S, server.STUCK_S = {}; "
RUN = "from web.main import run; sys.exit(run(sys.argv[1:]))"
MANY = 40
BEGUN = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Filler: "
WITH_BODY = b"GET /healthz HTTP/1.1\r\nHost: %s\r\nContent-Length: 60000\r\n\r\n"


class Small(Web):
    """With few places and these times."""

    def __init__(self, config: Path, room: int, request_s: float, stuck_s: float = 600) -> None:
        code = SMALL.format((room, request_s, stuck_s)) + RUN
        self.command = (sys.executable, "-P", "-c", code)
        super().__init__(config)

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.netloc.rpartition(":")
        return host, int(port)


@contextmanager
def small(folder: Path, *, room: int, request_s: float, stuck_s: float = 600) -> Iterator[Any]:
    link = Followed(folder / "link.sock")
    link.update(meters=[])
    config = written(folder, login=False, more="most_streams = 2")
    web = Small(config, room, request_s, stuck_s)
    until(lambda: bool(web.get("/api/v1/feeds").json()["feeds"][0]["feed"]))
    try:
        yield web, link
    finally:
        assert web.stop() == 0, web.log.read_text()
        link.close()


def ended(one: socket.socket) -> bool:
    """The server has closed it; waits for that."""
    one.settimeout(PATIENCE_S)
    try:
        while one.recv(65_536):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("sent", [b"", b"G", BEGUN, WITH_BODY, b"\x16\x03\x01"])
def test_silent_connections_take_no_place_from_people(tmp_path: Path, sent: bytes) -> None:
    """No deadline passes here: who has waited longest makes room."""
    with small(tmp_path, room=6, request_s=600) as (web, link):
        events = web.events("link")
        found = events.changes()
        next(found)
        silent = [socket.create_connection(web.address, PATIENCE_S) for _ in range(MANY)]
        for one in silent:
            with suppress(ConnectionError):
                one.sendall(sent.replace(b"%s", web.netloc.encode()))
            assert web.get("/healthz").status == 200
        link.note(said="to all")
        assert next(found)["log"][0]["said"] == "to all"
        assert all(ended(one) for one in silent[: MANY - 8])
        for one in silent:
            one.close()
        events.close()


@pytest.mark.parametrize("sent", [b"", BEGUN, WITH_BODY])
def test_a_request_that_never_ends_is_cut(tmp_path: Path, sent: bytes) -> None:
    """Few, so that only the deadline ends them; one that trickles is not younger for it."""
    with small(tmp_path, room=20, request_s=3) as (web, _):
        events = web.events("link")
        found = iter(events)
        next(found)
        connections = [socket.create_connection(web.address, PATIENCE_S) for _ in range(3)]
        for one in connections:
            one.sendall(sent.replace(b"%s", web.netloc.encode()))
        stopped = threading.Event()

        def trickle() -> None:
            with suppress(OSError):
                while sent and not stopped.wait(0.05):
                    connections[0].sendall(b"x")

        thread = threading.Thread(target=trickle)
        thread.start()
        assert all(ended(one) for one in connections)
        stopped.set()
        thread.join()
        assert [next(found)[0] for _ in range(2)] == ["beat", "beat"], "a stream has no deadline"
        for one in connections:
            one.close()
        events.close()


def test_a_second_request_has_a_deadline_too(tmp_path: Path) -> None:
    with small(tmp_path, room=20, request_s=3) as (web, _):
        one = socket.create_connection(web.address, PATIENCE_S)
        ask = f"GET /healthz HTTP/1.1\r\nHost: {web.netloc}\r\n\r\n".encode()
        for _ in range(3):
            one.sendall(ask)
            said = b""
            while not said.endswith(b"}"):
                part = one.recv(65_536)
                assert part
                said += part
        one.sendall(ask[:20])
        assert ended(one)
        one.close()


def test_a_browser_that_takes_no_answer_is_left(tmp_path: Path) -> None:
    with small(tmp_path, room=20, request_s=600, stuck_s=1) as (web, _):
        one = socket.socket()
        one.settimeout(PATIENCE_S)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        one.connect(web.address)
        ask = f"GET /api/v1/openapi.json HTTP/1.1\r\nHost: {web.netloc}\r\n\r\n".encode()
        one.sendall(ask * 200)

        def left() -> bool:
            try:
                one.sendall(b"x")
            except OSError:
                return True
            return False

        until(left)
        one.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=floor"
    command = ["openssl", *made.split(), "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("handshake", [False, True], ids=["silent", "after the handshake"])
@pytest.mark.parametrize("request_s", [3, 600])
def test_tls_handshakes_count_and_end(
    tmp_path: Path, certificate: Path, request_s: float, handshake: bool
) -> None:
    path = tmp_path / "web.toml"
    pair = f'certificate = "{certificate / "cert.pem"}"\nkey = "{certificate / "key.pem"}"'
    path.write_text(f'[web]\nlisten = "127.0.0.1:0"\nlogin = false\nmost_streams = 2\n{pair}\n')
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    class Secure(Small):
        def get(self, path: str, _headers: Any = None) -> Any:
            with context.wrap_socket(socket.create_connection(self.address, PATIENCE_S)) as asked:
                asked.sendall(f"GET {path} HTTP/1.0\r\nHost: {self.netloc}\r\n\r\n".encode())
                self.said = asked.recv(65_536)
            return type("Reply", (), {"status": int(self.said.split()[1])})

    web = Secure(path, 6, request_s)
    wrap: Callable[[socket.socket], socket.socket] = context.wrap_socket if handshake else _as_it_is
    silent = [wrap(socket.create_connection(web.address, PATIENCE_S)) for _ in range(MANY)]
    assert web.get("/healthz").status == 200
    left = 8 if request_s > 1 else 0
    assert all(ended(one) for one in silent[: MANY - left])
    assert web.get("/healthz").status == 200
    for one in silent:
        one.close()
    assert web.stop() == 0, web.log.read_text()


def _as_it_is(one: socket.socket) -> socket.socket:
    return one


def test_sources_keep_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    def limit(files: int) -> None:
        monkeypatch.setattr(resource, "getrlimit", lambda _which: (files, files))

    limit(8_192)  # of the unit, with as many streams and tables as can be configured
    assert server.most_connections(5_000, 201) == 6_250 + server.ROOM
    limit(1_024)
    assert server.most_connections(500, 2) == 825
    assert server.streams_in(825, 500) == 500
    assert server.most_connections(5_000, 100) == 1_024 - 200 - server.KEPT
    assert server.streams_in(760, 5_000) == 448, "and 112 public ones"
    limit(resource.RLIM_INFINITY)
    assert server.most_connections(5_000, 100) == 6_250 + server.ROOM
