"""Power cuts and failing disks at every step: the old register or the new one, whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.registers import files
from controller.registers.errors import CreateError, NotPermittedError, WriteError
from controller.registers.files import create_files, locked, write_atomically
from controller.registers.kinds import CHIPS

OLD, NEW = b"old register" * 20, b"the new register" * 30


class PowerCut(BaseException):
    """Nothing runs after it, so no handler of the code under test may catch it."""


class Disk:
    """``os`` with a disk that forgets what was not synced and can fail or lose power at a step."""

    def __init__(self, folder: Path, at: int, *, cut: bool = False, renames_kept: bool = True):
        self.folder, self.at, self.cut, self.renames_kept = folder, at, cut, renames_kept
        self.step = 0
        self.calls: list[str] = []
        self.dead = False
        self.unsynced: set[int] = set()
        self.renamed: list[tuple[Path, bytes | None]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def _counts(self, what: str) -> None:
        if self.dead:
            raise PowerCut
        self.calls.append(what)
        self.step += 1
        if self.step == self.at:
            self.dead = self.cut
            raise PowerCut if self.cut else OSError(errno.EIO, "Input/output error")

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        self._counts("open")
        return os.open(path, flags, mode)

    def write(self, descriptor: int, data: memoryview) -> int:
        self._counts("write")
        self.unsynced.add(os.fstat(descriptor).st_ino)
        return os.write(descriptor, data[:200])  # a short write is a write

    def fsync(self, descriptor: int) -> None:
        self._counts("fsync")
        if Path(f"/proc/self/fd/{descriptor}").resolve().is_dir():
            self.renamed.clear()
        else:
            self.unsynced.discard(os.fstat(descriptor).st_ino)

    def replace(self, source: Path, target: Path) -> None:
        self._counts("replace")
        self.renamed.append((target, target.read_bytes() if target.exists() else None))
        os.replace(source, target)

    def unlink(self, path: Path) -> None:
        self._counts("unlink")
        os.unlink(path)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def restart(self) -> None:
        """What the next boot finds: unsynced data gone, unsynced renames as the disk likes."""
        for path in self.folder.iterdir():
            if path.stat().st_ino in self.unsynced:
                path.write_bytes(b"")
        if not self.renames_kept:
            for target, before in reversed(self.renamed):
                if before is None:
                    target.unlink()
                else:
                    target.write_bytes(before)


def after_a_cut(
    folder: Path, at: int, write: Callable[[Disk, Path, bytes], None], *, renames_kept: bool
) -> tuple[bytes, bool, Disk]:
    path = folder / "house.chips"
    path.write_bytes(OLD)
    disk = Disk(folder, at, cut=True, renames_kept=renames_kept)
    finished = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "os", disk)
        try:
            write(disk, path, NEW)
            finished = True
        except PowerCut:
            pass
    disk.restart()
    return path.read_bytes(), finished, disk


@pytest.mark.parametrize("renames_kept", [True, False])
def test_a_power_cut_at_any_step_leaves_the_old_or_the_new_file(
    renames_kept: bool, tmp_path: Path
) -> None:
    found = []
    for at in range(1, 50):
        content, finished, disk = after_a_cut(
            tmp_path,
            at,
            lambda _, path, content: write_atomically(CHIPS, path, content),
            renames_kept=renames_kept,
        )
        assert content in (OLD, NEW), f"cut at {disk.calls}"
        found.append(content)
        if finished:
            assert content == NEW, "done was said, but it did not last"
            steps = ["open", "write", "write", "write", "fsync", "replace", "open", "fsync"]
            assert disk.calls == steps
            break
    assert found[0] == OLD
    assert finished


def test_the_simulated_disk_catches_what_a_careless_writer_does(tmp_path: Path) -> None:
    """The test above must be able to fail: no sync of the file, none of the folder, in place."""

    def unsynced(disk: Disk, path: Path, content: bytes) -> None:
        descriptor = disk.open(path.with_name("n"), os.O_WRONLY | os.O_CREAT)
        while content:
            content = content[disk.write(descriptor, memoryview(content)) :]
        disk.close(descriptor)
        disk.replace(path.with_name("n"), path)

    def in_place(disk: Disk, path: Path, content: bytes) -> None:
        descriptor = disk.open(path, os.O_WRONLY | os.O_TRUNC)
        disk.write(descriptor, memoryview(content))
        disk.close(descriptor)

    assert after_a_cut(tmp_path, 99, unsynced, renames_kept=True)[0] == b""
    assert after_a_cut(tmp_path, 99, unsynced, renames_kept=False)[0] == OLD
    assert after_a_cut(tmp_path, 2, in_place, renames_kept=True)[0] == b""


def test_the_first_register_of_all_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    for at in range(1, 10):
        path = tmp_path / f"{at}.chips"
        disk = Disk(tmp_path, at, cut=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "os", disk)
            try:
                write_atomically(CHIPS, path, NEW)
            except PowerCut:
                assert at <= 8
        disk.restart()
        assert not path.exists() or path.read_bytes() == NEW


STEPS = {
    1: ("E-CHIP-051", OLD),  # open the new file
    2: ("E-CHIP-052", OLD),  # write
    5: ("E-CHIP-052", OLD),  # sync it
    6: ("E-CHIP-052", OLD),  # rename
    7: ("E-CHIP-052", NEW),  # open the folder
    8: ("E-CHIP-052", NEW),  # sync the folder
}


@pytest.mark.parametrize("at", STEPS)
def test_a_failing_disk_is_told_and_leaves_nothing_behind(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "house.chips"
    path.write_bytes(OLD)
    disk = Disk(tmp_path, at)
    monkeypatch.setattr(files, "os", disk)
    with pytest.raises((WriteError, CreateError)) as caught:
        write_atomically(CHIPS, path, NEW)
    code, content = STEPS[at]
    assert caught.value.code == code
    assert path.read_bytes() == content
    assert [one.name for one in tmp_path.iterdir()] == ["house.chips"]
    assert disk.calls.count("fsync") <= (1 if at < 8 else 2), "a failed sync was tried again"
    assert ("new register is in place" in str(caught.value)) == (content == NEW)


def test_what_a_crash_left_behind_does_not_stand_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "house.chips"
    (tmp_path / ".house.chips.new").write_bytes(b"half a register" * 1000)
    write_atomically(CHIPS, path, NEW)
    assert path.read_bytes() == NEW
    assert [one.name for one in tmp_path.iterdir()] == ["house.chips"]


def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.chips", tmp_path / "a.chips"
    target.write_bytes(OLD)
    link.symlink_to(target)
    write_atomically(CHIPS, link, NEW)
    assert link.is_symlink()
    assert target.read_bytes() == NEW


def test_a_link_in_the_place_of_the_new_file_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(OLD)
    (tmp_path / ".a.chips.new").symlink_to(victim)
    with pytest.raises(CreateError, match="E-CHIP-051"):
        write_atomically(CHIPS, tmp_path / "a.chips", NEW)
    assert victim.read_bytes() == OLD


def test_two_people_cannot_change_registers_of_one_folder_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    refused = pytest.raises(NotPermittedError, match="E-CHIP-053")
    with locked(CHIPS, path), refused, locked(CHIPS, path):
        pass
    with locked(CHIPS, path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CreateError, match="E-CHIP-051"), locked(CHIPS, tmp_path / "no" / "a.chips"):
        pass
    with pytest.raises(CreateError, match="E-CHIP-051"):
        write_atomically(CHIPS, tmp_path / "no" / "a.chips", NEW)


@pytest.mark.parametrize("at", range(1, 9))
def test_new_files_are_made_all_or_none(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "os", Disk(tmp_path, at))
    with pytest.raises(CreateError, match="E-CHIP-051"):
        create_files(CHIPS, (tmp_path / "a", b"1", 0o400), (tmp_path / "b", b"2", 0o644))
    assert list(tmp_path.iterdir()) == []
