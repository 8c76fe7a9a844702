"""A file system of its own loses power: what was not synced is thrown away, what was acted on not.

A writer runs on a loop-mounted ext4 image. It is stopped in mid-work, the image file is copied as
it lies there, with nothing flushed, and the copy is mounted and recovered. Needs root.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from record.journal import Journal, JournalError
from record.verify_journal import verify as verify_alone
from tests.crash.journal_writer import SEGMENT_BYTES
from tests.crash.loop import make_image, mounted

ROOT = Path(__file__).resolve().parents[2]
ACKNOWLEDGED = 1500
IMAGE_BYTES = 32 << 20


def image_after_power_cut(folder: Path, *switches: str) -> tuple[Path, dict[int, str]]:
    """What the medium has at one moment of the writer's life, and what it acted on before."""
    image, copy = folder / "disk.img", folder / "copy.img"
    make_image(image, IMAGE_BYTES)
    with mounted(image, folder / "live") as place:
        journal = place / "journal"
        command = [sys.executable, "-m", "tests.crash.journal_writer", str(journal), *switches]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as writer:
            assert writer.stdout is not None
            try:
                lines = [writer.stdout.readline() for _ in range(ACKNOWLEDGED)]
                writer.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, writer.pid, os.WSTOPPED)
                shutil.copyfile(image, copy)
            finally:
                writer.kill()
            lines += writer.stdout.read().splitlines(keepends=True)
    whole = [line.split() for line in lines if line.endswith(b"\n")]
    return copy, {int(seq): digest.decode() for seq, digest in whole}


def recover(folder: Path, copy: Path) -> tuple[dict[int, str], int]:
    with mounted(copy, folder / "after") as mount:
        place = mount / "journal"
        journal = Journal.open(
            place, table="T-1", create=False, segment_bytes=SEGMENT_BYTES, now_ms=2_000
        )
        found = {record.seq: record.hash.hex() for record in journal.records()}
        repaired = journal.repaired
        journal.close()
        assert verify_alone(place)["ok"]
    return found, repaired


def test_nothing_acted_upon_is_missing(tmp_path: Path) -> None:
    copy, acted_on = image_after_power_cut(tmp_path)
    assert len(acted_on) >= ACKNOWLEDGED
    found, repaired = recover(tmp_path, copy)
    missing = {seq for seq, digest in acted_on.items() if found.get(seq) != digest}
    print(f"acted on {len(acted_on)}, found {len(found)}, cut off {repaired} bytes")
    assert missing == set()


def test_the_test_fails_without_fdatasync(tmp_path: Path) -> None:
    copy, acted_on = image_after_power_cut(tmp_path, "--no-fdatasync")
    try:
        found, _ = recover(tmp_path, copy)
    except JournalError as error:
        print(f"acted on {len(acted_on)}, not even readable: {error}")
        return
    missing = [seq for seq, digest in acted_on.items() if found.get(seq) != digest]
    print(f"acted on {len(acted_on)}, missing {len(missing)}")
    assert missing, "unsynced records survived: this test cannot see a missing fdatasync"
