"""Files that are either the old or the new one, whole, whenever the power goes.

Everything here goes through this module's ``os``, so that a test can fail it at any step.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from controller.registers.errors import CreateError, NotPermittedError, Problem, WriteError
from controller.registers.kinds import RegisterKind

NewFile = tuple[Path, bytes, int]
"""Path, content, mode."""

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


@contextmanager
def locked(kind: RegisterKind, path: Path) -> Iterator[None]:
    """Nobody else changes a register in this folder meanwhile. Leaves no lock file behind."""
    folder = Path(os.path.realpath(path)).parent
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise CreateError(Problem(f"{kind.codes}-051", str(error.strerror), str(folder))) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            said = "somebody else is changing a register in this folder; wait and try again"
            raise NotPermittedError(Problem(f"{kind.codes}-053", said, str(path))) from None
        except OSError as error:
            said = f"cannot lock the folder: {error.strerror}"
            raise WriteError(Problem(f"{kind.codes}-052", said, str(folder))) from None
        yield
    finally:
        with suppress(OSError):
            os.close(descriptor)  # which also unlocks


def write_atomically(kind: RegisterKind, path: Path, content: bytes) -> None:
    """Replace ``path`` by ``content``, durably. To be called under ``locked``.

    A failed sync is not tried again: the kernel may have dropped the pages and call them clean.
    """
    path = Path(os.path.realpath(path))  # a link stays a link
    new = path.with_name(f".{path.name}.new")
    try:
        descriptor = os.open(new, _NEW | os.O_TRUNC, kind.mode)
    except OSError as error:
        raise CreateError(Problem(f"{kind.codes}-051", str(error.strerror), str(path))) from None
    try:
        try:
            _hand_down(descriptor, path, kind.mode)
            _write_and_sync(descriptor, content)
        finally:
            os.close(descriptor)
        os.replace(new, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(new)
        said = f"{error.strerror}; the register in place is the old one"
        raise WriteError(Problem(f"{kind.codes}-052", said, str(path))) from None
    try:
        _sync_folder(path.parent)
    except OSError as error:
        said = (
            f"{error.strerror}; the new register is in place, but a power cut may still bring "
            "back the old one: check it after the disk has been looked at"
        )
        raise WriteError(Problem(f"{kind.codes}-052", said, str(path))) from None


def _hand_down(descriptor: int, old: Path, mode: int) -> None:
    """Users who could read the old register can read the new one: a table is not root."""
    os.fchmod(descriptor, mode)  # whatever the umask
    with suppress(OSError):  # there is none, or it is not ours to give away
        about = os.stat(old)
        os.fchown(descriptor, about.st_uid, about.st_gid)


def create_files(kind: RegisterKind, *files: NewFile) -> None:
    """All of them, new, durable; or none. What exists is never overwritten."""
    made: list[Path] = []
    try:
        for path, content, mode in files:
            descriptor = os.open(path, _NEW | os.O_EXCL, mode)
            made.append(path)
            try:
                os.fchmod(descriptor, mode)  # whatever the umask
                _write_and_sync(descriptor, content)
            finally:
                os.close(descriptor)
        for folder in {path.parent for path in made}:
            _sync_folder(folder)
    except OSError as error:
        for one in made:
            with suppress(OSError):
                os.unlink(one)
        if isinstance(error, FileExistsError):
            said = "exists already; a key is never overwritten"
            raise CreateError(Problem(f"{kind.codes}-042", said, str(path))) from None
        raise CreateError(Problem(f"{kind.codes}-051", str(error.strerror), str(path))) from None


def _write_and_sync(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
