"""Log records to journald with fields, over its native socket, without a library.

Only the fields listed here leave the process, and nothing that looks like a key does: a log is read
by many. It is no evidence either; what counts stands in the table's own journal. If journald does
not listen, the same goes to standard error as plain lines.
"""

from __future__ import annotations

import logging
import re
import socket
import struct
import sys
from collections.abc import Mapping
from typing import Final, TextIO

SOCKET: Final = "/run/systemd/journal/socket"
MOST_BYTES: Final = 16_384
"""Longest value of a field; longer ones are cut. Far below the socket's limit."""

MESSAGE_IDS: Final[Mapping[str, str]] = {
    "started": "2e26c8ab66c38b2cc3b95cf809f9af1c",
    "stopping": "084f539c7c2f9b44dd3a7907fb12a772",
    "table locked": "445e8a613ce55861f1ba0878af4c9a3f",
    "table unlocked": "247b5725423e2efd571a54af2cf6f487",
    "journal failed": "8876fae2c0b6418850201674c5a3c54f",
    "journal full": "efd2db96591d69ec8fe4945ecf02462d",
    "configuration refused": "e5b8e47cc672ca0aa304564c08fae794",
    "program changed": "b70211ad2abfb25125d90c0338631774",
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
    "clock jumped": "0101c6932badb6bb0f98f0f733c480b3",
}
"""Alarm class to message id; systemd/catalog/underfelt.catalog explains each."""

FIELDS: Final = ("round_id", "event_seq", "device", "fault_code")
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


class JournaldHandler(logging.Handler):
    """``log.warning("...", extra={"alarm": "device failed", "device": "shoe", ...})``."""

    def __init__(
        self, table_id: str, *, path: str = SOCKET, fallback: TextIO | None = None
    ) -> None:
        super().__init__()
        self._table_id, self._path, self._fallback = table_id, path, fallback
        self._socket: socket.socket | None = None
        self.undelivered = 0
        """Records that journald did not take; they went to the fallback."""

    def fields(self, record: logging.LogRecord) -> dict[str, str]:
        message = record.getMessage()
        if record.exc_info:
            message += "\n" + self._formatter().formatException(record.exc_info)
        found = {
            "MESSAGE": without_keys(message),
            "PRIORITY": str(priority(record.levelno)),
            "SYSLOG_IDENTIFIER": f"underfelt-{self._table_id}",
            "TABLE_ID": self._table_id,
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
            if not self._deliver(fields):
                self.undelivered += 1
                self._write_line(fields)
        except Exception:  # a log line must never end the table
            self.handleError(record)

    def _deliver(self, fields: Mapping[str, str]) -> bool:
        data = b"".join(encode_field(name, value) for name, value in fields.items())
        try:
            if self._socket is None:
                kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
                self._socket = socket.socket(socket.AF_UNIX, kind)
            self._socket.sendto(data, self._path)
        except OSError:
            return False
        return True

    def _write_line(self, fields: Mapping[str, str]) -> None:
        """As systemd reads it from standard error: the priority in front, one line each."""
        stream = self._fallback if self._fallback is not None else sys.stderr
        if stream is None:
            return
        shown = ("MESSAGE_ID", *(name.upper() for name in FIELDS))
        told = " ".join(f"{name}={fields[name]}" for name in shown if name in fields)
        for number, line in enumerate(fields["MESSAGE"].splitlines() or [""]):
            rest = f" [{told}]" if told and not number else ""
            stream.write(f"<{fields['PRIORITY']}>{line}{rest}\n")
        stream.flush()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        super().close()
