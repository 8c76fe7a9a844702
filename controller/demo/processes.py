"""The processes of the floor: started, looked after, ended. None outlives this one.

Each has a process group of its own, so that Ctrl-C at the terminal reaches only us and we end them
in order; the kernel ends them if we are killed: a process is started through this module, which
asks for SIGTERM when its parent is gone, however it went.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PR_SET_PDEATHSIG: Final = 1
COMMAND: Final = (sys.executable, "-m", "controller.demo.processes")
STOP_S: Final = 10.0
LOOK_S: Final = 0.02
RESTARTS, WITHIN_S = 4, 60.0
"""One that ends more often than this is not started again."""
BACK_OFF_S: Final = 1.0


class ChildFailed(Exception):
    """A process ends again and again: which, its last words, its log."""


@dataclass
class Child:
    name: str
    arguments: tuple[str, ...]
    """``*`` is another number at every start; the log says which."""
    log: Path
    needs: str = ""
    """The one without which it is of no use: it is started again with it."""
    process: subprocess.Popen[bytes] | None = None
    ends: list[float] = field(default_factory=list)
    """When it ended by itself."""

    def start(self) -> None:
        given = [str(secrets.randbelow(1 << 31)) if a == "*" else a for a in self.arguments]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*COMMAND, str(os.getpid()), *given],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )  # fmt: skip

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def last_words(self) -> str:
        try:
            said = self.log.read_text("utf-8", "replace").strip().splitlines()
        except OSError:
            said = []
        return said[-1] if said else "no word"

    def signal(self, number: int) -> None:
        if self.running and self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


class Children:
    def __init__(self) -> None:
        self._all: list[Child] = []

    def start(self, child: Child) -> None:
        self._all.append(child)
        child.start()

    def pids(self) -> dict[str, int]:
        return {one.name: one.process.pid for one in self._all if one.running and one.process}

    def look(self) -> list[str]:
        """Start again what has ended; what there is to say about it. Raises ``ChildFailed``."""
        said: list[str] = []
        for child in self._all:
            if child.running:
                continue
            now = time.monotonic()
            code = child.process.returncode if child.process is not None else None
            if child.process is not None:
                child.process = None
                child.ends = [end for end in child.ends if now - end < WITHIN_S] + [now]
                if len(child.ends) > RESTARTS:
                    text = f"{child.name} ends again and again (exit {code}): {child.last_words()}"
                    raise ChildFailed(f"{text}; its log is {child.log}")
                said.append(f"{child.name} ended (exit {code}): {child.last_words()}")
                for other in self._all:
                    if other.needs == child.name:
                        other.signal(signal.SIGTERM)
            elif now - child.ends[-1] >= BACK_OFF_S:
                child.start()
                said.append(f"{child.name} started again")
        return said

    def stop(self, names: Iterable[str] | None = None) -> None:
        """SIGTERM to all of them, and SIGKILL to those that still run at the deadline."""
        wanted = None if names is None else set(names)
        mine = [c for c in self._all if wanted is None or c.name in wanted]
        self._all = [c for c in self._all if c not in mine]
        for child in mine:
            child.signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_S
        while any(child.running for child in mine) and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        for child in mine:
            child.signal(signal.SIGKILL)
            if child.process is not None:
                child.process.wait()


def follow(parent: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(0)  # gone before we asked


if __name__ == "__main__":
    from controller.cli import main

    follow(int(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
