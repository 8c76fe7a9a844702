"""One connection to a table's socket: words go out, data comes back. Standard library only."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

TIMEOUT_S: Final = 30.0
LONGEST: Final = 16 << 20


class NoTable(Exception):
    """Nobody answers at the socket."""


class Client:
    """The connection is opened with the first command and stays: test mode belongs to it."""

    def __init__(self, path: Path, timeout_s: float = TIMEOUT_S) -> None:
        self.path = path
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._stream: Any = None
        self._number = 0

    def ask(self, words: Sequence[str], cursor: int | None = None) -> Mapping[str, Any]:
        """The answer as it came. Raises NoTable; an interrupt leaves the connection usable."""
        self._number += 1
        request: dict[str, Any] = {"verb": "shell", "id": self._number, "words": list(words)}
        if cursor is not None:
            request["cursor"] = cursor
        try:
            return self._asked(json.dumps(request).encode() + b"\n")
        except OSError as error:
            self.close()
            reason = error.strerror or "no answer in time"
            raise NoTable(f"{self.path}: {reason}; no table answers there") from None
        except ValueError:
            self.close()
            raise NoTable(f"{self.path}: what answers there is no table") from None

    def _asked(self, line: bytes) -> Mapping[str, Any]:
        if self._socket is None:
            made = socket.socket(socket.AF_UNIX)
            made.settimeout(self._timeout_s)
            try:
                made.connect(str(self.path))
            except BaseException:
                made.close()
                raise
            self._socket, self._stream = made, made.makefile("rb")
        self._socket.sendall(line)
        while True:
            text = self._stream.readline(LONGEST)
            if not text:
                raise ConnectionResetError(0, "the table has gone")
            answer = json.loads(text)
            if not isinstance(answer, dict):
                raise json.JSONDecodeError("expected an object", "", 0)
            # An answer to a command that was given up with Ctrl-C comes first: not ours.
            if answer.get("id", self._number) == self._number:
                return answer

    def close(self) -> None:
        made, self._socket = self._socket, None
        if made is not None:
            self._stream.close()
            made.close()
