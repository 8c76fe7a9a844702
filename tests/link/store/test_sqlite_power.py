"""Row 52 of the fault table: the power goes at any write of the embedded store.

On a loop-mounted file system the image is copied at several moments of a writer's life, as it lies
there; on a log that was not written back, the end is cut off or damaged at any byte.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from link.store.errors import Broken, StoreError
from link.store.sqlite import SqliteStore
from link.store.wal import damage
from tests.crash.loop import make_image, mounted
from tests.link.store.book import Book, led

ROOT = Path(__file__).resolve().parents[3]
IMAGE_BYTES = 48 << 20
CUTS, GROUPS = 6, 60
"""Moments, and groups acknowledged before each."""


def cuts(folder: Path, *switches: str) -> Iterator[tuple[Path, dict[int, str]]]:
    """Copies of the medium at several moments, each with what was acknowledged before it."""
    image = folder / "disk.img"
    make_image(image, IMAGE_BYTES)
    acked: dict[int, str] = {}
    with mounted(image, folder / "live") as place:
        command = [sys.executable, "-m", "tests.link.store.sqlite_writer", str(place / "link.db")]
        with subprocess.Popen(
            [*command, *switches], stdout=subprocess.PIPE, cwd=ROOT, text=True
        ) as writer:
            assert writer.stdout is not None
            try:
                for number in range(CUTS):
                    for _ in range(GROUPS):
                        event, chain = writer.stdout.readline().split()
                        acked[int(event)] = chain
                    writer.send_signal(signal.SIGSTOP)
                    os.waitid(os.P_PID, writer.pid, os.WSTOPPED)
                    copy = folder / f"copy-{number}.img"
                    shutil.copyfile(image, copy)
                    yield copy, dict(acked)
                    writer.send_signal(signal.SIGCONT)
            finally:
                writer.kill()


def recovered(copy: Path) -> dict[int, str]:
    with (
        mounted(copy, copy.with_suffix("")) as place,
        closing(SqliteStore(place / "link.db", create=True)) as store,
    ):
        store.check()
        return {row.id: row.chain for row in store.events()}


def test_row_52_nothing_acknowledged_is_missing(tmp_path: Path) -> None:
    for copy, acked in cuts(tmp_path):
        found = recovered(copy)
        missing = [event for event, chain in acked.items() if found.get(event) != chain]
        assert missing == []
        assert len(acked) >= GROUPS


def test_the_test_fails_without_flushes(tmp_path: Path) -> None:
    lost = 0
    for copy, acked in cuts(tmp_path, "--no-flush"):
        try:
            found = recovered(copy)
        except StoreError:
            lost += 1
            continue
        lost += any(found.get(event) != chain for event, chain in acked.items())
    assert lost, "unflushed groups survived: this test cannot see a missing flush"


# --- the log alone ----------------------------------------------------------------------------


@pytest.fixture
def crashed(tmp_path: Path) -> tuple[Path, Book, list[tuple[int, int]]]:
    """File and log as a process leaves them that was killed; after each group the end of the log
    and the last event."""
    folder = tmp_path / "live"
    folder.mkdir()
    path = folder / "link.db"
    store = SqliteStore(path, create=True)
    store.migrate(at_ms=1)
    book = led(store, tables=3)
    store._checkpoint("TRUNCATE")
    ends = [(0, book.event)]
    for _ in range(8):
        store.commit(book.contributions([1, 2, 3, 1]))
        ends.append((store.log_bytes(), book.event))
    copy = tmp_path / "crashed"
    shutil.copytree(folder, copy)
    store.close()
    return copy / "link.db", book, ends


def attempt(path: Path, log: bytes, scratch: Path) -> int:
    """The last event after a start with this log."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    shutil.copy(path, scratch / "link.db")
    (scratch / "link.db-wal").write_bytes(log)
    with closing(SqliteStore(scratch / "link.db")) as store:
        return store.check().events


def test_row_52_a_log_torn_anywhere_gives_whole_groups(
    crashed: tuple[Path, Book, list[tuple[int, int]]], tmp_path: Path
) -> None:
    path, _, ends = crashed
    log = Path(f"{path}-wal").read_bytes()
    assert len(log) == ends[-1][0]
    chance = random.Random(52)
    lengths = [end + change for end, _ in ends for change in (-1, 0, 1) if end + change >= 0]
    lengths += [chance.randrange(len(log)) for _ in range(20)]
    for length in lengths:
        length = min(length, len(log))
        expected = max(event for end, event in ends if end <= length)
        assert attempt(path, log[:length], tmp_path / "try") == expected, length
        junk = chance.randbytes(chance.randrange(1, 9000))
        if length >= 32:
            assert attempt(path, log[:length] + junk, tmp_path / "try") == expected, length


def test_row_55_a_flip_in_the_flushed_log_is_found(
    crashed: tuple[Path, Book, list[tuple[int, int]]], tmp_path: Path
) -> None:
    """SQLite alone would take an older state for the last one. Only in the very last group, which
    may have been torn, does the store go on without it."""
    path, _, ends = crashed
    log = Path(f"{path}-wal").read_bytes()
    assert damage(log) is None
    chance = random.Random(55)
    settled = ends[-2][0]
    for _ in range(150):
        place = chance.randrange(len(log))
        spoilt = bytearray(log)
        spoilt[place] ^= 1 << chance.randrange(8)
        if place < settled:
            assert damage(bytes(spoilt)) is not None, place
        else:
            assert damage(bytes(spoilt)) is None, place
            assert attempt(path, bytes(spoilt), tmp_path / "try") == ends[-2][1]
    spoilt = bytearray(log)
    spoilt[settled // 2] ^= 1
    with pytest.raises(Broken, match=r"of the write-ahead log is damaged, and \d commits follow"):
        attempt(path, bytes(spoilt), tmp_path / "try")
    with pytest.raises(Broken, match="the head of the write-ahead log is damaged"):
        attempt(path, b"\1" + log[1:], tmp_path / "try")


def test_a_log_that_began_anew_over_an_older_one_is_whole(tmp_path: Path) -> None:
    """After a write-back the log is overwritten from its start; what lies behind is older."""
    path = tmp_path / "link.db"
    with closing(SqliteStore(path, create=True)) as store:
        store.migrate(at_ms=1)
        book = led(store)
        for _ in range(20):
            store.commit(book.contributions([1] * 20))
        store._checkpoint("PASSIVE")
        long = store.log_bytes()
        for _ in range(3):
            store.commit(book.contributions([1]))
            log = Path(f"{path}-wal").read_bytes()
            assert len(log) == long
            assert damage(log) is None
