"""Descriptors kept free: while connections use up their share, the doors take no new ones.

ZeroMQ accepts whatever connects, also from people without a key, until the process has no
descriptor left for its control socket and store. A thread for each door counts the door's
connections as ZeroMQ reports them. At the limit a packet filter on the listening sockets drops
whatever wants to connect: TCP tries again by itself, and who is connected notices nothing. What was
accepted before the filter was there is cut.
"""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import stat
import struct
import threading
from contextlib import suppress
from itertools import count
from typing import Final

import zmq
from zmq.utils.monitor import recv_monitor_message

MOST_RESERVED: Final = 1024
LOOK_MS: Final = 100
_EVENTS: Final = (
    zmq.EVENT_LISTENING | zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_MONITOR_STOPPED
)
_TCP: Final = (socket.AF_INET, socket.AF_INET6)
_ATTACH_FILTER: Final = 26
_DETACH_FILTER: Final = 27
_DROP_ALL: Final = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
"""One instruction of the packet filter: keep 0 bytes."""


def connections_allowed() -> int:
    """All descriptors but a quarter, or but 1,024 where there are many."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft - min(MOST_RESERVED, soft // 4)


class Turnstile:
    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._open: set[int] = set()
        """Descriptors of connections, as far as ZeroMQ said."""
        self._listeners: dict[int, socket.socket] = {}
        self._shut = False
        self._numbers = count(1)
        self._threads: list[threading.Thread] = []

    def watch(self, door: zmq.Socket[bytes]) -> None:
        """Before it is bound; until it is closed."""
        # Not pyzmq's own address: it is made of a descriptor, which the next door may have again.
        at = f"inproc://door-{next(self._numbers)}"
        door.monitor(at, _EVENTS)
        events = door.context.socket(zmq.PAIR)
        events.connect(at)
        thread = threading.Thread(target=self._follow, args=(events,), name="door", daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        thread.start()

    def wait(self) -> None:
        """After every door was closed."""
        for thread in self._threads:
            thread.join()

    def _follow(self, events: zmq.Socket[bytes]) -> None:
        mine: list[int] = []
        try:
            while True:
                if not events.poll(LOOK_MS if self._shut else None):
                    with self._lock:
                        if self._shut:
                            self._turn()
                    continue
                event = recv_monitor_message(events)
                with self._lock:
                    if event["event"] == zmq.EVENT_MONITOR_STOPPED:
                        return
                    self._take(event["event"], event["value"], mine)
        finally:
            with self._lock:
                for number in mine:
                    self._listeners.pop(number).close()
            events.close(0)

    def _take(self, event: int, descriptor: int, mine: list[int]) -> None:
        if event == zmq.EVENT_LISTENING:
            with suppress(OSError):  # closed again already
                own = socket.socket(fileno=os.dup(descriptor))
                self._listeners[own.fileno()] = own
                mine.append(own.fileno())
                if self._shut:
                    _drop_all(own)
        elif event == zmq.EVENT_ACCEPTED:
            self._open.add(descriptor)
            if len(self._open) >= self._most and not self._shut:
                self._turn()
            if len(self._open) > self._most:  # it was quicker than the filter
                self._cut(descriptor)
        else:
            self._open.discard(descriptor)
            if self._shut and len(self._open) < self._most:
                self._turn()

    def _cut(self, descriptor: int) -> None:
        """ZeroMQ closes it. Its number may be another's by now: only what is at a door is cut."""
        doors = {listener.getsockname()[1] for listener in self._listeners.values()}
        with suppress(OSError):
            one = socket.socket(fileno=descriptor)
            try:
                at_door = one.family in _TCP and one.getsockname()[1] in doors
                if at_door:
                    one.shutdown(socket.SHUT_RDWR)
            finally:
                one.detach()

    def _turn(self) -> None:
        """Shut or open, by what is really open: not every end of a connection is reported."""
        self._open = {one for one in self._open if _is_socket(one)}
        shut = len(self._open) >= self._most
        if shut != self._shut:
            self._shut = shut
            for listener in self._listeners.values():
                if shut:
                    _drop_all(listener)
                else:
                    listener.setsockopt(socket.SOL_SOCKET, _DETACH_FILTER, 0)


def _drop_all(listener: socket.socket) -> None:
    program = struct.pack("HP", 1, ctypes.addressof(_DROP_ALL))
    listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)


def _is_socket(descriptor: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:
        return False
