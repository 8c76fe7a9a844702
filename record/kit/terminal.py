"""Standard output and error as every command sees them: text from outside moves no cursor.

Control characters and marks that turn the direction of text are written like ``\\u001b``, which
means the same in JSON. What a program itself draws, such as a colour, goes through ``draw``; text
from outside in it must have gone through ``record.kit.outside.printable``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any


class Guarded:
    """A stream of text; the bytes below it are as they were."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if not text.replace("\n", "").isprintable():
            from record.kit.outside import printable_output  # commands that need none are quicker

            self._stream.write(printable_output(text))
        else:
            self._stream.write(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def draw(self, text: str) -> None:
        self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Around everything that a command does."""
    out, err = sys.stdout, sys.stderr
    sys.stdout = out if out is None else Guarded(out)
    sys.stderr = err if err is None else Guarded(err)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


def draw(text: str, stream: Any = None) -> None:
    """The program's own control sequences, at once."""
    stream = sys.stdout if stream is None else stream
    getattr(stream, "draw", stream.write)(text)
    stream.flush()
