"""The web process as a real process, and a client that speaks plain HTTP to it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.patience import PATIENCE_S


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        assert self.headers["content-type"] == "application/problem+json", self
        row = self.json()
        assert set(row) == {"type", "title", "status", "detail", "code"}
        assert (row["status"], row["type"]) == (self.status, f"urn:underfelt:{row['code']}")
        return str(row["code"])


class Web:
    """``underfelt web`` with this configuration; ``port`` 0 picks one."""

    command: Sequence[str] = (sys.executable, "-P", "-m", "controller.cli", "web")

    def __init__(self, config: Path, stderr: int | None = None) -> None:
        self.config = config
        self.log = config.with_suffix(".log")
        self.start(stderr)

    def start(self, stderr: int | None = None) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.command, "--config", str(self.config)],
                stdout=subprocess.PIPE,
                stderr=log if stderr is None else stderr,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode().strip()
        assert line, self.log.read_text()
        self.netloc = urlsplit(line).netloc
        until(lambda: self.get("/healthz").status == 200)

    def stop(self, how: int = signal.SIGTERM) -> int:
        os.kill(self.process.pid, how)
        assert self.process.stdout is not None
        with self.process.stdout:
            return self.process.wait(PATIENCE_S)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        raw: bytes | None = None,
    ) -> Reply:
        connection = http.client.HTTPConnection(self.netloc, timeout=PATIENCE_S)
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} if data is not None else {}
        try:
            connection.request(method, path, data, {**sent, **(headers or {})})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())
        finally:
            connection.close()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Reply:
        try:
            return self.ask("GET", path, headers=headers)
        except ConnectionRefusedError:
            return Reply(0, {}, b"")

    def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Reply:
        return self.ask("POST", path, body, headers)

    def signed_in(self, name: str = "k.lee", password: str = "correct horse") -> dict[str, str]:
        reply = self.post("/api/v1/session", {"name": name, "password": password})
        assert reply.status == 200, reply
        return {"Cookie": reply.headers["set-cookie"].partition(";")[0]}

    def events(
        self, feeds: str, last: str = "", headers: Mapping[str, str] | None = None
    ) -> Events:
        return Events(self.netloc, feeds, last, headers or {})


class Events:
    """An EventSource: reads events, and knows the last id."""

    def __init__(
        self, netloc: str, feeds: str, last: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        self.last = last
        self._connection = http.client.HTTPConnection(netloc, timeout=PATIENCE_S)
        sent = {**(headers or {}), **({"Last-Event-ID": last} if last else {})}
        self._connection.request("GET", f"/api/v1/events?feeds={feeds}", headers=sent)
        self.answer = self._connection.getresponse()

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Kind and data."""
        kind, data = "message", ""
        for raw in self.answer:
            line = raw.decode().rstrip("\n")
            field, _, value = line.partition(": ")
            if not line:
                if data:
                    yield kind, json.loads(data)
                kind, data = "message", ""
            elif field == "id":
                self.last = value
            elif field == "event":
                kind = value
            elif field == "data":
                data += value

    def changes(self) -> Iterator[Any]:
        return (data for kind, data in self if kind == "changes")

    def close(self) -> None:
        self.answer.close()
        self._connection.close()


def until(true: Callable[[], bool], seen: Callable[[], object] = str) -> None:
    """``seen``: what a failure says."""
    end_s = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end_s, ("it never came true", seen())
        time.sleep(0.02)
