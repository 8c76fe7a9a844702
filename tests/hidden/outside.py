"""Everything that leaves a table's process, in one list: what somebody outside could ever see.

Bytes to every line and chip, calls to the disk with name, place and bytes, the frame log's files,
orders, effects, status, metrics, counters, log lines, standard output, how much chance was asked
for; and how often each function of the product ran, which is what a delay is made of.
"""

from __future__ import annotations

import io
import json
import logging
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from controller.daemon.journald import JournaldHandler
from tests.record.journal.simdisk import SimDisk

ROOT: Final = Path(__file__).resolve().parents[2]
PRODUCT: Final = tuple(f"{ROOT / package}/" for package in ("controller", "drivers", "record"))


class Row(NamedTuple):
    """One thing that left the process."""

    at_us: int
    channel: str
    what: tuple[object, ...]


class Outside:
    """``now_us`` is set by whoever has the clock."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.now_us = 0
        self._counting = False

    def note(self, channel: str, *what: object) -> None:
        self.rows.append(Row(self.now_us, channel, what))

    @contextmanager
    def counted(self, why: str) -> Iterator[None]:
        """Functions of the product that are called in here, each with how often."""
        if self._counting:
            yield
            return
        counts: Counter[CodeType] = Counter()

        def event(frame: FrameType, event: str, _argument: object) -> None:
            if event == "call":
                counts[frame.f_code] += 1

        before, self._counting = sys.getprofile(), True
        sys.setprofile(event)
        try:
            yield
        finally:
            sys.setprofile(before)
            self._counting = False
            ours = {
                f"{code.co_filename.removeprefix(str(ROOT))}:{code.co_qualname}": number
                for code, number in counts.items()
                if code.co_filename.startswith(PRODUCT)
            }
            self.note("calls", why, ours)


class WatchedDisk(SimDisk):
    """The simulated disk, each call told with its name, place and bytes."""

    def __init__(self, outside: Outside, room: int = 1 << 40) -> None:
        super().__init__(room)
        self._outside = outside
        self._told: dict[int, str] = {}

    def after_cut(self, random: Any) -> SimDisk:
        left = super().after_cut(random)
        fresh = WatchedDisk(self._outside, left.room)
        fresh.names_seen, fresh.names_durable = left.names_seen, left.names_durable
        return fresh

    def names(self, path: Path) -> list[str]:
        self._outside.note("disk", "names", str(path))
        return super().names(path)

    def lock(self, path: Path) -> int:
        self._outside.note("disk", "lock", str(path))
        return super().lock(path)

    def read(self, path: Path, limit: int = -1) -> bytes:
        self._outside.note("disk", "read", str(path), limit)
        return super().read(path, limit)

    def read_settled(self, path: Path) -> bytes:
        self._outside.note("disk", "read settled", str(path))
        return super().read_settled(path)

    def create(self, path: Path, size: int) -> int:
        self._outside.note("disk", "create", str(path), size)
        handle = super().create(path, size)
        self._told[handle] = path.name
        return handle

    def open(self, path: Path) -> int:
        self._outside.note("disk", "open", str(path))
        handle = super().open(path)
        self._told[handle] = path.name
        return handle

    def write(self, handle: int, data: bytes, offset: int) -> None:
        self._outside.note("disk", "write", self._told[handle], offset, len(data), bytes(data))
        super().write(handle, data, offset)

    def sync(self, handle: int) -> None:
        self._outside.note("disk", "sync", self._told[handle])
        super().sync(handle)

    def sync_folder(self, path: Path) -> None:
        self._outside.note("disk", "sync folder", str(path))
        super().sync_folder(path)

    def rename(self, old: Path, new: Path) -> None:
        self._outside.note("disk", "rename", str(old), str(new))
        super().rename(old, new)

    def unlink(self, path: Path) -> None:
        self._outside.note("disk", "unlink", str(path))
        super().unlink(path)

    def truncate(self, path: Path, size: int) -> None:
        self._outside.note("disk", "truncate", str(path), size)
        super().truncate(path, size)

    def close(self, handle: int) -> None:
        self._outside.note("disk", "close", self._told.get(handle, "lock"))
        super().close(handle)

    def free_bytes(self, path: Path) -> int:
        self._outside.note("disk", "free", str(path))
        return super().free_bytes(path)


class WatchedFile:
    """A file of the frame log, as far as the log uses one."""

    def __init__(self, outside: Outside, number: int) -> None:
        self._outside, self._number = outside, number
        outside.note("frame log", "open", number)

    def write(self, data: bytes) -> None:
        self._outside.note("frame log", "write", self._number, len(data), bytes(data))

    def flush(self) -> None:
        self._outside.note("frame log", "flush", self._number)

    def close(self) -> None:
        self._outside.note("frame log", "close", self._number)


class WatchedLog(JournaldHandler):
    """journald's socket: whatever any logger of the process says."""

    def __init__(self, outside: Outside) -> None:
        super().__init__("twin")
        self._outside = outside

    def _deliver(self, fields: Mapping[str, str]) -> bool:
        self._outside.note("log", dict(fields))
        return True


class WatchedText(io.StringIO):
    """Standard output or error."""

    def __init__(self, outside: Outside, name: str) -> None:
        super().__init__()
        self._outside, self._name = outside, name

    def write(self, text: str) -> int:
        self._outside.note(self._name, text)
        return len(text)


@contextmanager
def watched_process(outside: Outside) -> Iterator[None]:
    """Log lines and standard streams of this process, as long as it lasts."""
    handler = WatchedLog(outside)
    root = logging.getLogger()
    level, streams = root.level, (sys.stdout, sys.stderr)
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    sys.stdout, sys.stderr = WatchedText(outside, "stdout"), WatchedText(outside, "stderr")
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        root.setLevel(level)
        root.removeHandler(handler)


def told(value: object) -> str:
    """A status or counters as the service socket sends them."""
    return json.dumps(value)
