"""Metrics and health over HTTP, for the monitoring on this machine. Off unless configured.

``/metrics`` for Prometheus; ``/health`` is 200 while the loop answers; ``/leading`` is 200 at the
leader and 503 at a standby, for whoever must find it.
"""

from __future__ import annotations

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from link.server.bridge import Bridge
from link.server.log import Log
from link.server.metrics import metrics

NO_PORT: Final = "E-LNK-049"
AGAIN_S: Final = 5.0


class Http:
    """A port that is in use is no reason to stop: it is reported (``trouble``) and tried again."""

    def __init__(self, address: str, port: int, bridge: Bridge, log: Log | None = None) -> None:
        self._at, self._bridge, self._log = (address, port), bridge, log or Log()
        self._closing = threading.Event()
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
            self._server.shutdown()
            self._server.server_close()


def handler(bridge: Bridge) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            code, text = answer(self.path, bridge)
            data = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: a scrape every few seconds is no news."""

    return Handler


def answer(path: str, bridge: Bridge) -> tuple[int, str]:
    if path not in ("/metrics", "/health", "/leading"):
        return 404, "expected /metrics, /health or /leading\n"
    try:
        status = bridge.ask("status", timeout_s=3.0)
        if path == "/health":
            word = "leading\n" if status["leading"] else "standing by\n"
            return 200, word + "".join(f"ALARM: {text}\n" for text in status["standing"])
        if path == "/leading":
            return (200, "leading\n") if status["leading"] else (503, "standing by\n")
        return 200, metrics(status, bridge.ask("meters", timeout_s=3.0), resident_bytes())
    except (TimeoutError, ConnectionError):
        return 503, "the loop does not answer\n"


def resident_bytes() -> int:
    """From the kernel; 0 where it does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
