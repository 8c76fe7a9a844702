"""A serial port on the event loop: pyserial opens it in a thread, the loop watches its descriptor.

Opening can block for ever (an adapter that hangs, a driver that waits for a modem line), so it is
never done on the loop, nor is closing; one thread per port at most. All settings are made before
the port is opened: on a pty a later change fails, as parity is not kept there. DTR and RTS stay
low: raising them resets some devices. Writes go through a bounded buffer of our own, so a device
that stops reading never blocks the loop. A port is lost when a read returns nothing, when anything
on it raises, or when written bytes do not move for a second; it is then opened again by its path,
with a back-off.
"""

from __future__ import annotations

import asyncio
import os
import stat
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from errno import (
    EACCES,
    EAGAIN,
    EBUSY,
    EINVAL,
    EISDIR,
    ELOOP,
    ENODEV,
    ENOENT,
    ENOTDIR,
    ENOTTY,
    ENXIO,
    EPERM,
    errorcode,
)
from typing import Final, Protocol

import serial

from drivers import line_health as codes
from drivers.base import Fault, LineSettings

READ_SIZE: Final = 4096
WRITE_LIMIT: Final = 4096
"""Bytes waiting at most; a device protocol with one request outstanding never comes near."""
STUCK_S: Final = 1.0
OPEN_S: Final = 2.0
"""An opening that has not returned by then is reported; the thread keeps waiting for it."""
BACK_OFF_S: Final = (0.1, 0.2, 0.4, 0.8)
_LOST: Final = (serial.SerialException, OSError, termios.error, ValueError)
_CODES: Final = {
    **dict.fromkeys((ENOENT, ENXIO, ENODEV, ENOTDIR, ELOOP), codes.MISSING),
    **dict.fromkeys((ENOTTY, EISDIR), codes.NOT_A_TERMINAL),
    **dict.fromkeys((EBUSY, EAGAIN), codes.IN_USE),
    EINVAL: codes.SETTINGS,
    **dict.fromkeys((EACCES, EPERM), codes.FORBIDDEN),
}


class Listener(Protocol):
    def opened(self) -> None: ...

    def failed(self, fault: Fault) -> None: ...

    def closed(self, why: str) -> None: ...

    def received(self, data: bytes) -> None: ...


def open_port(path: str, wanted: LineSettings) -> serial.Serial:
    """Blocks for as long as the kernel does."""
    if not stat.S_ISCHR(os.stat(path).st_mode):
        raise OSError(ENOTTY, os.strerror(ENOTTY))
    port = serial.Serial(
        None, wanted.baud, wanted.bytesize, wanted.parity, wanted.stopbits,
        timeout=0, write_timeout=0, exclusive=True,
    )  # fmt: skip
    port.dtr = port.rts = False
    port.port = path
    port.open()
    os.set_blocking(port.fileno(), False)
    return port


def why_not(path: str, settings: LineSettings, error: BaseException) -> Fault:
    """What opening the port failed with, as a code of its own."""
    number = _errno(error)
    code = _CODES.get(number, codes.OTHER)
    name = f"{errorcode.get(number, number)}: {os.strerror(number)}" if number else repr(error)
    if code == codes.SETTINGS:
        shape = f"{settings.baud} {settings.bytesize}{settings.parity}{settings.stopbits}"
        return Fault(code, f"{path}: {shape} refused ({name})")
    return Fault(code, f"{path}: {name}")


def _errno(error: BaseException | None) -> int:
    """pyserial hides the number in what it wraps."""
    while error is not None:
        found = getattr(error, "errno", None) or (error.args[0] if error.args else None)
        if isinstance(found, int) and found:
            return found
        error = error.__cause__ or error.__context__
    return 0


class SerialPort:
    """One port, opened again and again until ``close``."""

    def __init__(self, path: str, settings: Callable[[], LineSettings], listener: Listener) -> None:
        """``settings`` are asked for at every opening."""
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
        self._hanging: asyncio.TimerHandle | None = None
        """Runs while a thread opens the port."""
        self._closing: threading.Thread | None = None
        self._failures = 0
        self._done = False

    @property
    def is_open(self) -> bool:
        return self._serial is not None

    def open(self) -> None:
        """Try now, and keep trying until it opens."""
        self._retry = None
        if self._done or self._serial is not None or self._hanging is not None:
            return
        self._hanging = self._loop.call_later(OPEN_S, self._hangs)
        name, wanted = f"open {self.path}", self._settings()
        threading.Thread(target=self._try, args=(wanted,), name=name, daemon=True).start()

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
        self._again()

    def close(self) -> None:
        self._done = True
        for timer in (self._retry, self._hanging):
            if timer is not None:
                timer.cancel()
        self._shut()

    def heard(self) -> None:
        """The device sends valid frames: the next loss starts with the shortest back-off."""
        self._failures = 0

    # --- opening -------------------------------------------------------------------------------

    def _try(self, wanted: LineSettings) -> None:
        """In a thread of its own, after the last one has closed the port."""
        if self._closing is not None:
            self._closing.join()
        port: serial.Serial | None = None
        fault: Fault | None = None
        try:
            port = open_port(self.path, wanted)
        except _LOST as error:
            fault = why_not(self.path, wanted, error)
        try:
            self._loop.call_soon_threadsafe(self._tried, port, fault)
        except RuntimeError:  # the loop is closed: nobody wants it any more
            _close(port)

    def _tried(self, port: serial.Serial | None, fault: Fault | None) -> None:
        if self._hanging is not None:
            self._hanging.cancel()
            self._hanging = None
        if self._done:
            _close(port)
        elif port is None:
            self._listener.failed(fault or Fault(codes.OTHER, self.path))
            self._again()
        else:
            self._serial, self._fd = port, port.fileno()
            self._loop.add_reader(self._fd, self._readable)
            self._listener.opened()

    def _hangs(self) -> None:
        self._listener.failed(
            Fault(codes.HANGS, f"{self.path}: opening has not returned for {OPEN_S:g} s")
        )

    def _again(self) -> None:
        if self._done or self._retry is not None:
            return
        delay_s = BACK_OFF_S[min(self._failures, len(BACK_OFF_S) - 1)]
        self._failures += 1
        self.reopenings += 1
        self._retry = self._loop.call_later(delay_s, self.open)

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
        self._closing = threading.Thread(target=_close, args=(port,), name=f"close {self.path}")
        self._closing.daemon = True
        self._closing.start()


def _close(port: serial.Serial | None) -> None:
    if port is None:
        return
    with suppress(*_LOST):  # it may be gone already
        # A stuck line never drains: throw away what it holds, or close() would wait for it.
        termios.tcflush(port.fileno(), termios.TCIOFLUSH)
    with suppress(*_LOST):
        port.close()
