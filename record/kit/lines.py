"""JSON lines over a unix socket: one request, one answer, a line each.

Both our servers speak it and share what is here: the socket file, who is at the other end, the
framing, and what is answered to a request that cannot be served. They do not share a loop. The
table's daemon answers inside its asyncio loop; the link server, which has none, answers in threads
of its own, where checking a password may take its time.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, NamedTuple

Answer = Mapping[str, Any]
MODE: Final = 0o660
"""The owner and the group of the socket may connect."""
TIMEOUT_S: Final = 15.0
RETRY_S: Final = 0.05

NO_REQUEST: Final = "E-SVC-001"
NO_VERB: Final = "E-SVC-002"
BUSY: Final = "E-SVC-003"
LONGEST_SHOWN: Final = 40


class Peer(NamedTuple):
    """Who is at the other end, as the kernel knows it."""

    pid: int
    uid: int
    gid: int


def peer_of(connection: socket.socket) -> Peer:
    size = struct.calcsize("3i")
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    return Peer(*struct.unpack("3i", found))


def bound(path: Path) -> socket.socket:
    """A socket at this path; the caller listens. Nobody can connect before, so the mode is right
    from the beginning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    os.chmod(path, MODE)
    return made


def line_of(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row).encode() + b"\n"


def refusal(code: str, text: str, **more: str) -> Answer:
    return {"error": code, "text": text, **more}


def no_such_verb(verb: object, known: Iterable[str]) -> Answer:
    said = f"{str(verb)[:LONGEST_SHOWN]!r}: no such verb; expected {', '.join(sorted(known))}"
    return refusal(NO_VERB, said)


def connect(path: Path, timeout_s: float) -> socket.socket:
    """OSError if nobody listens. Where many come at once the kernel says so; then again."""
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(timeout_s)
    until_s = monotonic() + timeout_s
    try:
        while True:
            try:
                made.connect(str(path))
            except BlockingIOError:
                if monotonic() > until_s:
                    raise
                sleep(RETRY_S)
            else:
                return made
    except BaseException:
        made.close()
        raise


def ask(path: Path, request: Mapping[str, Any], timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
    """One request, for commands; OSError if nobody listens."""
    with connect(path, timeout_s) as connection:
        with suppress(BrokenPipeError):  # refused before it was asked: the answer is still there
            connection.sendall(line_of(request))
        with connection.makefile("rb") as stream:
            answer = json.loads(stream.readline() or b"{}")
    return answer if isinstance(answer, dict) else {}
