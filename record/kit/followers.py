"""Places for requests that wait for changes at a socket, shared so that no user takes all of them.

Users who are not trusted have some places together, so that root, the process's own user and the
web process find room whatever the others do.
"""

from __future__ import annotations

import os
import pwd
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from record.kit.words import counted

WEB_USER: Final = "underfelt-web"


def trusted_users() -> set[int]:
    """Root, this process's own user and the web process's."""
    found = {0, os.geteuid()}
    with suppress(KeyError):
        found.add(pwd.getpwnam(WEB_USER).pw_uid)
    return found


class Places(NamedTuple):
    """How many requests may wait at once."""

    all: int
    trusted: int
    """Of one trusted user."""
    others: int
    """Of all users together who are not trusted."""
    other: int
    """Of one of them."""


class Followers:
    """Used by the threads of a server, or by its loop."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._lock = threading.Lock()
        self.waiting: Counter[int] = Counter()
        """By uid."""
        self._others = 0

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
        places = self._places
        own = places.trusted if trusted else places.other
        if self.waiting[uid] >= own:
            return f"uid {uid} has {counted(own, 'request')} waiting already"
        if not trusted and self._others >= places.others:
            return f"other users have {counted(places.others, 'request')} waiting already"
        if self.waiting.total() >= places.all:
            return f"{counted(places.all, 'request')} wait already"
        return ""

    def _count(self, uid: int, trusted: bool, change: int) -> None:
        if not trusted:
            self._others += change
        self.waiting[uid] += change
        if not self.waiting[uid]:
            del self.waiting[uid]
