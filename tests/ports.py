"""Ports of this machine that no other test takes, of this run or of another one beside it.

A port that was free a moment ago may be gone when a server binds it. A lock on a file keeps it for
this process until it ends. Linux gives ports of this range only to those who ask for one, unless
it is set otherwise.
"""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path
from typing import IO, Final

FIRST: Final = 20_000
LAST: Final = 32_766
"""Below net.ipv4.ip_local_port_range as it comes."""
FOLDER: Final = Path(tempfile.gettempdir()) / f"underfelt-ports-{os.getuid()}"
_HELD: list[IO[str]] = []


def two_ports() -> int:
    """The first of two in a row, as ``link init`` wants them."""
    FOLDER.mkdir(exist_ok=True)
    pairs = list(range(FIRST, LAST, 2))
    random.SystemRandom().shuffle(pairs)
    for port in pairs:
        lock = (FOLDER / str(port)).open("w", encoding="ascii")
        if _locked(lock) and _free(port) and _free(port + 1):
            _HELD.append(lock)
            return port
        lock.close()
    raise RuntimeError("no free ports")


def _locked(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False
