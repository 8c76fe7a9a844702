"""Server-sent events. A stream keeps only the numbers that it has sent: what is newer is read from
the source when its browser takes bytes again. So a slow browser costs no memory; it gets the latest
values and every log entry, or ``reloaded``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Final

import msgspec
from starlette.types import Receive, Scope, Send

from web.places import Places
from web.sources import Source
from web.views import View

BEAT_S: Final = 2.0
STUCK_S: Final = 30.0
"""A browser that takes nothing for so long is left; it connects again and resumes."""
EACH: Final = 256
"""Of one account; of one address where nobody signs in."""
PUBLIC_PART: Final = 4
"""Streams without a session have a quarter of as many places, of their own; an address has a
quarter of those."""
Position = tuple[str, int]
Place = tuple[Places, str]
"""Whose, and the key of who asks."""


def public_streams(most: int) -> int:
    """Beside ``most`` of people with a session."""
    return -(-most // PUBLIC_PART)


def read_positions(text: str) -> dict[str, Position]:
    """``link=9f3c.241;table:mega=01ab.7``; what cannot be read counts as nothing seen."""
    found = {}
    for one in text[:10_000].split(";"):
        name, _, position = one.partition("=")
        feed, _, n = position.rpartition(".")
        if feed and n.isascii() and n.isdecimal() and len(n) <= 16:
            found[name.strip()] = (feed, int(n))
    return found


class Stream:
    """An ASGI response."""

    def __init__(
        self, streams: Streams, views: Sequence[View], seen: Mapping[str, Position], place: Place
    ) -> None:
        self.views, self.place = views, place
        self.names = tuple(view.name for view in views)
        self.allowed: Callable[[], bool] = lambda: True
        """False once its session has ended."""
        self.wake = asyncio.Event()
        self.beat = b""
        self.end = ""
        """Why it ends."""
        self.sending_s: float | None = None
        self._streams = streams
        self._sent = {view.name: seen.get(view.name, ("", 0)) for view in views}
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        self._streams.add(self)
        gone = asyncio.create_task(self._until_gone(receive))
        self._task = asyncio.current_task()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._write(send, b"retry: 1000\n\n")
            while not self.end:
                self.wake.clear()
                if data := self._news():
                    await self._write(send, data)
                else:
                    await self.wake.wait()
            if self.end != "gone":
                last = msgspec.json.encode({"why": self.end})
                await self._write(send, b"event: end\ndata: " + last + b"\n\n", more=False)
        except asyncio.CancelledError:
            if self.end != "stuck":
                raise
        finally:
            gone.cancel()
            self._streams.remove(self)

    def drop(self) -> None:
        """Its browser takes nothing: leave it."""
        self.end = "stuck"
        if self._task is not None:
            self._task.cancel()

    async def _until_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.end = self.end or "gone"
        self.wake.set()

    async def _write(self, send: Send, data: bytes, *, more: bool = True) -> None:
        """Returns when the browser has room for more."""
        self.sending_s = monotonic()
        await send({"type": "http.response.body", "body": data, "more_body": more})
        self.sending_s = None

    def _news(self) -> bytes:
        events = []
        for view in self.views:
            feed, after = self._sent[view.name]
            if view.newer(feed, after):
                data = view.since(feed, after)
                self._sent[view.name] = view.position
                if data:
                    events += [b"id: ", self._id(), b"\nevent: changes\ndata: ", data, b"\n\n"]
        if self.beat:
            events.append(self.beat)
            self.beat = b""
        return b"".join(events)

    def _id(self) -> bytes:
        heard = ((name, at) for name, at in self._sent.items() if at[0])
        return ";".join(f"{name}={feed}.{n}" for name, (feed, n) in heard).encode()


class Streams:
    """All open streams: woken by changes, and by a beat every two seconds."""

    def __init__(self, most: int) -> None:
        public = public_streams(most)
        self._staff = Places(most, EACH)
        self._public = Places(public, -(-public // PUBLIC_PART))
        self._open: dict[str, set[Stream]] = {}
        """By the name of the source."""
        self._all: set[Stream] = set()

    def __len__(self) -> int:
        return len(self._all)

    def make(
        self,
        views: Sequence[View],
        seen: Mapping[str, Position],
        key: str,
        *,
        public: bool = False,
    ) -> Stream:
        """``key``: who asks. ``public``: anyone may ask, so it takes no place of staff."""
        places = self._public if public else self._staff
        places.check(key)
        return Stream(self, views, seen, (places, key))

    def add(self, stream: Stream) -> None:
        self._all.add(stream)
        places, key = stream.place
        places.take(key)
        for view in stream.views:
            self._open.setdefault(view.source.name, set()).add(stream)

    def remove(self, stream: Stream) -> None:
        self._all.discard(stream)
        places, key = stream.place
        places.give(key)
        for view in stream.views:
            self._open[view.source.name].discard(stream)

    def changed(self, source: Source) -> None:
        for stream in self._open.get(source.name, ()):
            stream.wake.set()

    def beat(self) -> None:
        """Tell every page the ages of what it shows; end streams that may no longer run."""
        made: dict[tuple[str, ...], bytes] = {}
        now_s = monotonic()
        for stream in list(self._all):
            if stream.sending_s is not None and now_s - stream.sending_s > STUCK_S:
                stream.drop()
                continue
            if not stream.allowed():
                stream.end = stream.end or "session"
            if stream.names not in made:
                ages = {view.name: view.source.age_ms() for view in stream.views}
                data = msgspec.json.encode({"ages_ms": ages})
                made[stream.names] = b"event: beat\ndata: " + data + b"\n\n"
            stream.beat = made[stream.names]
            stream.wake.set()

    async def run(self, each: Callable[[], object] = lambda: None) -> None:
        """``each`` is called with every beat."""
        while True:
            self.beat()
            each()
            await asyncio.sleep(BEAT_S)

    def close(self) -> None:
        for stream in list(self._all):
            stream.end = stream.end or "restart"
            stream.wake.set()
