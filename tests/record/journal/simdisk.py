"""A disk that keeps apart what is synced and what is not, and can lose power at any call.

What survives a power cut is chosen by a seeded ``Random``: of the writes that were not synced any
set of sectors in any order, or a prefix to the byte; of the names any that were not synced. A kill
of the process alone loses nothing that was written. A failed sync marks the pages clean without
having written them, as some file systems do.
"""

# ruff: noqa: ARG002 - one folder only: the protocol's path says nothing new here
from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

SECTOR = 512


class PowerCut(BaseException):
    """No ``except Exception`` may catch it: the program does not run on."""


@dataclass(eq=False)
class Inode:
    seen: bytearray = field(default_factory=bytearray)
    """What a reader sees now."""
    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def settle(self) -> None:
        self.durable = bytearray(self.seen)
        self.pending, self.sizes = [], []

    def after_cut(self, random: Random) -> Inode:
        left = bytearray(self.durable)
        if self.sizes:
            size = random.choice([len(left), *self.sizes])
            left = left[:size] + bytes(max(0, size - len(left)))
        if random.random() < 0.3:
            self._keep_prefix(left, random)
        else:
            self._keep_sectors(left, random)
        return Inode(bytearray(left), left)

    def _keep_prefix(self, left: bytearray, random: Random) -> None:
        total = sum(len(data) for _, data in self.pending)
        room = random.randint(0, total)
        for offset, data in self.pending:
            put(left, offset, data[:room])
            room = max(0, room - len(data))

    def _keep_sectors(self, left: bytearray, random: Random) -> None:
        """Each sector stays at any of its versions, whatever the others do."""
        versions: dict[int, list[tuple[int, bytes]]] = {}
        for offset, data in self.pending:
            at = 0
            while at < len(data):
                sector = (offset + at) // SECTOR
                size = min((sector + 1) * SECTOR - offset - at, len(data) - at)
                versions.setdefault(sector, []).append((offset + at, data[at : at + size]))
                at += size
        for writes in versions.values():
            for offset, data in writes[: random.randint(0, len(writes))]:
                put(left, offset, data)


def put(into: bytearray, offset: int, data: bytes) -> None:
    end = min(len(into), offset + len(data))
    if offset < end:
        into[offset:end] = data[: end - offset]


Change = dict[str, Inode | None]
"""Names that one step of the folder sets or removes, together or not at all."""


class SimDisk:
    """One folder. ``cut_at``: power goes at this call; ``fail_at``: this call has that errno."""

    def __init__(self, room: int = 1 << 40) -> None:
        self.names_seen: dict[str, Inode] = {}
        self.names_durable: dict[str, Inode] = {}
        self.changes: list[Change] = []
        self.handles: dict[int, Inode] = {}
        self.locked: int | None = None
        self.room = room
        self.calls = 0
        self.cut_at = 0
        self.fail_at: dict[int, int] = {}
        self.log: list[str] = []

    # --- faults ----------------------------------------------------------------------------------

    def _call(self, name: str) -> None:
        self.calls += 1
        self.log.append(name)
        number = self.fail_at.get(self.calls)
        if number is not None:
            raise OSError(number, os.strerror(number))

    def _cut(self) -> None:
        if self.calls == self.cut_at:
            raise PowerCut(f"at call {self.calls}, {self.log[-1]}")

    def after_cut(self, random: Random) -> SimDisk:
        """The disk as the next start finds it."""
        names = dict(self.names_durable)
        prefix = random.randint(0, len(self.changes)) if random.random() < 0.5 else None
        for index, change in enumerate(self.changes):
            kept = random.random() < 0.5 if prefix is None else index < prefix
            if kept:
                apply(names, change)
        made: dict[Inode, Inode] = {}
        fresh = SimDisk(self.room)
        for name, inode in names.items():
            made.setdefault(inode, inode.after_cut(random))
            fresh.names_seen[name] = fresh.names_durable[name] = made[inode]
        return fresh

    def after_kill(self) -> SimDisk:
        """The process is gone, the machine is not: everything written is still to be seen."""
        fresh = SimDisk(self.room)
        fresh.names_seen, fresh.names_durable = dict(self.names_seen), dict(self.names_durable)
        fresh.changes = list(self.changes)
        return fresh

    # --- the Disk protocol -----------------------------------------------------------------------

    def make_folder(self, path: Path) -> None:
        pass

    def names(self, path: Path) -> list[str]:
        return list(self.names_seen)

    def lock(self, path: Path) -> int:
        if self.locked is not None:
            raise BlockingIOError(errno.EWOULDBLOCK, "locked")
        self.locked = 1000 + self.calls
        return self.locked

    def _inode(self, path: Path) -> Inode:
        inode = self.names_seen.get(path.name)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return inode

    def read(self, path: Path, limit: int = -1) -> bytes:
        data = bytes(self._inode(path).seen)
        return data if limit < 0 else data[:limit]

    def read_settled(self, path: Path) -> bytes:
        inode = self._inode(path)
        self._call("settle")
        self._cut()
        if inode.pending or inode.sizes:
            inode.settle()
        else:
            inode.seen = bytearray(inode.durable)  # what a failed sync left in memory only
        return bytes(inode.seen)

    def create(self, path: Path, size: int) -> int:
        self._call("create")
        others = [i for name, i in self.names_seen.items() if name != path.name]
        if sum(len(inode.seen) for inode in others) + size > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        inode = Inode(bytearray(size))
        inode.sizes.append(size)
        self._change({path.name: inode})
        self._cut()
        return self._open(inode)

    def _open(self, inode: Inode) -> int:
        handle = max(self.handles, default=2) + 1
        self.handles[handle] = inode
        return handle

    def open(self, path: Path) -> int:
        return self._open(self._inode(path))

    def write(self, handle: int, data: bytes, offset: int) -> None:
        inode = self.handles[handle]
        self._call("write")
        assert offset + len(data) <= len(inode.seen), "written beyond what was allocated"
        put(inode.seen, offset, data)
        inode.pending.append((offset, data))
        self._cut()

    def sync(self, handle: int) -> None:
        inode = self.handles[handle]
        try:
            self._call("sync")
        except OSError:
            inode.pending, inode.sizes = [], []
            raise
        self._cut()
        inode.settle()

    def _change(self, change: Change) -> None:
        apply(self.names_seen, change)
        self.changes.append(change)

    def sync_folder(self, path: Path) -> None:
        self._call("sync_folder")
        self._cut()
        self.names_durable, self.changes = dict(self.names_seen), []

    def rename(self, old: Path, new: Path) -> None:
        inode = self._inode(old)
        self._call("rename")
        self._change({old.name: None, new.name: inode})
        self._cut()

    def unlink(self, path: Path) -> None:
        self._inode(path)
        self._call("unlink")
        self._change({path.name: None})
        self._cut()

    def truncate(self, path: Path, size: int) -> None:
        inode = self._inode(path)
        self._call("truncate")
        del inode.seen[size:]
        inode.sizes.append(size)
        self._cut()

    def close(self, handle: int) -> None:
        if handle == self.locked:
            self.locked = None
        else:
            del self.handles[handle]

    def free_bytes(self, path: Path) -> int:
        return self.room - sum(len(inode.seen) for inode in self.names_seen.values())


def apply(names: dict[str, Inode], change: Change) -> None:
    for name, inode in change.items():
        if inode is None:
            names.pop(name, None)
        else:
            names[name] = inode
