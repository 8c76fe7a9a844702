"""What can be wrong with registers, batches and keys: stable codes, places, all problems at once.

The codes are listed, with what to do, on docs/protocols/chip-register.md, section 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from controller.rules.errors import UnderfeltError, shown


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


class ChipError(UnderfeltError, ValueError):
    """The root; ``problems`` has everything that was found, never nothing."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.code = problems[0].code
        self.problems: Sequence[Problem] = problems


class RegisterError(ChipError):
    """A register file that must not be used: exit 65."""


class BatchError(ChipError):
    """What a person handed in cannot be taken: exit 65."""


class UnreadableError(ChipError):
    """A file cannot be read: exit 66."""


class CreateError(ChipError):
    """A file cannot be created: exit 73."""


class WriteError(ChipError):
    """Writing or syncing failed: exit 74."""


class NotPermittedError(ChipError):
    """Sound, but not allowed: a way back, a key that others can read, a lock: exit 77."""


class KeyFileError(ChipError):
    """A key file that is none: exit 78."""
