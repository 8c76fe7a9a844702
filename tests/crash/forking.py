"""All cuts of a round from one run of it: at each disk call a copy of the process loses power.

A run up to a cut is the same for every cut behind it, so it is made once; each child plays only
what comes after its own cut.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from tests.record.journal.simdisk import SimDisk

Fork = Callable[[int], bool]
"""Called before a disk call with its number; True in the process that loses power there."""


class ForkingDisk(SimDisk):
    def __init__(self, fork: Fork) -> None:
        super().__init__()
        self._fork = fork

    def _call(self, name: str) -> None:
        if self._fork(self.calls + 1):
            self.happens_at(self.calls + 1)
        super()._call(name)

    def happens_at(self, number: int) -> None:
        """What the child lives through."""
        self.cut_at = number


class Forks:
    """At most ``jobs`` children at a time; what each of them says is kept by its number."""

    def __init__(self, jobs: int, wanted: Callable[[int], bool]) -> None:
        self.said: dict[int, str] = {}
        self.child = 0
        """In a child: its number. In the parent 0."""
        self._jobs, self._wanted = jobs, wanted
        self._alive: dict[int, tuple[int, int]] = {}
        self._says = -1

    def fork(self, number: int) -> bool:
        if self.child or not self._wanted(number):
            return False
        while len(self._alive) >= self._jobs:
            self._reap()
        reads, writes = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reads)
            self.child, self._says = number, writes
            return True
        os.close(writes)
        self._alive[pid] = (number, reads)
        return False

    def end_child(self, text: str) -> None:
        """In a child: the last thing it does."""
        with os.fdopen(self._says, "wb") as pipe:
            pipe.write(text.encode()[:60_000])
        os._exit(0)

    def collect(self) -> Iterator[tuple[int, str]]:
        """In the parent, when its own run is over."""
        while self._alive:
            self._reap()
        yield from sorted(self.said.items())

    def _reap(self) -> None:
        pid, status = os.wait()
        number, reads = self._alive.pop(pid)
        with os.fdopen(reads, "rb") as pipe:
            self.said[number] = pipe.read().decode()
        if status:
            self.said[number] += f" (the process ended with {os.waitstatus_to_exitcode(status)})"
