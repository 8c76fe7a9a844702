"""The server's log: one line each on standard error, in the form that systemd reads.

``<4>three frames that are no messages [TABLE_ID=table-7 FAULT_CODE=E-LNK-017]``. Not evidence: what
counts stands in the store. No key and no password is ever passed here; texts that came over the
wire are shown escaped and cut.
"""

from __future__ import annotations

import sys
from typing import Final, TextIO

ERROR: Final = 3
WARNING: Final = 4
INFO: Final = 6
MOST: Final = 1_000


class Log:
    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def info(self, text: str, **fields: object) -> None:
        self._write(INFO, text, fields)

    def warning(self, text: str, **fields: object) -> None:
        self._write(WARNING, text, fields)

    def error(self, text: str, **fields: object) -> None:
        self._write(ERROR, text, fields)

    def _write(self, priority: int, text: str, fields: dict[str, object]) -> None:
        stream = self._stream if self._stream is not None else sys.stderr
        if stream is None:
            return
        told = " ".join(f"{name.upper()}={value}" for name, value in fields.items() if value != "")
        line = f"{text} [{told}]" if told else text
        safe = line[:MOST].encode("ascii", "backslashreplace").decode()
        shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in safe)
        try:
            stream.write(f"<{priority}>{shown}\n")
            stream.flush()
        except (OSError, ValueError):
            pass  # nobody reads it; the server goes on
