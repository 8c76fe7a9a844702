"""A disk or a process that is really full, under a whole link server.

The kernel says so (ENOSPC, EMFILE), no test double. No server may end or lose what it acknowledged,
a backup leaves nothing half written behind, and the answer names the disk that is full.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from link.config import load
from link.server import leadership
from link.store.backup import manifest_path, verify_backup
from record.kit.lines import connect
from tests.link.server.asked import NOTE, notes
from tests.link.server.house import House, house_of
from tests.link.server.test_server_process import Link

PAGE = 4_096


def fill(folder: Path, left: int = 0) -> Path:
    """A file that leaves so many bytes of its disk."""
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        disk = os.statvfs(folder)
        os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - left)
    return ballast


def test_a_full_disk_under_the_server_refuses_orders_until_there_is_room(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leadership, "PAUSE_S", 0.0)
    with house_of(small, "table-1") as house:
        live = house.start(beat_ms=60_000, lease_ms=500)
        assert live.order(NOTE, "k.lee")["ok"]
        done, ballast = 1, fill(small, 8 * PAGE)
        while "error" not in (answer := live.order(NOTE, "k.lee")):
            done += 1
            assert done < 5_000
        assert answer["error"] == "E-LNK-020"
        assert "full" in answer["text"]
        assert "nothing changed" in answer["text"]
        # Status is answered all the same, and says why nothing else is.
        live.until(lambda: "full" in live.ask("status")["trouble"])
        assert "error" in live.order(NOTE, "k.lee")
        ballast.unlink()
        live.until(lambda: live.ask("status")["leading"])
        assert live.order(NOTE, "k.lee")["ok"]
        assert not live.failed
        live.stop()
        with closing(house.store()) as stored:
            stored.check()
            assert notes(stored) == done + 1


@pytest.fixture
def served(tmp_path: Path) -> Iterator[House]:
    folder = tmp_path / "served"
    folder.mkdir()
    with house_of(folder, "table-1") as made:
        yield made


def test_a_backup_that_finds_no_room_leaves_nothing_and_names_its_own_disk(
    served: House, small: Path
) -> None:
    """Whatever it is writing when the disk is full: the copy, or the manifest."""
    live = served.start(beat_ms=60_000)
    target = small / "copy"
    written = refused = 0
    for left in range(0, 2 << 20, PAGE):
        ballast = fill(small, left)
        answer = live.ask("backup", path=str(target))
        assert live.ask("status")["leading"]
        if "error" in answer:
            refused += 1
            assert answer["error"] == "E-STO-009", answer
            assert str(target) in answer["text"], answer
            assert [found.name for found in small.iterdir()] == ["ballast"]
        else:
            verify_backup(target)
            written += 1
            target.unlink()
            manifest_path(target).unlink()
        ballast.unlink()
        if written == 3:
            break
    assert refused > 10
    assert written == 3
    assert live.order(NOTE, "k.lee")["ok"]
    assert not live.failed


def test_a_server_without_a_free_descriptor_goes_on_and_backs_up_when_it_has_some(
    tmp_path: Path,
) -> None:
    link = Link(tmp_path)
    process = link.start()
    link.wait_leading()
    before = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
    with connect(load(link.config).server.control, 60.0) as connection:
        lines = connection.makefile("rb")

        def ask(**request: str) -> dict[str, Any]:
            connection.sendall(json.dumps(request).encode() + b"\n")
            found: dict[str, Any] = json.loads(lines.readline())
            return found

        assert ask(verb="status")["leading"]
        highest = max(int(name) for name in os.listdir(f"/proc/{process.pid}/fd"))
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (highest + 1, before[1]))
        refused = ask(verb="backup", path=str(tmp_path / "copy"))
        assert refused["error"] == "E-STO-009", refused
        assert ask(verb="status")["leading"]
        assert ask(verb="meters")["meters"]
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
        assert ask(verb="backup", path=str(tmp_path / "copy"))["ok"]
    verify_backup(tmp_path / "copy")
    assert link.stop()[0] == 0
