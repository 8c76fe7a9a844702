"""Talking to systemd: readiness, status line and watchdog, without a library.

``Notifier`` writes datagrams to the socket that systemd names and never fails the program over it.
``Watchdog`` decides, without a clock or a socket of its own, whether the process deserves to be
called alive.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, MutableMapping
from typing import Final

NOTIFY_SOCKET: Final = "NOTIFY_SOCKET"
WATCHDOG_USEC: Final = "WATCHDOG_USEC"
WATCHDOG_PID: Final = "WATCHDOG_PID"
MOST_STATUS: Final = 256


class Notifier:
    """The notify protocol of systemd (sd_notify(3)). Without a socket every call does nothing."""

    def __init__(self, address: str | None, watchdog_us: int | None = None) -> None:
        self.watchdog_us = watchdog_us
        """How often systemd wants to be fed at least; None if nobody watches."""
        self._address = _socket_address(address)
        self._socket: socket.socket | None = None

    @classmethod
    def from_environment(cls, environ: MutableMapping[str, str] = os.environ) -> Notifier:
        """What systemd has set; it is taken out, so that no child process speaks in our name."""
        address = environ.pop(NOTIFY_SOCKET, None)
        usec, pid = environ.pop(WATCHDOG_USEC, ""), environ.pop(WATCHDOG_PID, "")
        meant = not pid or pid == str(os.getpid())
        watched = int(usec) if meant and usec.isascii() and usec.isdecimal() else 0
        return cls(address, watched or None)

    @property
    def connected(self) -> bool:
        return self._address is not None

    def ready(self, status: str = "") -> bool:
        return self._send("READY=1", status)

    def status(self, text: str) -> bool:
        """The line that ``systemctl status`` shows."""
        return self._send("", text)

    def feed(self) -> bool:
        return self._send("WATCHDOG=1")

    def more_time(self, usec: int) -> bool:
        """Starting or stopping takes so much longer, from now on."""
        return self._send(f"EXTEND_TIMEOUT_USEC={usec}")

    def stopping(self, status: str = "") -> bool:
        return self._send("STOPPING=1", status)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, state: str, status: str = "") -> bool:
        """True if systemd has it. A full or vanished socket must not hold up the table."""
        if self._address is None:
            return False
        lines = [state] if state else []
        if status:
            lines.append("STATUS=" + " ".join(status.split())[:MOST_STATUS])
        try:
            if self._socket is None:
                kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
                self._socket = socket.socket(socket.AF_UNIX, kind)
            self._socket.sendto("\n".join(lines).encode(), self._address)
        except OSError:
            return False
        return True


def _socket_address(address: str | None) -> str | None:
    """A path, or with ``@`` a name in the abstract namespace; anything else is no address."""
    if not address or len(address) < 2 or address[0] not in "/@":
        return None
    return "\0" + address[1:] if address[0] == "@" else address


class Watchdog:
    """Who has moved since the last feeding? Pure: the time is passed in, in microseconds.

    Fed only if the writer made a pass and every poll loop has iterated or declared its device
    failed. So a hung loop starves it, and a dead device does not: the loop that gives a device up
    says so and is not waited for until it iterates again.
    """

    def __init__(self, loops: Iterable[str], period_us: int, now_us: int) -> None:
        """``period_us``: systemd's; it is fed at a third of it, so one late pass is no death."""
        self._interval_us = period_us // 3
        self._loops = frozenset(loops)
        self._moved: set[str] = set()
        self._failed: set[str] = set()
        self._wrote = False
        self.wake_us = now_us + self._interval_us
        """When ``feed_now`` wants to be asked next."""

    def writer_passed(self) -> None:
        """The writer finished a group, or found that there was nothing to write."""
        self._wrote = True

    def iterated(self, loop: str) -> None:
        """A poll loop went round once. If its device was given up, it is back."""
        self._known(loop)
        self._moved.add(loop)
        self._failed.discard(loop)

    def declared_failed(self, loop: str) -> None:
        """Its device does not answer and everybody has been told."""
        self._known(loop)
        self._failed.add(loop)

    def waiting_for(self) -> tuple[str, ...]:
        """Who has not moved since the last feeding: what to say before the end comes."""
        writer = () if self._wrote else ("writer",)
        return (*writer, *sorted(self._loops - self._moved - self._failed))

    def feed_now(self, now_us: int) -> bool:
        """Send WATCHDOG=1? If somebody is missing it is asked again soon, and not fed."""
        if now_us < self.wake_us:
            return False
        if self.waiting_for():
            self.wake_us = now_us + self._interval_us // 4
            return False
        self._moved.clear()
        self._wrote = False
        self.wake_us = now_us + self._interval_us
        return True

    def _known(self, loop: str) -> None:
        if loop not in self._loops:
            raise KeyError(f"no poll loop {loop!r}; there are {', '.join(sorted(self._loops))}")
