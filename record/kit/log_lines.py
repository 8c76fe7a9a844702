"""Log lines on standard error that never wait for their reader.

A pipe that nobody empties fills up, and then an ordinary write holds up the process for ever. Here
a line that cannot be written at once is dropped and counted, and the next one says how many.
"""

from __future__ import annotations

import os
import select
import sys
import threading


class LogLines:
    """For all threads: a second one would fill the room that the first one saw."""

    def __init__(self, descriptor: int | None = None, front: str = "<4>") -> None:
        """Without a ``descriptor``, standard error. ``front`` goes before what it says itself."""
        self._descriptor = _standard_error() if descriptor is None else descriptor
        self._front = front
        self._lock = threading.Lock()
        self.lost = 0
        """Texts that nobody took; the next one that is written says how many."""

    def write(self, text: str) -> None:
        """One line or more, each with its line feed."""
        with self._lock:
            before = f"{self._front}{self.lost} log lines were lost\n" if self.lost else ""
            if write_now(self._descriptor, before + text):
                self.lost = 0
            else:
                self.lost += 1


def write_now(descriptor: int, text: str) -> bool:
    """Write, if that does not wait: what polls as writable takes PIPE_BUF bytes at once (poll(2)).
    Longer text is cut."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > select.PIPE_BUF:
        data = data[: select.PIPE_BUF - 1] + b"\n"
    try:
        asked = select.poll()
        asked.register(descriptor, select.POLLOUT)
        ready = asked.poll(0)
        if not ready or not ready[0][1] & select.POLLOUT:
            return False
        return os.write(descriptor, data) == len(data)
    except (OSError, ValueError):
        return False


def _standard_error() -> int:
    """No descriptor if it was closed at the start: 2 may be a store or a socket by now."""
    return -1 if sys.stderr is None else 2
