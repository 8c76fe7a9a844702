"""One connection to a table's socket: words go out, data comes back. Standard library only."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from select import select
from signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask
from typing import Any, Final

from controller.shell.messages import Request
from record.kit.lines import connect, line_of

TIMEOUT_S: Final = 30.0
LONGEST: Final = 16 << 20
PIECE: Final = 1 << 16


class NoTable(Exception):
    """Nobody answers at the socket."""


class NotAllowed(NoTable):
    """This user may not use the socket."""


def _hung_up(connection: socket.socket) -> bool:
    """Has the other end gone while nothing was asked?"""
    if not select([connection], [], [], 0)[0]:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


class Client:
    """The connection is opened with the first command and stays: test mode belongs to it."""

    def __init__(self, path: Path, timeout_s: float = TIMEOUT_S) -> None:
        self.path = path
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._kept = b""
        self._number = 0
        self.opened = 0
        """Connections so far: a table that was started again is reached by another one."""

    def ask(self, words: Sequence[str], cursor: int | None = None) -> Mapping[str, Any]:
        """The answer as it came. Raises NoTable; an interrupt leaves the connection usable."""
        self._number += 1
        request = Request(tuple(words), self._number, cursor)
        try:
            return self._asked(line_of(request.row()))
        except PermissionError:
            self.close()
            said = "permission denied; join the group that owns the socket"
            raise NotAllowed(f"{self.path}: {said}") from None
        except OSError as error:
            self.close()
            reason = error.strerror or "no answer in time"
            raise NoTable(f"{self.path}: {reason}; no table answers there") from None
        except ValueError:
            self.close()
            raise NoTable(f"{self.path}: what answers there is not a table") from None

    def _asked(self, line: bytes) -> Mapping[str, Any]:
        if self._socket is not None and _hung_up(self._socket):
            self.close()  # the table was started again since the last command
        if self._socket is None:
            self._socket, self._kept = connect(self.path, self._timeout_s), b""
            self.opened += 1
        with suppress(BrokenPipeError):  # refused before it was asked: what it says is still there
            self._socket.sendall(line)
        while True:
            answer = json.loads(self._line(self._socket))
            if not isinstance(answer, dict):
                raise json.JSONDecodeError("expected an object", "", 0)
            # An answer to a command that was given up with Ctrl-C comes first: not ours.
            if answer.get("id", self._number) == self._number:
                return answer

    def _line(self, connection: socket.socket) -> bytes:
        """What has come stays here if Ctrl-C breaks in: the next command reads on behind it."""
        while b"\n" not in self._kept:
            # Ctrl-C breaks in while nothing has come, never between the taking and the keeping.
            if not select([connection], [], [], self._timeout_s)[0]:
                raise TimeoutError
            before = pthread_sigmask(SIG_BLOCK, {SIGINT})
            try:
                more = connection.recv(PIECE)
                self._kept += more
            finally:
                pthread_sigmask(SIG_SETMASK, before)
            if not more:
                raise ConnectionResetError(0, "the table has gone")
            if len(self._kept) > LONGEST:
                raise json.JSONDecodeError("too long", "", 0)
        line, _, self._kept = self._kept.partition(b"\n")
        return line

    def close(self) -> None:
        made, self._socket = self._socket, None
        if made is not None:
            made.close()
