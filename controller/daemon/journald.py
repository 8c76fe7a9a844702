"""Log records to journald with fields, over its native socket, without a library.

Only the fields listed here leave the process, and nothing that looks like a key does: a log is read
by many. It is no evidence either; what counts is written in the table's own journal. If standard
error does not lead to journald, or journald does not listen, the same goes to standard error as
plain lines. Neither can hold up the process: what cannot be written at once is counted and dropped.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

from record.kit.log_lines import LogLines

SOCKET: Final = "/run/systemd/journal/socket"
MOST_BYTES: Final = 16_384
"""Longest value of a field; longer ones are cut. Far below the socket's limit."""

MESSAGE_IDS: Final[Mapping[str, str]] = {
    "started": "2e26c8ab66c38b2cc3b95cf809f9af1c",
    "stopping": "084f539c7c2f9b44dd3a7907fb12a772",
    "table locked": "445e8a613ce55861f1ba0878af4c9a3f",
    "table unlocked": "247b5725423e2efd571a54af2cf6f487",
    "failed": "2f0ddeaddf1afaff2057ca27dc72c1f4",
    "journal failed": "8876fae2c0b6418850201674c5a3c54f",
    "journal full": "efd2db96591d69ec8fe4945ecf02462d",
    "configuration refused": "e5b8e47cc672ca0aa304564c08fae794",
    "device failed": "e89feaba8f4f308d3bb7cc7466cde45c",
    "device ready": "7b3d5faca3efc609d045008a919a28cd",
    "wrong device": "7d63d275d4043504f244bf7435d1a867",
    "deck alarm": "0a25caf9087dc8b76fac56d2ab528fe6",
    "selection lost": "64e49d27de6b768c28c1293717330281",
    "foreign chip": "403d55b9d541bb5179cd04326727d166",
    "irregularity": "c8c200798a1c54bdb302968f89a967c5",
    "link lost": "c2573ca6b9975091a8156bebfac8cc7b",
    "link ready": "33efba2b5d1111fa39d5971f084dcfce",
    "power failing": "ca7769699f83fb2d462197939820b6da",
    "door open": "96440d31b8be439a3fd2c9bbaeda5c73",
    "display wrong": "7720a1a8226e0ca4b86a3a462fda558b",
    "watchdog starving": "9b8a9c1e74aeef70781c56839a6bbcb2",
    "degraded": "55faebf1d80424598954b13c9c719305",
    "restored": "c1ae3b3544efde7816893b0d49073d7b",
    "alarm": "da26b0b4cfe595b523ed7d2f92718114",
    "award": "f1b575e28f5e8b4771911c6cee38b25f",
    "authorisation refused": "aad9aac4651437fe002ff48ab68d7969",
}
"""Alarm class to message id; systemd/catalog/underfelt.catalog explains each."""

FIELDS: Final = ("round_id", "device", "fault_code")
"""What ``extra`` may carry beside ``alarm``; anything else is not sent."""

_KEY_LIKE: Final = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{64,}|[A-Za-z0-9+/]{43}=")
"""32 bytes or more in hexadecimal, or exactly 32 in base 64: the shape of keys and seeds."""
_LEVELS: Final = (
    (logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6),
)  # fmt: skip


def priority(level: int) -> int:
    """The syslog priority of a level; 7 for what is only for developers."""
    return next((number for floor, number in _LEVELS if level >= floor), 7)


def without_keys(text: str) -> str:
    return _KEY_LIKE.sub("[withheld]", text)


def encode_field(name: str, value: str) -> bytes:
    """One field as journald reads it: a line, or with a length if there is a line feed inside."""
    data = value.encode("utf-8", "backslashreplace")[:MOST_BYTES]
    if b"\n" not in data:
        return name.encode() + b"=" + data + b"\n"
    return name.encode() + b"\n" + struct.pack("<Q", len(data)) + data + b"\n"


def journal_socket(environ: Mapping[str, str] = os.environ, descriptor: int = 2) -> str | None:
    """Where journald listens, if it is what reads our standard error; else None.

    systemd says so in JOURNAL_STREAM (systemd.exec(5)); a table that somebody starts by hand writes
    to his terminal.
    """
    try:
        stream = os.fstat(descriptor)
    except OSError:
        return None
    named = f"{stream.st_dev}:{stream.st_ino}"
    return SOCKET if environ.get("JOURNAL_STREAM") == named else None


class JournaldHandler(logging.Handler):
    """``log.warning("...", extra={"alarm": "device failed", "device": "shoe", ...})``."""

    def __init__(
        self, table_id: str, *, path: str | None = SOCKET, descriptor: int | None = None
    ) -> None:
        """Without a ``path`` everything goes to the descriptor, which is standard error if not
        given."""
        super().__init__()
        self.table_id, self._path, self._lines = table_id, path, LogLines(descriptor)
        self._socket: socket.socket | None = None
        self.undelivered = 0
        """Records that journald did not take; they went to standard error."""

    @property
    def lost(self) -> int:
        """Records that nobody took; the next line that is written says how many."""
        return self._lines.lost

    def fields(self, record: logging.LogRecord) -> dict[str, str]:
        message = record.getMessage()
        if record.exc_info:
            message += "\n" + self._formatter().formatException(record.exc_info)
        found = {
            "MESSAGE": without_keys(message),
            "PRIORITY": str(priority(record.levelno)),
            "SYSLOG_IDENTIFIER": f"underfelt-{self.table_id}",
            "TABLE_ID": self.table_id,
            "LOGGER": record.name,
        }
        message_id = MESSAGE_IDS.get(str(getattr(record, "alarm", "")))
        if message_id is not None:
            found["MESSAGE_ID"] = message_id
        for name in FIELDS:
            value = getattr(record, name, None)
            if value is not None:
                found[name.upper()] = without_keys(str(value))
        return found

    def _formatter(self) -> logging.Formatter:
        return self.formatter or logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            fields = self.fields(record)
            if self._path is not None:
                if self._deliver(fields):
                    return
                self.undelivered += 1
            self._write_line(fields)
        except Exception:  # a log line must never end the table, nor be told of at length
            self._lines.lost += 1

    def _deliver(self, fields: Mapping[str, str]) -> bool:
        data = b"".join(encode_field(name, value) for name, value in fields.items())
        try:
            if self._socket is None:
                kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
                self._socket = socket.socket(socket.AF_UNIX, kind)
            self._socket.sendto(data, self._path or SOCKET)
        except OSError:
            return False
        return True

    def _write_line(self, fields: Mapping[str, str]) -> None:
        """As systemd reads it from standard error: the priority in front, one line each."""
        shown = ("MESSAGE_ID", *(name.upper() for name in FIELDS))
        told = " ".join(f"{name}={fields[name]}" for name in shown if name in fields)
        lines = []
        for number, line in enumerate(fields["MESSAGE"].splitlines() or [""]):
            rest = f" [{told}]" if told and not number else ""
            lines.append(f"<{fields['PRIORITY']}>{line}{rest}")
        self._lines.write("\n".join(lines) + "\n")

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        super().close()


@dataclass(slots=True)
class _Window:
    began_s: float
    passed: int = 0
    left_out: int = 0


class RateLimit(logging.Filter):
    """At most ``most`` lines of a class and device in ``window_s``; the rest is counted."""

    def __init__(
        self, most: int = 10, window_s: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._most, self._window_s, self._clock = most, window_s, clock
        self._windows: dict[tuple[str, str], _Window] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        key = (str(getattr(record, "alarm", "")), str(getattr(record, "device", None) or ""))
        now_s = self._clock()
        window = self._windows.setdefault(key, _Window(now_s))
        if window.passed >= self._most:
            window.left_out += 1
            return False
        window.passed += 1
        return True

    def left_out(self) -> list[tuple[str, str, int]]:
        """Windows that are over and had more lines: class, device, how many. To be asked often: it
        also forgets the windows that are over."""
        now_s = self._clock()
        over = [key for key, one in self._windows.items() if now_s - one.began_s >= self._window_s]
        ended = [(key, self._windows.pop(key).left_out) for key in over]
        return [(*key, count) for key, count in ended if count]


class DaemonLog(NamedTuple):
    handler: JournaldHandler
    limit: RateLimit


@contextmanager
def kept_log(table_id: str) -> Iterator[DaemonLog]:
    """Inside, whatever an ``underfelt`` logger says is written."""
    handler, limit = JournaldHandler(table_id, path=journal_socket()), RateLimit()
    handler.addFilter(limit)
    log = logging.getLogger("underfelt")
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield DaemonLog(handler, limit)
    finally:
        log.setLevel(before)
        log.removeHandler(handler)
        handler.close()
