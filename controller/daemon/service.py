"""The daemon's socket: one JSON request per line, one answer; nothing here can move money.

Who asks is known from the socket itself (SO_PEERCRED); the file's mode decides who may connect.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

from record.kit.followers import trusted_users
from record.kit.lines import BUSY, NO_REQUEST, bound, line_of, no_such_verb, peer_of, refusal
from record.kit.outside import INT64, NotStrict, read_json

LONGEST: Final = 65_536
BACKLOG: Final = 64
"""Clients that come while others are being let in wait here."""
AT_ONCE: Final = 1
"""Without a free descriptor asyncio tries again a second later, as often as this says each time:
with more than one its tracebacks multiply."""
PER_USER: Final = 16
EVERYBODY: Final = 64
"""Open connections; far fewer than the descriptors that devices and journal need."""
LINE_S: Final = 10.0
"""A line that was begun is ended by then; between two lines a person may think as long as he
likes."""
Verb = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Peer(NamedTuple):
    """The other end of a connection; ``number`` names the connection itself."""

    uid: int
    number: int


Attended = Callable[[Mapping[str, Any], Peer], Awaitable[Mapping[str, Any]]]
"""A verb that must know who asks, and may take its time."""


class Service:
    """``left`` hears of every connection that ends."""

    def __init__(
        self,
        path: Path,
        verbs: Mapping[str, Verb],
        attended: Mapping[str, Attended] | None = None,
        left: Callable[[Peer], None] = lambda _peer: None,
    ) -> None:
        self.path = path
        self._verbs, self._attended, self._left = verbs, attended or {}, left
        self._numbers = count(1)
        self._open: Counter[int] = Counter()
        """Connections by uid."""
        self._trusted = trusted_users()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        made = bound(self.path)
        self._server = await asyncio.start_unix_server(
            self._serve, sock=made, limit=LONGEST, backlog=AT_ONCE
        )
        made.listen(BACKLOG)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self.path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        uid = peer_of(writer.get_extra_info("socket")).uid
        if why := self._full(uid):
            writer.write(line_of(refusal(BUSY, why, do="close some of them, or try again")))
            writer.close()
            return
        peer = Peer(uid, next(self._numbers))
        self._open[uid] += 1
        try:
            while line := await _line(reader):
                writer.write(line_of(await self._answer(line, peer)))
                await writer.drain()
        except (ConnectionError, ValueError, TimeoutError, asyncio.CancelledError):
            pass  # gone, or a line without end
        finally:
            self._open[uid] -= 1
            writer.close()
            self._left(peer)

    def _full(self, uid: int) -> str:
        """Why there is no room for one more of this user. Trusted users find room whatever the
        others do."""
        if self._open[uid] >= PER_USER:
            return f"uid {uid} has {PER_USER} connections open already"
        if uid not in self._trusted and self._open.total() >= EVERYBODY:
            return f"{EVERYBODY} connections are open already"
        return ""

    async def _answer(self, line: bytes, peer: Peer) -> Mapping[str, Any]:
        try:
            # Texts are the verbs' business: the shell records that somebody sent what is no word.
            request = read_json(line, most_int=INT64, longest=None)
        except NotStrict as error:
            return refusal(NO_REQUEST, f"a request is one strict JSON object per line: {error}")
        verb = request.get("verb") if isinstance(request, dict) else None
        if isinstance(verb, str) and verb in self._attended:
            return await self._attended[verb](request, peer)
        found = self._verbs.get(verb) if isinstance(verb, str) else None
        if found is None:
            return no_such_verb(verb, (*self._verbs, *self._attended))
        return found(request)


async def _line(reader: asyncio.StreamReader) -> bytes:
    """The next line; nothing at the end."""
    first = await reader.read(1)
    if first in (b"", b"\n"):
        return first
    return first + await asyncio.wait_for(reader.readline(), LINE_S)
