"""Other threads ask, the loop answers: the only way to the sockets, the ledger and the store."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from link.server.feed import LinkFeed
from link.server.replies import Reply
from link.server.requests import Asked

TIMEOUT_S: Final = 10.0


@dataclass(slots=True)
class Request:
    """What it leads to is answered after the commit."""

    asked: Asked
    done: Future[Reply] = field(default_factory=Future)

    def answer(self, answer: Reply) -> None:
        """Once; the caller may have stopped waiting."""
        with suppress(InvalidStateError):
            self.done.set_result(answer)


class Bridge:
    def __init__(self) -> None:
        self._waiting: deque[Request] = deque()
        self._lock = Lock()
        self._closed = False
        self.feed = LinkFeed()
        """What the loop tells without being asked."""
        self.wake_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        """Readable when somebody waits."""

    def ask(self, asked: Asked, timeout_s: float = TIMEOUT_S) -> Reply:
        """From any thread but the loop's; ``TimeoutError`` if the loop does not answer."""
        request = Request(asked)
        with self._lock:
            if self._closed:
                raise ConnectionError("the server stops")
            self._waiting.append(request)
            self.wake()
        return request.done.result(timeout_s)

    def wake(self) -> None:
        """Also from a signal handler."""
        os.eventfd_write(self.wake_fd, 1)

    def take(self, most: int | None = None) -> list[Request]:
        with suppress(BlockingIOError):
            os.eventfd_read(self.wake_fd)
        taken: list[Request] = []
        while self._waiting and len(taken) != most:
            taken.append(self._waiting.popleft())
        if self._waiting:
            self.wake()
        return taken

    def close(self) -> None:
        self.feed.close()
        with self._lock:
            self._closed = True
            for request in self.take():
                request.done.set_exception(ConnectionError("the server stops"))
            os.close(self.wake_fd)
