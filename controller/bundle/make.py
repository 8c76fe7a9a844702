"""Collect, pack, write: a bundle in a new file, for the command and the shell."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shlex
import shutil
import sys
import tarfile
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final

from controller.bundle.collect import Bundle, collect, now_ms
from controller.shell.answers import BundleManifest, MadeBundle

CODE: Final = "E-BDL-001"
ROOT: Final = 0


class CannotWrite(Exception):
    """The archive has no place to be in."""


def make(config: Path, output: Path | None = None) -> MadeBundle:
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


def send(config: Path, stream: BinaryIO) -> MadeBundle:
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
    through the pipe, so that this user owns the file, in a folder that is writable."""
    if not bundle.denied or os.geteuid() == ROOT:
        return []
    program = sys.argv[0] if Path(sys.argv[0]).name == "underfelt" else "underfelt"
    words = ["sudo", str(Path(shutil.which(program) or program)), "bundle"]
    told = [*words, "--config", str(config.absolute()), "--output", "-"]
    return [*map(shlex.quote, told), f">{shlex.quote(name)}-all.tar.gz"]


def _told(bundle: Bundle, made_ms: int, file: str, size: int, command: list[str]) -> MadeBundle:
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


# --- the archive --------------------------------------------------------------------------------


SCHEMA: Final = 1
MANIFEST: Final = "manifest.json"


def manifest_of(bundle: Bundle, made_ms: int) -> BundleManifest:
    return {
        "schema": SCHEMA,
        "table": bundle.table,
        "made_ms": made_ms,
        "files": {
            name: {"what": bundle.what[name], "sha256": hashlib.sha256(data).hexdigest(),
                   "size": len(data)}
            for name, data in bundle.parts.items()
        },
        "redacted": bundle.redacted,
        "missing": bundle.missing,
    }  # fmt: skip


def archive(bundle: Bundle, made_ms: int) -> bytes:
    told = json.dumps(manifest_of(bundle, made_ms), indent=1).encode() + b"\n"
    stream = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=stream, mode="wb", mtime=made_ms // 1000) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, data in {MANIFEST: told, **bundle.parts}.items():
            about = tarfile.TarInfo(f"underfelt-{bundle.table or 'machine'}/{name}")
            about.size, about.mtime, about.mode = len(data), made_ms // 1000, 0o640
            tar.addfile(about, io.BytesIO(data))
    return stream.getvalue()
