"""Metrics and health over HTTP, for the monitoring on this machine. Off unless configured.

``/metrics`` for Prometheus; ``/health`` is 200 while the loop answers; ``/leading`` is 200 at the
leader and 503 at a standby, for programs that must find it.
"""

from __future__ import annotations

import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from link.server.bridge import Bridge
from link.server.log import Log
from link.server.metrics import metrics
from link.server.replies import MetersReply, StatusReply
from link.server.requests import Meters, Status
from record.kit.http import PROMETHEUS, Answer, encoded
from record.kit.process import resident_bytes

NO_PORT: Final = "E-LNK-049"
AGAIN_S: Final = 5.0


class Http:
    """A port that is in use is no reason to stop: it is reported (``trouble``) and tried again."""

    def __init__(self, address: str, port: int, bridge: Bridge, log: Log | None = None) -> None:
        self._at, self._bridge, self._log = (address, port), bridge, log or Log()
        self._closing = threading.Event()
        self._started = False
        self._server: ThreadingHTTPServer | None = None
        self.trouble = ""
        """Why nobody can be answered; empty while somebody can."""
        self._bind()

    @property
    def port(self) -> int:
        return self._at[1] if self._server is None else int(self._server.server_address[1])

    def _bind(self) -> ThreadingHTTPServer | None:
        try:
            made = self._server = ThreadingHTTPServer(self._at, handler(self._bridge))
        except OSError as error:
            address, port = self._at
            self.trouble = f"http: {address} port {port}: {error.strerror}; metrics are not served"
            return None
        made.daemon_threads = True
        self.trouble = ""
        return made

    def start(self) -> None:
        if self.trouble:
            self._log.error(self.trouble, fault_code=NO_PORT)
        self._started = True
        threading.Thread(target=self._serve, name="http", daemon=True).start()

    def _serve(self) -> None:
        server = self._server
        while server is None:
            if self._closing.wait(AGAIN_S):
                return
            server = self._bind()
            if server is not None:
                self._log.info(f"http: serving on port {self.port}")
        server.serve_forever()

    def close(self) -> None:
        self._closing.set()
        if self._server is not None:
            if self._started:  # shutdown waits for a loop that has begun
                self._server.shutdown()
            self._server.server_close()


def handler(bridge: Bridge) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            self.wfile.write(encoded(answer(self.path, bridge)))

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: a scrape every few seconds is no news."""

    return Handler


def answer(path: str, bridge: Bridge) -> Answer:
    if path not in ("/metrics", "/health", "/leading"):
        return Answer(HTTPStatus.NOT_FOUND, "expected /metrics, /health or /leading\n")
    try:
        status = bridge.ask(Status(), timeout_s=3.0)
        if not isinstance(status, StatusReply):
            return Answer(HTTPStatus.SERVICE_UNAVAILABLE, "no status\n")
        word = "leading\n" if status.leading else "standing by\n"
        if path == "/health":
            alarms = "".join(f"ALARM: {text}\n" for text in status.standing)
            return Answer(HTTPStatus.OK, word + alarms)
        if path == "/leading":
            leads = HTTPStatus.OK if status.leading else HTTPStatus.SERVICE_UNAVAILABLE
            return Answer(leads, word)
        found = bridge.ask(Meters(), timeout_s=3.0)
        meters = found.meters if isinstance(found, MetersReply) else []
        return Answer(HTTPStatus.OK, metrics(status, meters, resident_bytes()), PROMETHEUS)
    except (TimeoutError, ConnectionError):
        return Answer(HTTPStatus.SERVICE_UNAVAILABLE, "the loop does not answer\n")
