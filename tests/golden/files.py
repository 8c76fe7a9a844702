"""The folders of earlier versions, and how a test reads them."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from pathlib import Path
from typing import Any, Final

from controller.history.sealing import TableKey

HERE: Final = Path(__file__).parent
GENERATIONS: Final = tuple(sorted(path for path in HERE.glob("v*") if path.is_dir()))
TABLE_KEY: Final = TableKey(bytes(range(32)))
"""Of every table in here."""


def pack(path: Path, files: dict[str, bytes]) -> None:
    """The same bytes for the same files, on any day."""
    with tarfile.open(path, "x:xz", preset=9) as archive:
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o600
            archive.addfile(info, io.BytesIO(data))


def unpack(path: Path, folder: Path) -> Path:
    with tarfile.open(path, "r:xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def text(path: Path) -> str:
    return lzma.decompress(path.read_bytes()).decode()


def told(path: Path) -> Any:
    return json.loads(path.read_bytes())
