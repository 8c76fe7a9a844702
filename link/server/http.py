"""Metrics and health over HTTP, for the monitoring on this machine. Off unless configured.

``/metrics`` for Prometheus; ``/health`` is 200 while the loop answers; ``/leading`` is 200 at the
leader and 503 at a standby, for whoever must find it.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from link.server.bridge import Bridge
from link.server.doors import DoorError
from link.server.metrics import metrics


class Http:
    def __init__(self, address: str, port: int, bridge: Bridge) -> None:
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

        try:
            self._server = ThreadingHTTPServer((address, port), Handler)
        except OSError as error:
            said = f"http: {address} port {port}: {error.strerror}"
            raise DoorError("E-LNK-040", said, 71) from None
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, name="http", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


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
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return 0
