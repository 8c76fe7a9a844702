"""The socket of the link: a thin shell around the session. One thread, the event loop's, owns it.

Every dial is a new DEALER, so nothing of an old connection is left over: ZeroMQ neither reconnects
nor queues for a server that is not there. The journal holds what could not be sent.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import msgspec
import zmq

from controller.faults.status import LinkStatus
from controller.link.cursor import Cursor
from controller.link.dealer import dealer
from controller.link.hearing import Heard
from controller.link.session import (
    Dial,
    Do,
    Fetch,
    HangUp,
    Head,
    LinkSession,
    Moment,
    Prove,
    Pulse,
    Send,
    TableIdentity,
    Tell,
    Trouble,
)
from record.journal import JournalError
from record.link.codec import WireError, encode, from_server
from record.link.keys import SecretKey, fingerprint
from record.link.messages import LONGEST, Beat, Event, FromTable, Receipt, TableNow

HANDSHAKE_MS: Final = 10_000
BYE_MS: Final = 1_000
"""How long the last word may take; nothing waits longer for a server that is gone."""
DRAIN: Final = 256
"""Messages taken at a time; then the loop has its turn."""


@dataclass(frozen=True, slots=True)
class Keys:
    secret: SecretKey
    server: str
    """The servers' public key, Z85."""


def moment() -> Moment:
    return Moment(time.monotonic_ns() // 1_000_000, time.time_ns() // 1_000_000)


class LinkClient:
    """``put`` gives the writer an input, ``keep`` tells the journal which record must stay.
    ``now_of`` says how the table stands, for a heartbeat. ``receipt`` is the last one in the
    journal."""

    def __init__(
        self,
        identity: TableIdentity,
        endpoints: Sequence[str],
        keys: Keys,
        cursor: Cursor,
        *,
        head: Head,
        limit_ms: int,
        put: Callable[[Heard], None],
        keep: Callable[[int], None],
        now_of: Callable[[], TableNow | None],
        receipt: Receipt | None = None,
        chance: Callable[[int], int] = secrets.randbelow,
    ) -> None:
        self._keys, self._cursor = keys, cursor
        self._put, self._keep, self._now_of = put, keep, now_of
        self._context: zmq.Context[zmq.Socket[bytes]] | None = None
        """Made at the first dial: a table that never runs has nothing to close."""
        self._socket: zmq.Socket[bytes] | None = None
        self._fd = -1
        self._reader = ThreadPoolExecutor(1, "outbox")
        self._timer: asyncio.TimerHandle | None = None
        self._again: asyncio.Handle | None = None
        self.malformed = 0
        self.session = LinkSession(
            identity, endpoints, head, limit_ms=limit_ms, chance=chance, now=moment(),
            receipt=receipt,
        )  # fmt: skip
        self._acked: int | None = None

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    # --- from the table --------------------------------------------------------------------------

    def start(self) -> None:
        self._act([])

    def released(self, outbox: Sequence[Event], head: Head, *, test_mode: bool = False) -> None:
        """A group is durable: its events, and where the journal ends now."""
        self._cursor.add(outbox)
        now = moment()
        tests = self.session.tests(test_mode, now)
        self._act(tests + self.session.grown(head, outbox, now))

    async def close(self, why: str) -> None:
        """A clean end. What was not sent stands in the journal."""
        self._act(self.session.close(why))
        self._hang_up()  # also if nobody took the last word: the context ends with its last socket
        self._reader.shutdown(wait=True, cancel_futures=True)
        if self._context is not None:
            self._context.term()

    def status(self) -> LinkStatus:
        return {**self.session.status(moment()), "malformed": self.malformed}

    def fingerprints(self) -> dict[str, str]:
        """Of the public keys: this table's and the servers'."""
        own = bytes(zmq.curve_public(self._keys.secret.reveal())).decode()
        return {"table": fingerprint(own), "server": fingerprint(self._keys.server)}

    # --- what the session wants ------------------------------------------------------------------

    def _act(self, todo: list[Do]) -> None:
        for do in todo:
            match do:
                case Dial(endpoint):
                    self._dial(endpoint)
                case HangUp():
                    self._hang_up()
                case Send(message):
                    if not self._send(encode(self._with_now(message))):
                        self._loop.call_soon(self._lost, self._socket)
                        break
                case Fetch():
                    self._fetch(do)
                case Prove(seq):
                    self._prove(seq)
                case Tell(message):
                    self._put(Heard(message))
                case Pulse(asked_ms):
                    self._put(Heard(asked_us=asked_ms * 1000))
                case Trouble(code, text, closed):
                    alarm = {"code": f"link {code}", "detail": text}
                    self._put(Heard(closed=closed, alarm=alarm))
        if self.session.outbox.acked not in (None, self._acked):
            self._acked = self.session.outbox.acked
            self._keep(self._cursor.seq_after(self._acked or 0, self.session.outbox.following))
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if (wake_ms := self.session.wake_ms) is not None:
            delay_s = max(0, wake_ms - moment().ms) / 1000
            self._timer = self._loop.call_later(delay_s, self._tick)

    def _with_now(self, message: FromTable) -> FromTable:
        if not isinstance(message, Beat) or self.session.version < 4:
            return message
        now = self._now_of()
        if now is not None:
            now = msgspec.structs.replace(now, waiting=self.session.outbox.depth)
        return msgspec.structs.replace(message, now=now)

    def _tick(self) -> None:
        self._timer = None
        self._act(self.session.tick(moment()))

    def _lost(self, which: zmq.Socket[bytes] | None) -> None:
        if which is self._socket:
            self._act(self.session.lost(moment()))

    # --- the socket ------------------------------------------------------------------------------

    def _dial(self, endpoint: str) -> None:
        self._hang_up()
        self._context = self._context or zmq.Context(io_threads=1)
        made = dealer(self._context, self._keys.secret, self._keys.server)
        for name, value in (
            (zmq.LINGER, 0),
            (zmq.IMMEDIATE, 1),
            (zmq.RECONNECT_IVL, -1),
            (zmq.HANDSHAKE_IVL, HANDSHAKE_MS),
            (zmq.MAXMSGSIZE, LONGEST),
            (zmq.IPV6, int("[" in endpoint)),
        ):
            made.setsockopt(name, value)
        self._socket, self._fd = made, int(made.getsockopt(zmq.FD))
        self._loop.add_reader(self._fd, self._drain)
        try:
            made.connect(endpoint)
        except zmq.ZMQError:
            self._loop.call_soon(self._lost, made)  # no such host, no such interface
        self._soon()  # the descriptor tells of changes only: look once

    def _hang_up(self) -> None:
        if self._socket is None:
            return
        self._loop.remove_reader(self._fd)
        if self._again is not None:
            self._again.cancel()
            self._again = None
        self._socket.close(BYE_MS if self.session.stage == "closed" else 0)
        self._socket = None

    def _send(self, frame: bytes) -> bool:
        """False if nobody is there to take it."""
        if self._socket is None:
            return False
        try:
            self._socket.send(frame, zmq.NOBLOCK)
        except zmq.ZMQError:
            return False
        self._soon()  # sending may take away the signal that something came
        return True

    def _soon(self) -> None:
        if self._again is None:
            self._again = self._loop.call_soon(self._drain)

    def _drain(self) -> None:
        """Take what is there; the descriptor signals a change once, so look until it is empty."""
        self._again = None
        made = self._socket
        if made is None:
            return
        if self.session.stage == "dialling" and int(made.getsockopt(zmq.EVENTS)) & zmq.POLLOUT:
            self._act(self.session.ready(moment()))
        for _ in range(DRAIN):
            if self._socket is not made:
                return  # hung up meanwhile
            try:
                frames = made.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            self._take(frames)
        self._soon()

    def _take(self, frames: list[bytes]) -> None:
        try:
            message = from_server(frames[0] if len(frames) == 1 else b"")
        except WireError:
            self.malformed += 1
            return
        self._act(self.session.heard(message, moment()))

    # --- the journal -----------------------------------------------------------------------------

    def _fetch(self, fetch: Fetch) -> None:
        loop = self._loop
        reading = self._reader.submit(self._cursor.read, fetch.first, fetch.last)
        reading.add_done_callback(lambda done: loop.call_soon_threadsafe(self._read, fetch, done))

    def _prove(self, seq: int) -> None:
        loop = self._loop
        reading = self._reader.submit(self._cursor.hash_of, seq)
        reading.add_done_callback(lambda done: loop.call_soon_threadsafe(self._proved, seq, done))

    def _proved(self, seq: int, done: Future[str]) -> None:
        """What cannot be read now, or is past its retention, is asked for at the next greeting."""
        if not done.cancelled() and done.exception() is None and done.result():
            self._act(self.session.proved(seq, done.result(), moment()))

    def _read(self, fetch: Fetch, done: Future[Sequence[Event]]) -> None:
        error = done.exception() if not done.cancelled() else None
        if done.cancelled() or isinstance(error, JournalError | OSError):
            self.session.unread()  # a group that is just being written may look like damage
        elif error is not None:
            raise error
        else:
            self._act(self.session.fetched(fetch, done.result(), moment()))
