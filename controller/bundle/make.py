"""Collect, pack, write: a bundle in a new file, whoever asks for it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Final

from controller.bundle.archive import archive, manifest_of
from controller.bundle.collect import Bundle, collect, now_ms

CODE: Final = "E-BDL-001"
ROOT: Final = 0

Row = dict[str, Any]


class CannotWrite(Exception):
    """The archive has no place to be in."""


def make(config: Path, output: Path | None = None) -> Row:
    """The manifest, with the file, its size, and the command that gets more where rights were
    missing. Without ``output``: a new file in this folder, named after table and time."""
    bundle, made_ms = collect(config), now_ms()
    data = archive(bundle, made_ms)
    name = default_name(bundle.table, made_ms)
    file = _free(name) if output is None else output
    try:
        with open(file, "xb", opener=_private) as stream:
            _whole(stream, file, data)
    except OSError as error:
        raise CannotWrite(f"{file.absolute()}: {error.strerror}; give a new file") from None
    return _told(bundle, made_ms, str(file), len(data), all_of_it(bundle, config, name))


def send(config: Path, stream: BinaryIO) -> Row:
    """The same into a pipe."""
    bundle, made_ms = collect(config), now_ms()
    data = archive(bundle, made_ms)
    try:
        stream.write(data)
        stream.flush()
    except OSError as error:
        raise CannotWrite(f"standard output: {error.strerror}") from None
    name = default_name(bundle.table, made_ms)
    return _told(bundle, made_ms, "-", len(data), all_of_it(bundle, config, name))


def default_name(table: str, made_ms: int) -> str:
    """By the clock on the wall."""
    return f"{table or 'machine'}-{datetime.fromtimestamp(made_ms // 1000):%Y%m%d-%H%M%S}"


def all_of_it(bundle: Bundle, config: Path, name: str) -> list[str]:
    """Words of a command for what this user may not read; nothing if rights were not the reason.

    Root, not the daemon's user: only root reads the system's log and every key. The archive comes
    through the pipe, so that the file is in a folder that this user can write to, and is his."""
    if not bundle.denied or os.geteuid() == ROOT:
        return []
    program = sys.argv[0] if Path(sys.argv[0]).name == "underfelt" else "underfelt"
    words = ["sudo", str(Path(shutil.which(program) or program)), "bundle"]
    told = [*words, "--config", str(config.absolute()), "--output", "-"]
    return [*map(shlex.quote, told), f">{shlex.quote(name)}-all.tar.gz"]


def _told(bundle: Bundle, made_ms: int, file: str, size: int, command: list[str]) -> Row:
    return {"file": file, "size": size, **manifest_of(bundle, made_ms), "all_of_it": command}


def _free(name: str) -> Path:
    """Two in one second are two files."""
    tried = (Path(f"{name}{f'-{n}' if n > 1 else ''}.tar.gz") for n in count(1))
    return next(file for file in tried if not os.path.lexists(file))


def _whole(stream: BinaryIO, file: Path, data: bytes) -> None:
    """Half an archive must not be taken for one."""
    try:
        stream.write(data)
        stream.flush()
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o640)
