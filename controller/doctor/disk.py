"""The disk under the journal: is it one, is it writable, has it room, is the card worn out?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from controller.doctor.machine import Machine
from controller.faults.troubles import Trouble
from record.kit.words import counted

NO_FOLDER: Final = "E-DOC-040"
READ_ONLY: Final = "E-DOC-041"
LITTLE_ROOM: Final = "E-DOC-042"
NO_FILES: Final = "E-DOC-043"
WORN: Final = "E-DOC-044"
NO_SYNC: Final = "E-DOC-045"
IN_MEMORY: Final = "E-DOC-046"
BROKEN: Final = "E-DOC-047"
LEAST_MIB: Final = 512
LEAST_FILES: Final = 1_000
OLD: Final = 9
"""``life_time`` in tenths: from here on a card is in its last fifth."""
MEMORY: Final = ("tmpfs", "ramfs", "overlay")
TRIED: Final = ".underfelt-doctor"


def disk(machine: Machine, journal: Path, made: Path | None = None) -> Iterator[Trouble]:
    """``made`` is the folder that the service makes for its user at a start."""
    folder = _first_there(journal)
    if not os.path.isdir(journal):
        yield Trouble(NO_FOLDER, "journal", "note", f"{journal}; the first start makes it")
    mounted = _mounted(machine, folder)
    if mounted is not None:
        kind, flags = mounted
        if kind in MEMORY:
            yield Trouble(IN_MEMORY, "journal", "stopped", f"{folder} is {kind}")
        if "ro" in flags:
            yield Trouble(READ_ONLY, "journal", "stopped", str(folder))
            return
    yield from _room(folder)
    if made is None or folder.is_relative_to(made):
        yield from _writes(folder)
    yield from _worn(machine)


def _first_there(path: Path) -> Path:
    return next(one for one in (path, *path.absolute().parents) if os.path.isdir(one))


def _room(folder: Path) -> Iterator[Trouble]:
    room = os.statvfs(folder)
    free_mib = room.f_bavail * room.f_frsize >> 20
    if free_mib < LEAST_MIB:
        yield Trouble(LITTLE_ROOM, "journal", "degraded", f"{free_mib} MiB free at {folder}")
    if room.f_files and room.f_favail < LEAST_FILES:
        yield Trouble(
            NO_FILES, "journal", "degraded", f"{counted(room.f_favail, 'file')} free at {folder}"
        )


def _writes(folder: Path) -> Iterator[Trouble]:
    """A file of ours, synced and removed again."""
    path = folder / TRIED
    try:
        handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        try:
            os.write(handle, b"underfelt doctor\n")
            os.fdatasync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        yield Trouble(NO_SYNC, "journal", "stopped", f"{path}: {error.strerror}")
    finally:
        with suppress(OSError):
            path.unlink()


def _mounted(machine: Machine, folder: Path) -> tuple[str, list[str]] | None:
    """Kind and flags of a folder's file system; the longest mount point counts."""
    best, found = -1, None
    whole = str(folder.absolute())
    for line in (machine.text("/proc/mounts") or "").splitlines():
        fields = line.split()
        if len(fields) < 4:
            continue
        point = fields[1].replace("\\040", " ").rstrip("/")
        if (whole == point or whole.startswith(point + "/")) and len(point) >= best:
            best, found = len(point), (fields[2], fields[3].split(","))
    return found


def _worn(machine: Machine) -> Iterator[Trouble]:
    for name in machine.names("/sys/block"):
        told = machine.text(f"/sys/block/{name}/device/life_time")
        used = [_number(part) for part in (told or "").split()]
        if used and max(used) >= OLD:
            yield Trouble(WORN, name, "degraded", f"about {max(used) * 10} % of its life is used")
        urgent = machine.text(f"/sys/block/{name}/device/pre_eol_info")
        if urgent and _number(urgent) >= 2:
            yield Trouble(WORN, name, "degraded", "it says that its spare blocks run out")
    for name in machine.names("/sys/fs/ext4"):
        # An SD card says nothing about its age; what it lost is counted by the file system.
        errors = machine.text(f"/sys/fs/ext4/{name}/errors_count")
        if errors and errors.isdigit() and int(errors):
            yield Trouble(
                BROKEN,
                name,
                "degraded",
                f"{counted(int(errors), 'error')} since it was made or mended",
            )


def _number(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        return 0
