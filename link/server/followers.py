"""Who waits for changes at the control socket, and how many of them may at once."""

from __future__ import annotations

import select
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

FOLLOWERS: Final = 4
"""Half of the connections that the socket serves at once; the others are for people."""
OF_OTHERS: Final = 2
"""Of all users who are not trusted: the web process finds room whatever they do."""
OF_ONE: Final = 1
"""Of one user who is not trusted."""


class Followers:
    """Each of them waits in the thread of its connection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trusted = 0
        self._others: Counter[int] = Counter()
        """Of the others, by uid."""

    @contextmanager
    def one_more(self, uid: int, *, trusted: bool) -> Iterator[str]:
        """Why there is no room for one more; empty, and a place until the end, if there is."""
        with self._lock:
            why = self._full(uid, trusted)
            if not why:
                self._count(uid, trusted, 1)
        try:
            yield why
        finally:
            if not why:
                with self._lock:
                    self._count(uid, trusted, -1)

    def _full(self, uid: int, trusted: bool) -> str:
        others = self._others.total()
        if not trusted and self._others[uid] >= OF_ONE:
            return f"uid {uid} waits for changes already"
        if not trusted and others >= OF_OTHERS:
            return f"{OF_OTHERS} other users wait for changes already"
        if self._trusted + others >= FOLLOWERS:
            return f"{FOLLOWERS} connections wait for changes already"
        return ""

    def _count(self, uid: int, trusted: bool, change: int) -> None:
        if trusted:
            self._trusted += change
            return
        self._others[uid] += change
        if not self._others[uid]:
            del self._others[uid]


def hung_up(connection: socket.socket) -> bool:
    """True if nobody can read an answer any more. A peer that only ended its own side still can."""
    asked = select.poll()
    asked.register(connection, 0)  # POLLHUP and POLLERR are always reported
    return bool(asked.poll(0))
