"""The files of a table's frame log: numbered, in one folder beside the journal's."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from record.journal.disk import GROUP_FILE, GROUP_FOLDER

FOLDER: Final = "frames"
_NAME: Final = re.compile(r"frames-(\d{8})\.bin")


class FrameFolder:
    """Numbered files in one folder; it is made with the first of them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def file(self, number: int) -> Path:
        return self.path / f"frames-{number:08}.bin"

    def numbers(self) -> list[int]:
        """The files that are there; none if the folder cannot be read."""
        with suppress(OSError):
            found = (_NAME.fullmatch(one.name) for one in self.path.iterdir())
            return sorted(int(name[1]) for name in found if name is not None)
        return []

    def open_new(self, number: int) -> BinaryIO:
        """Never over an old one: that is evidence."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.chmod(GROUP_FOLDER)
        return open(self.file(number), "xb", opener=_for_group)

    def remove(self, number: int) -> None:
        """This file and any older one, which a crash may have left."""
        for old in self.numbers():
            if old <= number:
                self.file(old).unlink()


def _for_group(path: str, flags: int) -> int:
    handle = os.open(path, flags, 0o600)
    os.fchmod(handle, GROUP_FILE)
    return handle
