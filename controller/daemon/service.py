"""The daemon's socket: one JSON request per line, one answer; nothing here can move money.

Who asks is known from the socket itself (SO_PEERCRED); the file's mode decides who may connect.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

LONGEST: Final = 65_536
MODE: Final = 0o660
BACKLOG: Final = 1
"""Without a free descriptor asyncio tries again a second later, as often as this says each time:
with more than one its tracebacks multiply."""
Verb = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Peer(NamedTuple):
    """The other end of a connection; ``number`` names the connection itself."""

    uid: int
    number: int


Attended = Callable[[Mapping[str, Any], Peer], Awaitable[Mapping[str, Any]]]
"""A verb that must know who asks, and may take its time."""


def peer_of(connection: socket.socket) -> tuple[int, int, int]:
    """(pid, uid, gid) of the other end."""
    size = struct.calcsize("3i")
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, uid, gid = struct.unpack("3i", found)
    return pid, uid, gid


class Service:
    """``left`` hears of every connection that ends."""

    def __init__(
        self,
        path: Path,
        verbs: Mapping[str, Verb],
        attended: Mapping[str, Attended] | None = None,
        left: Callable[[Peer], None] = lambda _peer: None,
    ) -> None:
        self.path = path
        self._verbs, self._attended, self._left = verbs, attended or {}, left
        self._numbers = count(1)
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
        _, uid, _ = peer_of(writer.get_extra_info("socket"))
        peer = Peer(uid, next(self._numbers))
        try:
            while line := await reader.readline():
                writer.write(json.dumps(await self._answer(line, peer)).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError, asyncio.CancelledError):
            pass  # gone, or a line without end
        finally:
            writer.close()
            self._left(peer)

    async def _answer(self, line: bytes, peer: Peer) -> Mapping[str, Any]:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            return {"error": "E-SVC-001", "text": "a request is one JSON object per line"}
        verb = request.get("verb") if isinstance(request, dict) else None
        if isinstance(verb, str) and verb in self._attended:
            return await self._attended[verb](request, peer)
        found = self._verbs.get(verb) if isinstance(verb, str) else None
        if found is None:
            known = ", ".join(sorted((*self._verbs, *self._attended)))
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
