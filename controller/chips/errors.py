"""What can be wrong with registers, batches and keys: stable codes, places, all problems at once.

The codes are listed, with what to do, on docs/protocols/chip-register.md, section 8.
"""

from __future__ import annotations

from typing import Final

from controller.signed.errors import (
    BatchError,
    CreateError,
    KeyFileError,
    NotPermittedError,
    Problem,
    RegisterError,
    SignedError,
    UnreadableError,
    WriteError,
)

CODES: Final = "E-CHIP"
ChipError = SignedError

__all__ = [
    "CODES",
    "BatchError",
    "ChipError",
    "CreateError",
    "KeyFileError",
    "NotPermittedError",
    "Problem",
    "RegisterError",
    "UnreadableError",
    "WriteError",
]
