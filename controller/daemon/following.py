"""The table as a feed: the verb ``changes`` of the service socket.

The writer makes the parts and the words after each group; this belongs to the event loop, keeps
them and answers. A request that waits is a future in a set: it costs nothing until something
changes. The status is put together here, from the writer's and the loop's own, and only while
someone follows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from controller.daemon.inputs import Released
from controller.daemon.service import Peer
from controller.daemon.setup import Clock
from controller.faults.status import Parts, Status
from record.kit.feed import LONGEST_WAIT_MS, Feed
from record.kit.followers import Followers, Places, trusted_users
from record.kit.lines import BUSY, NO_REQUEST, refusal

PLACES: Final = Places(all=16, trusted=4, others=4, other=2)
"""A quarter of the connections. Three users are trusted: each of them, and the others together,
always find their places."""
FOLLOWED_US: Final = 15_000_000
"""After its last request a follower counts as gone."""
AS_THEY_ARE: Final = (
    "phase", "round", "in_round", "stopped", "dealer", "progressive", "link_up", "jackpot_cents",
    "awards", "supply_low", "power_failing", "door_open", "safe_mode", "locked", "gaming_day",
    "prompt",
)  # fmt: skip
"""Fields of the status that change only when something happens."""


class Following:
    """``about`` does not change while the process runs; ``status`` is what the verb says."""

    def __init__(
        self,
        feed: Feed,
        about: Mapping[str, Any],
        status: Callable[[], Status],
        clock: Clock,
    ) -> None:
        self._feed, self._about, self._status, self._clock = feed, about, status, clock
        self._parts: Parts = {}
        """As the last group left them."""
        self._asked_us: int | None = None
        """When the last request came; None before the first."""
        self._waiting: set[asyncio.Future[None]] = set()
        self._followers, self._trusted = Followers(PLACES), trusted_users()

    def released(self, released: Released) -> None:
        """After a group: what changed, and what happened."""
        before = self._feed.n
        self._take(released.parts)
        for row in released.news:
            self._feed.note(row)
        if self._is_followed:
            self._look()
        if self._feed.n != before:
            self._wake()

    async def answer(self, request: Mapping[str, Any], peer: Peer) -> Mapping[str, Any]:
        """For the socket."""
        feed = request.get("feed")
        after, wait_ms = _count(request.get("after")), _count(request.get("wait_ms", 0))
        if not isinstance(feed, str) or after is None or wait_ms is None:
            return refusal(NO_REQUEST, 'expected "feed" as text, "after" and "wait_ms" as numbers')
        self.asked()
        if wait_ms and not self._feed.newer(feed, after):
            with self._followers.one_more(peer.uid, trusted=peer.uid in self._trusted) as full:
                if full:
                    return refusal(BUSY, full, do="follow through one process, or try again")
                await self._change(min(wait_ms, LONGEST_WAIT_MS) / 1000)
        return self.reply(feed, after)

    def asked(self) -> None:
        """Someone follows: what the loop alone knows may have changed since the last group."""
        self._asked_us = self._clock.now_us()
        before = self._feed.n
        self._look()
        if self._feed.n != before:
            self._wake()

    def reply(self, feed: str, after: int) -> dict[str, Any]:
        return {**self._feed.since(feed, after), "at_ms": self._clock.wall_ms()}

    @property
    def _is_followed(self) -> bool:
        if self._waiting:
            return True
        return self._asked_us is not None and self._clock.now_us() - self._asked_us < FOLLOWED_US

    def _take(self, parts: Parts) -> None:
        # A part that did not change is the same object: nothing is compared.
        old: Mapping[str, object] = self._parts
        new = {name: part for name, part in parts.items() if old.get(name) is not part}
        self._parts = parts
        if "table" in new:
            new["table"] = {**self._about, **parts["table"]}
        if new:
            self._feed.update(new)

    def _look(self) -> None:
        self._feed.update({"status": status_part(self._status())})

    def _wake(self) -> None:
        for one in self._waiting:
            if not one.done():
                one.set_result(None)

    async def _change(self, wait_s: float) -> None:
        """Until something changes, but not longer."""
        loop = asyncio.get_running_loop()
        changed: asyncio.Future[None] = loop.create_future()
        over = loop.call_later(wait_s, _end, changed)
        self._waiting.add(changed)
        try:
            await changed
        finally:
            over.cancel()
            self._waiting.discard(changed)


def _end(changed: asyncio.Future[None]) -> None:
    if not changed.done():
        changed.set_result(None)


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def status_part(status: Status) -> dict[str, Any]:
    """What a status says of the table itself, without counters that change all the time."""
    devices, link = status["devices"].values(), status.get("link")
    return {
        **{name: status[name] for name in AS_THEY_ARE},
        "test_mode": bool(status["test_mode"]),
        "link": None if link is None else link["state"],
        "devices": {
            "ready": sum(one["state"] == "ready" for one in devices),
            "of": len(devices),
            "troubles": [
                {
                    "level": one["level"],
                    "code": one["code"],
                    "device": one["about"],
                    "text": one["what"],
                    "do": one["do"],
                }
                for one in status["troubles"]
            ],
        },
    }
