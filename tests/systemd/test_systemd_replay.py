"""The user of the web pages can read what a replay needs, and not the sealing key."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from record.frame_files import FrameFolder
from record.journal.disk import RealDisk
from tests.systemd.tools import SYSTEMD, values

TABLE = SYSTEMD / "system/underfelt-table@.service"
OWNER, WEB, STRANGER = 4242, 4243, 4244


@pytest.fixture
def state() -> Iterator[Path]:
    """The state directory of a table as its unit makes it."""
    with tempfile.TemporaryDirectory(prefix="uf-") as folder:
        Path(folder).chmod(0o755)
        made = Path(folder) / "table-7"
        made.mkdir()
        made.chmod(int(values(TABLE, "StateDirectoryMode")[0], 8))
        yield made


def written(state: Path) -> None:
    """By the program, under the unit's umask."""
    before = os.umask(int(values(TABLE, "UMask")[0], 8))
    try:
        disk = RealDisk()
        disk.make_folder(state / "journal")
        disk.close(disk.create(state / "journal/00000001.ufj", 4_096))
        FrameFolder(state / "frames").open_new(1).close()
        (state / "other").write_text("not for the group", "ascii")
        (state / "sealing.key").write_text("a key", "ascii")
    finally:
        os.umask(before)
    for path in (state, *state.rglob("*")):
        os.chown(path, OWNER, OWNER)


def can_read(path: Path, user: int, groups: list[int]) -> bool:
    done = subprocess.run(
        ["/bin/cat", str(path)],
        user=user, group=user, extra_groups=groups, env={"LC_ALL": "C"}, capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0 or b"Permission denied" in done.stderr, done.stderr
    return done.returncode == 0


@pytest.mark.usefixtures("as_root")
def test_the_web_user_reads_journal_and_frames_and_nothing_else(state: Path) -> None:
    written(state)
    record = [state / "journal/00000001.ufj", state / "frames/frames-00000001.bin"]
    assert [can_read(path, WEB, [OWNER]) for path in record] == [True, True]
    assert not can_read(state / "other", WEB, [OWNER])
    assert not can_read(state / "sealing.key", WEB, [OWNER])
    assert [can_read(path, STRANGER, []) for path in record] == [False, False]


def test_the_sealing_key_is_for_root_alone() -> None:
    """The service gets a copy; the group never sees the file."""
    rows = (SYSTEMD / "tmpfiles.d/underfelt-table.conf").read_text("utf-8").splitlines()
    (key,) = [row.split() for row in rows if "table.key" in row and not row.startswith("#")]
    assert key[:5] == ["z", "/etc/underfelt/*/table.key", "0400", "root", "root"]
