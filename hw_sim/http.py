"""The simulator's HTTP API on 127.0.0.1 (docs/protocols/simulator.md, section 4).

The standard library's server runs in a thread; every request is handed to the simulator's own loop,
so the table is only ever touched there. Any web page in a browser of this machine can send requests
to this port: a request counts only if it names this server as its host, comes from no other origin,
and says that its body is JSON, which a page cannot do without asking first.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

MAX_BODY: Final = 65_536
SLOW_S: Final = 10
"""A client that neither sends nor takes anything for so long is left."""
STEP_S: Final = 1_800
"""Longest step that is waited for; every step ends earlier by itself."""
CONNECTIONS: Final = 32
JSON: Final = "application/json"
Body = Mapping[str, object]
"""A JSON object; what is in it is checked by the one who reads it."""
Answer = tuple[int, Body]
Handle = Callable[[str, str, Body], Awaitable[Answer]]
"""(method, path, body) to (status, answer)."""


class RequestRefused(Exception):
    """A request that is not looked at any further: its answer."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.answer: Answer = (status, {"error": why})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = CONNECTIONS

    def __init__(self, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__(("127.0.0.1", port), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or no thread for it: nothing that the table should show."""


class ControlServer:
    def __init__(self, port: int, handle: Handle, loop: asyncio.AbstractEventLoop) -> None:
        self._handle = handle
        self._loop = loop
        control = self

        class Request(BaseHTTPRequestHandler):
            timeout = SLOW_S

            def do_GET(self) -> None:
                control.serve(self, with_body=False)

            def do_POST(self) -> None:
                control.serve(self, with_body=True)

            def log_message(self, *_arguments: object) -> None:
                """Quiet: the terminal belongs to the table."""

        self._server = _Server(port, Request)
        self._port = self._server.server_address[1]
        self.address = f"http://127.0.0.1:{self._port}"
        threading.Thread(target=self._server.serve_forever, name="http", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve(self, request: BaseHTTPRequestHandler, *, with_body: bool) -> None:
        try:
            self._check_source(request)
            body: Body = _body(request) if with_body else {}
            answer = self._ask(request.command, request.path, body)
        except RequestRefused as refused:
            answer = refused.answer
            request.close_connection = True
        _reply(request, answer)

    def _ask(self, method: str, path: str, body: Body) -> Answer:
        async def handled() -> Answer:
            return await self._handle(method, path, body)

        try:
            return asyncio.run_coroutine_threadsafe(handled(), self._loop).result(STEP_S)
        except (CancelledError, RuntimeError, TimeoutError):
            raise RequestRefused(503, "the simulator has stopped") from None

    def _check_source(self, request: BaseHTTPRequestHandler) -> None:
        """A page of another site must not reach the table: neither directly nor by a name of its
        own that it lets point here."""
        ours = [f"127.0.0.1:{self._port}", f"localhost:{self._port}"]
        hosts = request.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0].strip().lower() not in ours:
            raise RequestRefused(421, f"Host {hosts!r}: expected {' or '.join(ours)}")
        for origin in request.headers.get_all("Origin") or []:
            if origin.strip().lower() not in [f"http://{host}" for host in ours]:
                raise RequestRefused(403, f"Origin {origin!r}: expected none, or http://{ours[0]}")


def _body(request: BaseHTTPRequestHandler) -> Body:
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise RequestRefused(415, f"Content-Type {kind!r}: expected {JSON}")
    if request.headers.get("Transfer-Encoding"):
        raise RequestRefused(411, "Transfer-Encoding: expected a Content-Length instead")
    lengths = request.headers.get_all("Content-Length") or []
    if len(lengths) != 1 or not lengths[0].isdecimal() or not lengths[0].isascii():
        raise RequestRefused(411, f"Content-Length {lengths!r}: expected one, a number of bytes")
    if len(lengths[0]) > 9 or int(lengths[0]) > MAX_BODY:
        raise RequestRefused(413, f"Content-Length {lengths[0][:20]}: at most {MAX_BODY}")
    try:
        data = request.rfile.read(int(lengths[0]))
    except TimeoutError:
        raise RequestRefused(408, f"the body did not come within {SLOW_S} s") from None
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise RequestRefused(400, "the body is not JSON") from None
    if not isinstance(body, dict):
        raise RequestRefused(400, "the body is not a JSON object")
    return body


def _reply(request: BaseHTTPRequestHandler, answer: Answer) -> None:
    status, content = answer
    data = json.dumps(content).encode() + b"\n"
    try:
        request.send_response(status)
        request.send_header("Content-Type", f"{JSON}; charset=utf-8")
        request.send_header("Content-Length", str(len(data)))
        request.send_header("X-Content-Type-Options", "nosniff")
        request.end_headers()
        request.wfile.write(data)
    except (TimeoutError, OSError):
        request.close_connection = True  # the client is gone; what it asked for is done
