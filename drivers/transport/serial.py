"""A serial port on the event loop: pyserial opens it, the loop watches its descriptor.

All settings go into the constructor: on a pty a later change fails, as parity is not kept there.
Writes go through a bounded buffer of our own, so a device that stops reading never blocks the loop.
A port is lost when a read returns nothing, when anything on it raises, or when written bytes do not
move for a second; it is then opened again by its path, with a back-off.
"""

from __future__ import annotations

import asyncio
import os
import termios
from collections.abc import Callable
from typing import Final, Protocol

import serial

from drivers.base import LineSettings

READ_SIZE: Final = 4096
WRITE_LIMIT: Final = 4096
"""Bytes waiting at most; a device protocol with one request outstanding never comes near."""
STUCK_S: Final = 1.0
BACK_OFF_S: Final = (0.1, 0.2, 0.4, 0.8)
_LOST: Final = (serial.SerialException, OSError, termios.error, ValueError)


class Listener(Protocol):
    def opened(self) -> None: ...

    def closed(self, why: str) -> None: ...

    def received(self, data: bytes) -> None: ...


class SerialPort:
    """One port, opened again and again until ``close``."""

    def __init__(self, path: str, settings: LineSettings, listener: Listener) -> None:
        self.path = path
        self.reopenings = 0
        self._settings = settings
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._serial: serial.Serial | None = None
        self._fd = -1
        self._waiting = bytearray()
        self._writing = False
        """The loop tells when the port takes more."""
        self._stuck: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._failures = 0
        self._done = False

    @property
    def is_open(self) -> bool:
        return self._serial is not None

    def open(self) -> None:
        """Try now; go on trying until it opens."""
        self._retry = None
        if self._done or self._serial is not None:
            return
        wanted = self._settings
        try:
            port = serial.Serial(
                self.path, wanted.baud, wanted.bytesize, wanted.parity, wanted.stopbits,
                timeout=0, write_timeout=0, exclusive=True,
            )  # fmt: skip
            os.set_blocking(port.fileno(), False)
        except _LOST as error:
            self._again(str(error))
            return
        self._serial, self._fd = port, port.fileno()
        self._loop.add_reader(self._fd, self._readable)
        self._listener.opened()

    def write(self, data: bytes) -> None:
        if self._serial is None:
            return
        if len(self._waiting) + len(data) > WRITE_LIMIT:
            self.lose("write buffer full")
            return
        self._waiting += data
        self._writable()

    def lose(self, why: str) -> None:
        """Close the port and open it again after a while."""
        if self._serial is None:
            return
        self._shut()
        self._listener.closed(why)
        self._again(why)

    def close(self) -> None:
        self._done = True
        if self._retry is not None:
            self._retry.cancel()
        self._shut()

    def heard(self) -> None:
        """The device is talking sense: the next loss starts its back-off anew."""
        self._failures = 0

    # --- the descriptor ------------------------------------------------------------------------

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, READ_SIZE)
        except BlockingIOError:
            return
        except _LOST as error:
            self.lose(str(error))
            return
        if not data:  # a hung-up descriptor stays readable for ever: leave it at once
            self.lose("the line hung up")
            return
        self._listener.received(data)

    def _writable(self) -> None:
        try:
            sent = os.write(self._fd, self._waiting) if self._waiting else 0
        except BlockingIOError:
            sent = 0
        except _LOST as error:
            self.lose(str(error))
            return
        del self._waiting[:sent]
        if self._stuck is not None and (sent or not self._waiting):
            self._unstick()
        if self._waiting:
            self._loop.add_writer(self._fd, self._writable)
            self._writing = True
            if self._stuck is None:
                self._stuck = self._loop.call_later(STUCK_S, self.lose, "write stuck")
        elif self._writing:
            self._writing = False
            self._loop.remove_writer(self._fd)

    def _unstick(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _shut(self) -> None:
        port, self._serial, self._fd = self._serial, None, -1
        self._waiting.clear()
        self._writing = False
        self._unstick()
        if port is None:
            return
        self._loop.remove_reader(port.fileno())
        self._loop.remove_writer(port.fileno())
        try:
            # A stuck line never drains: throw away what it holds, or close() would wait for it.
            termios.tcflush(port.fileno(), termios.TCIOFLUSH)
            port.close()
        except _LOST:
            pass  # it is gone already, which is why we are here

    def _again(self, _why: str) -> None:
        if self._done or self._retry is not None:
            return
        delay_s = BACK_OFF_S[min(self._failures, len(BACK_OFF_S) - 1)]
        self._failures += 1
        self.reopenings += 1
        self._retry = self._loop.call_later(delay_s, self.open)


PortMaker = Callable[[str, LineSettings, Listener], SerialPort]
