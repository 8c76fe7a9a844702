"""Small real servers that speak the documented protocols: what the web process follows.

``Followed`` is a unix socket like those of table and link server, ``Simulated`` an HTTP server like
the simulator's. Each counts what it was asked.
"""

from __future__ import annotations

import json
import secrets
import socket
import socketserver
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from record.kit.feed import Feed
from record.kit.lines import line_of, no_such_verb, refusal

PASSWORDS = {"k.lee": "correct horse", "m.ng": "battery staple"}
ROLES = {"k.lee": "supervisor", "m.ng": "manager"}


class Source:
    """A feed that threads wait for."""

    def __init__(self, longest: int = 50) -> None:
        self.feed = Feed(secrets.token_hex(8), longest)
        self._longest = longest
        self._changed = threading.Condition()
        self.asked: list[dict[str, Any]] = []
        self.waiting = 0
        self.most_waiting = 0
        self.closed = False

    def update(self, **parts: Any) -> None:
        with self._changed:
            self.feed.update(parts)
            self._changed.notify_all()

    def replace(self, **parts: Any) -> None:
        """Another feed, with these parts only."""
        with self._changed:
            self.feed = Feed(secrets.token_hex(8), self._longest)
            self.feed.update(parts)
            self._changed.notify_all()

    def note(self, **entry: Any) -> None:
        with self._changed:
            self.feed.note(entry)
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def changes(self, request: Mapping[str, Any]) -> dict[str, Any]:
        feed, after = str(request["feed"]), int(request["after"])
        until_s = time.monotonic() + int(request["wait_ms"]) / 1_000
        with self._changed:
            self.waiting += 1
            self.most_waiting = max(self.most_waiting, self.waiting)
            while not self.feed.newer(feed, after) and not self.closed:
                left_s = until_s - time.monotonic()
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
            self.waiting -= 1
            return {**self.feed.since(feed, after), "at_ms": time.time_ns() // 1_000_000}


class Followed(Source):
    """Of the verbs of people: ``password`` and ``order``, with two accounts."""

    def __init__(self, path: Path, longest: int = 50) -> None:
        super().__init__(longest)
        self.path = path
        self.connections = 0
        self.open: list[socket.socket] = []
        self.orders: list[dict[str, Any]] = []
        self.rows: list[dict[str, Any]] = []
        owner = self

        class Talk(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                owner.connections += 1
                owner.open.append(self.connection)
                try:
                    for line in self.rfile:
                        self.wfile.write(line_of(owner.answer(json.loads(line))))
                except OSError:
                    pass

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True

            def handle_error(self, *_about: Any) -> None:
                pass

        path.unlink(missing_ok=True)
        self._server = Server(str(path), Talk)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, request: dict[str, Any]) -> Mapping[str, Any]:
        verb = request["verb"]
        if verb == "changes":
            self.asked.append(request)
            return self.changes(request)
        if verb == "password":
            self.asked.append(request)
            if PASSWORDS.get(request["name"]) != request["password"]:
                return refusal("E-ACT-001", "wrong account or password")
            answer = {"ok": True, "name": request["name"], "role": ROLES[request["name"]]}
            return {**answer, "change": 7}
        if verb == "order":
            return self._order(request)
        if verb == "rows":
            self.asked.append(request)
            return {"rows": self.rows, "next": 0}
        return no_such_verb(verb, ("changes", "password", "order", "rows"))

    def _order(self, request: dict[str, Any]) -> Mapping[str, Any]:
        self.asked.append(request)
        if any(PASSWORDS.get(name) != password for name, password in request["by"]):
            return refusal("E-ACT-001", "wrong account or password")
        self.orders.append(request["order"])
        return {"ok": True}

    def close(self) -> None:
        """As when its process ends: the connections too."""
        self._server.shutdown()
        for connection in self.open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.stop()
        self._server.server_close()
        self.path.unlink(missing_ok=True)


class Simulated(Source):
    def __init__(self, file: Path) -> None:
        super().__init__()
        self.done: list[str] = []
        self.counts: Counter[str] = Counter()
        owner = self

        class Talk(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                at = urlsplit(self.path)
                owner.counts[at.path] += 1
                if at.path == "/changes":
                    asked = {name: found[0] for name, found in parse_qs(at.query, True).items()}
                    self._say(200, owner.changes(asked))
                elif at.path == "/verbs":
                    jam = {"verb": "jam", "group": "cards", "title": "Jam", "arguments": ["[off]"]}
                    self._say(200, {"verbs": [jam]})
                else:
                    self._say(404, {"error": "expected another path"})

            def do_POST(self) -> None:
                assert self.headers["Content-Type"] == "application/json"
                said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["do"]
                owner.done.append(f"{self.path} {said}")
                known = said in ("press OPEN", "jam")
                self._say(200 if known else 400, {"ok": True} if known else {"error": "no step"})

            def _say(self, status: int, answer: Mapping[str, Any]) -> None:
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_about: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_about: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Talk)
        file.write_text(f"http://127.0.0.1:{self._server.server_address[1]}\n")
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.stop()
        self._server.shutdown()
        self._server.server_close()
