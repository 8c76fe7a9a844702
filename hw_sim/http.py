"""The simulator's HTTP API on 127.0.0.1 (docs/protocols/simulator.md, section 4).

The standard library's server runs in a thread; every request is handed to the simulator's own loop,
so the table is only ever touched there.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

MAX_BODY: Final = 65_536
Answer = tuple[int, dict[str, Any]]
Handle = Callable[[str, str, dict[str, Any]], Answer]
"""(method, path, body) to (status, answer)."""


class ControlServer:
    def __init__(self, port: int, handle: Handle, loop: asyncio.AbstractEventLoop) -> None:
        self._handle = handle
        self._loop = loop
        control = self

        class Request(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                control.serve(self, {})

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                if length > MAX_BODY:
                    control.reply(self, (413, {"error": f"at most {MAX_BODY} bytes"}))
                    return
                try:
                    body = json.loads(self.rfile.read(length) or b"{}")
                except ValueError:
                    control.reply(self, (400, {"error": "the body is not JSON"}))
                    return
                if not isinstance(body, dict):
                    control.reply(self, (400, {"error": "the body is not a JSON object"}))
                    return
                control.serve(self, body)

            def log_message(self, *_arguments: object) -> None:
                """Quiet: the terminal belongs to the table."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Request)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, name="http", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        async def ask() -> Answer:
            return self._handle(request.command, request.path, body)

        self.reply(request, asyncio.run_coroutine_threadsafe(ask(), self._loop).result(10))

    @staticmethod
    def reply(request: BaseHTTPRequestHandler, answer: Answer) -> None:
        status, content = answer
        data = json.dumps(content, ensure_ascii=False).encode() + b"\n"
        request.send_response(status)
        request.send_header("Content-Type", "application/json; charset=utf-8")
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)
