"""Why a command is refused, and the exit code that says so; texts: docs/operations/shell.md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

NOBODY: Final = "E-SHL-001"
ROLE: Final = "E-SHL-002"
EXPIRED: Final = "E-SHL-003"
TEST_MODE: Final = "E-SHL-004"
IN_ROUND: Final = "E-SHL-005"
WORD: Final = "E-SHL-006"
TAKEN: Final = "E-SHL-007"
NO_DEVICE: Final = "E-SHL-008"
NO_AUDIT: Final = "E-SHL-009"
BROKEN: Final = "E-SHL-010"
NOT_FOUND: Final = "E-SHL-011"
CONFIRM: Final = "E-SHL-012"
USED: Final = "E-SHL-013"
NOT_NOW: Final = "E-SHL-014"

CROWDED: Final = "E-SVC-003"
"""The socket's own word: too many connections."""
NO_BUNDLE: Final = "E-BDL-001"
"""Of the client itself: the archive has no place."""

EXIT: Final[Mapping[str, int]] = {
    NOBODY: os.EX_NOPERM,
    ROLE: os.EX_NOPERM,
    EXPIRED: os.EX_NOPERM,
    TEST_MODE: os.EX_TEMPFAIL,
    IN_ROUND: os.EX_TEMPFAIL,
    WORD: os.EX_USAGE,
    TAKEN: os.EX_TEMPFAIL,
    NO_DEVICE: os.EX_NOINPUT,
    NO_AUDIT: os.EX_IOERR,
    BROKEN: os.EX_SOFTWARE,
    NOT_FOUND: os.EX_NOINPUT,
    CONFIRM: os.EX_USAGE,
    USED: os.EX_DATAERR,
    NOT_NOW: os.EX_TEMPFAIL,
    CROWDED: os.EX_TEMPFAIL,
    NO_BUNDLE: os.EX_CANTCREAT,
}
"""After sysexits: no permission, try again later, usage, no input, output failed, our mistake."""


class VerbRefused(Exception):
    """A command that is not done: a stable code and what was seen."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(code, text)
        self.code, self.text = code, text

    def __str__(self) -> str:
        return f"{self.text} ({self.code})"
