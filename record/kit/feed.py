"""PURE: a feed: the latest value of named parts, and a bounded log, that anyone can follow.

Every change gets the next number ``n``. A reader says which feed it follows and the last ``n`` that
it has; it gets the parts and log entries that are newer. So a break loses and doubles nothing, a
slow reader gets the latest value of each part, and nothing is sent while nothing changes. A reader
that cannot be served exactly (another feed, or log entries that it missed were dropped) gets
everything and ``reloaded``.

Feeds do not lock: one thread owns a feed, or its users share a lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Final, NotRequired, TypedDict

LONGEST_LOG: Final = 500
LONGEST_WAIT_MS: Final = 10_000
"""A request waits at most this long for a change."""


class Changes(TypedDict):
    """An answer to the verb ``changes``; the server adds ``at_ms``, its time."""

    feed: str
    n: int
    reloaded: bool
    dropped: NotRequired[int]
    """``n`` of the newest entry that is no longer in the log; 0 if all are."""
    parts: dict[str, tuple[int, Any]]
    log: list[dict[str, Any]]


class Feed:
    """The source. ``feed`` is its id, another one at each start of its process."""

    def __init__(self, feed: str, longest: int = LONGEST_LOG) -> None:
        if not feed or longest < 1:
            raise ValueError("a feed needs an id and room for one entry")
        self.feed = feed
        self.n = 0
        self.parts: dict[str, tuple[int, Any]] = {}
        self.dropped = 0
        self._longest = longest
        self._log: deque[dict[str, Any]] = deque()

    def update(self, parts: Mapping[str, Any]) -> bool:
        """Set parts; only those that differ count as changed. True if any did.

        The feed keeps the values: do not change one afterwards.
        """
        changed = {
            name: value
            for name, value in parts.items()
            if name not in self.parts or self.parts[name][1] != value
        }
        if changed:
            self.n += 1
            self.parts.update({name: (self.n, value) for name, value in changed.items()})
        return bool(changed)

    def note(self, entry: Mapping[str, Any]) -> int:
        """Add an entry to the log; its number."""
        self.n += 1
        self._keep({**entry, "n": self.n})
        return self.n

    def newer(self, feed: str, after: int) -> bool:
        """True if ``since`` has anything to say; otherwise the request waits."""
        return feed != self.feed or after != self.n

    def since(self, feed: str, after: int) -> Changes:
        reloaded = feed != self.feed or not self.dropped <= after <= self.n
        if reloaded:
            after = -1
        log = list(takewhile(lambda entry: entry["n"] > after, reversed(self._log)))
        return {
            "feed": self.feed,
            "n": self.n,
            "reloaded": reloaded,
            "dropped": self.dropped,
            "parts": {name: part for name, part in self.parts.items() if part[0] > after},
            "log": log[::-1],
        }

    def _keep(self, entry: dict[str, Any]) -> None:
        self._log.append(entry)
        if len(self._log) > self._longest:
            self.dropped = self._log.popleft()["n"]


class Mirror(Feed):
    """A reader's copy, with the numbers of its source. It answers ``since`` as the source would,
    so a reader can change from the mirror to the source, or to another mirror, without a gap."""

    def __init__(self, longest: int = LONGEST_LOG) -> None:
        super().__init__("none", longest)
        self.feed = ""

    def request(self) -> dict[str, Any]:
        """What to ask the source for: everything at first, then what is newer."""
        return {"feed": self.feed, "after": self.n}

    def take(self, changes: Changes) -> None:
        """Add an answer to ``request``. ValueError if it does not fit: then ask for
        everything."""
        if changes["reloaded"]:
            self._clear(changes)
        elif changes["feed"] != self.feed or changes["n"] < self.n:
            raise ValueError("changes of another feed, or older ones, without reloaded")
        elif changes["log"] and changes["log"][0]["n"] <= self.n:
            raise ValueError("a log entry for the second time")
        self.n = changes["n"]
        self.parts.update(changes["parts"])
        for entry in changes["log"]:
            self._keep(entry)

    def _clear(self, changes: Changes) -> None:
        first = changes["log"][0]["n"] - 1 if changes["log"] else 0
        self.feed = changes["feed"]
        self.dropped = changes.get("dropped", first)
        self.parts.clear()
        self._log.clear()
