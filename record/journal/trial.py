"""A disk for a trial: files are read as they are, and what is written stays in memory.

So a check runs the code of a real start and leaves no trace. Room and rights are asked of the real
file system, with its own errors. Nothing is locked: a table may be running on the journal.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path


class TrialDisk:
    def __init__(self) -> None:
        self._files: dict[Path, bytearray] = {}
        self._gone: set[Path] = set()
        self._made: set[Path] = set()
        self._handles: dict[int, Path] = {}
        self._next = 0

    def make_folder(self, path: Path) -> None:
        if not path.is_dir():
            _refuse_unless_writable(nearest(path))
            self._made.add(path)

    def names(self, path: Path) -> list[str]:
        there = set() if path in self._made else {path / name for name in os.listdir(path)}
        mine = {file for file in self._files if file.parent == path}
        return [file.name for file in (there - self._gone) | mine]

    def lock(self, path: Path) -> int:
        self.sync_folder(path)
        return self._handle(path)

    def read(self, path: Path, limit: int = -1) -> bytes:
        if path in self._files:
            return bytes(self._files[path] if limit < 0 else self._files[path][:limit])
        with path.open("rb") as stream:
            return stream.read(limit)

    def read_settled(self, path: Path) -> bytes:
        return bytes(self._files[path]) if path in self._files else _as_writer(path)

    def create(self, path: Path, size: int) -> int:
        _refuse_unless_writable(nearest(path.parent))
        if self.free_bytes(path.parent) < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._files[path] = bytearray(size)
        return self._handle(path)

    def open(self, path: Path) -> int:
        if path not in self._files:
            _as_writer(path, 0)
        return self._handle(path)

    def write(self, handle: int, data: bytes, offset: int) -> None:
        file = self._changed(self._handles[handle])
        file[offset : offset + len(data)] = data

    def sync(self, handle: int) -> None:
        pass

    def sync_folder(self, path: Path) -> None:
        if path not in self._made:
            os.close(os.open(path, os.O_RDONLY | os.O_DIRECTORY))

    def rename(self, old: Path, new: Path) -> None:
        moved = self._changed(old)
        self.unlink(old)
        self._files[new] = moved
        for handle, path in self._handles.items():
            if path == old:
                self._handles[handle] = new

    def unlink(self, path: Path) -> None:
        _refuse_unless_writable(nearest(path.parent))
        self._files.pop(path, None)
        self._gone.add(path)

    def truncate(self, path: Path, size: int) -> None:
        del self._changed(path)[size:]

    def close(self, handle: int) -> None:
        self._handles.pop(handle, None)

    def free_bytes(self, path: Path) -> int:
        room = os.statvfs(nearest(path))
        return room.f_bavail * room.f_frsize - sum(map(len, self._files.values()))

    def _handle(self, path: Path) -> int:
        self._next += 1
        self._handles[self._next] = path
        return self._next

    def _changed(self, path: Path) -> bytearray:
        if path not in self._files:
            self._files[path] = bytearray(self.read(path))
        return self._files[path]


def nearest(path: Path) -> Path:
    """The path itself, or the first one above it that exists."""
    return next(one for one in (path, *path.parents) if os.path.exists(one) or one == one.parent)


def _as_writer(path: Path, limit: int = -1) -> bytes:
    """Opened for writing, so that the system refuses what it would refuse a table; only read."""
    with open(os.open(path, os.O_RDWR), "rb") as stream:
        return stream.read(limit)


def _refuse_unless_writable(folder: Path) -> None:
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        fixed = os.statvfs(folder).f_flag & os.ST_RDONLY
        why = errno.EROFS if fixed else errno.EACCES
        raise OSError(why, os.strerror(why), str(folder))
