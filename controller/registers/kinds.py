"""The two kinds of register. The numbers of the error codes mean the same in both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class RegisterKind:
    """The prefix of its codes, the words that begin its key files, the mode of its file."""

    codes: str
    secret_word: str
    public_word: str
    mode: int


CHIPS: Final = RegisterKind("E-CHIP", "underfelt-chips-secret-1", "underfelt-chips-public-1", 0o644)
STAFF: Final = RegisterKind("E-STAF", "underfelt-staff-secret-1", "underfelt-staff-public-1", 0o640)
"""Salted hashes of short numbers: for the table's own group, for nobody else."""
