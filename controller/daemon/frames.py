"""The frame log's files and its thread: what goes over the lines, written beside the journal.

The loop only puts frames into a bounded queue; once a second a thread writes them away. Nothing
waits for it: a slow or full disk loses frames, which are counted, and nothing else.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from controller.history.framelog import Direction, FrameLog
from controller.history.sealing import Random, TableKey
from record.frame_files import FOLDER, FrameFolder

FLUSH_S: Final = 1.0
WAITING: Final = 16_384
"""Frames that wait at most for the thread; a table makes some hundred a second."""
KEEP: Final = 8


class Frames:
    """``note`` is for the loop, the rest for the code that starts and ends the table."""

    def __init__(self, log: FrameLog) -> None:
        self._log = log
        self._queue: deque[tuple[str, Direction, bytes, int]] = deque()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._overrun = 0

    @property
    def lost(self) -> int:
        """Frames that were not kept."""
        return self._overrun + self._log.lost

    def note(self, device: str, direction: Direction, data: bytes, now_us: int) -> None:
        if len(self._queue) >= WAITING:
            self._overrun += 1
        else:
            self._queue.append((device, direction, data, now_us))

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="frames", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Write what waits and end. A disk that hangs is not waited for."""
        self._ended.set()
        if self._thread is None:
            self._run()
        else:
            self._thread.join(FLUSH_S)

    def write_away(self) -> None:
        """All that waits, as far as the disk takes it."""
        for one in self._waiting():
            self._log.note(*one)
        self._log.flush()

    def _waiting(self) -> Iterator[tuple[str, Direction, bytes, int]]:
        with suppress(IndexError):
            while True:
                yield self._queue.popleft()

    def _run(self) -> None:
        while not self._ended.wait(FLUSH_S):
            self.write_away()
        self.write_away()
        self._log.close()


def open_frames(journal: Path, key: TableKey, random: Random, sealed: frozenset[str]) -> Frames:
    """The frame log beside the journal's folder; ``sealed`` are devices that tell cards."""
    folder = FrameFolder(journal.parent / FOLDER)
    first = max(folder.numbers(), default=0) + 1
    log = FrameLog(
        folder.open_new, folder.remove, key, random, sealed=sealed, first_file=first, keep=KEEP
    )
    return Frames(log)
