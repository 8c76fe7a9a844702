"""The server's log: one line each on standard error, in the form that systemd reads.

``<4>three frames that are no messages [TABLE_ID=table-7 FAULT_CODE=E-LNK-017]``. Not evidence: what
counts stands in the store. No key and no password is ever passed here; texts that came over the
wire are shown escaped and cut. A line that nobody reads holds up nothing: it is counted.
"""

from __future__ import annotations

from typing import Final, Protocol

from record.kit.log_lines import LogLines

ERROR: Final = 3
WARNING: Final = 4
INFO: Final = 6
MOST: Final = 1_000


class Writes(Protocol):
    def write(self, text: str, /) -> object: ...


class Log:
    def __init__(self, out: Writes | None = None) -> None:
        """To standard error, or where a test reads it."""
        self._out = LogLines() if out is None else out

    def info(self, text: str, **fields: object) -> None:
        self._write(INFO, text, fields)

    def warning(self, text: str, **fields: object) -> None:
        self._write(WARNING, text, fields)

    def error(self, text: str, **fields: object) -> None:
        self._write(ERROR, text, fields)

    def _write(self, priority: int, text: str, fields: dict[str, object]) -> None:
        told = " ".join(f"{name.upper()}={value}" for name, value in fields.items() if value != "")
        line = f"{text} [{told}]" if told else text
        safe = line[:MOST].encode("ascii", "backslashreplace").decode()
        shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in safe)
        self._out.write(f"<{priority}>{shown}\n")
