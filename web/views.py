"""What a stream may follow: a source as it is, or the part of the link's that a public sign shows.

A change is encoded once for all streams: streams that are up to date ask for the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from record.kit.feed import Changes
from web.sources import Source

CACHED: Final = 8
"""Encoded changes by where they begin. Streams that are up to date need one of them."""
ACCOUNTS: Final = "accounts"
WITHHELD: Final = frozenset({ACCOUNTS})
"""Parts for this process alone: no browser gets a list of the names that can sign in."""
Projected = Callable[[str, Any], Any]
"""Part and value to what is shown of it; None for nothing."""


class View:
    def __init__(self, name: str, source: Source, public: bool = False) -> None:
        self.name, self.source, self.public = name, source, public
        self._at: tuple[str, int] = ("", 0)
        self._cached: dict[tuple[str, int], bytes] = {}

    @property
    def position(self) -> tuple[str, int]:
        return self.source.mirror.feed, self.source.mirror.n

    def newer(self, feed: str, after: int) -> bool:
        return self.source.known and self.source.mirror.newer(feed, after)

    def since(self, feed: str, after: int) -> bytes:
        """JSON; empty if nothing of it is shown here."""
        if self._at != self.position:
            self._at = self.position
            self._cached.clear()
        found = self._cached.get((feed, after))
        if found is None:
            found = self._encoded(self.source.mirror.since(feed, after))
            if len(self._cached) < CACHED:
                self._cached[feed, after] = found
        return found

    def _encoded(self, changes: Changes) -> bytes:
        parts = {name: part for name, part in changes["parts"].items() if name not in WITHHELD}
        if not (parts or changes["log"] or changes["reloaded"]):
            return b""
        return msgspec.json.encode({"name": self.name, **changes, "parts": parts})


class SignView(View):
    """What anyone in front of a sign may see: amounts of one pool and who won, without names of
    people. Numbers are the link's, so that a sign resumes like any other page."""

    def __init__(self, pool: str, link: Source, texts: Mapping[str, str]) -> None:
        super().__init__(f"sign:{pool}", link, public=True)
        self._pool, self._texts = pool, texts

    def _encoded(self, changes: Changes) -> bytes:
        parts: dict[str, tuple[int, Any]] = {}
        for name, show in _SHOWN.items():
            if name in changes["parts"]:
                n, raw = changes["parts"][name]
                value = msgspec.json.decode(raw)
                parts[name] = (n, show(value, self._pool))
        if changes["reloaded"]:
            parts["texts"] = (changes["n"], dict(self._texts))
        if not parts:
            return b""
        return msgspec.json.encode({"name": self.name, **changes, "parts": parts, "log": []})


def _rows(value: Any, pool: str, fields: tuple[str, ...]) -> list[dict[str, Any]]:
    rows = value if isinstance(value, list) else []
    return [
        {field: row[field] for field in fields if field in row}
        for row in rows
        if isinstance(row, dict) and row.get("pool") == pool
    ]


def _meters(value: Any, pool: str) -> Any:
    return _rows(value, pool, ("pool", "level", "cents", "generation", "pending"))


def _awards(value: Any, pool: str) -> Any:
    fields = ("award", "pool", "level", "table", "cents", "state", "at_ms", "locked_ms")
    return _rows(value, pool, fields)[:10]


def _server(value: Any, _pool: str) -> Any:
    return {"leading": value.get("leading")} if isinstance(value, dict) else {}


_SHOWN: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "meters": _meters,
    "awards": _awards,
    "server": _server,
}
