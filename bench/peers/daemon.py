"""A server of somebody else's: found, started on a port of its own, ended by its id."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

INSTALL: Final = "make peers"
PATIENCE_S: Final = 20.0
_FLUSHES: Final = 18
"""Where flush requests stand in a line of /proc/diskstats (Linux 5.5 and later)."""


def program(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    places = (shutil.which(name), str(beside), f"/usr/sbin/{name}")
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    raise SystemExit(f"{name} is missing; run: {INSTALL}")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def running(words: Sequence[str], folder: Path, port: int) -> Iterator[int]:
    """Its process id; it listens. It ends with this process, whatever becomes of it."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        until = time.monotonic() + PATIENCE_S
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > until:
                said = (folder / "log").read_text("utf-8", errors="replace")[-2000:]
                raise RuntimeError(f"{' '.join(words)}: {said}")
            time.sleep(0.02)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 0.3).close()
    except OSError:
        return False
    return True


def flushes(folder: Path) -> int:
    """Flush requests so far of the disk that this folder lies on, by whomever."""
    device = folder.stat().st_dev
    wanted = [str(os.major(device)), str(os.minor(device))]
    for line in Path("/proc/diskstats").read_text().splitlines():
        fields = line.split()
        if fields[:2] == wanted and len(fields) > _FLUSHES:
            return int(fields[_FLUSHES])
    raise SystemExit(f"{folder} lies on no disk that counts flushes; set TMPDIR to one that does")
