"""Files that are either the old or the new one, whole, whenever the power goes; page section 7."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from controller.chips.errors import CODES
from controller.signed import files
from controller.signed.files import NewFile


def locked(path: Path) -> AbstractContextManager[None]:
    """Nobody else changes a register in this folder meanwhile."""
    return files.locked(path, CODES)


def write_atomically(path: Path, content: bytes) -> None:
    """Replace ``path`` by ``content``, durably. To be called under ``locked``."""
    files.write_atomically(path, content, CODES)


def create_files(*new: NewFile) -> None:
    """All of them, new, durable; or none."""
    files.create_files(*new, codes=CODES)
