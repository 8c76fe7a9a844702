"""Talking to systemd: readiness, status line and watchdog, without a library.

``Notifier`` writes datagrams to the socket that systemd names and never fails the program over it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import MutableMapping
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
        """True if systemd has it. A full or vanished socket must not hold up the process."""
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
