"""Small journals on the real disk for the tests, and their bytes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from record.journal import Journal, RealDisk

SEGMENT = 4096


class QuickDisk(RealDisk):
    """Real files without syncs, for tests that throw no power away and open thousands of times."""

    def read_settled(self, path: Path) -> bytes:
        return self.read(path)

    def sync(self, handle: int) -> None:
        pass

    def sync_folder(self, path: Path) -> None:
        pass


def open_at(
    folder: Path,
    now_ms: int = 1_000,
    *,
    retention_days: int | None = None,
    check_segments: int | None = None,
    create: bool = True,
) -> Journal:
    return Journal.open(
        folder,
        table="T-1",
        now_ms=now_ms,
        disk=QuickDisk(),
        segment_bytes=SEGMENT,
        reserve_bytes=SEGMENT,
        retention_days=retention_days,
        check_segments=check_segments,
        create=create,
    )


def make(folder: Path, groups: Sequence[Sequence[bytes]]) -> Path:
    journal = open_at(folder)
    at_ms = 1_000
    for group in groups:
        for body in group:
            at_ms += 1
            journal.append("fact", body, at_ms)
        journal.sync()
    journal.close()
    return folder


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.ufj"))


def copy(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
