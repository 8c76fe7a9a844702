"""The frame log on real files and a real line: kept, sealed, bounded, and never in the way."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from controller.daemon import frames as module
from controller.daemon.frames import KEEP, Frames, open_frames
from controller.history.framelog import LoggedFrame, read_frames
from drivers.base import LineSettings
from drivers.rig import ToLine
from drivers.transport.hub import Hub
from record.frame_files import FrameFolder
from tests.paper import KEY, Noise
from tests.patience import PATIENCE_S

SEALED = frozenset({"shoe"})


def opened(tmp_path: Path, seed: str = "noise") -> Frames:
    return open_frames(tmp_path / "journal", KEY, Noise(seed), SEALED)


def kept(tmp_path: Path) -> list[LoggedFrame]:
    folder = FrameFolder(tmp_path / "frames")
    return [f for n in folder.numbers() for f in read_frames(folder.file(n).read_bytes(), KEY)]


def test_frames_lie_beside_the_journal_and_those_of_a_card_device_are_sealed(
    tmp_path: Path,
) -> None:
    frames = opened(tmp_path)
    frames.note("chips-1", "out", b"poll chips", 5)
    frames.note("shoe", "in", b"a card: Th", 6)
    frames.close()
    raw = (tmp_path / "frames" / "frames-00000001.bin").read_bytes()
    assert b"poll chips" in raw
    assert b"card" not in raw
    assert [(f.device, f.direction, f.sealed, f.data) for f in kept(tmp_path)] == [
        ("chips-1", "out", False, b"poll chips"),
        ("shoe", "in", True, b"a card: Th"),
    ]
    assert (tmp_path / "frames" / "frames-00000001.bin").stat().st_mode & 0o777 == 0o640
    assert frames.lost == 0


def test_the_thread_writes_what_waits_when_it_ends(tmp_path: Path) -> None:
    frames = opened(tmp_path)
    frames.start()
    frames.note("chips-1", "in", b"last words", 1)
    frames.close()
    assert [f.data for f in kept(tmp_path)] == [b"last words"]


def test_every_start_has_a_file_of_its_own_and_the_oldest_go(tmp_path: Path) -> None:
    for number in range(KEEP + 3):
        frames = opened(tmp_path, str(number))
        frames.note("chips-1", "in", f"start {number}".encode(), number)
        frames.close()
    assert [f.data for f in kept(tmp_path)] == [
        f"start {n}".encode() for n in range(3, KEEP + 3)
    ]  # fmt: skip


def test_no_folder_and_no_end_of_frames_lose_frames_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "frames").write_bytes(b"somebody's file")
    frames = opened(tmp_path)
    frames.note("chips-1", "in", b"x", 1)
    frames.write_away()
    assert frames.lost == 1
    monkeypatch.setattr(module, "WAITING", 10)
    for at in range(14):
        frames.note("chips-1", "in", b"x", at)
    assert frames.lost == 5


class OneLine:
    """A rig with one line that greets when it opens."""

    wake_us = None

    def __init__(self) -> None:
        self.lines = {"shoe": SimpleNamespace(settings=LineSettings(9600))}

    def line_opened(self, name: str, _now_us: int) -> list[object]:
        return [ToLine(name, b"hello")]

    def line_received(self, _name: str, _data: bytes, _now_us: int) -> list[object]:
        return ["heard"]

    def advance(self, _now_us: int) -> list[object]:
        return []


async def talk() -> tuple[list[tuple[str, str, bytes]], bytes]:
    device, port = os.openpty()
    heard = asyncio.Event()
    frames: list[tuple[str, str, bytes]] = []
    layout: Any = SimpleNamespace(
        transport=SimpleNamespace(throttled=""), boards={}, pins={},
        lines=[SimpleNamespace(name="shoe", port=os.ttyname(port))],
    )  # fmt: skip
    rig: Any = OneLine()

    def note(name: str, direction: str, data: bytes, now_us: int) -> None:
        assert now_us > 0
        frames.append((name, direction, data))

    hub = Hub(rig, layout, lambda _reading: heard.set(), note)
    hub.start()
    greeted = await asyncio.to_thread(os.read, device, 100)
    os.write(device, b"card\n")
    await asyncio.wait_for(heard.wait(), PATIENCE_S)
    hub.close()
    hub.run([ToLine("shoe", b"too late")])
    os.close(device)
    os.close(port)
    return frames, greeted


def test_the_hub_tells_the_bytes_of_a_line_both_ways() -> None:
    frames, greeted = asyncio.run(talk())
    assert greeted == b"hello"
    assert frames == [("shoe", "out", b"hello"), ("shoe", "in", b"card\n")]
