"""A file system that is really full: the round closes on the reserve, and nothing is shortened."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from record.journal import Journal, JournalFailed
from record.verify_journal import verify as verify_alone

SEGMENT, RESERVE = 128 << 10, 64 << 10
BODY = b'{"fact":"%s"}' % (b"x" * 900)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.fail("needs root and mount; run as root, apt-get install -y mount")
    command = [mount, "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"{' '.join(command)}: {done.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def open_small(folder: Path) -> Journal:
    return Journal.open(folder, table="T-1", segment_bytes=SEGMENT, reserve_bytes=RESERVE, now_ms=1)


def write(journal: Journal, count: int) -> int:
    """Records until the reserve is in use, at most ``count``."""
    for number in range(count):
        if journal.full:
            return number
        journal.append("fact", BODY, 1)
        journal.sync()
    return count


def write_on(journal: Journal) -> None:
    for _ in range(5_000):
        journal.append("fact", BODY, 1)
        journal.sync()


def fill(path: Path) -> None:
    """Take what room there is: the reserve fits where a segment does not."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def test_a_full_disk(small: Path) -> None:
    journal = open_small(small / "journal")
    written = write(journal, 5_000)
    assert journal.full
    assert written < 5_000
    for _ in range(20):  # what a round still needs to close
        journal.append("fact", BODY, 1)
        journal.sync()
    sizes = {path.name: path.stat().st_size for path in (small / "journal").glob("*.ufj")}
    with pytest.raises(JournalFailed, match="E-JRN-031"):
        write_on(journal)
    durable = journal.durable_seq
    journal.close()
    assert {p.name: p.stat().st_size for p in (small / "journal").glob("*.ufj")} == sizes
    assert durable >= written + 20
    row = verify_alone(small / "journal")
    assert (row["ok"], row["records"]) == (True, durable)
    fill(small / "other")
    again = open_small(small / "journal")
    assert again.full, "a start does not make room"
    assert again.next_seq == durable + 1
    again.close()


def test_room_again(small: Path) -> None:
    (small / "other").write_bytes(bytes(300 << 10))
    journal = open_small(small / "journal")
    write(journal, 5_000)
    (small / "other").unlink()
    journal.close()
    again = open_small(small / "journal")
    assert not again.full
    assert write(again, 150) == 150
    again.close()
