"""The feed of the link server: changes for whoever follows, over the control socket.

The loop owns what is told and sets it here; threads of the control socket wait here. While nobody
follows, the loop makes nothing but log entries: then the feed is not ``fresh``, and the first who
asks has the loop bring it up to date. docs/protocols/feed.md.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from threading import Condition
from time import monotonic
from typing import Any, Final

from record.kit.feed import LONGEST_LOG, Changes, Feed

FOLLOWED_S: Final = 30.0
"""So long after its last request a follower is taken to come back."""
LOOK_S: Final = 0.5
"""Who waits is looked at this often: it may have left."""


def new_id() -> str:
    return secrets.token_hex(8)


class LinkFeed:
    def __init__(self, now_s: Callable[[], float] = monotonic, longest: int = LONGEST_LOG) -> None:
        """``longest``: entries of the log that are kept."""
        self._changed = Condition()
        self._now_s, self._longest = now_s, longest
        self._feed = Feed(new_id(), longest)
        self._asked_s = -FOLLOWED_S
        self._closed = False
        self._fresh = False

    # --- for the loop -----------------------------------------------------------------------------

    def followed(self) -> bool:
        """Or from now on not fresh."""
        with self._changed:
            if self._now_s() - self._asked_s >= FOLLOWED_S:
                self._fresh = False
            return self._fresh

    def restart(self) -> None:
        """Leading begins or ends: nothing told before counts any more. Those who wait hear of it
        with the first parts."""
        with self._changed:
            self._feed = Feed(new_id(), self._longest)

    def set(self, parts: Mapping[str, Any]) -> None:
        """All parts that changed; the feed is fresh now."""
        with self._changed:
            self._fresh = True
            if self._feed.update(parts):
                self._changed.notify_all()

    def note(self, entries: Iterable[Mapping[str, Any]]) -> None:
        with self._changed:
            for entry in entries:
                self._feed.note(entry)
            self._changed.notify_all()

    # --- for those who follow ---------------------------------------------------------------------

    def is_fresh(self) -> bool:
        """Somebody asks: from now on the loop keeps it so."""
        with self._changed:
            self._asked_s = self._now_s()
            return self._fresh and bool(self._feed.parts)

    def wait(self, feed: str, after: int, wait_ms: int, gone: Callable[[], bool] = bool) -> Changes:
        """Until something is newer, ``wait_ms`` are over or the follower is ``gone``."""
        until_s = self._now_s() + wait_ms / 1_000
        with self._changed:
            while not self._closed and not self._newer(feed, after):
                left_s = until_s - self._now_s()
                if left_s <= 0 or gone():
                    break
                self._changed.wait(min(left_s, LOOK_S))
            self._asked_s = self._now_s()
            return self._feed.since(feed, after)

    def _newer(self, feed: str, after: int) -> bool:
        return bool(self._feed.parts) and self._feed.newer(feed, after)

    def close(self) -> None:
        """Nobody waits any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
