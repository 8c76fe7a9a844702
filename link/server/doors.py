"""The sockets: made, bound, and set so that a bad peer costs little and a dead one is noticed.

One thread owns them all. The ZAP socket is bound before any door is, and a door without its answer
lets nobody in (``ZAP_ENFORCE_DOMAIN``).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from time import sleep
from typing import Final

import zmq

from link.server.gate import SIGNS, TABLES
from link.server.turnstile import Turnstile, connections_allowed
from record.link.keys import SecretKey, decode_z85
from record.link.messages import LONGEST

LEAST_LIBZMQ: Final = (4, 3, 5)
ZAP: Final = "inproc://zeromq.zap.01"
CURVE_OVERHEAD: Final = 64
"""A frame on the wire is longer than its message by 33 bytes of CURVE; the message counts."""
TOPIC: Final = b"meters"
PROBES: Final = 2
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


@dataclass(frozen=True, slots=True)
class Limits:
    handshake_ms: int = 10_000
    backlog: int = 1024
    receive_messages: int = 64
    send_messages: int = 1000
    """Of one connection: beyond them it waits, or its answers are dropped and it must ask again."""
    meters_kept: int = 64
    """Publications waiting for one slow sign; it loses those that come meanwhile. Each connection
    reports to the loop whenever half of them have left: with 8 that was a fifth of the cost."""
    probe_s: int = 5
    """TCP's own probes, for connections whose other end is gone without a word: two of them
    unanswered end it. Not ZeroMQ's heartbeats: libzmq looks for each one's timer among those of all
    connections, so that with ten thousand tables it does nothing else."""


class Doors:
    """``tables[i]`` and ``signs[i]`` belong to the i-th plan."""

    def __init__(self, plans: tuple[DoorPlan, ...], limits: Limits) -> None:
        check_library()
        self._plans, self._limits = plans, limits
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

    def secrets(self) -> list[bytes]:
        """The secret key of each door, 32 bytes."""
        return [decode_z85(plan.secret.reveal().decode()) or b"" for plan in self._plans]

    def open(self) -> None:
        for plan in self._plans:
            table, at = self._table_door(plan, plan.tables)
            self.tables.append(table)
            sign, signs_at = self._sign_door(plan, plan.signs) if plan.signs else (None, "")
            self.signs.append(sign)
            self.bound.append((at, signs_at))

    def reopen_tables(self, number: int) -> None:
        """Drop every connection of this door: what a revoked key is still connected to."""
        at = self.bound[number][0]
        self.tables[number].disable_monitor()
        self.tables[number].close(0)
        self.tables[number], _ = self._table_door(self._plans[number], at, REBIND_TRIES)

    def reopen_signs(self, number: int) -> None:
        old = self.signs[number]
        if old is not None:
            old.disable_monitor()
            old.close(0)
            at = self.bound[number][1]
            self.signs[number], _ = self._sign_door(self._plans[number], at, REBIND_TRIES)

    def all(self) -> Iterator[zmq.Socket[bytes]]:
        yield self.zap
        yield from self.tables
        yield from (sign for sign in self.signs if sign is not None)

    def close(self, linger_ms: int = 0) -> None:
        """What is still to be sent has so long."""
        for one in list(self.all()):
            one.disable_monitor()
            one.close(linger_ms)
        self._turnstile.wait()
        self._context.destroy()

    def _table_door(self, plan: DoorPlan, at: str, tries: int = 1) -> tuple[zmq.Socket[bytes], str]:
        door = self._curve(zmq.ROUTER, plan, TABLES)
        door.router_mandatory = True
        door.rcvhwm = self._limits.receive_messages
        door.sndhwm = self._limits.send_messages
        return door, _bind(door, at, tries)

    def _sign_door(self, plan: DoorPlan, at: str, tries: int = 1) -> tuple[zmq.Socket[bytes], str]:
        door = self._curve(zmq.XPUB, plan, SIGNS)
        # Every subscription is told, also the second to the same topic: each wants its snapshot.
        door.xpub_verbose = True
        door.sndhwm = self._limits.meters_kept
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
        door.tcp_keepalive_idle = door.tcp_keepalive_intvl = self._limits.probe_s
        door.tcp_keepalive_cnt = PROBES
        door.tcp_maxrt = (PROBES + 1) * self._limits.probe_s * 1_000
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
