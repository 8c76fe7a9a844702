"""The sockets: made, bound, and set so that a bad peer costs little and a dead one is noticed.

One thread owns them all. The ZAP socket is bound before any door is, and a door without its answer
lets nobody in (``ZAP_ENFORCE_DOMAIN``).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import sleep
from typing import Any, Final, Literal, Protocol

import zmq
from zmq.backend import Socket as BareSocket

from link.config import Limits
from link.server.gate import SIGNS, TABLES
from link.server.sessions import Peer
from link.server.turnstile import Turnstile, connections_allowed
from record.link.keys import SecretKey, decode_z85
from record.link.messages import LONGEST

LEAST_LIBZMQ: Final = (4, 3, 5)
ZAP: Final = "inproc://zeromq.zap.01"
CURVE_OVERHEAD: Final = 64
"""A frame on the wire is longer than its message by 33 bytes of CURVE; the message counts."""
TOPIC: Final = b"meters"
HITS_TOPIC: Final = b"hits"
METERS_KEPT: Final = 64
"""Publications waiting for one slow sign; it loses those that come meanwhile. Each connection
reports to the loop whenever half of them have left: with 8 that was a fifth of the cost."""
PROBE_S: Final = 5
"""TCP's own probes, for connections whose other end has disappeared: two unanswered ones end it.
Not ZeroMQ's heartbeats: libzmq looks for each one's timer among those of all connections, so with
ten thousand tables it does nothing else."""
PROBES: Final = 2
ADMITTED_AT_ONCE: Final = 256
QUICK: Final = int(zmq.NOBLOCK)
QUICK_MORE: Final = int(zmq.NOBLOCK | zmq.SNDMORE)
"""Plain numbers: joining two flags at every message takes longer than sending it."""
SEND: Final = BareSocket.send
"""``zmq.Socket.send`` adds what other kinds of sockets need, and takes longer."""
REBIND_S: Final = 0.01
REBIND_TRIES: Final = 300
"""A socket that was closed gives up its address a moment later, in a thread of ZeroMQ's."""


class DoorError(Exception):
    """A socket cannot be had: ``tcp://...: Address already in use (E-LNK-040)``."""

    def __init__(self, code: str, text: str, exit_code: int) -> None:
        super().__init__(f"{text} ({code})")
        self.code, self.exit_code = code, exit_code


@dataclass(frozen=True, slots=True)
class DoorPlan:
    """Where to listen under one key of the server; two of them while its key is being changed."""

    tables: str
    signs: str
    """Empty: no meters are published here."""
    secret: SecretKey


class Network(Protocol):
    """The sockets as the server's loop uses them. A test may give queues instead."""

    bound: list[tuple[str, str]]
    """Where tables and signs connect, for each door."""
    more: bool
    """A door had more messages than were taken."""

    def secrets(self) -> list[bytes]:
        """The secret key of each door, 32 bytes."""

    def open(self, wake_fd: int) -> None:
        """``wake_fd`` ends a wait too."""

    def poll(self, wait_ms: int) -> None:
        """Returns when something has come, or the wait is over."""

    def received(self, most: int) -> Iterator[tuple[Peer, str, bytes]]:
        """Messages with the key that the handshake admitted: ``most`` of each door, or one of all
        doors together."""

    def send(self, peer: Peer, data: bytes) -> bool:
        """False if the peer is gone, or so slow that its queue is full."""

    def admit(self, answer: Callable[[list[bytes]], list[bytes]]) -> None:
        """Answers the handshakes that wait."""

    def subscribed(self) -> bool:
        """A sign has subscribed since the last call."""

    def publish(self, data: bytes, topic: bytes = TOPIC) -> None:
        """To every sign."""

    def reopen(self, kind: Literal["tables", "signs"]) -> None:
        """Drops every connection of this kind."""

    def close(self, linger_ms: int = 0) -> None:
        """What is still to be sent has this long."""


class Doors:
    """``tables[i]`` and ``signs[i]`` belong to the i-th plan."""

    def __init__(
        self, plans: tuple[DoorPlan, ...], limits: Limits, meters_kept: int = METERS_KEPT
    ) -> None:
        check_library()
        self._plans, self._limits, self._meters_kept = plans, limits, meters_kept
        self._context = zmq.Context()
        self._context.set(zmq.MAX_SOCKETS, 1023)
        self._turnstile = Turnstile(connections_allowed())
        self.zap = self._context.socket(zmq.REP)
        self.zap.linger = 0
        self.zap.bind(ZAP)
        self.tables: list[zmq.Socket[bytes]] = []
        self.signs: list[zmq.Socket[bytes] | None] = []
        self.bound: list[tuple[str, str]] = []
        """The endpoints as they are, also where the plan left the port to the system."""
        self.more = False
        self._poller = zmq.Poller()
        self._ready: dict[Any, int] = {}
        self._wake_fd = -1

    def secrets(self) -> list[bytes]:
        return [decode_z85(plan.secret.reveal().decode()) or b"" for plan in self._plans]

    def open(self, wake_fd: int) -> None:
        self._wake_fd = wake_fd
        for plan in self._plans:
            table, at = self._table_door(plan, plan.tables)
            self.tables.append(table)
            sign, signs_at = self._sign_door(plan, plan.signs) if plan.signs else (None, "")
            self.signs.append(sign)
            self.bound.append((at, signs_at))
        self._listen()

    def _listen(self) -> None:
        self._poller = zmq.Poller()
        for socket in self._all():
            self._poller.register(socket, zmq.POLLIN)
        self._poller.register(self._wake_fd, zmq.POLLIN)

    def reopen(self, kind: Literal["tables", "signs"]) -> None:
        """What a revoked key is still connected to."""
        for number, (plan, (at, signs_at)) in enumerate(zip(self._plans, self.bound, strict=True)):
            if kind == "tables":
                self.tables[number].disable_monitor()
                self.tables[number].close(0)
                self.tables[number], _ = self._table_door(plan, at, REBIND_TRIES)
            elif (old := self.signs[number]) is not None:
                old.disable_monitor()
                old.close(0)
                self.signs[number], _ = self._sign_door(plan, signs_at, REBIND_TRIES)
        self._listen()

    def _all(self) -> Iterator[zmq.Socket[bytes]]:
        yield self.zap
        yield from self.tables
        yield from (sign for sign in self.signs if sign is not None)

    def close(self, linger_ms: int = 0) -> None:
        for one in list(self._all()):
            one.disable_monitor()
            one.close(linger_ms)
        self._turnstile.wait()
        self._context.destroy()

    # --- the loop ---------------------------------------------------------------------------------

    def poll(self, wait_ms: int) -> None:
        self._ready = dict(self._poller.poll(wait_ms))

    def received(self, most: int) -> Iterator[tuple[Peer, str, bytes]]:
        self.more = False
        for number, door in enumerate(self.tables):
            if door not in self._ready:
                continue
            receive = door.recv
            for _ in range(most):
                try:
                    peer = (number, receive(QUICK))
                    frame = receive(QUICK, copy=False)
                    data = _dropped(door) if frame.more else frame.bytes
                except zmq.Again:
                    break
                yield peer, _user_of(frame), data
                if most == 1:
                    self.more = True
                    return
            else:
                self.more = True

    def send(self, peer: Peer, data: bytes) -> bool:
        door = self.tables[peer[0]]
        try:
            SEND(door, peer[1], QUICK_MORE)
            SEND(door, data, QUICK)
        except zmq.ZMQError:
            return False
        return True

    def admit(self, answer: Callable[[list[bytes]], list[bytes]]) -> None:
        if self.zap not in self._ready:
            return
        for _ in range(ADMITTED_AT_ONCE):
            try:
                request = self.zap.recv_multipart(QUICK)
            except zmq.Again:
                return
            self.zap.send_multipart(answer(request))

    def subscribed(self) -> bool:
        found = False
        for sign in self.signs:
            if sign is None or sign not in self._ready:
                continue
            try:
                while True:
                    found |= sign.recv(QUICK)[:1] == b"\x01"
            except zmq.Again:
                pass
        return found

    def publish(self, data: bytes, topic: bytes = TOPIC) -> None:
        for sign in self.signs:
            if sign is not None:
                sign.send(topic, QUICK_MORE)
                sign.send(data, QUICK)

    # --- sockets ----------------------------------------------------------------------------------

    def _table_door(self, plan: DoorPlan, at: str, tries: int = 1) -> tuple[zmq.Socket[bytes], str]:
        door = self._curve(zmq.ROUTER, plan, TABLES)
        door.router_mandatory = True
        door.rcvhwm = self._limits.receive_messages
        door.sndhwm = self._limits.send_messages
        return door, _bind(door, at, tries)

    def _sign_door(self, plan: DoorPlan, at: str, tries: int = 1) -> tuple[zmq.Socket[bytes], str]:
        door = self._curve(zmq.XPUB, plan, SIGNS)
        # Every subscription is reported, also the second to the same topic: each needs a snapshot.
        door.xpub_verbose = True
        door.sndhwm = self._meters_kept
        return door, _bind(door, at, tries)

    def _curve(self, kind: int, plan: DoorPlan, domain: bytes) -> zmq.Socket[bytes]:
        door = self._context.socket(kind)
        door.linger = 0
        door.curve_server = True
        door.curve_secretkey = plan.secret.reveal()
        door.zap_domain = domain
        door.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)
        door.handshake_ivl = self._limits.handshake_ms
        door.maxmsgsize = LONGEST + CURVE_OVERHEAD
        door.backlog = self._limits.backlog
        door.tcp_keepalive = 1
        door.tcp_keepalive_idle = door.tcp_keepalive_intvl = PROBE_S
        door.tcp_keepalive_cnt = PROBES
        door.tcp_maxrt = (PROBES + 1) * PROBE_S * 1_000
        self._turnstile.watch(door)
        return door


def check_library() -> None:
    found = zmq.zmq_version_info()
    if found < LEAST_LIBZMQ:
        needed = ".".join(map(str, LEAST_LIBZMQ))
        said = f"libzmq {zmq.zmq_version()}: expected at least {needed}; install a newer pyzmq"
        raise DoorError("E-LNK-041", said, 78)
    if not zmq.has("curve"):
        raise DoorError("E-LNK-041", "libzmq without CURVE; install pyzmq's own wheel", 78)


def _dropped(door: zmq.Socket[bytes]) -> bytes:
    """Multi-frame messages are rejected: the rest is read and dropped."""
    more = True
    while more:
        rest = door.recv(QUICK, copy=False)
        more = rest.more
    return b""


def _user_of(frame: zmq.Frame) -> str:
    """Whom the handshake admitted; never from the message itself."""
    try:
        user = frame.get("User-Id")
    except zmq.ZMQError:
        return ""
    return user if isinstance(user, str) else ""


def _bind(door: zmq.Socket[bytes], at: str, tries: int = 1) -> str:
    for left in reversed(range(tries)):
        try:
            door.bind(at)
            break
        except zmq.ZMQError as error:
            if error.errno == errno.EADDRINUSE and left:
                sleep(REBIND_S)
                continue
            door.close(0)
            said = os.strerror(error.errno or 0)
            raise DoorError("E-LNK-040", f"{at}: {said}", 71) from None
    found = door.get(zmq.LAST_ENDPOINT)
    return found.rstrip(b"\0").decode() if isinstance(found, bytes) else at
