"""Connections: few enough, and none that keeps the server waiting for its request.

Anyone on the network can open connections and send nothing, or a byte now and then. A connection
has a deadline for its whole request, from the moment it is accepted: the TLS handshake, the head
and the body. When all places are taken, the connection that has waited longest for the end of its
request makes room for a new one; if none waits, one whose request is not of a person who may look.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

MAY_LOOK: Final = "may look"
"""In the state of a request: what to call if somebody who may look has sent it."""
PAUSE_S: Final = 0.1
"""After a connection could not be accepted: no descriptor is free."""
Protocols = Callable[["Connections", socket.socket], asyncio.Protocol]


class Connections:
    def __init__(self, most: int, request_s: float, taking_s: float) -> None:
        self._most, self._request_s, self._taking_s = most, request_s, taking_s
        self._open: set[socket.socket] = set()
        self._guests: dict[socket.socket, None] = {}
        """Their request is not of somebody who may look; the oldest first."""
        self._waiting: dict[socket.socket, asyncio.TimerHandle] = {}
        """Their request is not whole yet, or they have not begun one; the oldest first."""

    async def accept(
        self, listening: socket.socket, protocols: Protocols, tls: ssl.SSLContext | None
    ) -> None:
        """Until it is cancelled."""
        loop = asyncio.get_running_loop()
        listening.setblocking(False)
        opening: set[asyncio.Task[None]] = set()
        while True:
            try:
                made, _ = await loop.sock_accept(listening)
            except OSError:
                await asyncio.sleep(PAUSE_S)
                continue
            if not self._take(made):
                made.close()
                continue
            task = loop.create_task(self._open_one(made, partial(protocols, self, made), tls))
            opening.add(task)
            task.add_done_callback(opening.discard)

    async def _open_one(
        self,
        made: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        tls: ssl.SSLContext | None,
    ) -> None:
        """Returns after the handshake."""
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(protocol, made, ssl=tls)
        except OSError:  # a handshake that failed, and every error of ssl
            self.closed(made)

    def _take(self, made: socket.socket) -> bool:
        if len(self._open) >= self._most:
            leaves = next(iter(self._waiting), None) or next(iter(self._guests), None)
            if leaves is None:
                return False
            self._end(leaves)
        with suppress(OSError):
            # A peer that takes no bytes of an answer is left too.
            made.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(self._taking_s * 1_000)
            )
        self._open.add(made)
        self.waits(made)
        return True

    def waits(self, one: socket.socket) -> None:
        """For its next request, or the rest of one. More bytes do not move the deadline."""
        self._guests.pop(one, None)
        if one in self._open and one not in self._waiting:
            loop = asyncio.get_running_loop()
            self._waiting[one] = loop.call_later(self._request_s, self._end, one)

    def asked(self, one: socket.socket) -> None:
        """Its request is whole; nobody knows yet whose it is."""
        if (timer := self._waiting.pop(one, None)) is not None:
            timer.cancel()
            self._guests[one] = None

    def may_look(self, one: socket.socket) -> None:
        """Its request is of somebody who may look."""
        self._guests.pop(one, None)

    def closed(self, one: socket.socket) -> None:
        self.asked(one)
        self._guests.pop(one, None)
        self._open.discard(one)

    def _end(self, one: socket.socket) -> None:
        """Its reader, a handshake or the protocol, sees its end and closes it."""
        self.closed(one)
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


class Protocol(H11Protocol):
    def __init__(self, connections: Connections, made: socket.socket, **given: Any) -> None:
        super().__init__(**given)
        self._connections, self._made = connections, made

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        self._connections.waits(self._made)  # the next request may be there already
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._connections.closed(self._made)

    def _look(self) -> None:
        now = self.cycle  # None until the first head is whole
        if now is not None and not now.more_body and not now.response_complete:
            self._connections.asked(self._made)
        else:
            self._connections.waits(self._made)
