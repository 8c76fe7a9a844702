"""What can be wrong with registers, what is handed in, and keys: stable codes, all at once.

Each kind of error is one exit code of a command; the code within says what it is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from controller.rules.errors import UnderfeltError
from record.kit.words import shown


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: ``file: line 3: value: "25.00": expected ... (E-CHIP-024)``."""

    code: str
    text: str
    file: str = ""
    line: int = 0
    field: str = ""
    value: str | None = None

    def __str__(self) -> str:
        places = [self.file, f"line {self.line}" if self.line else "", self.field]
        places.append("" if self.value is None else shown(self.value))
        # A file's name or a field may hold half a character; the message must be printable.
        said = ": ".join([*(place for place in places if place), f"{self.text} ({self.code})"])
        return said.encode("utf-8", "backslashreplace").decode()


class SignedError(UnderfeltError, ValueError):
    """The root; ``problems`` has everything that was found, never nothing."""

    exit_code: ClassVar[int] = os.EX_DATAERR

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.code = problems[0].code
        self.problems: Sequence[Problem] = problems


class RegisterError(SignedError):
    """A register file that must not be used: exit 65."""


class BatchError(SignedError):
    """What a person handed in cannot be taken: exit 65."""


class UnreadableError(SignedError):
    """A file cannot be read: exit 66."""

    exit_code = os.EX_NOINPUT


class CreateError(SignedError):
    """A file cannot be created: exit 73."""

    exit_code = os.EX_CANTCREAT


class WriteError(SignedError):
    """Writing or syncing failed: exit 74."""

    exit_code = os.EX_IOERR


class NotPermittedError(SignedError):
    """Sound, but not allowed: a way back, a key that others can read, a lock: exit 77."""

    exit_code = os.EX_NOPERM


class RegisterKeyError(SignedError):
    """Not a key file: exit 78."""

    exit_code = os.EX_CONFIG
