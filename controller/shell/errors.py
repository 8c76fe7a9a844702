"""Why a command is refused, and the exit code that says so; texts: docs/operations/shell.md."""

from __future__ import annotations

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

EX_OK: Final = 0
EX_USAGE: Final = 64
EX_UNAVAILABLE: Final = 69
EX_NOPERM: Final = 77
EX_FAILED: Final = 1
"""The command was done, and what it tested has failed."""
EXIT: Final[Mapping[str, int]] = {
    NOBODY: 77,
    ROLE: 77,
    EXPIRED: 77,
    TEST_MODE: 75,
    IN_ROUND: 75,
    WORD: EX_USAGE,
    TAKEN: 75,
    NO_DEVICE: 66,
    NO_AUDIT: 74,
    BROKEN: 70,
    NOT_FOUND: 66,
    CONFIRM: EX_USAGE,
    USED: 65,
    NOT_NOW: 75,
    CROWDED: 75,
    NO_BUNDLE: 73,
}
"""After sysexits: no permission, try again later, usage, no input, output failed, our mistake."""


class Refused(Exception):
    """A command that is not done: a stable code and what was seen."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(code, text)
        self.code, self.text = code, text

    def __str__(self) -> str:
        return f"{self.text} ({self.code})"
