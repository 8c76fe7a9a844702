"""What a table was promised: every word of the server about durable events, as it arrives.

A file of lines of 16 bytes, each one write at the end of it, so that no kill can tear one. It is
read from the raw frames, before the table's own code has seen them:

``w n``  the table's journal holds its events up to n, synced
``a n``  the server acknowledged up to n
``h n``  the server welcomed the table and said that it has the events up to n
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from controller.link.client import LinkClient
from controller.link.session import Head
from record.link.messages import Event

Word = Literal["w", "a", "h"]
LINE: Final = 16


class Notebook:
    """The writing side."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)

    def note(self, word: Word, n: int) -> None:
        os.write(self._file, b"%s %013d\n" % (word.encode(), n))

    def heard(self, frame: bytes) -> None:
        told = json.loads(frame)
        if told["t"] == "ack":
            self.note("a", told["n"])
        elif told["t"] == "welcome":
            self.note("h", told["n"])


def watched(path: Path) -> type[LinkClient]:
    """The real client, with somebody who writes down what it is told."""
    notebook = Notebook(path)

    class Watched(LinkClient):
        def released(self, outbox: Sequence[Event], head: Head, *, test_mode: bool = False) -> None:
            if outbox:
                notebook.note("w", head.sent)
            super().released(outbox, head, test_mode=test_mode)

        def _take(self, frames: list[bytes]) -> None:
            notebook.heard(frames[0])
            super()._take(frames)

    return Watched


def lines(data: bytes) -> Iterator[tuple[str, int]]:
    for at in range(0, len(data) - LINE + 1, LINE):
        line = data[at : at + LINE]
        yield chr(line[0]), int(line[2:])


class Witness:
    """The reading side, beside a table that writes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.written = 0
        """The last event that the table knows to be in its own journal."""
        self.promised = 0
        """The last event that the server said it has."""
        self.words = 0
        """Acknowledgements and welcomes so far."""
        self.broken: list[str] = []
        self._read = 0

    def look(self) -> None:
        try:
            with self.path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            return
        self._read += len(data) // LINE * LINE
        for word, n in lines(data):
            if word == "w":
                self.written = max(self.written, n)
                continue
            self.words += 1
            if word == "h" and n < self.promised:
                self.broken.append(
                    f"lost: {self.promised} was acknowledged, then the server said it has {n}"
                )
            self.promised = max(self.promised, n)

    @property
    def under_way(self) -> int:
        """Events that are durable at the table and not known to be at the server."""
        return max(0, self.written - self.promised)
