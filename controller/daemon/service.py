"""The daemon's socket: one JSON request per line, one answer; nothing here can move money.

Who asks is known from the socket itself (SO_PEERCRED); the file's mode decides who may connect.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

LONGEST: Final = 65_536
MODE: Final = 0o660
BACKLOG: Final = 1
"""Without a free descriptor asyncio tries again a second later, as often as this says each time:
with more than one its tracebacks multiply."""
Verb = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def peer_of(connection: socket.socket) -> tuple[int, int, int]:
    """(pid, uid, gid) of the other end."""
    size = struct.calcsize("3i")
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, uid, gid = struct.unpack("3i", found)
    return pid, uid, gid


class Service:
    def __init__(self, path: Path, verbs: Mapping[str, Verb]) -> None:
        self.path = path
        self._verbs = verbs
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(
            self._serve, self.path, limit=LONGEST, backlog=BACKLOG
        )
        os.chmod(self.path, MODE)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self.path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(json.dumps(self._answer(line)).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError, asyncio.CancelledError):
            pass  # gone, or a line without end
        finally:
            writer.close()

    def _answer(self, line: bytes) -> Mapping[str, Any]:
        try:
            request = json.loads(line)
        except ValueError:
            return {"error": "E-SVC-001", "text": "a request is one JSON object per line"}
        verb = request.get("verb") if isinstance(request, dict) else None
        found = self._verbs.get(verb) if isinstance(verb, str) else None
        if found is None:
            known = ", ".join(sorted(self._verbs))
            return {"error": "E-SVC-002", "text": f"{verb!r}: no such verb; expected {known}"}
        return found(request)


def ask(path: Path, verb: str, timeout_s: float = 5.0) -> dict[str, Any]:
    """One request, for commands; OSError if nobody listens."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout_s)
        connection.connect(str(path))
        connection.sendall(json.dumps({"verb": verb}).encode() + b"\n")
        with connection.makefile("rb") as stream:
            answer = json.loads(stream.readline() or b"{}")
    return answer if isinstance(answer, dict) else {}
