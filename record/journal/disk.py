"""The only door from the journal to the file system, so that tests can fail or cut any call.

Every method is one thing that can fail. Handles are small integers that only the same Disk
understands. Nothing here decides anything, and nothing retries: after a failed sync nobody knows
what is on the disk.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from pathlib import Path
from typing import Final, Protocol

_CHUNK: Final = 1 << 20


class Disk(Protocol):
    def make_folder(self, path: Path) -> None:
        """Create the folder if it is missing, durably."""

    def names(self, path: Path) -> list[str]:
        """The names in a folder; FileNotFoundError if there is none."""

    def lock(self, path: Path) -> int:
        """Lock a folder for this process; BlockingIOError if somebody else has it."""

    def read(self, path: Path, limit: int = -1) -> bytes:
        """The bytes of a file, or only so many of them."""

    def read_settled(self, path: Path) -> bytes:
        """Sync the file, forget what memory holds of it, and read it from the medium."""

    def create(self, path: Path, size: int) -> int:
        """A new file of ``size`` zero bytes, its blocks allocated and written; not yet durable.

        Raises ENOSPC, and leaves nothing behind, if the file system has no room.
        """

    def open(self, path: Path) -> int:
        """Open an existing file for writing."""

    def write(self, handle: int, data: bytes, offset: int) -> None:
        """One write; a short one is an OSError."""

    def sync(self, handle: int) -> None:
        """fdatasync: content and size are on the medium when this returns."""

    def sync_folder(self, path: Path) -> None:
        """The names in the folder are on the medium when this returns."""

    def rename(self, old: Path, new: Path) -> None: ...

    def unlink(self, path: Path) -> None: ...

    def truncate(self, path: Path, size: int) -> None: ...

    def close(self, handle: int) -> None: ...

    def free_bytes(self, path: Path) -> int: ...


GROUP_FOLDER: Final = 0o750
GROUP_FILE: Final = 0o640
"""Whatever the umask: the table's group can read the record, as the web pages do for a replay.
Cards that are not public are sealed in it, with a key that the group cannot read."""


class RealDisk:
    """Linux. The folder itself is locked (flock): no lock file that could be left behind."""

    def make_folder(self, path: Path) -> None:
        if path.is_dir():
            return
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(GROUP_FOLDER)
        self.sync_folder(path.parent)

    def names(self, path: Path) -> list[str]:
        return os.listdir(path)

    def lock(self, path: Path) -> int:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise
        return handle

    def read(self, path: Path, limit: int = -1) -> bytes:
        with path.open("rb") as stream:
            return stream.read(limit)

    def read_settled(self, path: Path) -> bytes:
        handle = os.open(path, os.O_RDWR)
        try:
            os.fdatasync(handle)
            # After a failed sync memory may hold pages, marked clean, that the medium never got.
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            with os.fdopen(os.dup(handle), "rb") as stream:
                return stream.read()
        finally:
            os.close(handle)

    def create(self, path: Path, size: int) -> int:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.fchmod(handle, GROUP_FILE)
            os.posix_fallocate(handle, 0, size)
            # Written, not only reserved: later syncs then have no metadata to change.
            for start in range(0, size, _CHUNK):
                self.write(handle, bytes(min(_CHUNK, size - start)), start)
        except OSError:
            os.close(handle)
            with contextlib.suppress(OSError):
                path.unlink()
            raise
        return handle

    def open(self, path: Path) -> int:
        return os.open(path, os.O_RDWR)

    def write(self, handle: int, data: bytes, offset: int) -> None:
        written = os.pwrite(handle, data, offset)
        if written != len(data):
            raise OSError(errno.EIO, f"short write, {written} of {len(data)} bytes")

    def sync(self, handle: int) -> None:
        os.fdatasync(handle)

    def sync_folder(self, path: Path) -> None:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def rename(self, old: Path, new: Path) -> None:
        os.rename(old, new)

    def unlink(self, path: Path) -> None:
        os.unlink(path)

    def truncate(self, path: Path, size: int) -> None:
        os.truncate(path, size)

    def close(self, handle: int) -> None:
        os.close(handle)

    def free_bytes(self, path: Path) -> int:
        room = os.statvfs(path)
        return room.f_bavail * room.f_frsize
